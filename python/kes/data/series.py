"""Series: rows beside earlier rows of the same series, for networks over time.

A row at time t is joined with the rows at t-1, t-2, ... of its series. The earlier values are
columns with names such as ``bp[t-1]``; they are exogenous, that is, they may be parents but are not
modelled. A row whose earlier rows are not all there is dropped: the first ones of each series, and
those after a gap in time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.data.clock import Clock, moments_of
from kes.data.column import Column, Discrete
from kes.data.dataset import AnyTable, Data, Dataset, Incomplete, naming, split_gaps
from kes.data.raw_columns import Raw
from kes.data.source import Source, open_source
from kes.errors import KesError, listed, option, suggest
from kes.options.values import check_names
from kes.validation import integer

MAX_LAGS = 1000
"""Largest number of lags."""

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Series:
    """The series that the rows of a table form.

    Attributes
    ----------
    lags : int
        How many earlier rows stand beside each row.
    by : tuple of str
        Columns that tell the series apart; empty: all rows are one series.
    time : str or None
        Column of numbers or dates that orders the rows of a series; None: as they come.
    """

    lags: int = 1
    by: tuple[str, ...] = ()
    time: str | None = None

    @classmethod
    def of(cls, lags: object, by: object, time: object) -> Series:
        """Validate user input."""
        names = () if by is None else check_names("by", by)
        if time is not None and not isinstance(time, str):
            raise KesError(f"{option('time')} must name a column, not {time!r}", option="time")
        if time is not None and time in names:
            raise KesError(
                f"column {time!r} cannot be both time and series", option="time", column=time
            )
        return cls(integer("lags", lags, minimum=1, maximum=MAX_LAGS), names, time)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that identify a row and are not variables."""
        return self.by if self.time is None else (*self.by, self.time)


def lag_name(name: str, lag: int) -> str:
    """Return the name of earlier values.

    Examples
    --------
    >>> lag_name("bp", 2)
    'bp[t-2]'
    """
    return f"{name}[t-{lag}]" if lag else name


def variable_of(name: str, names: Collection[str], lags: int) -> str | None:
    """Return which of the `names` has its earlier values under this name; None if none has.

    Examples
    --------
    >>> variable_of("bp[t-2]", ["bp"], lags=2)
    'bp'
    """
    own, _, rest = name.rpartition("[t-")
    lag = rest.removesuffix("]")
    is_lag = lag.isdecimal() and 1 <= int(lag) <= lags and lag_name(own, int(lag)) == name
    return own if is_lag and own in names else None


@dataclass(frozen=True)
class Places:
    """The rows of a table that have all their earlier rows.

    Attributes
    ----------
    rows : ndarray of int, shape (lags + 1, kept)
        For each kept row, the numbers of the row itself and of the one, two, ... steps earlier.
    series, moments : ndarray of int
        The series and the time of every row of the table.
    clock : Clock
        What the times mean.
    notes : tuple of str
        What was dropped, and why.
    """

    rows: NDArray[np.intp]
    series: NDArray[np.intp]
    moments: NDArray[np.int64]
    clock: Clock
    notes: tuple[str, ...]

    @classmethod
    def find(cls, source: Source, series: Series) -> Places:
        """Sort the rows of each series by time, and find the earlier ones of each row."""
        _check_names(source.names, series)
        own = _series(source, series.by)
        moments, clock = _moments(source, series, own)
        order = np.lexsort((moments, own))
        place = {(int(own[i]), int(moments[i])): int(i) for i in order}
        if len(place) < source.rows:
            raise _twice(source, series, own, moments)
        rows = []
        for i in order:
            back = [
                place.get((int(own[i]), int(moments[i]) - lag)) for lag in range(series.lags + 1)
            ]
            if None not in back:
                rows.append(back)
        kept = np.array(rows, dtype=np.intp).reshape(-1, series.lags + 1).T
        notes = _notes(series, own, moments, kept.shape[1], clock)
        return cls(kept, own, moments, clock, notes)


def _check_names(names: Sequence[str], series: Series) -> None:
    """Refuse a column that has the name of another's earlier values."""
    own = [name for name in names if name not in series.keys]
    for name in own:
        if (now := variable_of(name, own, series.lags)) is not None:
            raise KesError(
                f"column {name!r} has the name of the earlier values of {now!r}; rename it, or "
                "leave it out",
                column=name,
            )


