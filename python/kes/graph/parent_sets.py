"""Possible parent sets of a node in the networks of a class.

The networks of a class differ in the directions of the undirected edges of its essential graph. The
parent sets of a node x follow from the edges at x: a set S of its undirected neighbours can be
added to its parents iff directing S -> x -> (all others) is consistent with the class, that is,
closes under Meek's rules without a new v-structure. Such sets are called *locally valid*
[Maathuis 2009; Fang & He 2020]. They are cliques and are enumerated as such.

All networks with the same parents of x agree on the descendants of x: all nodes that those parents
do not separate from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kes import _core
from kes.errors import KesError
from kes.graph.core_graph import NOTHING, CoreGraph, CoreKnowledge

MAX_SETS = 4096
"""Largest number of parent sets of a node: with more, no statement about it is useful."""


@dataclass(frozen=True)
class Parents:
    """A possible parent set of a node, with a network of the class that has it."""

    members: frozenset[int]
    dag: tuple[tuple[int, int], ...]


def parent_sets(
    names: Sequence[str], graph: CoreGraph, x: int, knowledge: CoreKnowledge = NOTHING
) -> list[Parents]:
    """Return all parent sets that a node has in the admissible networks of a class.

    Smaller sets come first, sets of one size in the order of their numbers.

    Parameters
    ----------
    names
        The variables, for error messages.
    graph
        Essential graph of the class.
    x
        Number of the node.
    knowledge
        Only networks that satisfy it are admissible.

    Raises
    ------
    KesError
        If there are too many sets, or no network of the class is admissible.
    """
    n, (tiers, required, forbidden) = len(names), knowledge
    directed, undirected = graph.mpdag(n, knowledge)
    fixed = frozenset(a for a, b in directed if b == x)
    open_ = sorted({a + b - x for a, b in undirected if x in (a, b)})
    found: list[Parents] = []
    for chosen in _cliques(open_, graph.adjacency(n)):
        away = [(x, other) for other in open_ if other not in chosen]
        own = (tiers, [*required, *((other, x) for other in chosen), *away], forbidden)
        if _core.contradiction(n, own) is None and _core.inadmissible(n, graph, own) is None:
            found.append(Parents(fixed.union(chosen), tuple(graph.to_dag(n, own))))
        if len(found) > MAX_SETS:
            raise KesError(
                f"{names[x]!r} can have more than {MAX_SETS} different parent sets in one model; "
                "direct some of its edges by background knowledge",
                column=names[x],
            )
    return found


def descendants(dag: Sequence[tuple[int, int]], x: int) -> set[int]:
    """Return the descendants of x, without x itself."""
    children: dict[int, list[int]] = {}
    for a, b in dag:
        children.setdefault(a, []).append(b)
    found: set[int] = set()
    waiting = [x]
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in found]
        found.update(new)
        waiting += new
    return found


def _cliques(nodes: Sequence[int], adjacent: Sequence[set[int]]) -> Iterator[tuple[int, ...]]:
    """Yield all cliques among some nodes, smaller ones first."""
    layer: list[tuple[int, ...]] = [()]
    while layer:
        yield from layer
        layer = [
            (*clique, node)
            for clique in layer
            for node in nodes
            if (not clique or node > clique[-1]) and adjacent[node].issuperset(clique)
        ]
