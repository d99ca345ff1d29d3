"""Theorems 3, 4 and 5 and Examples 1 and 2 as experiments, on distributions instead of samples.

A table that lists every configuration, weighted by its probability times the number of cases, acts
like an infinite sample. The theorems then say where each run must end.

An erratum: the marginals printed in Example 1 do not trap GES. In the limit of many cases GES first
joins X to Y (or U, which is symmetric), because that pair has the most mutual information. Then it
can join X and U as a chain, for a gain of N I(X;U) less a penalty that hardly matters, or as the
collider Y -> X <- U, for N I(X;U|Y). With the printed marginals the collider gains more, and the
search continues to the smaller of the two inclusion-optimal models: GES is not trapped.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count, islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes import datasets
from kes.api import learn, score
from kes.data.random_stream import Stream
from kes.errors import KesError
from kes.graph import EssentialGraph
from kes.network import BayesianNetwork
from kes.paper.document import Shown, table
from kes.paper.experiments import KS
from kes.paper.runner import CASES, Cell, Outcome

SIZES = (5, 6, 7, 8)
_NETWORKS, _RUNS = 10, 50
_EXAMPLE_RUNS = 1000
_GROUPS = (1, 2, 3, 4)
_RUNS_PER_MODEL = 200

_CYCLE = (("X", "Y"), ("X", "U"), ("Y", "Z"))
SMALLER = (*_CYCLE, ("U", "Z"), ("Y", "U"))
"""The paper's G1: 19 parameters."""
LARGER = (*_CYCLE, ("Z", "U"), ("X", "Z"))
"""The paper's G2: 23 parameters."""


def theorems(_: Mapping[Cell, Outcome]) -> Shown:
    """Compare the theorems about exact distributions with the runs."""
    faithful, example1, example2 = _faithful(), _example1(), _example2()
    parts = [
        "**Theorem 3.** Random faithful networks of binary variables, exact distributions; "
        f"{_NETWORKS} networks of each size, {_RUNS} runs each: runs that end in the class of "
        "the network.",
        table(
            ["Nodes", *(f"k = {k:g}" for k in KS)],
            [[size, *(f"{hits} of {of}" for hits, of in row)] for size, row in faithful.items()],
        ),
        "**Theorems 4 and 5, Example 1.** Exact distributions; runs that end in either of the "
        f"two inclusion-optimal models, of {_EXAMPLE_RUNS}.",
        table(
            ["Marginals", "k", "G1, 19 parameters", "G2, 23 parameters", "elsewhere"],
            [[variant, f"{k:g}", *ends] for (variant, k), ends in example1.items()],
            left=2,
        ),
        "**Example 2.** Independent copies of Example 1, exact distribution, SES.",
        table(
            ["Copies", "inclusion optimal", "found", "runs", "fewest runs per model"],
            [[n, 2**n, *row] for n, row in example2.items()],
        ),
    ]
    values = {
        "theorem 3": {str(size): row for size, row in faithful.items()},
        "example 1": {f"{variant} k={k:g}": ends for (variant, k), ends in example1.items()},
        "example 2": {str(groups): row for groups, row in example2.items()},
    }
    return "\n\n".join(parts), values, {}


def _faithful() -> dict[int, list[tuple[int, int]]]:
    """Per number of nodes and k: runs that end in the true class, of all."""
    results = {}
    for size in SIZES:
        hits = dict.fromkeys(KS, 0)
        for network in islice(_faithful_networks(size), _NETWORKS):
            truth = EssentialGraph.from_dag(network.nodes, network.arcs)
            table_of_all = datasets.exact(network)
            for k in KS:
                optima = learn(table_of_all, k=k, runs=_RUNS, improve=False, edge_prior=0)
                hits[k] += sum(optimum.hits for optimum in optima if optimum.graph == truth)
        results[size] = [(hits[k], _NETWORKS * _RUNS) for k in KS]
    return results


def _faithful_networks(nodes: int) -> Iterator[BayesianNetwork]:
    networks = (datasets.random_network(nodes, 2.5, seed=Stream(seed)) for seed in count())
    return filter(datasets.is_faithful, networks)


