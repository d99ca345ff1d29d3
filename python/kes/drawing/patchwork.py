"""Layouts of graphs that are too large for Graphviz: clusters side by side.

The time of Graphviz grows faster than the square of the number of edges: with thousands of them it
takes hours. Each cluster is laid out by itself, edges between them are straight, and nodes without
edges stand in a grid. Nobody can read such a picture as a whole, but its parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.drawing.clusters import clusters

Arc: TypeAlias = tuple[int, int]
Places: TypeAlias = dict[int, NDArray[np.float64]]
"""The centre, width and height of the box of each node."""
Curves: TypeAlias = dict[Arc, NDArray[np.float64]]
Patch: TypeAlias = tuple[float, float, Places, Curves]
"""Width and height of a picture, its boxes and its curves."""

_GAP = 14.0
_RATIO = 1.4  # width over height


def parts_with_edges(n: int, edges: Iterable[Arc]) -> Iterator[tuple[list[int], list[Arc]]]:
    """Yield the clusters of a graph, each with the edges within it; the last may have none."""
    edges = list(edges)
    parts = clusters(n, edges)
    part_of = {node: i for i, part in enumerate(parts) for node in part}
    inside: list[list[Arc]] = [[] for _ in parts]
    for a, b in edges:
        if part_of[a] == part_of[b]:
            inside[part_of[a]].append((a, b))
    return zip(parts, map(sorted, inside), strict=True)


def patchwork(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[Arc],
    drawn: Callable[[list[int], list[Arc]], Patch],
) -> Patch:
    """Return a picture of the nodes 0, 1, ... with these sizes, whose clusters are `drawn`."""
    patches = []
    for part, inside in parts_with_edges(len(sizes), edges):
        alone = [_alone(node, *sizes[node]) for node in part]
        patches.append(drawn(part, inside) if inside else _on_shelves(alone))
    width, height, places, curves = _on_shelves(patches)
    for a, b in edges:
        if (a, b) not in curves:
            curves[a, b] = _straight(places[a], places[b])
    return width, height, places, curves


def _alone(node: int, width: float, height: float) -> Patch:
    return width, height, {node: np.array([width / 2, height / 2, width, height])}, {}


def _on_shelves(patches: Sequence[Patch]) -> Patch:
    """Put pictures side by side in rows of about the same width."""
    area = sum((width + _GAP) * (height + _GAP) for width, height, *_ in patches)
    widest = max([math.sqrt(_RATIO * area), *(patch[0] for patch in patches)])
    x = y = shelf = right = 0.0
    places: Places = {}
    curves: Curves = {}
    for width, height, own, lines in patches:
        if x and x + width > widest:
            x, y, shelf = 0.0, y + shelf + _GAP, 0.0
        corner = np.array([x, y])
        places |= {node: np.r_[box[:2] + corner, box[2:]] for node, box in own.items()}
        curves |= {arc: points + corner for arc, points in lines.items()}
        x, shelf, right = x + width + _GAP, max(shelf, height), max(right, x + width)
    return right, y + shelf, places, curves


def _straight(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the control points of a line from the border of a box to that of another."""
    way = b[:2] - a[:2]

    def share(box: NDArray[np.float64]) -> float:
        """Return the part of the way that is within a box."""
        half = box[2:] / 2
        return float(min(0.5, *(half[i] / abs(way[i]) for i in (0, 1) if abs(way[i]) > 1e-9)))

    start, end = a[:2] + share(a) * way, b[:2] - share(b) * way
    return np.array([start + t * (end - start) for t in (0, 1 / 3, 2 / 3, 1)])
