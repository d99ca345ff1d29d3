"""Measure how much background knowledge helps: distance from the truth (`make bench-knowledge`).

Samples of ALARM of several sizes are searched without knowledge, and with the true generations of
the network as three and as five tiers. The distance is between the result of a search, under the
knowledge (its MPDAG), and the true class under the same knowledge, so a direction that follows from
the tiers counts for no search. GES and the best of 100 runs, improved, are compared with peers that
get the same knowledge, if requested: pyAgrum's greedy hill climbing with its own slices, Tetrad's
FGES with its own tiers, and the hill climbing of PyBNesian and pgmpy with forbidden arcs.

The sample is the unit: the table shows the mean distance, and in how many samples it is smaller,
equal and larger than without knowledge.
"""

import argparse
import logging
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TypeAlias

import pandas as pd
import tetrad

import kes
from kes.data.random_stream import Stream
from kes.graph.pdag import Pdag

SIZES = (500, 1000, 5000)
LEVELS = (0, 3, 5)
SAMPLES = 10
RUNS, K = 100, 0.4
TETRAD = Path(sys.prefix) / "peers" / "tetrad"


@dataclass(frozen=True)
class Edges:
    """The result of a peer that already respects the knowledge."""

    directed: Set[tuple[str, str]]
    undirected: Set[frozenset[str]]


Seen: TypeAlias = Pdag | Edges
Search: TypeAlias = Callable[["Task"], Seen]


@dataclass(frozen=True)
class Task:
    """A table with the tiers given to a search; None without knowledge."""

    data: kes.Dataset
    tiers: list[list[str]] | None

    @property
    def knowledge(self) -> kes.Knowledge | None:
        """The tiers as knowledge of kes."""
        return None if self.tiers is None else kes.Knowledge(tiers=self.tiers)

    def seen(self, graph: kes.EssentialGraph) -> Pdag:
        """Return a class under the knowledge."""
        return graph if self.knowledge is None else kes.Mpdag(graph, self.knowledge)

    def seen_dag(self, arcs: Iterable[tuple[str, str]]) -> Pdag:
        """Return the class of a network under the knowledge."""
        return self.seen(kes.EssentialGraph.from_dag(self.data.names, list(arcs)))

    @property
    def backwards(self) -> list[tuple[str, str]]:
        """The arcs that the tiers forbid."""
        level = {name: i for i, tier in enumerate(self.tiers or []) for name in tier}
        return [(a, b) for a in level for b in level if level[a] > level[b]]


