"""Graphs drawn by matplotlib, on a Graphviz layout."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kes.drawing import style
from kes.drawing.layout import FONT_SIZE, Arc, Box, Layout, Points, arrowhead, label
from kes.errors import KesError, unknown
from kes.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCHES = 1 / 72  # a point
_LARGEST = (14.0, 10.0)
_LEGEND = (2.8, 0.25)  # inches of an entry
_WIDEST, _THINNEST, _USUAL = 2.8, 0.6, 1.2
_HEAD = 7.0
_DASHED = (0, (4, 1.6))  # so that reversible edges also differ in greyscale
_DOTTED = (0, (1.2, 1.2))

SUPPORT_COLUMNS = {
    "search": "search_support",
    "weight": "relative_weight",
    "resampling": "resampling_support",
}
"""The kinds of support of an edge, and the columns of tables that hold them."""

STRENGTH_COLUMNS = {**SUPPORT_COLUMNS, "evidence": "evidence"}
"""All that widths of edges can show, and the columns of tables that hold it."""

FULL_WIDTH = 30.0
"""Evidence in nats from which an edge has its full width."""


def evidence_width(nats: float | None) -> float:
    """Return the share of the full width for some evidence; the root keeps weak edges apart.

    Examples
    --------
    >>> [round(evidence_width(nats), 2) for nats in (-4.0, 5.0, 10.0, 500.0)]
    [0.0, 0.41, 0.58, 1.0]
    """
    return math.sqrt(min(max(nats or 0.0, 0.0) / FULL_WIDTH, 1.0))


def edge_widths(
    support: Table | Mapping[frozenset[str], float] | None, kind: str | None
) -> Mapping[frozenset[str], float] | None:
    """Return the share of the full width of each edge {a, b} from a table or a mapping."""
    if not isinstance(support, Table):
        return support
    kind = strength_kind(support, kind)
    if kind not in STRENGTH_COLUMNS:
        raise unknown("support", kind, STRENGTH_COLUMNS, option="kind")
    column = STRENGTH_COLUMNS[kind]
    if not {"x", "y", column} <= set(support.columns):
        raise KesError(
            f"the table of supports has no columns x, y and {column}; pass optima.edges(), with "
            "stability=... for resampling support",
            option="support",
            column=column,
        )
    width = evidence_width if kind == "evidence" else float
    return {frozenset((row["x"], row["y"])): width(row[column]) for row in support}


def strength_kind(
    support: Table | Mapping[frozenset[str], float] | None, kind: str | None = None
) -> str:
    """Return the measure that widths show: evidence, if there is any, or the one requested."""
    has_evidence = isinstance(support, Table) and "evidence" in support.columns
    return kind or ("evidence" if has_evidence else "search")


def draw(
    place: Layout,
    directed: Iterable[Arc],
    undirected: Iterable[frozenset[str]],
    *,
    labels: tuple[str, str],
    by_knowledge: Collection[Arc] = (),
    exogenous: Collection[str] = (),
    widths: Mapping[frozenset[str], float] | None = None,
    of: str = "support",
    ax: Axes | None = None,
) -> Axes:
    """Draw directed edges as arrows, dotted if directed by knowledge, others as dashed lines.

    `labels` are the legend entries of directed and undirected edges. `widths` are shares of the
    full width for edges {a, b}, and `of` is what they show. Exogenous nodes are grey.
    """
    arcs, links = sorted(directed), sorted(tuple(sorted(pair)) for pair in undirected)
    width = "" if widths is None else f", width: {of}"
    entries = {
        "directed": labels[0] if len(arcs) > len(by_knowledge) else "",
        "by knowledge": "by knowledge" if by_knowledge else "",
        "undirected": labels[1] if links else "",
    }
    texts = {look: text + width for look, text in entries.items() if text}
    size = _size(place)
    columns = len(texts) if size[0] >= _LEGEND[0] * len(texts) else 1
    ax = style.axes(ax, (size[0], size[1] + _LEGEND[1] * (len(texts) - columns)))
    looks = ["by knowledge" if arc in by_knowledge else "directed" for arc in arcs]
    looks += ["undirected"] * len(links)
    for (a, b), look in zip([*arcs, *links], looks, strict=True):
        share = None if widths is None else widths.get(frozenset((a, b)), 0.0)
        _draw_edge(ax, place.curve(a, b), share, look)
    for name, box in place.boxes.items():
        _draw_node(ax, name, box, given=name in exogenous)
    if texts:
        from matplotlib.lines import Line2D

        tips: dict[str, Any] = {look: {"marker": ">", "markevery": [-1]} for look in texts}
        tips["undirected"] = {}
        lines = [Line2D([], [], label=texts[look], **_LOOKS[look], **tips[look]) for look in texts]
        below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0)}
        ax.legend(handles=lines, ncols=columns, frameon=False, handlelength=3, **below)
    ax.set_xlim(0, place.width)
    ax.set_ylim(place.height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def _size(place: Layout) -> tuple[float, float]:
    """Return the size of a figure in inches: that of the layout, scaled down if too large."""
    width, height = place.width * _INCHES * 1.1 + 0.3, place.height * _INCHES * 1.1 + 0.6
    scale = min(1.0, _LARGEST[0] / width, _LARGEST[1] / height)
    return max(3.0, width * scale), max(1.5, height * scale)


_LOOKS: dict[str, dict[str, Any]] = {
    "directed": {"color": style.INK, "linestyle": "solid"},
    "by knowledge": {"color": style.GREEN, "linestyle": _DOTTED},
    "undirected": {"color": style.ORANGE, "linestyle": _DASHED},
}


def _draw_edge(ax: Axes, points: Points, share: float | None, look: str) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    width = _USUAL if share is None else _THINNEST + (_WIDEST - _THINNEST) * share
    color, linestyle = _LOOKS[look]["color"], _LOOKS[look]["linestyle"]
    if look != "undirected":
        points, corners = arrowhead(points, _HEAD + 1.2 * width, 0.8 * _HEAD + 1.2 * width)
        ax.add_patch(Polygon(corners, closed=True, facecolor=color, linewidth=0, zorder=2))
    codes = [Path.MOVETO, *[Path.CURVE4] * (len(points) - 1)]
    line = {"edgecolor": color, "linestyle": linestyle, "linewidth": width}
    ax.add_patch(PathPatch(Path(points, codes), fill=False, zorder=1, **line))


def _draw_node(ax: Axes, name: str, box: Box, *, given: bool) -> None:
    from matplotlib.patches import FancyBboxPatch, PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    at = (box.x - box.width / 2, box.y - box.height / 2)
    fill, line = style.GIVEN_BOX if given else style.BOX
    look: dict[str, Any] = {"facecolor": fill, "edgecolor": line, "linewidth": 0.9, "zorder": 3}
    rounded = "round,pad=0,rounding_size=5"
    ax.add_patch(FancyBboxPatch(at, box.width, box.height, boxstyle=rounded, **look))
    # Outlines of text keep their size relative to the box when the picture is resized.
    text = TextPath((0, 0), label(name).replace("$", r"\$"), size=FONT_SIZE)
    extent = text.get_extents()
    scale = min(1.0, (box.width - 6) / max(extent.width, 1e-9))
    middle = FONT_SIZE * 0.36 * scale  # half the height of a capital letter
    place = (
        Affine2D()
        .translate(-(extent.x0 + extent.x1) / 2, 0)
        .scale(scale, -scale)
        .translate(box.x, box.y + middle)
    )
    ax.add_patch(PathPatch(place.transform_path(text), color=style.INK, linewidth=0, zorder=4))
