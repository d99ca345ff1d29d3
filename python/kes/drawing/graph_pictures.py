"""Graphs for the eye: by matplotlib, and for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kes.drawing.layout import Layout, layout
from kes.drawing.plot import draw
from kes.drawing.svg import picture
from kes.errors import KesError, unknown
from kes.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kes.graph.pdag import Pdag

SUPPORT_COLUMNS = {
    "search": "search_support",
    "weight": "relative_weight",
    "resampling": "resampling_support",
}
"""The kinds of support of an edge, and the columns that hold them in tables."""


def graph_layout(graph: Pdag) -> Layout:
    """Lay out a graph; edges without direction as in the canonical DAG of those it stands for."""
    return layout(graph.nodes, graph.to_dag())


def plot_graph(
    graph: Pdag,
    support: Table | Mapping[frozenset[str], float] | None,
    kind: str,
    ax: Axes | None,
) -> Axes:
    """Draw a graph; see `EssentialGraph.plot`."""
    return draw(
        graph_layout(graph),
        graph.directed,
        graph.undirected,
        labels=("compelled", "reversible"),
        known=graph.by_knowledge,
        supports=_edge_supports(support, kind),
        ax=ax,
    )


def _edge_supports(
    support: Table | Mapping[frozenset[str], float] | None, kind: str
) -> Mapping[frozenset[str], float] | None:
    """Return the support of each edge {a, b} from what a user may give."""
    if not isinstance(support, Table):
        return support
    if kind not in SUPPORT_COLUMNS:
        raise unknown("support", kind, SUPPORT_COLUMNS)
    column = SUPPORT_COLUMNS[kind]
    if not {"x", "y", column} <= set(support.columns):
        raise KesError(
            f"the table has no column {column!r} of supports of x and y; give optima.edges(), with "
            "stability=... for resampling support"
        )
    return {frozenset((row["x"], row["y"])): row[column] for row in support}


def graph_picture(graph: Pdag) -> str | None:
    """Return a graph as SVG, with its key; None if it is too large, or Graphviz is not at hand."""
    found = picture(
        graph.nodes, graph.to_dag(), graph.directed, graph.undirected, graph.by_knowledge
    )
    return None if found is None else found + _key(graph)


def _key(graph: Pdag) -> str:
    """Say what the kinds of edges in a picture mean."""
    text = "Arrows are compelled: all networks of the class have them. Dashed edges are reversible."
    if graph.by_knowledge:
        text += " Dotted arrows have their direction from the knowledge."
    return f'<p style="font-size: smaller; opacity: 0.8">{text}</p>'


def graph_html(graph: Pdag) -> str:
    """Return the picture of a graph, or a table of its edges."""
    found, known = graph_picture(graph), len(graph.by_knowledge)
    kinds = [f"{len(graph.directed) - known} compelled"]
    kinds += [f"{known} directed by knowledge"] * bool(known)
    counts = (
        f"<p>{graph.title}: {len(graph.nodes)} nodes, {', '.join(kinds)} and "
        f"{len(graph.undirected)} reversible edges</p>"
    )
    return counts + (_edge_table(graph)._repr_html_() if found is None else found)


def _edge_table(graph: Pdag) -> Table:
    arcs = [(a, "->", b) for a, b in sorted(graph.directed)]
    links = [(*sorted(pair), "-") for pair in sorted(graph.undirected, key=sorted)]
    rows = [*arcs, *((a, mark, b) for a, b, mark in links)]
    return Table({name: [row[i] for row in rows] for i, name in enumerate(("from", "", "to"))})
