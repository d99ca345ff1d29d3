"""Pictures of graphs that are too large for Graphviz as a whole."""

import random
import subprocess
from itertools import pairwise

import numpy as np

from kes.drawing.layout import layout


def graph(n, seed=1):
    """A sparse random graph whose arcs point to later nodes."""
    rng = random.Random(seed)
    names = [f"gene {i}" for i in range(n)]
    ends = ((rng.randrange(n), rng.randrange(n)) for _ in range(n + n // 4))
    pairs = {(min(pair), max(pair)) for pair in ends if pair[0] != pair[1]}
    return names, [(names[a], names[b]) for a, b in sorted(pairs)]


def test_large_graphs_are_drawn_in_parts(monkeypatch):
    """No process is started for the whole, boxes do not overlap, and lines end at their boxes."""

    def no_process(*_, **__):
        raise AssertionError("Graphviz got the whole graph")

    monkeypatch.setattr(subprocess, "run", no_process)
    names, edges = graph(3000)
    assert len(edges) > 3000
    found = layout(names, edges)
    assert {*found.boxes} == {*names}
    assert {*found.curves} == {*edges}
    corners = []
    for box in found.boxes.values():
        assert box.x - box.width / 2 >= 0
        assert box.x + box.width / 2 <= found.width
        assert box.y - box.height / 2 >= 0
        assert box.y + box.height / 2 <= found.height
        corners.append((box.y - box.height / 2, box.x - box.width / 2, box))
    rows = {}
    for top, left, box in corners:
        rows.setdefault(round(top, 3), []).append((left, left + box.width))
    assert all(a[1] <= b[0] for row in rows.values() for a, b in pairwise(sorted(row)))
    for (a, b), points in found.curves.items():
        for node, end in ((a, points[0]), (b, points[-1])):
            box = found.boxes[node]
            off = np.abs(end - [box.x, box.y]) - [box.width / 2 + 1.5, box.height / 2 + 1.5]
            assert off.max() <= 0
