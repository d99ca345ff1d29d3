"""The result of `make demo`: the best network beside all local optima."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape

import numpy as np
import pygraphviz
from canvas import Box, Theme, document, text, text_width

import kes
from kes.drawing.layout import arrowhead
from kes.drawing.svg import path

NODE_FONT = 8.6
NETWORK = Box(14, 52, 552, 470)
MAP = Box(606, 54, 816, 290)


def demo() -> kes.Optima:
    """Learn what `make demo` learns."""
    return kes.learn(kes.datasets.alarm(), k=0.8, runs=100, random_state=0)


def demo_picture(optima: kes.Optima, theme: Theme) -> str:
    """Draw the best network beside the local optima."""
    best = optima.best.graph
    title = f"{len(best.nodes)} variables, {len(best.skeleton)} edges: the best network"
    parts = [
        text(NETWORK.left, 26, "The best network", theme.ink, 14, more=' font-weight="600"'),
        text(NETWORK.left, 42, _described(optima), theme.soft),
        text(MAP.left - 26, 26, "All local optima", theme.ink, 14, more=' font-weight="600"'),
        text(MAP.left - 26, 42, f"{len(optima)} networks: BIC and distance", theme.soft),
        *_network(optima, theme),
        *_map(optima, theme),
        *_key(optima, theme),
    ]
    return document(theme, NETWORK.bottom + 14, title, parts)


def _described(optima: kes.Optima) -> str:
    best = optima.best.graph
    return (
        f"ALARM, 20 000 cases: {len(best.nodes)} variables, {len(best.directed)} directed and "
        f"{len(best.undirected)} undirected edges"
    )


def _network(optima: kes.Optima, theme: Theme) -> Iterator[str]:
    """Draw the network in layers, in type that can be read at the width of the README."""
    graph = optima.best.graph
    arcs = sorted(graph.to_dag())
    drawing = pygraphviz.AGraph(directed=True, strict=False)
    drawing.graph_attr.update(nodesep=0.07, ranksep=0.3, splines="true")
    drawing.node_attr.update(shape="box", label="", fixedsize="true", height=15 / 72)
    drawing.edge_attr.update(dir="none")
    joined = sorted({node for arc in arcs for node in arc}, key=graph.nodes.index)
    for node in joined:
        drawing.add_node(node, width=_node_width(node) / 72)
    drawing.add_edges_from(arcs)
    drawing.layout("dot")
    places = {node: _points(drawing.get_node(node).attr["pos"])[0] for node in joined}
    curves = {arc: _points(drawing.get_edge(*arc).attr["pos"]) for arc in arcs}
    every = np.vstack([*places.values(), *curves.values()])
    margin = np.array([max(map(_node_width, joined)) / 2, 8.0])
    low, high = every.min(axis=0) - margin, every.max(axis=0) + margin
    room = np.array([NETWORK.right - NETWORK.left, NETWORK.bottom - NETWORK.top])
    scale = room / (high - low) * np.array([1.0, -1.0])

    def put(points: np.ndarray) -> np.ndarray:
        return (points - np.array([low[0], high[1]])) * scale + np.array(NETWORK[:2])

    for a, b in arcs:
        points, is_open = put(curves[a, b]), frozenset((a, b)) in graph.undirected
        title = f"{a} - {b}" if is_open else f"{a} -> {b}"
        yield f"<g><title>{title}</title>{_edge(points, theme, is_open=is_open)}</g>"
    isolated = [node for node in graph.nodes if node not in places]
    for node in joined:
        x, y = put(places[node][np.newaxis])[0]
        yield _node(node, x, y, theme)
    for index, node in enumerate(isolated):
        width = _node_width(node)
        yield _node(node, NETWORK.left + width / 2, NETWORK.bottom - 9 - 18 * index, theme)


def _node_width(name: str) -> float:
    return text_width(name, NODE_FONT) + 8


def _points(position: str) -> np.ndarray:
    return np.array([[float(c) for c in pair.split(",")[:2]] for pair in position.split()])


def _edge(points: np.ndarray, theme: Theme, *, is_open: bool) -> str:
    if is_open:
        return (
            f'<path d="{path(points)}" fill="none" stroke="{theme.mark}" stroke-width="1.2" '
            'stroke-dasharray="4 2.5"/>'
        )
    rest, corners = arrowhead(points, 5.5, 4.6)
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return (
        f'<path d="{path(rest)}" fill="none" stroke="{theme.line}"/>'
        f'<polygon points="{head}" fill="{theme.line}"/>'
    )


def _node(name: str, x: float, y: float, theme: Theme) -> str:
    width = _node_width(name)
    return (
        f"<g><title>{name}</title>"
        f'<rect x="{x - width / 2:.1f}" y="{y - 7.5:.1f}" width="{width:.1f}" height="15" rx="3.5" '
        f'fill="{theme.node}" stroke="{theme.accent}" stroke-width="0.8"/>'
        f"{text(x, y + 3.1, name, theme.ink, NODE_FONT, anchor='middle')}</g>"
    )


STAR = "M0 -10L2.6 -3.4L9.5 -3.1L4.2 1.3L5.9 8.1L0 4.3L-5.9 8.1L-4.2 1.3L-9.5 -3.1L-2.6 -3.4Z"
DIAMOND = "M0 -8L8 0L0 8L-8 0Z"


def _map(optima: kes.Optima, theme: Theme) -> Iterator[str]:
    """Draw the optima: score against distance from the best, size by hits."""
    far = [optimum.graph.shd(optima.best.graph) for optimum in optima]
    below = [optima.best.score - optimum.score for optimum in optima]
    width, height = MAP.right - MAP.left, MAP.bottom - MAP.top
    right, bottom = 1.12 * max(far), 1.1 * max(below)

    def put(index: int) -> tuple[float, float]:
        x = MAP.left + (0.07 + 0.93 * far[index] / right) * width
        return x, MAP.top + (0.07 + 0.93 * below[index] / bottom) * height

    for nats in range(0, int(max(below)) + 1, 500):
        y = MAP.top + (0.07 + 0.93 * nats / bottom) * height
        yield f'<path d="M{MAP.left} {y:.1f}H{MAP.right}" stroke="{theme.grid}"/>'
        label = f"−{nats}" if nats else "best"
        yield text(MAP.left - 6, y + 4, label, theme.soft, anchor="end")
    frame = f"M{MAP.left} {MAP.top}V{MAP.bottom}H{MAP.right}"
    yield f'<path d="{frame}" fill="none" stroke="{theme.line}"/>'
    for edges in range(0, max(far) + 1, 5):
        x = MAP.left + (0.07 + 0.93 * edges / right) * width
        yield text(x, MAP.bottom + 15, str(edges), theme.soft, anchor="middle")
    middle = (MAP.left + MAP.right) / 2
    yield text(middle, MAP.bottom + 32, "distance from the best (SHD)", theme.soft, anchor="middle")
    for index in sorted(range(len(optima)), key=lambda i: (-optima[i].hits, i)):
        optimum, (x, y) = optima[index], put(index)
        title = f"{optimum.origin}: score {optimum.score:.1f}, hit by {optimum.hits} runs"
        fill = theme.accent if optimum.hits else theme.paper
        yield (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_radius(optima, optimum.hits):.1f}" '
            f'fill="{fill}" fill-opacity="0.75" stroke="{theme.accent}" stroke-width="0.8">'
            f"<title>{escape(title)}</title></circle>"
        )
    for index, shape in ((optima.index(optima.ges), DIAMOND), (0, STAR)):
        yield _sign(*put(index), shape, theme)


def _radius(optima: kes.Optima, hits: int) -> float:
    return max(3.2, 22 * math.sqrt(hits / len(optima.runs)))


def _sign(x: float, y: float, shape: str, theme: Theme) -> str:
    return (
        f'<path d="{shape}" transform="translate({x:.1f} {y:.1f})" fill="{theme.mark}" '
        f'stroke="{theme.paper}" stroke-width="1"/>'
    )


def _key(optima: kes.Optima, theme: Theme) -> Iterator[str]:
    """Explain the signs of the map, with the scores behind them."""
    best, ges, runs = optima.best.score, optima.ges.score, len(optima.runs)
    above = sum(score > ges for score in optima.run_scores)
    x, y = MAP.left - 26, MAP.bottom + 60
    yield _sign(x + 9, y - 4, STAR, theme)
    yield text(x + 24, y, f"best, BIC {best:,.1f}".replace(",", " ").replace("-", "−"), theme.ink)
    yield _sign(x + 9, y + 16, DIAMOND, theme)
    yield text(x + 24, y + 20, f"greedy search (GES), {best - ges:.0f} nats lower", theme.ink)
    filled = f'fill="{theme.accent}" fill-opacity="0.75"'
    for row, look in ((40, filled), (60, f'fill="{theme.paper}"')):
        yield f'<circle cx="{x + 9}" cy="{y + row - 4}" r="5" {look} stroke="{theme.accent}"/>'
    yield text(x + 24, y + 40, f"end of a run; size: how many of {runs}", theme.ink)
    yield text(x + 24, y + 60, "found by improving on the runs", theme.ink)
    words = f"{above} of {runs} runs end above GES."
    yield text(x, y + 84, words, theme.soft)
