"""Continuous columns into intervals.

Where to cut is decided per column: into bins that hold equally many cases ("quantile"), that are
equally wide ("uniform"), or that tell most about a target ("mutual_information").

A bin is a half-open interval (a, b]; the first has no lower and the last no upper end, so that
the bins cover the line. Bins without cases do not arise: ties or too few distinct values give
fewer bins than asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context
from itertools import pairwise
from typing import Any, Literal, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes.data.dataset import Dataset
from kes.data.factor import Factor
from kes.data.kinds import judge
from kes.data.numbers import Numbers
from kes.data.raw import Raw, from_array
from kes.data.replace import Ordered, replace_columns
from kes.data.source import Source, open_source
from kes.errors import KesError, checked_options, unknown

_STRATEGIES = ("quantile", "uniform", "mutual_information")
_BLOCK = 2**21
"""Number of segments whose gain is computed at a time: 16 MB per array."""
_ROUNDING = 1e-12
"""Relative difference up to which two gains are the same."""

DataT = TypeVar("DataT")
Floats: TypeAlias = NDArray[np.float64]


@checked_options()
def discretize(
    data: DataT,
    bins: int = 3,
    strategy: Literal["quantile", "uniform", "mutual_information"] = "quantile",
    *,
    target: str | ArrayLike | None = None,
    columns: Iterable[str] | None = None,
    min_count: int = 5,
) -> DataT:
    """Cut continuous columns into intervals.

    Parameters
    ----------
    data : DataFrame, Table or ndarray
        A pandas or polars DataFrame, a pyarrow Table, or a two-dimensional numpy array, whose
        columns are called x0, x1, ...
    bins : int
        Number of intervals; ties or few distinct values may give fewer.
    strategy : {"quantile", "uniform", "mutual_information"}
        Bins with equally many cases, of equal width between the smallest and the largest value,
        or with the greatest mutual information with the target (see `mutual_information_cuts`).
    target : str or array-like, optional
        For "mutual_information": a column, which is itself left as it is, or a label for each row.
    columns : iterable of str, optional
        The columns to cut; by default the float columns, except those that `kes.learn` takes as
        integers (whole numbers with at most 50 distinct values).
    min_count : int
        For "mutual_information": the fewest cases in a bin.

    Returns
    -------
    DataFrame, Table or ndarray
        The same kind of table, with ordered categories (pandas), Enums (polars) or ordered
        dictionaries (pyarrow) such as "<= 1.5", "(1.5, 3.2]", "> 3.2" in place of the numbers.
        The ends are written, and meant, with as few digits as separate the data in the same way.
        Other columns are unchanged. In a numpy array, which has no place for labels, a number is
        replaced by that of its bin, from 0; the array is one of integers if all columns are.

    Raises
    ------
    KesError
        If a column to cut has missing or infinite values or is not numeric, or an option is
        unknown.

    Examples
    --------
    >>> import numpy as np
    >>> discretize(np.array([[0.1, 1], [0.3, 0], [0.5, 1], [0.7, 0]]), bins=2)
    array([[0, 1],
           [0, 0],
           [1, 1],
           [1, 0]])
    """
    _check_options(bins, strategy, target, min_count)
    source = _open(data)
    find_cuts = _finder(source, bins, strategy, target, min_count)
    if columns is None:
        chosen = [i for i in range(len(source.names)) if _is_continuous(source, i)]
    else:
        chosen = [_index(source, name) for name in columns]
    pieces = {}
    for index in chosen:
        values = _read(source, index)
        cuts = _readable(find_cuts(values), values)
        codes = np.searchsorted(cuts, values).astype(np.int32)  # the number of cuts below
        pieces[index] = Ordered(_labels(cuts), codes)
    return replace_columns(data, pieces)


def mutual_information_cuts(
    values: ArrayLike, labels: ArrayLike, bins: int = 3, min_count: int = 1
) -> list[float]:
    """Find the cut points that tell most about the labels.

    Exactly: of all ways to cut the values into `bins` intervals with at least `min_count` cases
    each, the one with the greatest mutual information between interval and label; of several, the
    one whose last cut is lowest, then the last but one, and so on.

    Parameters
    ----------
    values : array-like of float, shape (cases,)
        Finite numbers.
    labels : array-like, shape (cases,)
        Integers or text.
    bins : int
        Number of intervals. If the ties and `min_count` do not permit so many, there are fewer.
    min_count : int
        The fewest cases in an interval.

    Returns
    -------
    list of float
        The cuts, increasing, each midway between two neighbouring values.

    Notes
    -----
    With n cases in an interval, n_c of them with label c, the mutual information is, up to a
    constant, the sum over the intervals of (sum_c n_c ln n_c) - n ln n, divided by the number of
    cases. A sum over intervals is maximised by dynamic programming over the place of the last
    cut. That takes time quadratic in the number d of distinct values: microseconds for d = 100,
    seconds for d = 20 000. (Cuts between equal labels cannot be left out, as they can without
    `min_count` [Fayyad 1993].)

    Examples
    --------
    >>> mutual_information_cuts([1, 2, 3, 4, 5, 6], ["a", "a", "b", "b", "a", "a"])
    [2.5, 4.5]
    """
    numbers = np.asarray(values, dtype=np.float64)
    classes = np.asarray(labels)
    if numbers.ndim != 1 or numbers.shape != classes.shape:
        raise KesError(
            "values and labels must be sequences of one length, not of shapes "
            f"{numbers.shape} and {classes.shape}"
        )
    if not np.isfinite(numbers).all():
        raise KesError("values must be finite; drop the cases in which they are not")
    distinct, place = np.unique(numbers, return_inverse=True)
    label_codes = np.unique(classes, return_inverse=True)[1]
    width = int(label_codes.max(initial=0)) + 1
    counts = np.bincount(place * width + label_codes, minlength=len(distinct) * width)
    ends = _best_segments(counts.reshape(-1, width), bins, min_count)
    return [_midpoint(distinct[end - 1], distinct[end]) for end in ends]


def _best_segments(counts: NDArray[np.intp], bins: int, min_count: int) -> list[int]:
    """Cut a sequence of label counts into the segments of the greatest mutual information.

    Returns where the second, third, ... segment begins.
    """
    rows = len(counts)
    below = np.vstack([np.zeros_like(counts, shape=(1, counts.shape[1])), counts.cumsum(axis=0)])
    size = below.sum(axis=1)
    numbers = np.arange(size[-1] + 1)
    n_log_n = numbers * np.log(np.maximum(numbers, 1))

    # gain[b, j]: of the best cutting of the first j rows into b segments, the last of which
    # begins at begin[b, j]
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
            if b == bins:  # only the cutting of all rows is of interest
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
    """Return a number that separates two: at least the lower, less than the higher."""
    middle = low / 2 + high / 2
    return float(middle if low <= middle < high else low)


def _check_options(bins: object, strategy: object, target: object, min_count: object) -> None:
    for name, value, least in (("bins", bins, 2), ("min_count", min_count, 1)):
        if not isinstance(value, int | np.integer) or value < least:
            raise KesError(f"{name} must be a whole number from {least} on, not {value!r}")
    if strategy not in _STRATEGIES:
        raise unknown("strategy", strategy, _STRATEGIES)
    if (target is not None) != (strategy == "mutual_information"):
        raise KesError(
            'strategy="mutual_information" needs a target: a column\'s name or a label per row'
            if target is None
            else f'a target is used by strategy="mutual_information" only, not by {strategy!r}'
        )


def _finder(
    source: Source, bins: int, strategy: str, target: str | ArrayLike | None, min_count: int
) -> Callable[[Floats], Sequence[float]]:
    """Return what finds the cuts of a column."""
    if strategy == "mutual_information":
        labels = _read_labels(source, target)
        return lambda values: mutual_information_cuts(values, labels, bins, min_count)
    shares = np.arange(1, bins) / bins
    if strategy == "quantile":
        return lambda values: np.quantile(values, shares).tolist()
    return lambda values: (values.min() * (1 - shares) + values.max() * shares).tolist()


def _read_labels(source: Source, target: str | ArrayLike | None) -> NDArray[np.int32]:
    """Code the target."""
    column: Raw
    if isinstance(target, str):
        column = source.column(_index(source, target), frozenset())
    else:
        column = from_array(np.asarray(target))
    verdict = judge(column, cases=False)
    factor = verdict.column
    if verdict.kind != "discrete" or not isinstance(factor, Factor):
        raise KesError("the target must be discrete, but is continuous, or dates")
    if len(factor.codes) != source.rows:
        raise KesError(f"the target has {len(factor.codes)} labels for {source.rows} rows")
    if factor.missing():
        raise KesError(f"the target has {factor.missing()} missing labels; drop those rows first")
    return factor.codes


def _open(data: object) -> Source:
    if isinstance(data, str | os.PathLike | Dataset):
        raise KesError(
            "discretize takes tables in memory; read the file first, for example with "
            "pandas.read_csv"
        )
    if isinstance(data, np.ndarray) and data.dtype.kind not in "biuf":
        raise KesError(f"can only cut arrays of numbers, not of dtype {data.dtype}")
    return open_source(cast("Any", data))


def _index(source: Source, name: str) -> int:
    if name not in source.names:
        raise unknown("column", name, source.names)
    return list(source.names).index(name)


def _is_continuous(source: Source, index: int) -> bool:
    """Tell whether `encode` would take a column as continuous."""
    try:
        column = source.column(index, frozenset())
        if isinstance(column, Numbers) and not column.whole():
            return True  # also if they are all the same
        return judge(column, decimal=source.likely_decimal).kind == "continuous"
    except KesError:
        return True  # infinite values, which are told of when it is cut


def _read(source: Source, index: int) -> Floats:
    """Read a column to cut."""
    name = source.names[index]
    try:
        values = source.numbers(index)
    except KesError as error:
        raise KesError(f"column {name!r} {error}, so it cannot be cut") from None
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise KesError(
            f"column {name!r} has {bad.size} missing or infinite values, the first in row {bad[0]} "
            "(counting from 0); drop those rows or fill in the values first"
        )
    return values


def _readable(cuts: Sequence[float], values: Floats) -> Floats:
    """Replace cuts by the shortest numbers that separate the values in the same way.

    Cuts that separate nothing, or the same as another, are left out.
    """
    distinct = np.unique(values)
    below = np.unique(np.searchsorted(distinct, cuts, side="right"), return_index=True)
    return np.array(
        [
            _shortest(cuts[i], distinct[count - 1], distinct[count])
            for count, i in zip(*below, strict=True)
            if 0 < count < len(distinct)
        ]
    )


def _shortest(cut: float, low: float, high: float) -> float:
    """Round a cut to as few digits as leave it at least `low` and less than `high`."""
    for digits in range(1, 18):
        for rounding in (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING):
            context = Context(prec=digits, rounding=rounding)
            rounded = float(context.create_decimal_from_float(cut))
            if low <= rounded < high:
                return rounded
    return cut


def _labels(cuts: Floats) -> list[str]:
    """Name the intervals between cuts."""
    if not len(cuts):
        return ["all"]
    ends = [f"{cut:.15g}" if float(f"{cut:.15g}") == cut else repr(float(cut)) for cut in cuts]
    between = [f"({low}, {high}]" for low, high in pairwise(ends)]
    return [f"<= {ends[0]}", *between, f"> {ends[-1]}"]
