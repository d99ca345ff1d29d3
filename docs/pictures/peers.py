"""Score against processor seconds of each search in the table of docs/comparison.md."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

from canvas import Box, Theme, document, text, text_width

COMPARISON = Path(__file__).parents[1] / "comparison.md"
CHART = Box(64, 62, 796, 372)
LABELS = {
    "kes GES": "kes, GES",
    "kes, by default": "kes, defaults",
    "kes, 1000 runs, k=0.8": "kes, 1000 runs",
    "PyBNesian hill climbing": "PyBNesian HC",
    "pyAgrum greedy hill climbing": "pyAgrum HC",
    "pgmpy hill climbing": "pgmpy HC",
    "pgmpy GES with turning": "pgmpy GES",
    "causal-learn GES, BDeu": "causal-learn GES",
    "causal-learn GRaSP, BDeu": "causal-learn GRaSP",
    "Tetrad FGES": "Tetrad FGES",
    "Tetrad BOSS, 1 start": "Tetrad BOSS",
    "Tetrad BOSS, 10 starts": "Tetrad BOSS ×10",
    "Tetrad 7.6.3 BOSS, 1 start": "Tetrad 7.6.3 BOSS",
    "Tetrad 7.6.3 BOSS, 10 starts": "Tetrad 7.6.3 BOSS ×10",
    "xges XGES-0, our discrete BIC": "XGES-0",
    "xges XGES, our discrete BIC": "XGES",
}
"""The searches shown, and how the chart calls them."""


class Measured(NamedTuple):
    """A search of the table: processor seconds, and nats below the best score of all."""

    search: str
    seconds: float
    below: float


def measured(page: Path = COMPARISON) -> list[Measured]:
    """Read the table that `make bench-peers` writes, without searches that ran out of time."""
    found = re.search(
        r"<!-- table: peers, .*?-->\n(.*?)<!-- end -->", page.read_text("utf-8"), re.S
    )
    if found is None:
        raise SystemExit(f"{page} has no table of peers")
    lines = [line.strip("| \n").split(" | ") for line in found[1].splitlines() if line[:1] == "|"]
    header, rows = lines[0], [line for line in lines[2:] if len(line) == len(lines[0])]
    seconds, bic = header.index("CPU seconds"), header.index("BIC")
    scores = {row[0]: float(row[bic].replace("−", "-")) for row in rows if row[bic].strip()}
    best = max(scores.values())
    return [
        Measured(row[0], float(row[seconds]), best - scores[row[0]])
        for row in rows
        if row[0] in scores and row[0] in LABELS
    ]


def peers_picture(points: list[Measured], theme: Theme) -> str:
    """Draw the score of each search against its processor seconds."""
    title = "BIC against processor seconds on one sample of ALARM"
    parts = [
        text(14, 26, "Score and time on ALARM", theme.ink, 14, more=' font-weight="600"'),
        text(14, 42, "one sample of 20 000 cases; up and left is better", theme.soft),
        *_axes(points, theme),
    ]
    dots = {point: _place(point, points) for point in points}
    taken = [Box(x - 6, y - 6, x + 6, y + 6) for x, y in dots.values()]
    for point, (x, y) in dots.items():
        ours = point.search.startswith("kes")
        fill = theme.accent if ours else theme.soft
        words = f"{point.search}: {point.seconds:g} s, {point.below:.1f} nats below the best"
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{5.5 if ours else 4.5}" fill="{fill}">'
            f"<title>{escape(words)}</title></circle>"
        )
        label = _free_place(LABELS[point.search], x, y, taken)
        taken.append(label.box)
        colour, weight = (fill, ' font-weight="600"') if ours else (theme.ink, "")
        words, below = LABELS[point.search], label.box.bottom - 3
        parts.append(text(label.x, below, words, colour, anchor=label.anchor, more=weight))
    return document(theme, CHART.bottom + 46, title, parts)


def _place(point: Measured, points: list[Measured]) -> tuple[float, float]:
    low, high = -2.0, 3.0  # powers of ten
    deepest = max(one.below for one in points)
    x = CHART.left + (math.log10(point.seconds) - low) / (high - low) * (CHART.right - CHART.left)
    y = CHART.top + point.below / (1.05 * deepest) * (CHART.bottom - CHART.top)
    return x, y


def _axes(points: list[Measured], theme: Theme) -> Iterator[str]:
    for power in range(-2, 4):
        x, _ = _place(Measured("", 10.0**power, 0), points)
        yield f'<path d="M{x:.1f} {CHART.top - 8}V{CHART.bottom}" stroke="{theme.grid}"/>'
        label = f"{10.0**power:g} s"
        yield text(x, CHART.bottom + 16, label, theme.soft, anchor="middle")
    for below in range(0, int(max(point.below for point in points)) + 1, 500):
        _, y = _place(Measured("", 1, below), points)
        yield f'<path d="M{CHART.left} {y:.1f}H{CHART.right}" stroke="{theme.grid}"/>'
        label = f"−{below}" if below else "best"
        yield text(CHART.left - 8, y + 4, label, theme.soft, anchor="end")
    middle = (CHART.left + CHART.right) / 2
    yield text(middle, CHART.bottom + 34, "processor seconds", theme.soft, anchor="middle")
    turned = f' transform="rotate(-90 16 {(CHART.top + CHART.bottom) / 2:.1f})"'
    yield text(
        16, (CHART.top + CHART.bottom) / 2, "BIC in nats", theme.soft, anchor="middle", more=turned
    )


class Label(NamedTuple):
    """A text beside a dot: where it starts, ends or is centred, and the box that it fills."""

    x: float
    anchor: str
    box: Box


def _free_place(label: str, x: float, y: float, taken: list[Box]) -> Label:
    """Return the place beside a dot that overlaps least with what is drawn already."""
    width, height = 1.08 * text_width(label, 11), 14.0
    sides = ((x + 9, "start", 0.0), (x - 9, "end", 1.0), (x, "middle", 0.5))
    lines = ((-7.0, sides[:2]), *((top, sides[::-1]) for top in (-22.0, 8.0, -36.0, 22.0)))
    inside = Box(CHART.left - 4, CHART.top - 14, CHART.right + 20, CHART.bottom)
    labels = []
    for top, places in lines:
        for at, anchor, share in places:
            left = at - share * width
            labels.append(Label(at, anchor, Box(left, y + top, left + width, y + top + height)))

    def badness(one: Label) -> float:
        hidden = width * height - one.box.overlap(inside)
        return round(hidden + sum(one.box.overlap(other) for other in taken), 3)

    return min(labels, key=badness)
