"""A graph as an SVG picture for notebooks; it stands on light and on dark pages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape
from importlib.util import find_spec

from kes.drawing.layout import FONT_SIZE, Arc, Box, Layout, Points, arrowhead, label, layout

_LINE = "#64748b"
_OPEN = "#d55e00"
_KNOWN = "#009e73"
_HEAD = 8.0
_LEGIBLE = 600.0
"""Width in pixels below which a large picture is not shrunk, but scrolled."""
_MOST_EDGES = 300
"""Edges of the largest graph that a notebook draws: a larger one is a blot, and takes long."""


def picture(
    nodes: Sequence[str],
    downwards: Sequence[Arc],
    directed: Collection[Arc],
    undirected: Collection[frozenset[str]] = (),
    known: Collection[Arc] = (),
) -> str | None:
    """Return the picture of a graph; None if it is too large, or Graphviz is not at hand.

    Parameters
    ----------
    downwards
        All edges, each from the node that belongs above to the one below.
    directed, undirected
        The same edges as they are drawn.
    known
        Directed edges that have their direction from knowledge.
    """
    if not _can_draw(len(downwards)):
        return None
    return drawn(layout(nodes, downwards), directed, undirected, known)


def _can_draw(edges: int) -> bool:
    return edges <= _MOST_EDGES and find_spec("pygraphviz") is not None


def drawn(
    place: Layout,
    directed: Iterable[Arc],
    undirected: Iterable[frozenset[str]],
    known: Collection[Arc] = (),
) -> str:
    """Return the picture of a graph as an SVG element.

    Edges in `undirected` are dashed and without an arrowhead, those in `known` dotted.
    """
    arcs = [_arc(place, a, b, known=(a, b) in known) for a, b in sorted(directed)]
    links = [_link(place, *sorted(pair)) for pair in sorted(undirected, key=sorted)]
    nodes = [_node(name, box) for name, box in place.boxes.items()]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="graph" '
        f'viewBox="0 0 {place.width:.0f} {place.height:.0f}" '
        f'style="width: 100%; min-width: {min(place.width, _LEGIBLE):.0f}px; '
        f'max-width: {place.width:.0f}px; height: auto">'
        f'<g fill="none" stroke-width="1.3" stroke="{_LINE}">{"".join([*arcs, *links])}</g>'
        f'<g font-family="system-ui, sans-serif" font-size="{FONT_SIZE:g}" text-anchor="middle">'
        f"{''.join(nodes)}</g></svg>"
    )


def path(points: Points) -> str:
    """Return the control points of a curve as path data."""
    start, *rest = (f"{x:.1f} {y:.1f}" for x, y in points)
    return f"M{start}C{' '.join(rest)}"


def _arc(place: Layout, a: str, b: str, *, known: bool) -> str:
    rest, corners = arrowhead(place.curve(a, b), _HEAD, 0.8 * _HEAD)
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    title = f"{a} -> {b}, by knowledge" if known else f"{a} -> {b}"
    look = f' stroke="{_KNOWN}" stroke-width="1.6" stroke-dasharray="2 2"' if known else ""
    return (
        f'<g><title>{escape(title)}</title><path d="{path(rest)}"{look}/>'
        f'<polygon points="{head}" fill="{_KNOWN if known else _LINE}" stroke="none"/></g>'
    )


def _link(place: Layout, a: str, b: str) -> str:
    return (
        f"<g><title>{escape(f'{a} - {b}')}</title>"
        f'<path d="{path(place.curve(a, b))}" stroke="{_OPEN}" stroke-dasharray="6 3"/></g>'
    )


def _node(name: str, box: Box) -> str:
    x, y = box.x - box.width / 2, box.y - box.height / 2
    return (
        f"<g><title>{escape(name)}</title>"
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="5" fill="#eef4f9" stroke="#0072b2"/>'
        f'<text x="{box.x:.1f}" y="{box.y + 3.6:.1f}" fill="#1f2933">{escape(label(name))}</text>'
        "</g>"
    )
