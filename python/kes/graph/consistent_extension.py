"""Giving directions to the undirected edges of a graph."""

from __future__ import annotations

from kes.options import CoreGraph


def oriented(n: int, graph: CoreGraph) -> tuple[list[tuple[int, int]], list[int]]:
    """Orient the undirected edges without new v-structures; arcs, and the nodes where it fails.

    [Dor & Tarsi 1992]: take away, again and again, a node without outgoing arcs whose undirected
    neighbours are adjacent to all its other neighbours, and point its edges at it.
    """
    children: list[set[int]] = [set() for _ in range(n)]
    open_: list[set[int]] = [set() for _ in range(n)]
    adjacent: list[set[int]] = [set() for _ in range(n)]
    for a, b in graph[0]:
        children[a].add(b)
    for a, b in graph[1]:
        open_[a].add(b)
        open_[b].add(a)
    for a, b in graph[0] + graph[1]:
        adjacent[a].add(b)
        adjacent[b].add(a)
    left, arcs = set(range(n)), list(graph[0])

    def is_sink(v: int) -> bool:
        return not children[v] & left and all(
            (adjacent[v] & left) - {u} <= adjacent[u] for u in open_[v] & left
        )

    while (sink := next((v for v in left if is_sink(v)), None)) is not None:
        left.remove(sink)
        arcs += [(u, sink) for u in open_[sink] & left]
    return arcs, sorted(left)
