"""A graph as a picture: Graphviz's layout, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kes.drawing import style
from kes.drawing.layout import FONT_SIZE, Arc, Box, Layout, Points, arrowhead
from kes.drawing.layout import label as shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCHES = 1 / 72  # a point
_LARGEST = (14.0, 10.0)
_WIDEST, _THINNEST, _USUAL = 2.8, 0.6, 1.2
_HEAD = 7.0
_OPEN = (0, (4, 1.6))  # dashes: reversible edges are told apart also without colours


def draw(
    place: Layout,
    directed: Iterable[Arc],
    undirected: Iterable[frozenset[str]],
    *,
    labels: tuple[str, str],
    supports: Mapping[frozenset[str], float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a graph: arrows for directed edges, dashed lines for others.

    Parameters
    ----------
    place
        Where nodes and edges go.
    labels
        What directed and undirected edges mean, for the legend.
    supports
        Support of each edge {a, b}, which makes it wide; None draws all edges alike.
    ax
        Where to draw; by default a new figure.
    """
    arcs, links = sorted(directed), sorted(tuple(sorted(pair)) for pair in undirected)
    ax = style.axes(ax, _size(place))
    for a, b in arcs:
        _draw_edge(ax, place.curve(a, b), _width(supports, a, b), directed=True)
    for a, b in links:
        _draw_edge(ax, place.curve(a, b), _width(supports, a, b), directed=False)
    for name, box in place.boxes.items():
        _draw_node(ax, name, box)
    width = "" if supports is None else ", width: support"
    handles = _handles(labels[0] + width if arcs else "", labels[1] + width if links else "")
    if handles:
        ax.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(0.5, 0),
            ncols=len(handles),
            frameon=False,
            handlelength=3,
        )
    ax.set_xlim(0, place.width)
    ax.set_ylim(place.height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def _size(place: Layout) -> tuple[float, float]:
    """Return the size of a figure in inches: that of the layout, unless it is too large."""
    width, height = place.width * _INCHES * 1.1 + 0.3, place.height * _INCHES * 1.1 + 0.6
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
    """Return the looks of an edge."""
    if directed:
        return {"edgecolor": style.INK}
    return {"edgecolor": style.ORANGE, "linestyle": _OPEN}


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


def _handles(directed: str, undirected: str) -> list[Any]:
    """Return the lines of the legend that have a text."""
    from matplotlib.lines import Line2D

    lines = [
        Line2D([], [], color=style.INK, marker=">", markevery=[-1], label=directed),
        Line2D([], [], color=style.ORANGE, linestyle=_OPEN, label=undirected),
    ]
    return [line for line in lines if line.get_label()]
