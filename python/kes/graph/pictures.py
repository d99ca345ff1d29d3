"""An essential graph for the eye: by matplotlib, and for notebooks."""

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

    from kes.graph.essential import EssentialGraph

SUPPORT_COLUMNS = {
    "search": "search_support",
    "weight": "relative_weight",
    "resampling": "resampling_support",
}
"""The kinds of support of an edge, and the columns that hold them in tables."""

KEY = (
    '<p style="font-size: smaller; opacity: 0.8">Arrows are compelled: all networks of the class '
    "have them. Dashed edges are reversible.</p>"
)
"""What the two kinds of edges in a picture mean."""


def graph_layout(graph: EssentialGraph) -> Layout:
    """Lay out an essential graph; edges without direction as in the canonical DAG of the class."""
    return layout(graph.nodes, graph.to_dag())


def plot_graph(
    graph: EssentialGraph,
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


def graph_picture(graph: EssentialGraph) -> str | None:
    """Return a graph as SVG; None if it is too large, or Graphviz is not at hand."""
    return picture(graph.nodes, graph.to_dag(), graph.directed, graph.undirected)


def graph_html(graph: EssentialGraph) -> str:
    """Return the picture of an essential graph, or a table of its edges."""
    found = graph_picture(graph)
    counts = (
        f"<p>Essential graph: {len(graph.nodes)} nodes, {len(graph.directed)} compelled and "
        f"{len(graph.undirected)} reversible edges</p>"
    )
    return counts + (_edge_table(graph)._repr_html_() if found is None else found + KEY)


def _edge_table(graph: EssentialGraph) -> Table:
    arcs = [(a, "->", b) for a, b in sorted(graph.directed)]
    links = [(*sorted(pair), "-") for pair in sorted(graph.undirected, key=sorted)]
    rows = [*arcs, *((a, mark, b) for a, b, mark in links)]
    return Table({name: [row[i] for row in rows] for i, name in enumerate(("from", "", "to"))})
