"""Measure the ranking of edges by evidence, and the coverage of effects (`make bench-evidence`).

*Edges*: samples of ALARM. Among all pairs that some optimum connects, which are adjacent in the
network? The area under the ROC curve is the probability that a true edge ranks above a false one,
by evidence, by search support and by resampling support.

*Effects*: samples of networks whose true effects can be computed. Is the true effect of x on y
within the reported range, for random pairs with and without a directed path from x to y? The range
over the optima within ten nats (`--within`) is compared with that of the class of GES, both as
estimated and with 95 % of the resamples.

The samples have seeds from 2001, none of which was used during development.
"""

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from samples import SHARED, linear, network
from timing import show

import kes
from kes.data.random_stream import Stream
from kes.network import GaussianNetwork, Linear

FIRST_SEED = 2001
SIZES = (500, 2_000)
NETWORKS = {"sachs": 1_000, "insurance": 1_000, "alarm": 1_000, "linear Gaussian": 500}
"""Networks for effects, and the number of cases of a sample."""

NODES, DEGREE = 20, 3.0
"""Size of the linear Gaussian networks; each sample has its own network."""

PAIRS = 50
"""Pairs of each kind per sample."""

RESAMPLES = 50
NOTHING = 1e-9
"""Tolerance for rounding at the ends of a range."""


# --- edges ---------------------------------------------------------------------------------------