def _series(source: Source, by: Sequence[str]) -> NDArray[np.intp]:
    """Return the number of each row's series."""
    own = np.zeros(source.rows, dtype=np.intp)
    for name in by:
        factor = _key(source, name, "by").factor().ordered()
        if factor.missing():
            row = int(np.flatnonzero(~factor.complete())[0])
            raise KesError(
                f"column {name!r} does not say which series row {row} is from; fill it in, or "
                "leave the row out",
                option="by",
                column=name,
                row=row,
            )
        _, own = np.unique(own * len(factor.values) + factor.codes, return_inverse=True)
    return own.astype(np.intp)


def _moments(
    source: Source, series: Series, own: NDArray[np.intp]
) -> tuple[NDArray[np.int64], Clock]:
    """Return the time of each row as a whole number of steps, and what a step is."""
    if series.time is None:
        order = np.argsort(own, kind="stable")
        starts = np.searchsorted(own[order], own[order])
        moments = np.empty(source.rows, dtype=np.int64)
        moments[order] = np.arange(source.rows) - starts
        return moments, Clock()
    times = _key(source, series.time, "time")
    with naming(series.time):
        return moments_of(times, own)


def _key(source: Source, name: str, what: str) -> Raw:
    if name not in source.names:
        raise KesError(
            f"{option(what)}: the data have no column {name!r}{suggest(name, list(source.names))}",
            option=what,
            column=name,
        )
    with naming(name):
        return source.column(list(source.names).index(name), _NONE)


def _twice(
    source: Source, series: Series, own: NDArray[np.intp], moments: NDArray[np.int64]
) -> KesError:
    order = np.lexsort((moments, own))
    same = (np.diff(own[order]) == 0) & (np.diff(moments[order]) == 0)
    place = int(np.flatnonzero(same)[0])
    first, second = sorted((int(order[place]), int(order[place + 1])))
    by = "; name the columns that tell series apart with " + option("by") if not series.by else ""
    return KesError(
        f"rows {first} and {second} are at the same time of the same series{by or '; drop one'}",
        option="by" if by else "time",
        column=series.time,
        row=second,
    )


def _notes(
    series: Series,
    own: NDArray[np.intp],
    moments: NDArray[np.int64],
    kept: int,
    clock: Clock,
) -> tuple[str, ...]:
    """Say how many series there are, and which rows were dropped."""
    number = len(np.unique(own))
    first = np.full(number, np.iinfo(np.int64).max)
    np.minimum.at(first, own, moments)
    early = int((moments - first[own] < series.lags).sum())
    gaps = len(own) - kept - early
    named = f" by {listed(series.by)}" if series.by else ""
    steps = "" if series.time is None else f", steps of {clock} in {series.time!r}"
    notes = [
        f"{number} series{named}{steps}: {kept} of {len(own)} rows are used; dropped the rows "
        f"of the first {series.lags} steps of each series, which have no earlier ones: {early}"
    ]
    if gaps:
        notes.append(f"dropped the rows after gaps in time, whose earlier ones are missing: {gaps}")
    return tuple(notes)


# --- tables --------------------------------------------------------------------------------------


def join_earlier(table: AnyTable, places: Places, series: Series) -> AnyTable:
    """Return a coded table with earlier values beside each row.

    Columns that never change within a series are fixed: their earlier values are the same.
    """
    dataset, gaps = split_gaps(table)
    fixed = {
        name
        for name, column in zip(dataset.names, dataset.columns, strict=True)
        if series.by and _is_fixed(column, places.series)
    }
    chosen = [(name, 0) for name in dataset.names]
    for lag in range(1, series.lags + 1):
        chosen += [(name, lag) for name in dataset.names if name not in fixed]
    at = {name: i for i, name in enumerate(dataset.names)}
    columns = [
        _marked(dataset.columns[at[name]].take(places.rows[lag]), name, lag, name in fixed)
        for name, lag in chosen
    ]
    weights = None if dataset.weights is None else dataset.weights[places.rows[0]]
    notes = [*dataset.notes, *places.notes]
    if fixed:
        notes.append(
            f"never change within a series, so they are exogenous: {listed(sorted(fixed))}"
        )
    joined = Dataset.of([lag_name(*one) for one in chosen], columns, weights, notes)
    if gaps is None:
        return joined
    holes = np.array([gaps[at[name]][places.rows[lag]] for name, lag in chosen])
    return Incomplete(joined, holes) if holes.any() else joined


