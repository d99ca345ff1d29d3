"""Graphviz layouts of graphs, independent of any drawing library.

Edges are curves that lead around the nodes: a straight line that passes behind a node reads as two
edges that do not exist. Lengths are in points, x to the right and y downwards, as on a screen.
"""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.drawing.graphviz import NODE_HEIGHT, Drawing
from kes.drawing.patchwork import Patch, patchwork
from kes.errors import KesError

Arc: TypeAlias = tuple[str, str]
Points: TypeAlias = NDArray[np.float64]

FONT_SIZE = 10.0
_PADDING = 9.0  # between the label and the sides of its box
_MAX_LABEL = 26
_MARGIN = 8.0
_MAX_ROUTED = 80
"""Nodes around which extra edges are routed; the time grows with the cube of their number."""
_GOOD_RATIO = 1.5  # width over height
_KEPT = 4096
"""Layouts that are kept to be used again."""
_MOST_EDGES = 3000
"""Edges above which Graphviz would take minutes, and soon hours."""
_EARLIER = re.compile(r"(.+)\[t-([1-9][0-9]*)\]")
"""Names of earlier values of a series."""
_WIDE_RATIO = 2.4
"""Width over height above which the layout from left to right is tried."""


class Box(NamedTuple):
    """Box of a node: its centre and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """Size of a picture, the boxes of its nodes and the curves of its edges.

    The curve of an edge (a, b) leads from the border of a to that of b. Its control points are the
    start, then three points for each cubic Bézier segment.
    """

    width: float
    height: float
    boxes: dict[str, Box]
    curves: dict[Arc, Points]

    def curve(self, a: str, b: str) -> Points:
        """Return the control points of the edge from a to b, reversed if it is that from b to a."""
        return self.curves[a, b] if (a, b) in self.curves else self.curves[b, a][::-1]


def layout(
    nodes: Sequence[str],
    edges: Sequence[Arc],
    *,
    weights: Mapping[Arc, float] | None = None,
    extra: Sequence[Arc] = (),
) -> Layout:
    """Lay out a graph in layers, edges pointing downwards where possible, by Graphviz's ``dot``.

    A graph whose layers are too wide to read is laid out from left to right, and so is one with
    earlier values, which stand in columns of their own. Weights from 0 to 1 make edges short and
    straight. Extra edges do not influence the positions of the nodes; they are routed afterwards.

    With thousands of edges, clusters are laid out side by side.
    """
    if len(edges) + len(extra) > _MOST_EDGES:
        return _of_clusters(nodes, [*edges, *extra])
    if weights is None and not extra:
        return _plain(tuple(nodes), tuple(edges))
    return _in_layers(nodes, edges, weights, extra)


@lru_cache(maxsize=_KEPT)
def _plain(nodes: tuple[str, ...], edges: tuple[Arc, ...]) -> Layout:
    """Lay out a graph once: clusters of a large one are parts of it and pictures of their own."""
    return _in_layers(nodes, edges, None, ())


def _in_layers(
    nodes: Sequence[str],
    edges: Sequence[Arc],
    weights: Mapping[Arc, float] | None,
    extra: Sequence[Arc],
) -> Layout:
    """Lay out a graph in layers by Graphviz, in the direction that is easier to read."""
    if time_slices(nodes):
        return _laid_out(nodes, edges, weights, extra, "LR")
    found = _laid_out(nodes, edges, weights, extra, "TB")
    if found.width > _WIDE_RATIO * found.height:
        other = _laid_out(nodes, edges, weights, extra, "LR")
        found = min(
            (found, other), key=lambda one: abs(math.log(one.width / one.height / _GOOD_RATIO))
        )
    return found


def _laid_out(
    nodes: Sequence[str],
    edges: Sequence[Arc],
    weights: Mapping[Arc, float] | None,
    extra: Sequence[Arc],
    direction: str,
) -> Layout:
    """Lay out a graph with edges pointing downwards ("TB") or to the right ("LR")."""
    number = {node: i for i, node in enumerate(nodes)}
    weight = {arc: 1 + round(9 * weights[arc]) if weights else 1 for arc in edges}
    drawing = Drawing(
        direction,
        widths=[round(box_width(node) / 72, 4) for node in nodes],  # inches
        edges=[(number[a], number[b], weight[a, b]) for a, b in edges],
        extra=[(number[a], number[b]) for a, b in extra],
        slices=[[number[node] for node in part] for part in time_slices(nodes)],
    )
    places, paths = drawing.positions()
    boxes = {node: _numbers(place)[0] for node, place in zip(nodes, places, strict=True)}
    arcs = [*edges, *extra]
    curves = {arc: _numbers(path) for arc, path in zip(arcs, paths, strict=True)}
    return _on_screen(boxes, curves)


def _of_clusters(nodes: Sequence[str], edges: Sequence[Arc]) -> Layout:
    """Lay out the clusters of a large graph side by side."""
    number = {node: i for i, node in enumerate(nodes)}

    def drawn(part: list[int], inside: list[tuple[int, int]]) -> Patch:
        one = layout([nodes[i] for i in part], [(nodes[a], nodes[b]) for a, b in inside])
        places = {number[name]: np.array(box) for name, box in one.boxes.items()}
        return one.width, one.height, places, {pair: one.curves[arc_of(pair)] for pair in inside}

    def arc_of(pair: tuple[int, int]) -> Arc:
        return nodes[pair[0]], nodes[pair[1]]

    sizes = [(box_width(node), NODE_HEIGHT) for node in nodes]
    arcs = [(number[a], number[b]) for a, b in edges]
    width, height, places, curves = patchwork(sizes, arcs, drawn)
    boxes = {
        nodes[i]: Box(x + _MARGIN, y + _MARGIN, own_width, own_height)
        for i, (x, y, own_width, own_height) in ((i, box.tolist()) for i, box in places.items())
    }
    moved = {arc_of(pair): points + _MARGIN for pair, points in curves.items()}
    return Layout(width + 2 * _MARGIN, height + 2 * _MARGIN, boxes, moved)


def shared_layout(
    nodes: Sequence[str],
    order: Iterable[str],
    supports: Mapping[frozenset[str], float],
    *,
    threshold: float,
) -> Layout:
    """Lay out the union of many graphs, so that nodes have the same positions in all of them.

    `order` lists the nodes from top to bottom, `supports` has the frequency of each edge {a, b}.
    Only edges with at least the frequency `threshold` influence the positions of the nodes. In a
    large graph all do: routing edges around hundreds of nodes takes too long.
    """
    if len(nodes) > _MAX_ROUTED:
        threshold = 0.0
    rank = {node: i for i, node in enumerate(order)}
    pairs = {pair: sorted(pair, key=rank.__getitem__) for pair in supports}
    arcs = {(a, b): supports[pair] for pair, (a, b) in pairs.items()}
    frequent = [arc for arc, support in arcs.items() if support >= threshold]
    rare = [arc for arc, support in arcs.items() if support < threshold]
    return layout(nodes, frequent, weights=arcs, extra=rare)


# --- labels --------------------------------------------------------------------------------------


def label(name: str) -> str:
    """Return the label of a node: its name on one line, truncated if it is long."""
    line = " ".join(name.split()) or "(blank)"
    return line if len(line) <= _MAX_LABEL else line[: _MAX_LABEL - 1] + "…"


def box_width(name: str) -> float:
    """Return the width of a node's box, enough for its label in any common sans-serif font."""
    ems = sum(map(_ems, label(name)))
    return max(34.0, FONT_SIZE * ems + 2 * _PADDING)


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
    """Shorten a curve at its end by a length, to make room for an arrowhead.

    A shorter curve keeps its first hundredth, and so its direction.
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
    """Return the part of a cubic Bézier curve up to parameter t, by de Casteljau's algorithm."""
    result, row = [piece[0]], piece
    while len(row) > 1:
        row = row[:-1] + t * (row[1:] - row[:-1])
        result.append(row[0])
    return np.array(result)