def area(values: Sequence[float], are_true: Sequence[bool]) -> float:
    """Return the area under the curve; equal values count half."""
    good = np.array([v for v, true in zip(values, are_true, strict=True) if true])
    bad = np.array([v for v, true in zip(values, are_true, strict=True) if not true])
    wins = (good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean()
    return float(wins)


def ranked(network: kes.BayesianNetwork, rows: int, seed: int) -> dict[str, float]:
    """Return the area under the curve of each measure, on one sample."""
    data = network.sample(rows, seed=Stream(seed))
    optima = kes.learn(data, k=0.8, runs=100)
    stability = kes.stability(data, resamples=RESAMPLES, runs=5)
    joined = {pair for optimum in optima for pair in optimum.graph.skeleton}
    table = optima.edges(stability=stability, evidence=optima.evidence())
    found = [row for row in table if frozenset((row["x"], row["y"])) in joined]
    are_true = [frozenset((row["x"], row["y"])) in network.graph.skeleton for row in found]
    names = ("evidence", "search_support", "resampling_support")
    return {name: area([row[name] for row in found], are_true) for name in names}


def rank_edges(samples: int) -> None:
    """Print how well each measure ranks, for every sample."""
    network = kes.datasets.alarm_network()
    for rows in SIZES:
        found = [ranked(network, rows, FIRST_SEED + number) for number in range(samples)]
        lines = [
            [str(FIRST_SEED + number), *(f"{value:.3f}" for value in areas.values())]
            for number, areas in enumerate(found)
        ]
        means = [statistics.mean(areas[name] for areas in found) for name in found[0]]
        print(f"\nALARM, {rows} cases: area under the curve")
        show(["seed", *found[0]], [*lines, ["mean", *(f"{mean:.3f}" for mean in means)]])
        for other in ("search_support", "resampling_support"):
            wins = sum(areas["evidence"] > areas[other] for areas in found)
            print(f"evidence ranks better than {other} on {wins} of {samples}")


# --- effects -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """A pair, whether x is an ancestor of y, and the effect of setting x."""

    x: str
    y: str
    is_ancestor: bool
    effect: float


def network_of(name: str, seed: int) -> kes.BayesianNetwork | GaussianNetwork:
    """Return a published network, or a random linear one."""
    if name != "linear Gaussian":
        return network(name, SHARED / "bif")
    return linear(kes.datasets.random_network(NODES, DEGREE, seed=Stream(seed)).parents, seed)


def true_effect(network: kes.BayesianNetwork | GaussianNetwork, x: str, y: str) -> float:
    """Return what setting x does to y.

    By cutting x off from its parents: the change of the last state of y from the first to the last
    state of x, or that of the mean of y for a unit more of x.
    """
    cut = {**network.parents, x: ()}
    ends = []
    if isinstance(network, GaussianNetwork):
        for value in (0.0, 1.0):
            models = {**network.models, x: Linear(value, [], deviation=1.0)}
            means = GaussianNetwork(network.nodes, cut, models).joint.of([y]).mean
            ends.append(float(means[0]))
        return ends[1] - ends[0]
    states = network.states[x]
    for state in (states[0], states[-1]):
        certain = [1.0 if other == state else 0.0 for other in states]
        changed = kes.BayesianNetwork(
            network.nodes, network.states, cut, {**network.cpts, x: certain}
        )
        ends.append(changed.probability({y: network.states[y][-1]}))
    return ends[1] - ends[0]


def drawn_pairs(
    network: kes.BayesianNetwork | GaussianNetwork, data: kes.Dataset, seed: int
) -> list[Asked]:
    """Draw pairs of variables that occur in at least two states: half of them with a path."""
    import networkx as nx

    graph = nx.DiGraph(network.arcs)
    graph.add_nodes_from(network.nodes)
    frame = data.to_pandas()
    varying = [name for name in data.names if frame[name].nunique() > 1]
    below = {x: nx.descendants(graph, x) for x in varying}
    rng = np.random.default_rng(seed)
    found = []
    for is_ancestor in (True, False):
        pairs = [(x, y) for x in varying for y in varying if x != y]
        pairs = [(x, y) for x, y in pairs if (y in below[x]) == is_ancestor]
        for place in rng.permutation(len(pairs))[:PAIRS]:
            x, y = pairs[place]
            found.append(Asked(x, y, is_ancestor, true_effect(network, x, y)))
    return found


def covered(
    optima: kes.Optima, asked: Sequence[Asked], within: float
) -> dict[str, list[tuple[bool, float]]]:
    """Return for each pair whether its effect is in the range, and the width of the range."""
    found: dict[str, list[tuple[bool, float]]] = {"estimates": [], "with resampling": []}
    for one in asked:
        effects = optima.effects(one.x, one.y, within=within, resamples=40)
        rows = {row["range"]: row for row in effects.summary()}
        for name, over in (("estimates", "across optima"), ("with resampling", "all together")):
            low, high = rows[over]["low"], rows[over]["high"]
            inside = low - NOTHING <= one.effect <= high + NOTHING
            found[name].append((inside, high - low))
    return found


def cover_effects(samples: int, names: Sequence[str], within: float) -> None:
    """Print how many true effects are in the ranges, for every network."""
    for name in names:
        rows = NETWORKS[name]
        cells: dict[tuple[str, str, bool], list[tuple[bool, float]]] = {}
        for seed in range(FIRST_SEED, FIRST_SEED + samples):
            network = network_of(name, seed)
            data = network.sample(rows, seed=Stream(seed))
            asked = drawn_pairs(network, data, seed)
            searches = {
                "optima": kes.learn(data, k=0.8, runs=100),
                "GES": kes.learn(data, k=1.0, runs=1, improve=False),
            }
            for search, optima in searches.items():
                for how, results in covered(optima, asked, within).items():
                    for one, result in zip(asked, results, strict=True):
                        cells.setdefault((search, how, one.is_ancestor), []).append(result)
        lines = [
            [
                f"{search}, {how}",
                "path" if is_ancestor else "no path",
                f"{sum(inside for inside, _ in results)} of {len(results)}",
                f"{statistics.mean(width for _, width in results):.3f}",
            ]
            for (search, how, is_ancestor), results in cells.items()
        ]
        print(f"\n{name}, {rows} cases: true effects within the range, and its mean width")
        show(["range of", "pairs", "covered", "width"], sorted(lines, key=lambda line: line[1]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=10, help="samples of each kind")
    parser.add_argument("--only", choices=["edges", "effects"], help="do one part only")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument(
        "--within", type=float, default=10, help="use optima within this many nats of the best"
    )
    arguments = parser.parse_args()
    if arguments.only != "effects":
        rank_edges(arguments.samples)
    if arguments.only != "edges":
        cover_effects(arguments.samples, arguments.networks, arguments.within)