def generations(network: kes.BayesianNetwork, levels: int) -> list[list[str]]:
    """Return the nodes by their longest path from a root, in tiers of similar size."""
    depth: dict[str, int] = {}
    for node in TopologicalSorter(network.parents).static_order():
        depth[node] = 1 + max((depth[parent] for parent in network.parents[node]), default=-1)
    ordered = sorted(network.nodes, key=lambda node: (depth[node], network.nodes.index(node)))
    tiers: list[list[str]] = [[] for _ in range(levels)]
    for place, node in enumerate(ordered):
        tiers[place * levels // len(ordered)].append(node)
    return tiers


# --- searches ------------------------------------------------------------------------------------


def ges(task: Task) -> Seen:
    """Greedy equivalence search."""
    found = kes.learn(task.data, k=1.0, runs=1, improve=False, knowledge=task.knowledge)
    return found.best.mpdag


def improved(task: Task) -> Seen:
    """Many runs, improved."""
    return kes.learn(task.data, k=K, runs=RUNS, knowledge=task.knowledge).best.mpdag


def frame(data: kes.Dataset) -> pd.DataFrame:
    """Return a table of categories, as the peers take it."""
    columns = zip(data.names, data.states, data.codes, strict=True)
    return pd.DataFrame(
        {name: pd.Categorical.from_codes(codes, map(str, s)) for name, s, codes in columns}
    )


def agrum(task: Task) -> Seen:
    """Search greedily by pyAgrum, from the empty graph."""
    import pyagrum as gum

    learner = gum.BNLearner(frame(task.data))  # type: ignore[no-untyped-call]
    learner.useScoreBIC()
    learner.useNoPrior()
    learner.useGreedyHillClimbing()
    if task.tiers is not None:
        learner.setSliceOrder(task.tiers)
    names = learner.names()
    return task.seen_dag((names[a], names[b]) for a, b in learner.learnDAG().arcs())


def pybnesian(task: Task) -> Seen:
    """Climb hills by PyBNesian."""
    import pybnesian

    model = pybnesian.hc(
        frame(task.data),
        bn_type=pybnesian.DiscreteBNType(),
        score="bic",
        operators=["arcs"],
        arc_blacklist=task.backwards,
    )
    return task.seen_dag(model.arcs())


def pgmpy(task: Task) -> Seen:
    """Climb hills by pgmpy."""
    from pgmpy.causal_discovery import HillClimbSearch
    from pgmpy.estimators import ExpertKnowledge

    logging.disable(logging.INFO)
    known = ExpertKnowledge(forbidden_edges=task.backwards)
    search = HillClimbSearch(
        "bic-d", expert_knowledge=known, return_type="dag", show_progress=False
    )
    return task.seen_dag(search.fit(frame(task.data)).causal_graph_.edges())


def fges(task: Task) -> Seen:
    """Greedy equivalence search by Tetrad."""
    package = tetrad.start(TETRAD)
    place = {name: i for i, name in enumerate(task.data.names)}
    tiers = [[place[name] for name in tier] for tier in task.tiers or []]
    score = tetrad.discrete_bic(package, task.data.codes, task.data.cardinalities)
    found = tetrad.fges(package, score, tetrad.knowledge(package, tiers))
    directed, undirected = tetrad.edges(found)
    names = task.data.names
    return Edges(
        {(names[a], names[b]) for a, b in directed},
        {frozenset((names[a], names[b])) for a, b in undirected},
    )


OURS: dict[str, Search] = {"kes, GES": ges, f"kes, {RUNS} runs, improved": improved}
PEERS: dict[str, Search] = {
    "Tetrad, FGES": fges,
    "PyBNesian, hill climbing": pybnesian,
    "pyAgrum, greedy": agrum,
    "pgmpy, hill climbing": pgmpy,
}
"""pgmpy takes longer than all others together."""


# --- the table -----------------------------------------------------------------------------------


def measured(sizes: Sequence[int], samples: int, searches: dict[str, Search]) -> None:
    """Print a row for each size and search, as Markdown."""
    network = kes.datasets.alarm_network()
    truth = network.graph
    tiers = {levels: generations(network, levels) if levels else None for levels in LEVELS}
    names = ["no knowledge", *(f"{levels} tiers" for levels in LEVELS if levels)]
    print(f"| cases | search | {' | '.join(names)} | processor seconds |")
    print("|" + "---|" * (3 + len(names)))
    for size in sizes:
        tables = [network.sample(size, seed=Stream(1000 + number)) for number in range(samples)]
        for name, search in searches.items():
            started = time.process_time()
            found: dict[int, list[int]] = {levels: [] for levels in LEVELS}
            for table in tables:
                for levels in LEVELS:
                    task = Task(table, tiers[levels])
                    found[levels].append(distance(search(task), task.seen(truth)))
            spent = (time.process_time() - started) / (samples * len(LEVELS))
            cells = [shown(found[levels], found[0] if levels else None) for levels in LEVELS]
            print(f"| {size} | {name} | {' | '.join(cells)} | {spent:.2f} |", flush=True)


def distance(found: Seen, truth: Seen) -> int:
    """Return the number of pairs whose status differs."""
    one, other = (
        {**dict.fromkeys(g.undirected), **{frozenset(a): a for a in g.directed}}
        for g in (found, truth)
    )
    return sum(one.get(pair, ()) != other.get(pair, ()) for pair in {*one, *other})


def shown(distances: Sequence[int], without: Sequence[int] | None) -> str:
    """Return the mean distance, and in how many samples it is smaller, equal and larger."""
    mean = f"{statistics.mean(distances):.1f}"
    if without is None:
        return mean
    pairs = list(zip(distances, without, strict=True))
    smaller, larger = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    return f"{mean} ({smaller} / {len(pairs) - smaller - larger} / {larger})"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    peers = {name.split(",")[0].lower(): name for name in PEERS}
    parser.add_argument("--peers", nargs="*", choices=peers, default=["pyagrum"])
    chosen = parser.parse_args()
    if "tetrad" in chosen.peers:
        tetrad.install(TETRAD, tetrad.VERSIONS["tetrad"])
    asked = {peers[peer]: PEERS[peers[peer]] for peer in chosen.peers}
    measured(chosen.sizes, chosen.samples, OURS | asked)


if __name__ == "__main__":
    main()
