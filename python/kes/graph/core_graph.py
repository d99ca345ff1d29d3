"""Graphs over variable numbers: the form in which the Rust core takes and returns them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from kes import _core
from kes.native import core_errors

Arc: TypeAlias = tuple[int, int]
Edges: TypeAlias = tuple[Arc, ...]
RawGraph: TypeAlias = tuple[Sequence[Arc], Sequence[Arc]]
"""A graph as the core returns it; `CoreGraph.of` makes it immutable."""

CoreKnowledge: TypeAlias = tuple[list[int | None] | None, list[Arc], list[Arc]]
"""Knowledge as the core takes it: the tier of each variable, required and forbidden arcs."""

NOTHING: CoreKnowledge = (None, [], [])
"""Knowledge that rules nothing out."""


class CoreGraph(NamedTuple):
    """A graph over variable numbers; immutable and hashable, and taken by the core as it is.

    Everything between the core and the public graph classes uses this form. `Pdag.to_core` returns
    it for a public graph, `EssentialGraph.from_core` makes the public graph from it. Both kinds of
    edges are sorted; undirected ones (a, b) have a < b.
    """

    directed: Edges = ()
    undirected: Edges = ()

    @classmethod
    def of(cls, graph: RawGraph) -> CoreGraph:
        """Return a graph of the core as an immutable value."""
        directed, undirected = graph
        return cls(tuple(directed), tuple(undirected))

    @classmethod
    def from_dag(cls, n: int, arcs: Iterable[Arc]) -> CoreGraph:
        """Return the essential graph of a DAG with n nodes."""
        with core_errors():
            return cls.of(_core.essential_graph(n, list(arcs)))

    def to_dag(self, n: int, knowledge: CoreKnowledge | None = None) -> list[Arc]:
        """Return the arcs, sorted, of the canonical DAG of an essential graph.

        With knowledge, the admissible DAG that agrees with it as far as possible.
        """
        with core_errors():
            return _core.extension(n, self, knowledge)

    def mpdag(self, n: int, knowledge: CoreKnowledge) -> CoreGraph:
        """Return the MPDAG of an essential graph under knowledge."""
        with core_errors():
            return CoreGraph.of(_core.mpdag(n, self, knowledge))

    def adjacency(self, n: int) -> list[set[int]]:
        """Return the neighbours of each node, whatever the direction of the edges."""
        adjacent: list[set[int]] = [set() for _ in range(n)]
        for a, b in self.directed + self.undirected:
            adjacent[a].add(b)
            adjacent[b].add(a)
        return adjacent

    def consistent_extension(self, n: int) -> tuple[list[Arc], list[int]]:
        """Return the arcs of a DAG that directs the edges without new v-structures or cycles.

        Remove, one after the other, nodes without outgoing arcs whose undirected neighbours are
        adjacent to all their other neighbours, and direct the edges of each towards it
        [Dor & Tarsi 1992]. Also return the nodes that cannot be removed: none if there is a DAG.
        """
        children: list[set[int]] = [set() for _ in range(n)]
        for a, b in self.directed:
            children[a].add(b)
        adjacent = self.adjacency(n)
        undirected = CoreGraph(undirected=self.undirected).adjacency(n)
        left, arcs = set(range(n)), list(self.directed)

        def is_sink(v: int) -> bool:
            return not children[v] & left and all(
                (adjacent[v] & left) - {u} <= adjacent[u] for u in undirected[v] & left
            )

        while (sink := next((v for v in left if is_sink(v)), None)) is not None:
            left.remove(sink)
            arcs += [(u, sink) for u in undirected[sink] & left]
        return arcs, sorted(left)
