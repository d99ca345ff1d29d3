"""Upper bounds on the evidence for the edges of the best model, without a further search.

`evidence` compares the best model with an edge and the best without it. Known models bound it from
above: those without the edge, and the best model with the edge deleted, score no higher than the
best of all models without it. The same holds for the direction of an arc and models that allow the
opposite one.

An edge between x and y can be deleted in several ways, which lead to different neighbours: one for
each set H of neighbours of y that are adjacent to x such that the others of them, NA, are pairwise
adjacent [Chickering 2002, Thm 17]. Then x and y are separated given the rest of NA and the parents
of y, and the score loses the value of their dependence given these. The deletion loss of the edge
is the smallest of these losses. `Stop.edges` gives the same numbers, but lists all neighbours for
it: hundreds of thousands in large networks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kes.graph import EssentialGraph
from kes.search.problem import Problem

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.search.problem import Problem


@dataclass(frozen=True)
class EvidenceBound:
    """Upper bounds on the evidence for an edge and for its direction, in nats.

    `direction` is None if the best model allows the opposite direction, or if no optimum does.
    """

    evidence: float
    direction: float | None


def evidence_bounds(optima: Optima, problem: Problem) -> dict[frozenset[str], EvidenceBound]:
    """Return upper bounds for each edge of the best model."""
    best = optima.best
    evidence = edge_worth(best.graph, problem)
    direction: dict[frozenset[str], float] = {}
    arcs = {frozenset(arc): arc for arc in best.mpdag.directed}
    lacking, opposing = set(evidence), set(arcs)
    for other in optima[1:]:  # the best first, so the first that differs is the best that does
        loss, skeleton = best.score - other.score, other.graph.skeleton
        without = lacking - skeleton
        evidence |= {pair: min(evidence[pair], loss) for pair in without}
        turned = {p for p in opposing & skeleton if arcs[p] not in other.mpdag.directed}
        direction |= dict.fromkeys(turned, loss)
        lacking -= without
        opposing -= turned
    return {pair: EvidenceBound(evidence[pair], direction.get(pair)) for pair in evidence}


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
