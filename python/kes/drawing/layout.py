"""Where the nodes and edges of a picture go: Graphviz layouts, free of any drawing library.

Edges are curves that lead around the nodes. Straight lines between layered nodes would pass behind
others, and an edge that vanishes behind a node reads as two edges that are not there.

Lengths are in points, x to the right and y downwards, as on a screen.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.errors import KesError, not_installed

Arc: TypeAlias = tuple[str, str]
Points: TypeAlias = NDArray[np.float64]

FONT_SIZE = 10.0
_NODE_HEIGHT = 22.0
_SIDE = 9.0  # between the label and the sides of its box
_LONGEST_LABEL = 26
_MARGIN = 8.0
_POINTS_PER_INCH = 72.0
_MOST_ROUTED = 80
"""Nodes around which further edges are led; the time grows with the cube of their number."""
_SHAPE = 1.5  # width over height of a good picture
_WIDE = 2.4
"""Width over height from which on another direction is tried."""


class Box(NamedTuple):
    """A node: the centre of its box, and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """Places of nodes and edges.

    Attributes
    ----------
    width, height : float
        Size of the picture.
    boxes : dict
        The box of each node.
    curves : dict
        For each edge (a, b) the control points of a curve from the border of a to that of b: a
        start, and then three points for each cubic Bézier piece.
    """

    width: float
    height: float
    boxes: dict[str, Box]
    curves: dict[Arc, Points]

    def curve(self, a: str, b: str) -> Points:
        """Return the control points of the edge from a to b, whichever way it was laid out."""
        return self.curves[a, b] if (a, b) in self.curves else self.curves[b, a][::-1]


def layout(
    nodes: Sequence[str],
    edges: Sequence[Arc],
    *,
    weights: Mapping[Arc, float] | None = None,
    extra: Sequence[Arc] = (),
) -> Layout:
    """Lay out a graph in layers, edges pointing downwards where possible, by Graphviz's ``dot``.

    A graph with layers so wide that nobody could read it is laid out from left to right.

    Parameters
    ----------
    nodes
        The nodes.
    edges
        The edges, each from the node that belongs above to the one below.
    weights
        How short and straight an edge should be, from 0 to 1.
    extra
        Edges that have no say in where the nodes go. They are led around the nodes afterwards.

    Raises
    ------
    KesError
        If pygraphviz is not installed.
    """
    found = _laid_out(nodes, edges, weights, extra, "TB")
    if found.width > _WIDE * found.height:
        sideways = _laid_out(nodes, edges, weights, extra, "LR")
        found = min(found, sideways, key=lambda one: abs(math.log(one.width / one.height / _SHAPE)))
    return found


def _laid_out(
    nodes: Sequence[str],
    edges: Sequence[Arc],
    weights: Mapping[Arc, float] | None,
    extra: Sequence[Arc],
    direction: str,
) -> Layout:
    """Lay out a graph with edges pointing downwards ("TB") or to the right ("LR")."""
    # Graphviz only sees numbers, as some characters mean something in its names and labels.
    number = {node: str(i) for i, node in enumerate(nodes)}
    drawing = _empty_drawing(direction)
    for node in nodes:
        drawing.add_node(number[node], width=_inches(box_width(node)))
    for a, b in edges:
        weight = 1 + round(9 * weights[a, b]) if weights else 1
        drawing.add_edge(number[a], number[b], weight=weight)
    drawing.layout("dot")
    if extra:
        drawing.add_edges_from((number[a], number[b]) for a, b in extra)
        drawing.layout("nop2")  # keeps what has a place
    boxes = {node: _numbers(drawing.get_node(number[node]).attr["pos"])[0] for node in nodes}
    curves = {
        (a, b): _numbers(drawing.get_edge(number[a], number[b]).attr["pos"])
        for a, b in (*edges, *extra)
    }
    return _on_screen(boxes, curves)


def shared_layout(
    nodes: Sequence[str],
    order: Iterable[str],
    supports: Mapping[frozenset[str], float],
    *,
    threshold: float,
) -> Layout:
    """Lay out many graphs in one picture, in which each node keeps its place.

    Parameters
    ----------
    nodes
        The nodes.
    order
        The nodes from top to bottom, as far as the edges allow.
    supports
        How frequent each edge {a, b} is, from 0 to 1.
    threshold
        Only edges that are at least so frequent have a say in where the nodes go. In a large
        graph all have: to lead edges around hundreds of nodes takes too long.
    """
    if len(nodes) > _MOST_ROUTED:
        threshold = 0.0
    rank = {node: i for i, node in enumerate(order)}
    arcs: dict[Arc, float] = {}
    for pair, support in supports.items():
        a, b = sorted(pair, key=rank.__getitem__)
        arcs[a, b] = support
    frequent = [arc for arc, support in arcs.items() if support >= threshold]
    rare = [arc for arc, support in arcs.items() if support < threshold]
    return layout(nodes, frequent, weights=arcs, extra=rare)


