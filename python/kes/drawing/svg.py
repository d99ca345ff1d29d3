"""Graphs as SVG and HTML for notebooks, readable on light and dark pages."""

from collections.abc import Collection, Sequence
from html import escape
from importlib.util import find_spec

from kes.drawing import style
from kes.drawing.layout import FONT_SIZE, Arc, Box, Layout, Points, arrowhead, label, layout

_LINE = "#64748b"
_HEAD = 8.0
_MIN_WIDTH = 600.0
"""Width in pixels down to which a large picture is scaled; below, it scrolls."""
_MAX_EDGES = 300
"""Edges of the largest graph that is drawn: larger ones are unreadable, and slow to lay out."""


def picture(
    nodes: Sequence[str],
    downwards: Sequence[Arc],
    directed: Collection[Arc],
    undirected: Collection[frozenset[str]] = (),
    by_knowledge: Collection[Arc] = (),
    *,
    exogenous: Collection[str] = (),
) -> str | None:
    """Return an SVG element; None if the graph is too large or Graphviz is missing.

    `downwards` has all edges, each from the upper to the lower node. Undirected ones are dashed,
    those directed by knowledge dotted. The boxes of exogenous nodes are grey.
    """
    if len(downwards) > _MAX_EDGES or find_spec("pygraphviz") is None:
        return None
    place = layout(nodes, downwards)
    arcs = [_arc(place, a, b, known=(a, b) in by_knowledge) for a, b in sorted(directed)]
    links = [_link(place, *sorted(pair)) for pair in sorted(undirected, key=sorted)]
    boxes = [_node(name, box, given=name in exogenous) for name, box in place.boxes.items()]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="graph" '
        f'viewBox="0 0 {place.width:.0f} {place.height:.0f}" '
        f'style="width: 100%; min-width: {min(place.width, _MIN_WIDTH):.0f}px; '
        f'max-width: {place.width:.0f}px; height: auto">'
        f'<g fill="none" stroke-width="1.3" stroke="{_LINE}">{"".join([*arcs, *links])}</g>'
        f'<g font-family="system-ui, sans-serif" font-size="{FONT_SIZE:g}" text-anchor="middle">'
        f"{''.join(boxes)}</g></svg>"
    )


def path(points: Points) -> str:
    """Return the control points of a curve as SVG path data."""
    start, *rest = (f"{x:.1f} {y:.1f}" for x, y in points)
    return f"M{start}C{' '.join(rest)}"


def _arc(place: Layout, a: str, b: str, *, known: bool) -> str:
    rest, corners = arrowhead(place.curve(a, b), _HEAD, 0.8 * _HEAD)
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    title = f"{a} -> {b}, by knowledge" if known else f"{a} -> {b}"
    look = f' stroke="{style.GREEN}" stroke-width="1.6" stroke-dasharray="2 2"' if known else ""
    return (
        f'<g><title>{escape(title)}</title><path d="{path(rest)}"{look}/>'
        f'<polygon points="{head}" fill="{style.GREEN if known else _LINE}" stroke="none"/></g>'
    )


def _link(place: Layout, a: str, b: str) -> str:
    return (
        f"<g><title>{escape(f'{a} - {b}')}</title>"
        f'<path d="{path(place.curve(a, b))}" stroke="{style.ORANGE}" stroke-dasharray="6 3"/></g>'
    )


def _node(name: str, box: Box, *, given: bool) -> str:
    x, y = box.x - box.width / 2, box.y - box.height / 2
    fill, line = style.GIVEN_BOX if given else style.BOX
    return (
        f"<g><title>{escape(name)}</title>"
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="5" fill="{fill}" stroke="{line}"/>'
        f'<text x="{box.x:.1f}" y="{box.y + 3.6:.1f}" fill="#1f2933">{escape(label(name))}</text>'
        "</g>"
    )
