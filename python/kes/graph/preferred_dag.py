"""DAGs of an equivalence class with preferred arcs."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kes.errors import KesError, unknown
from kes.graph.core_graph import CoreGraph
from kes.graph.essential import EssentialGraph
from kes.graph.pdag import Pdag


def preferred_dag(graph: Pdag, prefer: Iterable[tuple[str, str]] = ()) -> list[tuple[str, str]]:
    """Return the arcs of a DAG represented by a graph that has the preferred arcs.

    The arcs are fixed one after the other. For each, a DAG with all arcs fixed so far is found; the
    last one is returned, or the canonical DAG if there are no preferences.

    Parameters
    ----------
    graph
        Essential graph of a class, or an MPDAG.
    prefer
        Arcs (a, b) for a -> b. Those between nodes that are not adjacent have no effect.

    Raises
    ------
    KesError
        If the class, or the arcs fixed before, compel the opposite of an arc.
    """
    dag = graph.to_dag()
    fixed: set[tuple[str, str]] = set(graph.directed)
    for arc in prefer:
        a, b = checked_arc(arc, graph.nodes)
        if frozenset((a, b)) not in graph.skeleton:
            continue
        if (b, a) in graph.directed:
            raise KesError(
                f"the preferred arc {a} -> {b} contradicts the graph: {b} -> {a} is compelled; "
                "drop the preference",
                option="prefer",
            )
        fixed.add((a, b))
        if (a, b) not in dag:
            witness = _extension(graph, fixed)
            if witness is None:
                raise KesError(
                    f"the preferred arc {a} -> {b} contradicts those before it: together with the "
                    f"graph they compel {b} -> {a}; drop one of them",
                    option="prefer",
                )
            dag = witness
    return dag


def checked_arc(arc: tuple[str, str], nodes: Collection[str]) -> tuple[str, str]:
    """Return the arc; raise an error unless it connects two nodes."""
    if isinstance(arc, str) or len(arc) != 2:
        raise KesError(f"an arc must be a pair (from, to) of names, not {arc!r}")
    for name in arc:
        if name not in nodes:
            raise unknown("node", name, nodes)
    return arc


def _extension(graph: Pdag, fixed: set[tuple[str, str]]) -> list[tuple[str, str]] | None:
    """Return a DAG represented by the graph that has the fixed arcs; None if none has them."""
    index = {node: i for i, node in enumerate(graph.nodes)}
    taken = {frozenset(arc) for arc in fixed}
    arcs = sorted((index[a], index[b]) for a, b in fixed)
    edges = sorted((index[a], index[b]) for a, b in map(sorted, graph.undirected - taken))
    if len(taken) < len(fixed):  # both directions of an edge
        return None
    found, stuck = CoreGraph(tuple(arcs), tuple(edges)).consistent_extension(len(index))
    if stuck:
        return None
    dag = sorted((graph.nodes[a], graph.nodes[b]) for a, b in found)
    # The fixed arcs themselves may form a v-structure that the class does not have.
    return dag if EssentialGraph.from_dag(graph.nodes, dag) == graph.essential else None