def _example1() -> dict[tuple[str, float], list[int]]:
    """Per variant and k: runs that end in G1, in G2, elsewhere."""
    nodes = ("X", "Y", "Z", "U")
    models = [EssentialGraph.from_dag(nodes, arcs) for arcs in (SMALLER, LARGER)]
    results = {}
    for variant in ("printed", "deceptive"):
        data = datasets.example1(variant=variant)
        for k in KS:
            optima = learn(data, k=k, runs=_EXAMPLE_RUNS, improve=False, edge_prior=0)
            hits: dict[EssentialGraph, int] = {optimum.graph: optimum.hits for optimum in optima}
            ends = [hits.pop(model, 0) for model in models]
            results[variant, k] = [*ends, sum(hits.values())]
    return results


def _example2() -> dict[int, list[Any]]:
    """Per number of copies: models found, runs, and the fewest runs that ended in one of them.

    A model counts as found only if in each copy it is one of the two.
    """
    results = {}
    for groups in _GROUPS:
        data = datasets.example2(groups, variant="deceptive")
        optima = learn(data, k=0, runs=_RUNS_PER_MODEL * 2**groups, improve=False, edge_prior=0)
        expected = [optimum for optimum in optima.of_runs if _is_combination(optimum.graph, groups)]
        fewest = min(optimum.hits for optimum in expected)
        results[groups] = [len(expected), len(optima.runs), fewest]
    return results


def _is_combination(graph: EssentialGraph, groups: int) -> bool:
    """Return whether the model is G1 or G2 in each copy, and joins no copies."""
    nodes = tuple(f"{letter}{group}" for group in range(1, groups + 1) for letter in "XYZU")
    arcs = []
    for group in range(1, groups + 1):
        smaller = frozenset({f"Y{group}", f"U{group}"}) in graph.skeleton
        chosen = SMALLER if smaller else LARGER
        arcs += [(f"{tail}{group}", f"{head}{group}") for tail, head in chosen]
    return graph == EssentialGraph.from_dag(nodes, arcs)


PRINTED = (0.12, 0.30, 0.0)
DECEPTIVE = (0.12, 0.30, 0.05)
LIMIT = 1e8
"""Number of cases that stands for the limit of many cases."""

_GRID = (
    np.arange(0.10, 0.1401, 0.005),  # a
    np.arange(0.26, 0.3401, 0.005),  # b
    np.arange(0.0, 0.0301, 0.0025),  # c
)
_FINE = np.arange(0.0, 0.0501, 0.0005)  # c alone
_AXES = {letter: axis for axis, letter in enumerate("XYZU")}

Parameters = tuple[float, float, float]


def erratum(_: Mapping[Cell, Outcome]) -> Shown:
    """Show why GES is not trapped, and the nearest marginals that trap it."""
    both = {"printed": PRINTED, "deceptive": DECEPTIVE}
    informations = {name: _informations(parameters) for name, parameters in both.items()}
    scores = {name: _scores(parameters) for name, parameters in both.items()}
    moves = {name: _moves(parameters) for name, parameters in both.items()}
    grid = _by_distance()
    nearest = {cases: _nearest(cases, grid) for cases in (float(CASES), LIMIT)}
    least = {cases: _least_unevenness(cases) for cases in (float(CASES), LIMIT)}
    parts = [
        "Mutual information in nats.",
        table(
            ["Marginals", *informations["printed"]],
            [[name, *(f"{i:.5f}" for i in row.values())] for name, row in informations.items()],
        ),
        f"BIC of the two models at {CASES} cases, natural logarithms.",
        table(
            ["Marginals", "G1, 19 parameters", "G2, 23 parameters", "GES ends in"],
            [[name, *row] for name, row in scores.items()],
        ),
        f"The moves of GES at {CASES} cases: the pair joined or separated, given which "
        "variables, and the gain.",
        table(
            ["Marginals", "1", "2", "3", "4", "5", "6", "7"],
            [[name, *(row + [""] * 7)[:7]] for name, row in moves.items()],
            left=8,
        ),
        "The nearest marginals that trap GES: of all (a, b, c) on a grid, those with the "
        "smallest total variation distance (half the sum of absolute differences over the 32 "
        f"states) from the printed distribution; for {CASES} cases and for {LIMIT:g}, which "
        "stand for endlessly many. With a and b as printed, the smallest c that traps GES.",
        table(
            ["Cases", "a", "b", "c", "distance", "P(X)", "smallest c alone"],
            [
                [
                    f"{cases:g}",
                    *(f"{value:g}" for value in parameters),
                    f"{distance:.4f}",
                    f"{0.25 + parameters[2]:g}, {0.25 - parameters[2]:g}, ...",
                    f"{least[cases]:g}",
                ]
                for cases, (parameters, distance) in nearest.items()
            ],
        ),
    ]
    values = {
        "mutual information": informations,
        "scores": scores,
        "moves of GES": moves,
        "nearest": {f"{cases:g}": list(found) for cases, found in nearest.items()},
        "smallest c": {f"{cases:g}": c for cases, c in least.items()},
    }
    return "\n\n".join(parts), values, {}


