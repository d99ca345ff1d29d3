"""The loss of score from deleting each edge of a model.

An edge between x and y can be deleted in several ways, which lead to different neighbours: one for
each set H of neighbours of y that are adjacent to x such that the others of them, NA, are pairwise
adjacent [Chickering 2002, Thm 17]. Then x and y are separated given the rest of NA and the parents
of y, and the score loses the value of their dependence given these. The deletion loss of the edge
is the smallest of these losses.

`Stop.edges` gives the same numbers, but lists all neighbours for it: hundreds of thousands in large
networks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kes.graph import EssentialGraph
from kes.search.problem import Problem


def edge_worth(graph: EssentialGraph, problem: Problem) -> dict[frozenset[str], float]:
    """Return the deletion loss of each edge, ignoring background knowledge.

    Parameters
    ----------
    graph : EssentialGraph
        A model over the variables of the problem.
    problem : Problem
        The data and the criterion.
    """
    place = {name: i for i, name in enumerate(problem.dataset.names)}
    near = _Neighbourhoods(graph)
    worth: dict[frozenset[str], float] = {}
    for x, y in [*graph.directed, *(sorted(pair) for pair in graph.undirected)]:
        losses = (
            problem.core.delta((True, place[x], place[y], sorted(place[z] for z in given)))
            for given in near.separators(x, y)
        )
        worth[frozenset((x, y))] = min(losses)
    return worth


class _Neighbourhoods:
    def __init__(self, graph: EssentialGraph) -> None:
        self._parents: dict[str, set[str]] = {node: set() for node in graph.nodes}
        self._undirected: dict[str, set[str]] = {node: set() for node in graph.nodes}
        self._adjacent: dict[str, set[str]] = {node: set() for node in graph.nodes}
        for a, b in graph.directed:
            self._parents[b].add(a)
        for a, b in map(sorted, graph.undirected):
            self._undirected[a].add(b)
            self._undirected[b].add(a)
        for a, b in map(sorted, graph.skeleton):
            self._adjacent[a].add(b)
            self._adjacent[b].add(a)

    def separators(self, x: str, y: str) -> Iterator[set[str]]:
        """Yield the separating set of x and y for each way to delete x -> y or x - y."""
        common = sorted(self._undirected[y] & self._adjacent[x])
        parents = self._parents[y] - {x}
        for kept in _cliques(common, self._adjacent):
            yield parents | kept


def _cliques(nodes: list[str], adjacent: Mapping[str, set[str]]) -> Iterator[set[str]]:
    """Yield all cliques among some nodes, the empty one included."""
    if not nodes:
        yield set()
        return
    first, *rest = nodes
    yield from _cliques(rest, adjacent)
    for clique in _cliques([node for node in rest if node in adjacent[first]], adjacent):
        yield {first, *clique}