def _marked(column: Column, name: str, lag: int, fixed: bool) -> Column:
    """Mark a column that is not modelled."""
    if not lag and not fixed:
        return column
    of = name if lag else column.notation.of
    return replace(column, notation=replace(column.notation, of=of, lag=lag, exogenous=True))


def _is_fixed(column: Column, series: NDArray[np.intp]) -> bool:
    values: NDArray[Any] = column.codes if isinstance(column, Discrete) else column.values
    order = np.argsort(series, kind="stable")
    changes = values[order][1:] != values[order][:-1]
    within = series[order][1:] == series[order][:-1]
    return bool(within.any()) and not bool((changes & within).any())


class Lagged(Source):
    """A table whose rows stand beside earlier rows of their series; see `kes.lagged`.

    Attributes
    ----------
    table
        The table as it was given.
    series : Series
        How its rows form series.
    names : list of str
        The variables: each column, and each with every lag.
    rows : int
        Number of rows that have all their earlier rows.
    """

    def __init__(self, table: Data, series: Series) -> None:
        source = open_source(table)
        self.table, self.series, self._source = table, series, source
        self._places = Places.find(source, series)
        if not self._places.rows.size:
            raise KesError(
                f"no row has {series.lags} earlier rows in its series; use fewer lags, "
                f"or other columns for {option('by')} and {option('time')}",
                option="lags",
            )
        own = [(i, name) for i, name in enumerate(source.names) if name not in series.keys]
        self._columns = [(i, lag) for lag in range(series.lags + 1) for i, _ in own]
        self.names = [lag_name(source.names[i], lag) for i, lag in self._columns]
        self.rows, self.notes = self._places.rows.shape[1], self._places.notes
        self.likely_decimal = source.likely_decimal

    @property
    def places(self) -> Places:
        """The rows that are used, their series and their times."""
        return self._places

    def column(self, index: int, absent: frozenset[str]) -> Raw:
        """Read a column at one of the lags."""
        own, lag = self._columns[index]
        return self._source.column(own, absent).take(self._places.rows[lag])

    def __repr__(self) -> str:
        number = sum(lag == 0 for _, lag in self._columns)
        return (
            f"<Lagged: variables: {number}, lags: {self.series.lags}, "
            f"{self.rows} of {self._source.rows} rows>"
        )


def lagged(
    table: Data,
    lags: int = 1,
    by: str | Sequence[str] | None = None,
    time: str | None = None,
) -> Lagged:
    """Put earlier values beside each row, to learn a network over time.

    The result is data for `kes.learn` and all else that takes a table. Earlier values are columns
    such as ``bp[t-1]``; they are exogenous, that is, parents that are not modelled. A row is used
    if all its earlier rows are there: the first `lags` rows of each series are dropped, and those
    after a gap in time.

    Parameters
    ----------
    table
        Any table that `kes.learn` takes, with one row for each series and time.
    lags : int
        Number of earlier rows beside each row.
    by : str or list of str, optional
        Columns that tell series apart, such as "patient"; without one, all rows are one series.
    time : str, optional
        Column of numbers or dates with regular steps; rows are sorted by it, and gaps are seen.
        Dates on one day of the month have steps of months. Without it, the rows of each series
        must be in order, without gaps.

    Returns
    -------
    Lagged

    Raises
    ------
    KesError
        If a column is unknown or has missing values, two rows are at the same time of the same
        series, the steps are not regular, or no row has all its earlier rows.

    Examples
    --------
    >>> import kes, numpy as np
    >>> weeks = np.array([[1, 0], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2]])
    >>> kes.lagged(np.column_stack([weeks, [5, 3, 4, 6, 6, 2]]), by="x0", time="x1")
    <Lagged: variables: 1, lags: 1, 4 of 6 rows>
    """
    return Lagged(table, Series.of(lags, by, time))
