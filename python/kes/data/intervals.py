"""Intervals of numbers: where to cut, how the pieces are labelled, and the order of the labels.

An interval is half-open, (a, b]; the first has no lower and the last no upper end, so that together
they cover the line. No interval is empty: ties or few distinct values give fewer intervals than
requested.
"""

import math
import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes.data.column import State, is_missing_state
from kes.errors import KesError

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|inf)"
_BETWEEN = re.compile(rf"([(\[])\s*({_NUMBER})\s*,\s*({_NUMBER})\s*([)\]])", re.ASCII)
_BEYOND = re.compile(rf"(<=|<|>=|>)\s*({_NUMBER})", re.ASCII)

_BLOCK = 2**21
"""Number of segments whose gain is computed at a time: 16 MB per array."""
_ROUNDING = 1e-12
"""Relative difference up to which two gains are equal."""

Floats: TypeAlias = NDArray[np.float64]
Interval: TypeAlias = tuple[float, bool, float, bool]
"""Lower end, whether it is open, upper end, whether it is closed: sorts from left to right."""


# --- labels --------------------------------------------------------------------------------------


def text_order(values: Sequence[str]) -> list[int]:
    """Sort distinct texts: from left to right if all are intervals, otherwise by code point.

    Returns the indices of the texts. Intervals are written as by `kes.discretize`, pandas, polars
    and R: "(1.5, 3]", "[0,10)", "<= 1.5", "> 3".

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
        intervals.append((interval, value))  # the text breaks ties between spellings
    return sorted(places, key=intervals.__getitem__)


def interval_of(text: str) -> Interval | None:
    """Parse an interval; None if the text is not one."""
    if match := _BETWEEN.fullmatch(text):
        opening, low, high, closing = match.groups()
        return float(low), opening == "(", float(high), closing == "]"
    if match := _BEYOND.fullmatch(text):
        sign, end = match[1], float(match[2])
        if sign[0] == "<":
            return -math.inf, False, end, sign == "<="
        return end, sign == ">", math.inf, True
    return None


def interval_labels(cuts: Sequence[float]) -> list[str]:
    """Return the labels of the intervals between cuts."""
    if not len(cuts):
        return ["all"]
    ends = [f"{cut:.15g}" if float(f"{cut:.15g}") == cut else repr(float(cut)) for cut in cuts]
    between = [f"({low}, {high}]" for low, high in pairwise(ends)]
    return [f"<= {ends[0]}", *between, f"> {ends[-1]}"]


def cuts_of(labels: Sequence[State]) -> tuple[float, ...] | None:
    """Return the cuts of intervals with these labels; None if they are not labels of intervals.

    Examples
    --------
    >>> cuts_of(interval_labels([1.5, 3]))
    (1.5, 3.0)
    >>> cuts_of(["<= 1.5", "> 3"])
    """
    intervals = [interval_of(label) for label in labels if isinstance(label, str)]
    cuts = tuple(interval[2] for interval in intervals[:-1] if interval is not None)
    increasing = all(low < high for low, high in pairwise((-math.inf, *cuts, math.inf)))
    return cuts if cuts and increasing and interval_labels(cuts) == list(labels) else None


def named_cuts(states_of: Mapping[str, Sequence[State]]) -> dict[str, tuple[float, ...]]:
    """Return the cuts of the variables whose states are labels of intervals.

    The last state may be the one for missing values.
    """
    found = {}
    for name, states in states_of.items():
        cuts = cuts_of(states[:-1] if states and is_missing_state(states[-1]) else states)
        if cuts is not None:
            found[name] = cuts
    return found


# --- cut points ----------------------------------------------------------------------------------


def find_cuts(
    numbers: Floats, bins: int, method: str, labels: NDArray[np.int32] | None, min_count: int
) -> tuple[float, ...]:
    """Choose where to cut numbers; () without numbers.

    Intervals have equally many cases ("quantile"), equal width between the smallest and the
    largest number ("uniform"), or the greatest mutual information with labels.
    """
    if not numbers.size:
        return ()
    shares = np.arange(1, bins) / bins
    if labels is not None:
        found = mutual_information_cuts(numbers, labels, bins, min_count)
    elif method == "quantile":
        found = np.quantile(numbers, shares).tolist()
    else:
        found = (numbers.min() * (1 - shares) + numbers.max() * shares).tolist()
    return _readable(found, numbers)


def mutual_information_cuts(
    values: ArrayLike, labels: ArrayLike, bins: int = 3, min_count: int = 1
) -> list[float]:
    """Find the cuts that maximize the mutual information between interval and label.

    The maximum is exact, over all ways to cut the values into `bins` intervals with at least
    `min_count` cases each. Ties go to the lowest last cut, then to the lowest cut before it, and
    so on.

    Parameters
    ----------
    values : array-like of float, shape (cases,)
        Finite numbers.
    labels : array-like, shape (cases,)
        Integers or text.
    bins : int
        Number of intervals; fewer if ties and `min_count` do not permit as many.
    min_count : int
        Minimum number of cases in an interval.

    Returns
    -------
    list of float
        The cuts in ascending order, each midway between two neighbouring values.

    Notes
    -----
    With n cases in an interval, n_c of them with label c, the mutual information is, up to a
    constant, the sum over the intervals of (sum_c n_c ln n_c) - n ln n, divided by the number of
    cases. A sum over intervals is maximized by dynamic programming over the position of the last
    cut, in time quadratic in the number d of distinct values: microseconds for d = 100, seconds
    for d = 20 000. (Cuts between equal labels cannot be skipped, as they can without `min_count`
    [Fayyad 1993].)

    Examples
    --------
    >>> mutual_information_cuts([1, 2, 3, 4, 5, 6], ["a", "a", "b", "b", "a", "a"])
    [2.5, 4.5]
    """
    numbers = np.asarray(values, dtype=np.float64)
    classes = np.asarray(labels)
    if numbers.ndim != 1 or numbers.shape != classes.shape:
        raise KesError(
            "values and labels must be sequences of the same length, not of shapes "
            f"{numbers.shape} and {classes.shape}",
            option="labels",
        )
    if not np.isfinite(numbers).all():
        raise KesError("values must be finite; drop the other cases", option="values")
    distinct, place = np.unique(numbers, return_inverse=True)
    label_codes = np.unique(classes, return_inverse=True)[1]
    width = int(label_codes.max(initial=0)) + 1
    counts = np.bincount(place * width + label_codes, minlength=len(distinct) * width)
    ends = _best_segments(counts.reshape(-1, width), bins, min_count)
    return [_midpoint(distinct[end - 1], distinct[end]) for end in ends]


def _best_segments(counts: NDArray[np.intp], bins: int, min_count: int) -> list[int]:
    """Cut a sequence of label counts into the segments with the greatest mutual information.

    Returns the start of the second, third, ... segment.
    """
    rows = len(counts)
    below = np.vstack([np.zeros_like(counts, shape=(1, counts.shape[1])), counts.cumsum(axis=0)])
    size = below.sum(axis=1)
    numbers = np.arange(size[-1] + 1)
    n_log_n = numbers * np.log(np.maximum(numbers, 1))

    # gain[b, j] is that of the best division of the first j rows into b segments; begin[b, j] is
    # the start of the last one.
    gain = np.full((bins + 1, rows + 1), -np.inf)
    begin = np.zeros((bins + 1, rows + 1), dtype=np.intp)
    step = max(1, _BLOCK // (rows + 1))
    for first in range(1, rows + 1, step):
        stop = min(first + step, rows + 1)
        ends = slice(first, stop)
        sizes = size[ends] - size[:stop, None]
        gains = -n_log_n[sizes]
        for label in below.T:
            gains += n_log_n[label[ends] - label[:stop, None]]
        gains[sizes < min_count] = -np.inf
        gain[1, ends] = gains[0]
        for b in range(2, bins + 1):
            if b == bins:  # only the division of all rows matters
                ends, gains = slice(stop - 1, stop), gains[:, -1:]
            total = gain[b - 1, :stop, None] + gains
            gain[b, ends] = best = total.max(axis=0)
            begin[b, ends] = (total >= best - _ROUNDING * np.abs(best)).argmax(axis=0)

    possible = np.flatnonzero(gain[:, rows] > -np.inf)
    begins = [rows]
    for b in range(possible.max(initial=1), 1, -1):
        begins.append(int(begin[b, begins[-1]]))
    return begins[:0:-1]


def _midpoint(low: float, high: float) -> float:
    """Return a number that is at least `low` and less than `high`."""
    middle = low / 2 + high / 2
    return float(middle if low <= middle < high else low)


def _readable(cuts: Sequence[float], values: Floats) -> tuple[float, ...]:
    """Round cuts to as few digits as separate the values in the same way.

    Cuts that separate nothing, or the same values as another one, are dropped.
    """
    distinct = np.unique(values)
    below = np.unique(np.searchsorted(distinct, cuts, side="right"), return_index=True)
    return tuple(
        _shortest(cuts[i], distinct[count - 1], distinct[count])
        for count, i in zip(*below, strict=True)
        if 0 < count < len(distinct)
    )


def _shortest(cut: float, low: float, high: float) -> float:
    """Round a cut to as few digits as keep it at least `low` and less than `high`."""
    for digits in range(1, 18):
        for rounding in (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING):
            context = Context(prec=digits, rounding=rounding)
            rounded = float(context.create_decimal_from_float(cut))
            if low <= rounded < high:
                return rounded
    return float(cut)