# --- labels --------------------------------------------------------------------------------------


def label(name: str) -> str:
    """Return the name as it is written into its box: on one line, and cut if it is long."""
    line = " ".join(name.split()) or "(blank)"
    return line if len(line) <= _LONGEST_LABEL else line[: _LONGEST_LABEL - 1] + "…"


def box_width(name: str) -> float:
    """Return the width of the box of a node, enough for its label in any usual sans-serif."""
    ems = sum(map(_ems, label(name)))
    return max(34.0, FONT_SIZE * ems + 2 * _SIDE)


def _ems(character: str) -> float:
    """Return the width of a character in units of the font size, rounded up."""
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in "MWmw@%…":
        return 0.92
    if character in "ijlI.,:;'|!()[] ":
        return 0.36
    return 0.72 if character.isupper() else 0.62


# --- curves --------------------------------------------------------------------------------------


def cut(points: Points, length: float) -> Points:
    """Take a piece off the end of a curve, which makes room for an arrowhead.

    Returns
    -------
    ndarray
        Control points of the rest, which ends `length` away from the old end. A curve shorter than
        that keeps its first hundredth, and so its direction.
    """
    tip = points[-1]
    start = len(points) - 4
    while start > 0 and np.hypot(*(points[start] - tip)) < length:
        start -= 3
    piece = points[start : start + 4]
    low, high = 0.01, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        near = np.hypot(*(_split(piece, middle)[-1] - tip)) < length
        low, high = (low, middle) if near else (middle, high)
    return np.concatenate([points[:start], _split(piece, low)])


def arrowhead(points: Points, length: float, width: float) -> tuple[Points, Points]:
    """Return the curve without the piece under its arrowhead, and the corners of the arrowhead."""
    rest, tip = cut(points, length), points[-1]
    along = tip - rest[-1]
    across = np.array([-along[1], along[0]]) / max(np.hypot(*along), 1e-9) * width / 2
    return rest, np.array([tip, rest[-1] + across, rest[-1] - across])


def _split(piece: Points, t: float) -> Points:
    """Return the part of a cubic Bézier curve up to parameter t, by the method of de Casteljau."""
    result, row = [piece[0]], piece
    while len(row) > 1:
        row = row[:-1] + t * (row[1:] - row[:-1])
        result.append(row[0])
    return np.array(result)


# --- Graphviz ------------------------------------------------------------------------------------


def _empty_drawing(direction: str) -> Any:  # noqa: ANN401 - pygraphviz has no types
    try:
        import pygraphviz
    except ImportError:
        raise not_installed("pygraphviz") from None
    drawing = pygraphviz.AGraph(directed=True, strict=False)
    drawing.graph_attr.update(rankdir=direction, nodesep=0.22, ranksep=0.36, splines="true")
    drawing.node_attr.update(shape="box", label="", fixedsize="true", height=_inches(_NODE_HEIGHT))
    drawing.edge_attr.update(dir="none")  # curves from border to border; arrowheads are ours
    return drawing


def _inches(points: float) -> float:
    return round(points / _POINTS_PER_INCH, 4)


def _numbers(text: str | None) -> Points:
    """Read Graphviz's "x,y x,y ..." as an array of shape (points, 2)."""
    if not text:
        raise KesError("Graphviz gave no place to a node or edge; please report this")
    return np.array([[float(c) for c in pair.split(",")[:2]] for pair in text.split()])


def _on_screen(centres: Mapping[str, Points], curves: Mapping[Arc, Points]) -> Layout:
    """Turn y downwards and put the corner of all that is drawn at the origin."""
    sizes = {node: np.array([box_width(node), _NODE_HEIGHT]) for node in centres}
    corners = [centres[node] + sign * sizes[node] / 2 for node in centres for sign in (-1, 1)]
    everything = np.vstack([*corners, *curves.values(), np.zeros((0, 2))])
    if not len(everything):
        return Layout(2 * _MARGIN, 2 * _MARGIN, {}, {})
    least, most = everything.min(axis=0), everything.max(axis=0)
    origin, flip = np.array([least[0] - _MARGIN, most[1] + _MARGIN]), np.array([1.0, -1.0])
    width, height = (most - least + 2 * _MARGIN).tolist()
    boxes = {}
    for node, centre in centres.items():
        x, y = ((centre - origin) * flip).tolist()
        boxes[node] = Box(x, y, *sizes[node].tolist())
    return Layout(
        width, height, boxes, {arc: (points - origin) * flip for arc, points in curves.items()}
    )