# --- Graphviz ------------------------------------------------------------------------------------


def _numbers(text: str) -> Points:
    """Read Graphviz's "x,y x,y ..." as an array of shape (points, 2)."""
    if not text:
        raise KesError("Graphviz returned no position for a node or edge; please report this")
    return np.array([[float(c) for c in pair.split(",")[:2]] for pair in text.split()])


def _on_screen(centres: Mapping[str, Points], curves: Mapping[Arc, Points]) -> Layout:
    """Flip y, and move the upper left corner of the picture to the origin."""
    sizes = {node: np.array([box_width(node), NODE_HEIGHT]) for node in centres}
    corners = [centres[node] + sign * sizes[node] / 2 for node in centres for sign in (-1, 1)]
    everything = np.vstack([*corners, *curves.values(), np.zeros((0, 2))])
    if not len(everything):
        return Layout(2 * _MARGIN, 2 * _MARGIN, {}, {})
    least, most = everything.min(axis=0), everything.max(axis=0)
    origin, flip = np.array([least[0] - _MARGIN, most[1] + _MARGIN]), np.array([1.0, -1.0])
    width, height = (most - least + 2 * _MARGIN).tolist()
    boxes = {
        node: Box(*((centre - origin) * flip).tolist(), *sizes[node].tolist())
        for node, centre in centres.items()
    }
    turned = {arc: (points - origin) * flip for arc, points in curves.items()}
    return Layout(width, height, boxes, turned)


def time_slices(nodes: Sequence[str]) -> list[list[str]]:
    """Return the nodes of each earlier time, earliest first; none if there are no earlier values.

    Examples
    --------
    >>> time_slices(["bp", "hr", "bp[t-1]", "hr[t-1]", "bp[t-2]"])
    [['bp[t-2]'], ['bp[t-1]', 'hr[t-1]']]
    """
    known, slices = set(nodes), defaultdict(list)
    for node in nodes:
        found = _EARLIER.fullmatch(node)
        if found and found[1] in known:
            slices[int(found[2])].append(node)
    return [slices[lag] for lag in sorted(slices, reverse=True)]
