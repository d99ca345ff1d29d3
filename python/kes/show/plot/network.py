"""A graph as a picture: Graphviz's layout, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kes.analysis.support import COLUMNS
from kes.errors import KesError, unknown
from kes.show.layout import (
    FONT_SIZE,
    Box,
    Layout,
    Points,
    arrowhead,
    consensus_layout,
    graph_layout,
)
from kes.show.layout import label as shortened
from kes.show.plot import style
from kes.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kes.analysis.support import ConsensusGraph
    from kes.graph import EssentialGraph

_INCHES = 1 / 72  # a point
_LARGEST = (14.0, 10.0)
_WIDEST, _THINNEST, _USUAL = 2.8, 0.6, 1.2
_HEAD = 7.0


def plot_graph(
    graph: EssentialGraph | ConsensusGraph,
    supports: Mapping[frozenset[str], float] | None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a graph; see `EssentialGraph.plot`.

    Parameters
    ----------
    supports
        Support of each edge {a, b}; None draws all edges alike.
    """
    from kes.graph import EssentialGraph

    essential = isinstance(graph, EssentialGraph)
    layout = graph_layout(graph) if isinstance(graph, EssentialGraph) else consensus_layout(graph)
    ax = style.axes(ax, _size(layout))
    for a, b in sorted(graph.directed):
        _draw_edge(ax, layout.curve(a, b), _width(supports, a, b), directed=True)
    for a, b in sorted(tuple(sorted(pair)) for pair in graph.undirected):
        _draw_edge(ax, layout.curve(a, b), _width(supports, a, b), directed=False)
    for name, box in layout.boxes.items():
        _draw_node(ax, name, box)
    handles = list(_legend(graph, essential, supports is not None))
    if handles:
        ax.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(0.5, 0),
            ncols=len(handles),
            frameon=False,
            handlelength=3,
        )
    ax.set_xlim(0, layout.width)
    ax.set_ylim(layout.height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def edge_supports(
    support: Table | Mapping[frozenset[str], float] | None, kind: str
) -> Mapping[frozenset[str], float] | None:
    """Return the support of each edge {a, b} from what a user may give."""
    if not isinstance(support, Table):
        return support
    if kind not in COLUMNS:
        raise unknown("support", kind, COLUMNS)
    column = COLUMNS[kind]
    if not {"x", "y", column} <= set(support.columns):
        raise KesError(
            f"the table has no column {column!r} of supports of x and y; give optima.edges(), with "
            "stability=... for resampling support"
        )
    return {frozenset((row["x"], row["y"])): row[column] for row in support}


def _size(layout: Layout) -> tuple[float, float]:
    """Return the size of a figure in inches: that of the layout, unless it is too large."""
    width, height = layout.width * _INCHES * 1.1 + 0.3, layout.height * _INCHES * 1.1 + 0.6
    scale = min(1.0, _LARGEST[0] / width, _LARGEST[1] / height)
    return max(3.0, width * scale), max(1.5, height * scale)


def _width(supports: Mapping[frozenset[str], float] | None, a: str, b: str) -> float:
    if supports is None:
        return _USUAL
    return _THINNEST + (_WIDEST - _THINNEST) * supports.get(frozenset((a, b)), 0.0)


def _draw_edge(ax: Axes, points: Points, width: float, *, directed: bool) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    if directed:
        points, corners = arrowhead(points, _HEAD + 1.2 * width, 0.8 * _HEAD + 1.2 * width)
        ax.add_patch(Polygon(corners, closed=True, facecolor=style.INK, linewidth=0, zorder=2))
    codes = [Path.MOVETO, *[Path.CURVE4] * (len(points) - 1)]
    ax.add_patch(
        PathPatch(Path(points, codes), fill=False, linewidth=width, zorder=1, **_line(directed))
    )


def _line(directed: bool) -> dict[str, Any]:
    """Return the looks of an edge: reversible ones are told apart also without colours."""
    if directed:
        return {"edgecolor": style.INK}
    return {"edgecolor": style.ORANGE, "linestyle": (0, (4, 1.6))}


def _draw_node(ax: Axes, name: str, box: Box) -> None:
    from matplotlib.patches import FancyBboxPatch, PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    corner = (box.x - box.width / 2, box.y - box.height / 2)
    ax.add_patch(
        FancyBboxPatch(
            corner,
            box.width,
            box.height,
            boxstyle="round,pad=0,rounding_size=5",
            facecolor="#eef4f9",
            edgecolor=style.BLUE,
            linewidth=0.9,
            zorder=3,
        )
    )
    # Text as outlines keeps its size relative to the box, at whatever size the picture is shown.
    text = TextPath((0, 0), shortened(name).replace("$", r"\$"), size=FONT_SIZE)
    extent = text.get_extents()
    scale = min(1.0, (box.width - 6) / max(extent.width, 1e-9))
    middle = FONT_SIZE * 0.36 * scale  # half the height of a capital, whatever the letters
    place = (
        Affine2D()
        .translate(-(extent.x0 + extent.x1) / 2, 0)
        .scale(scale, -scale)
        .translate(box.x, box.y + middle)
    )
    ax.add_patch(PathPatch(place.transform_path(text), color=style.INK, linewidth=0, zorder=4))


def _legend(
    graph: EssentialGraph | ConsensusGraph, essential: bool, has_support: bool
) -> Iterator[Any]:
    from matplotlib.lines import Line2D

    width = ", width: support" if has_support else ""
    if graph.directed:
        text = ("compelled" if essential else "directed") + width
        yield Line2D([], [], color=style.INK, marker=">", markevery=[-1], label=text)
    if graph.undirected:
        text = ("reversible" if essential else "no clear direction") + width
        yield Line2D([], [], color=style.ORANGE, linestyle=(0, (4, 1.6)), label=text)
