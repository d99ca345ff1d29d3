"""Pearson's chi-square test, for frequencies that a theorem predicts."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt


def surprise(observed: Sequence[int], expected: Sequence[float]) -> float:
    """Chi-square statistic as a standard normal score; above 4 is a chance of about 3e-5.

    By the approximation of Wilson & Hilferty (1931), good to a few percent of a unit for one and
    more degrees of freedom. Cells that expect fewer than 5 are pooled with their successors; what
    cannot happen, and does, surprises infinitely.
    """
    if any(o > 0 and e == 0 for o, e in zip(observed, expected, strict=True)):
        return inf
    cells = _pooled(observed, expected)
    freedom = len(cells) - 1
    if freedom == 0:
        return 0.0
    statistic = sum((o - e) ** 2 / e for o, e in cells)
    spread = 2 / (9 * freedom)
    return ((statistic / freedom) ** (1 / 3) - (1 - spread)) / sqrt(spread)


def _pooled(observed: Sequence[int], expected: Sequence[float]) -> list[tuple[float, float]]:
    cells: list[tuple[float, float]] = []
    some, hoped = 0.0, 0.0
    for o, e in zip(observed, expected, strict=True):
        some, hoped = some + o, hoped + e
        if hoped >= 5:
            cells.append((some, hoped))
            some = hoped = 0.0
    if hoped > 0 or some > 0:
        last_some, last_hoped = cells.pop() if cells else (0.0, 0.0)
        cells.append((last_some + some, last_hoped + hoped))
    return cells
