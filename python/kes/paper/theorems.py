"""Theorems 3, 4 and 5 and Examples 1 and 2 as experiments, on distributions instead of samples.

A table that lists every state of the world, weighted by its probability times the number of cases,
shows a search what an endless sample would. The theorems then say where each run must end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from kes import datasets
from kes.api import learn
from kes.graph import EssentialGraph
from kes.paper.document import Section, table
from kes.paper.runner import Cell, Outcome
from kes.paper.table1 import KS

if TYPE_CHECKING:
    from kes.network import BayesianNetwork

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


class Theorems:
    """What the theorems say of exact distributions, and what the runs do."""

    key = "theorems"
    title = "Theorems and examples"

    def cells(self, runs: int) -> list[Cell]:
        """Return the runs needed: none that are worth keeping."""
        return []

    def section(self, outcomes: Mapping[Cell, Outcome]) -> Section:
        """Do the experiments."""
        faithful, example1, example2 = _faithful(), _example1(), _example2()
        parts = [
            "**Theorem 3.** Random faithful networks of binary variables, exact distributions; "
            f"{_NETWORKS} networks of each size, {_RUNS} runs each: runs that end in the class of "
            "the network.",
            table(
                ["Nodes", *(f"k = {k:g}" for k in KS)],
                [
                    [size, *(f"{hits} of {of}" for hits, of in row)]
                    for size, row in faithful.items()
                ],
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
        return Section(self.key, self.title, "\n\n".join(parts), values)


def _faithful() -> dict[int, list[tuple[int, int]]]:
    """Per number of nodes and k: runs that end in the true class, of all."""
    results = {}
    for size in SIZES:
        hits = dict.fromkeys(KS, 0)
        for network in islice(_faithful_networks(size), _NETWORKS):
            truth = EssentialGraph.from_dag(network.nodes, network.arcs)
            table_of_all = datasets.exact(network)
            for k in KS:
                optima = learn(table_of_all, k=k, runs=_RUNS, improve=False)
                hits[k] += sum(optimum.hits for optimum in optima if optimum.graph == truth)
        results[size] = [(hits[k], _NETWORKS * _RUNS) for k in KS]
    return results


def _faithful_networks(nodes: int) -> Iterator[BayesianNetwork]:
    seed = 0
    while True:
        network = datasets.random_network(nodes, 2.5, seed=seed)
        if datasets.is_faithful(network):
            yield network
        seed += 1


def _example1() -> dict[tuple[str, float], list[int]]:
    """Per variant and k: runs that end in G1, in G2, elsewhere."""
    nodes = ("X", "Y", "Z", "U")
    models = [EssentialGraph.from_dag(nodes, arcs) for arcs in (SMALLER, LARGER)]
    results = {}
    for variant in ("printed", "deceptive"):
        data = datasets.example1(variant=variant)
        for k in KS:
            optima = learn(data, k=k, runs=_EXAMPLE_RUNS, improve=False)
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
        optima = learn(data, k=0, runs=_RUNS_PER_MODEL * 2**groups, improve=False)
        expected = [optimum for optimum in optima.of_runs if _is_combination(optimum.graph, groups)]
        fewest = min(optimum.hits for optimum in expected)
        results[groups] = [len(expected), len(optima.runs), fewest]
    return results


def _is_combination(graph: EssentialGraph, groups: int) -> bool:
    """Tell whether the model is, in each copy, G1 or G2, and joins no copies."""
    nodes = tuple(f"{letter}{group}" for group in range(1, groups + 1) for letter in "XYZU")
    arcs = []
    for group in range(1, groups + 1):
        smaller = frozenset({f"Y{group}", f"U{group}"}) in graph.skeleton
        chosen = SMALLER if smaller else LARGER
        arcs += [(f"{tail}{group}", f"{head}{group}") for tail, head in chosen]
    return graph == EssentialGraph.from_dag(nodes, arcs)