def _joint(parameters: Parameters) -> NDArray[np.float64]:
    weights = datasets.example1(cases=2.0, parameters=parameters).weights
    assert weights is not None
    return weights.reshape(4, 2, 2, 2) / 2.0


def information(joint: NDArray[np.float64], x: str, y: str, given: str = "") -> float:
    """Return I(x; y | given) in nats; letters name the axes X, Y, Z, U."""

    def entropy(letters: str) -> float:
        others = tuple(axis for letter, axis in _AXES.items() if letter not in letters)
        p = joint.sum(axis=others).ravel()
        return float(-(p @ np.log(p)))

    return entropy(x + given) + entropy(y + given) - entropy(x + y + given) - entropy(given)


def _informations(parameters: Parameters) -> dict[str, float]:
    joint = _joint(parameters)
    pairs = [("X", "Y", ""), ("X", "U", ""), ("X", "U", "Y"), ("Y", "Z", ""), ("X", "Z", "")]
    return {
        f"I({x};{y}\\|{given})" if given else f"I({x};{y})": information(joint, x, y, given)
        for x, y, given in pairs
    }


def _scores(parameters: Parameters) -> list[str]:
    data = datasets.example1(cases=CASES, parameters=parameters)
    both = [f"{score(list(arcs), data):.2f}" for arcs in (SMALLER, LARGER)]
    return [*both, "G2" if _traps(parameters, CASES) else "G1"]


def _moves(parameters: Parameters) -> list[str]:
    data = datasets.example1(cases=CASES, parameters=parameters)
    optima = learn(data, k=1, runs=1, improve=False, edge_prior=0)
    steps = optima.trace(0)
    columns = (steps[name] for name in ("kind", "x", "y", "given", "delta"))
    return [
        f"{'+' if kind == 'insert' else '−'} {x}{y}"
        + (f" given {''.join(sorted(given))}" if given else "")
        + f": {delta:.1f}"
        for kind, x, y, given, delta in zip(*columns, strict=True)
    ]


def _traps(parameters: Parameters, cases: float) -> bool:
    data = datasets.example1(cases=cases, parameters=parameters)
    larger = EssentialGraph.from_dag(data.names, LARGER)
    return learn(data, k=1, runs=1, improve=False, edge_prior=0).best.graph == larger


def _by_distance() -> list[tuple[float, Parameters]]:
    """Return the grid, in order of the distance from the printed distribution."""
    printed = _joint(PRINTED)
    grid: list[tuple[float, Parameters]] = []
    for a, b, c in product(*_GRID):
        parameters = (round(float(a), 3), round(float(b), 3), round(float(c), 4))
        with suppress(KesError):  # no distribution may have these marginals
            grid.append((float(abs(_joint(parameters) - printed).sum() / 2), parameters))
    return sorted(grid)


def _nearest(cases: float, grid: list[tuple[float, Parameters]]) -> tuple[Parameters, float]:
    """Return the parameters nearest to the printed ones that trap GES, and their distance."""
    distance, parameters = next(point for point in grid if _traps(point[1], cases))
    return parameters, distance


def _least_unevenness(cases: float) -> float:
    """Return the smallest c that traps GES with a and b as printed."""
    a, b, _ = PRINTED
    values = (round(float(c), 4) for c in _FINE)
    return next(c for c in values if _traps((a, b, c), cases))
