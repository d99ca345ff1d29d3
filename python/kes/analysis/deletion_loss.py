"""The deletion loss of each edge of a model: what its score loses if the edge alone is deleted.

An edge between x and y can be deleted in several ways, which lead to different neighbours: one for
each set H of neighbours of y that are adjacent to x such that the others of them, NA, are pairwise
adjacent [Chickering 2002, Thm 17]. Then x and y are separated given the rest of NA and the parents
of y, and the score loses the value of their dependence given these. The deletion loss of the edge
is the smallest of these losses. `Stop.edges` gives the same numbers, but lists all neighbours for
it: hundreds of thousands in large networks.

It is an upper bound on the evidence for the edge (`kes.analysis.evidence`): where everything else
may adapt as well, less is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kes.graph import EssentialGraph
from kes.search.problem import Problem


def edge_worth(graph: EssentialGraph, problem: Problem) -> dict[frozenset[str], float]:
    """Return the deletion loss of each edge, ignoring background knowledge."""
    place = {name: i for i, name in enumerate(problem.dataset.names)}
    parents: dict[str, set[str]] = {node: set() for node in graph.nodes}
    linked: dict[str, set[str]] = {node: set() for node in graph.nodes}  # by undirected edges
    adjacent: dict[str, set[str]] = {node: set() for node in graph.nodes}
    for a, b in graph.directed:
        parents[b].add(a)
    for near, pairs in ((linked, graph.undirected), (adjacent, graph.skeleton)):
        for a, b in map(tuple, pairs):
            near[a].add(b)
            near[b].add(a)
    worth: dict[frozenset[str], float] = {}
    for x, y in [*graph.directed, *(sorted(pair) for pair in graph.undirected)]:
        separators = (
            parents[y] - {x} | kept for kept in _cliques(sorted(linked[y] & adjacent[x]), adjacent)
        )
        worth[frozenset((x, y))] = min(
            problem.core.delta((True, place[x], place[y], sorted(place[z] for z in given)))
            for given in separators
        )
    return worth


def _cliques(nodes: list[str], adjacent: Mapping[str, set[str]]) -> Iterator[set[str]]:
    """Yield all cliques among some nodes, the empty one included."""
    if not nodes:
        yield set()
        return
    first, *rest = nodes
    yield from _cliques(rest, adjacent)
    for clique in _cliques([node for node in rest if node in adjacent[first]], adjacent):
        yield {first, *clique}
