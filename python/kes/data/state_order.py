"""The order of text that are states, where nobody declared one."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TypeAlias

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|inf)"
_BETWEEN = re.compile(rf"([(\[])\s*({_NUMBER})\s*,\s*({_NUMBER})\s*([)\]])", re.ASCII)
_BEYOND = re.compile(rf"(<=|<|>=|>)\s*({_NUMBER})", re.ASCII)

Interval: TypeAlias = tuple[float, bool, float, bool]
"""Lower end, whether it is open, upper end, whether it is closed: sorts from left to right."""


def text_order(values: Sequence[str]) -> list[int]:
    """Sort distinct texts: intervals from left to right if all are such, else by code point.

    Returns the places of the texts. Intervals are what `kes.discretize`, pandas, polars and R
    write: "(1.5, 3]", "[0,10)", "<= 1.5", "> 3".

    Examples
    --------
    >>> text_order(["> 16.8", "(13.5, 16.8]", "(9, 13.5]", "<= 9"])
    [3, 2, 1, 0]
    >>> text_order(["<= 9", "> 9", "unknown"])
    [0, 1, 2]
    """
    places = range(len(values))
    intervals = []
    for value in values:
        interval = interval_of(value)
        if interval is None:
            return sorted(places, key=values.__getitem__)
        intervals.append((interval, value))  # the text decides between ways to write the same
    return sorted(places, key=intervals.__getitem__)


def interval_of(text: str) -> Interval | None:
    """Return the interval that a text is, or None."""
    if match := _BETWEEN.fullmatch(text):
        opening, low, high, closing = match.groups()
        return float(low), opening == "(", float(high), closing == "]"
    if match := _BEYOND.fullmatch(text):
        sign, end = match[1], float(match[2])
        if sign[0] == "<":
            return -math.inf, False, end, sign == "<="
        return end, sign == ">", math.inf, True
    return None
