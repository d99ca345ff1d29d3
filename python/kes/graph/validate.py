"""What must hold for nodes and edges, and what to say when it does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from kes.errors import KesError, listed, printable, repeated, unknown
from kes.graph.core_graph import Arc, CoreGraph


def checked_nodes(nodes: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the nodes, which must be distinct texts."""
    names = tuple(nodes)
    for name in names:
        if not isinstance(name, str):
            raise KesError(f"node names must be text (str), not {name!r}")
    if double := repeated(names):
        raise KesError(f"the node {double[0]!r} is given more than once")
    return names


def ends(edge: Iterable[str], index: Mapping[str, int]) -> tuple[int, int]:
    """Numbers of the two nodes of an edge, in the order given."""
    pair = (edge,) if isinstance(edge, str) else tuple(edge)
    for name in pair:
        if name not in index:
            raise unknown("node", name, index)
    if len(pair) != 2 or pair[0] == pair[1]:
        raise KesError(f"an edge joins two different nodes, which {edge!r} does not")
    return index[pair[0]], index[pair[1]]


def refuse_double(names: Sequence[str], arcs: Iterable[Arc], edges: Iterable[Arc]) -> None:
    """Complain if two nodes are joined more than once."""
    seen: set[frozenset[int]] = set()
    for a, b in [*arcs, *edges]:
        if frozenset((a, b)) in seen:
            raise KesError(
                f"{names[a]} and {names[b]} are joined more than once; "
                "an edge without direction belongs into `undirected`, once"
            )
        seen.add(frozenset((a, b)))


def refuse_cycle(names: Sequence[str], arcs: Iterable[Arc]) -> None:
    """Complain, naming it, about a directed cycle."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for a, b in arcs:
        sorter.add(names[b], names[a])
    try:
        sorter.prepare()
    except CycleError as error:
        raise KesError(f"the graph has the directed cycle {' -> '.join(error.args[1])}") from None


def edges_as_text(names: Sequence[str], graph: CoreGraph) -> list[str]:
    """Write each edge out, directed ones first."""
    shown = [printable(name) for name in names]
    arcs = [f"{shown[a]} -> {shown[b]}" for a, b in graph.directed]
    return arcs + [f"{shown[a]} - {shown[b]}" for a, b in graph.undirected]


def why_not_essential(names: Sequence[str], graph: CoreGraph) -> str:
    """Say in node names why a graph is not essential.

    Either no DAG has its edges and v-structures, or the DAGs that do have another essential graph.
    """
    refuse_cycle(names, graph.directed)
    arcs, stuck = graph.consistent_extension(len(names))
    if stuck:
        return (
            "not an essential graph: the undirected edges cannot be given directions without a "
            f"cycle or a new v-structure, at {listed((names[i] for i in stuck), show=str)}"
        )
    ours = set(edges_as_text(names, graph))
    right = set(edges_as_text(names, CoreGraph.from_dag(len(names), arcs)))
    return (
        f"not an essential graph: {listed(sorted(ours - right), show=str)} should be "
        f"{listed(sorted(right - ours), show=str)}. EssentialGraph.from_dag gets this right for "
        "any DAG"
    )
