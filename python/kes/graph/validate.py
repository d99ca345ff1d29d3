"""Validation of nodes and edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from kes.errors import KesError, listed, printable, repeated, unknown
from kes.graph.core_graph import Arc, CoreGraph


def checked_nodes(nodes: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the nodes, which must be distinct strings."""
    names = tuple(nodes)
    for name in names:
        if not isinstance(name, str):
            raise KesError(f"node names must be str, not {name!r}", option="nodes")
    if double := repeated(names):
        raise KesError(f"duplicate node {double[0]!r}", option="nodes", column=double[0])
    return names


def ends(edge: Iterable[str], index: Mapping[str, int]) -> tuple[int, int]:
    """Return the numbers of the two nodes of an edge, in the given order."""
    pair = (edge,) if isinstance(edge, str) else tuple(edge)
    for name in pair:
        if name not in index:
            raise unknown("node", name, index)
    if len(pair) != 2 or pair[0] == pair[1]:
        raise KesError(f"an edge must connect two different nodes, not {edge!r}")
    return index[pair[0]], index[pair[1]]


def refuse_double(names: Sequence[str], arcs: Iterable[Arc], edges: Iterable[Arc]) -> None:
    """Raise an error if two nodes have more than one edge."""
    seen: set[frozenset[int]] = set()
    for a, b in [*arcs, *edges]:
        if frozenset((a, b)) in seen:
            raise KesError(
                f"more than one edge between {names[a]} and {names[b]}; list an undirected edge "
                "once, in `undirected`",
                column=names[a],
            )
        seen.add(frozenset((a, b)))


def refuse_cycle(names: Sequence[str], arcs: Iterable[Arc]) -> None:
    """Raise an error that names a directed cycle, if there is one."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for a, b in arcs:
        sorter.add(names[b], names[a])
    try:
        sorter.prepare()
    except CycleError as error:
        raise KesError(f"the graph has the directed cycle {' -> '.join(error.args[1])}") from None


def edges_as_text(names: Sequence[str], graph: CoreGraph) -> list[str]:
    """Return each edge as text, directed ones first."""
    shown = [printable(name) for name in names]
    arcs = [f"{shown[a]} -> {shown[b]}" for a, b in graph.directed]
    return arcs + [f"{shown[a]} - {shown[b]}" for a, b in graph.undirected]


def why_not_essential(names: Sequence[str], graph: CoreGraph) -> str:
    """Return why a graph is not an essential graph, in terms of node names.

    Either no DAG has its edges and v-structures, or the DAGs that do have another essential graph.
    """
    refuse_cycle(names, graph.directed)
    arcs, stuck = graph.consistent_extension(len(names))
    if stuck:
        return (
            "not an essential graph: the undirected edges cannot be directed without a cycle or a "
            f"new v-structure, at {listed((names[i] for i in stuck), show=str)}"
        )
    ours = set(edges_as_text(names, graph))
    right = set(edges_as_text(names, CoreGraph.from_dag(len(names), arcs)))
    return (
        f"not an essential graph: {listed(sorted(ours - right), show=str)} should be "
        f"{listed(sorted(right - ours), show=str)}; use EssentialGraph.from_dag to get the "
        "essential graph of a DAG"
    )
