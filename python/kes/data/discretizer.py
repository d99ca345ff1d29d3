"""Discretize continuous columns.

Each column is cut into intervals with equally many cases ("quantile"), of equal width ("uniform"),
or with the greatest mutual information with a target ("information"). Results, networks and their
files keep the cut points, so that new rows are discretized in the same way.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal, Self, TypeAlias, TypeGuard, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes.data.column import is_missing_state
from kes.data.dataset import Dataset, Incomplete, naming
from kes.data.factor import Factor, recoded
from kes.data.infer_kinds import is_continuous, judge, to_numbers
from kes.data.intervals import Floats, find_cuts, interval_labels
from kes.data.parse_text import Sign
from kes.data.raw_columns import Raw, from_array
from kes.data.source import Coded, Source, open_source
from kes.errors import KesError, listed, option, unknown

_POINTS = (list, tuple, np.ndarray)
_METHODS = ("quantile", "uniform", "information")

DataT = TypeVar("DataT")
Method: TypeAlias = Literal["quantile", "uniform", "information"]


class Discretizer:
    """Discretizes columns of numbers.

    Parameters
    ----------
    bins : int or mapping
        Number of intervals for every continuous column, or for each column to discretize, such
        as ``{"age": 5}``. Ties or few distinct values may give fewer.
    method : {"quantile", "uniform", "information"}
        Intervals with equally many cases, of equal width between the smallest and the largest
        value, or with the greatest mutual information with the target (see
        `mutual_information_cuts`).
    target : str, optional
        For "information": a discrete column, which is not changed.
    min_count : int
        For "information": minimum number of cases in an interval.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[0.1, 1], [0.3, 0], [0.5, 1], [0.7, 0]])
    >>> discretizer = Discretizer(bins=2).fit(table)
    >>> discretizer
    Discretizer(bins=2, method='quantile'), fitted: 'x0' at 0.4
    >>> discretizer.transform(np.array([[0.45, 1], [-7, 0]]))
    array([[1, 1],
           [0, 0]])
    """

    _is_stated = False  # whether a user gave the cut points

    def __init__(
        self,
        bins: int | Mapping[str, int] = 3,
        *,
        method: Method = "quantile",
        target: str | None = None,
        min_count: int = 5,
    ) -> None:
        numbers = list(bins.values()) if isinstance(bins, Mapping) else [bins]
        wanted = [*(("bins", number, 2) for number in numbers), ("min_count", min_count, 1)]
        for name, value, least in wanted:
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise KesError(f"{name} must be an integer >= {least}, not {value!r}", option=name)
        if method not in _METHODS:
            raise unknown("method", method, _METHODS, option="method")
        self.bins = bins
        self.method = method
        self.target = target
        self.min_count = min_count
        self._cuts: dict[str, tuple[float, ...]] | None = None

    @classmethod
    def checked(cls, given: object) -> Discretizer | None:
        """Make a discretizer from the option `discretize`; one that is given is copied."""
        if given is None:
            return None
        if isinstance(given, Discretizer):
            return copy(given)
        if isinstance(given, Mapping) and any(isinstance(own, _POINTS) for own in given.values()):
            if all(isinstance(own, _POINTS) for own in given.values()):
                stated = cls.at(given)
                stated._is_stated = True
                return stated
        elif isinstance(given, Mapping | int):
            return cls(given)
        raise KesError(
            f"{option('discretize')} must be a number of intervals, a mapping of columns to "
            f"numbers of intervals or to cut points, or a kes.Discretizer, not {given!r}",
            option="discretize",
        )

    @classmethod
    def at(cls, cuts: Mapping[str, Sequence[float]]) -> Self:
        """Return a fitted discretizer with these cut points.

        Raises
        ------
        KesError
            If they are not finite and increasing.
        """
        found = {}
        for name, numbers in cuts.items():
            ends = tuple(_point(name, number) for number in numbers)
            if not np.isfinite(ends).all() or any(b <= a for a, b in pairwise(ends)):
                raise KesError(
                    f"column {name!r}: cuts must be finite numbers in ascending order, not "
                    f"{listed(numbers)}",
                    option="cuts",
                    column=name,
                )
            found[name] = ends
        made = cls({name: len(ends) + 1 for name, ends in found.items() if ends} or 3)
        made._cuts = found
        return made

    @property
    def is_fitted(self) -> bool:
        """Whether it has cut points."""
        return self._cuts is not None

    @property
    def cuts(self) -> Mapping[str, tuple[float, ...]]:
        """Cut points of each column; a value at a cut belongs to the interval below.

        Raises
        ------
        KesError
            Before `fit`.
        """
        if self._cuts is None:
            raise KesError("the Discretizer is not fitted; call fit(data) first")
        return MappingProxyType(self._cuts)

    @property
    def named(self) -> frozenset[str]:
        """The columns to discretize whatever their kind."""
        options = self.bins if isinstance(self.bins, Mapping) else ()
        return frozenset(options if self._cuts is None else self._cuts)

    def check_columns(self, names: Collection[str]) -> None:
        """Refuse cut points that a user states for a column that does not exist."""
        for name in self.cuts if self._is_stated else ():
            if name not in names:
                raise unknown("column", name, names, option="discretize", column=name)

    def intervals(self, column: str) -> tuple[str, ...]:
        """Return the labels of the intervals of a column, from left to right."""
        if column not in self.cuts:
            raise unknown("column", column, self.cuts, column=column)
        return tuple(interval_labels(self.cuts[column]))

    def fit(self, data: object, labels: ArrayLike | None = None) -> Self:
        """Choose the cut points.

        Parameters
        ----------
        data
            Any table that `kes.learn` takes. Missing values are ignored.
        labels : array-like, optional
            For "information" without a target column: a label for each row.

        Raises
        ------
        KesError
            If a column has infinite values or is not numeric, or the target is missing.
        """
        source = open_source(cast("Any", data))
        columns = {name: source.column(i, frozenset()) for i, name in enumerate(source.names)}
        continuous = [
            name for name in columns if is_continuous(columns[name], source.likely_decimal)
        ]
        return self.fit_columns(columns, continuous, labels, source.likely_decimal)

    def fit_columns(
        self,
        columns: Mapping[str, Raw],
        continuous: Iterable[str],
        given: ArrayLike | None = None,
        decimal: Sign | None = None,
    ) -> Self:
        """Choose the cut points of columns that are read already."""
        target = self._read_target(columns, given)
        if isinstance(self.bins, Mapping):
            wanted: dict[str, int] = dict(self.bins)
        else:
            wanted = dict.fromkeys(continuous, self.bins)
        wanted.pop(self.target or "", None)
        self._cuts = {}
        for name, bins in wanted.items():
            values = _numbers(_known(name, columns), name, decimal)
            present = ~np.isnan(values) if target is None else ~np.isnan(values) & (target >= 0)
            labels = None if target is None else target[present]
            self._cuts[name] = find_cuts(values[present], bins, self.method, labels, self.min_count)
        return self

    def transform(self, data: DataT) -> DataT:
        """Replace numbers by intervals.

        Parameters
        ----------
        data : DataFrame, Table, ndarray or Dataset
            A pandas or polars DataFrame, a pyarrow Table, a two-dimensional numpy array, whose
            columns are named x0, x1, ..., or a `kes.Dataset`. Unknown columns, and those that hold
            the intervals already, are not changed.

        Returns
        -------
        DataFrame, Table, ndarray or Dataset
            The same type of table, with ordered categories (pandas), Enums (polars) or ordered
            dictionaries (pyarrow) such as "<= 1.5", "(1.5, 3.2]", "> 3.2" instead of numbers;
            missing values remain missing. In a numpy array, which has no labels, a number is
            replaced by the index of its interval; the array has integers if all columns do.
        """
        if isinstance(data, Dataset):
            return cast("DataT", self._cut_dataset(data))
        if isinstance(data, Incomplete):
            return cast("DataT", Incomplete(self._cut_dataset(data.dataset), data.gaps))
        from kes.data.frames import replace_columns

        source = _open(data)
        pieces = {}
        for index, name in enumerate(source.names):
            if name in self.cuts:
                column = source.column(index, frozenset())
                pieces[index] = self.cut(name, column, source.likely_decimal)
        return cast("DataT", replace_columns(data, pieces))

    def _cut_dataset(self, table: Dataset) -> Dataset:
        source, columns = Coded(table), list(table.columns)
        for index, name in enumerate(table.names):
            if name in self.cuts:
                columns[index] = self.cut(name, source.column(index, frozenset())).to_column()
        return Dataset.of(table.names, columns, table.weights, table.notes)

    def cut(self, name: str, column: Raw, decimal: Sign | None = None) -> Factor:
        """Replace the numbers of a column by intervals, unless it holds intervals already.

        All intervals are states, even if they do not occur. A state for missing values is kept.
        """
        intervals = self.intervals(name)
        if self.is_cut(column, name):
            states = (*intervals, *filter(is_missing_state, column.values))
            place = {state: code for code, state in enumerate(states)}
            lookup = [*(place[str(value)] for value in column.values), -1]
            codes = recoded(np.array(lookup, dtype=np.int32), column.codes)
            return Factor(states, codes, declared=True)
        values = _numbers(column, name, decimal)
        codes = np.searchsorted(self.cuts[name], values).astype(np.int32)  # number of cuts below
        codes[np.isnan(values)] = -1
        return Factor(intervals, codes, declared=True)

    def is_cut(self, column: Raw, name: str) -> TypeGuard[Factor]:
        """Return whether a column already holds its intervals."""
        if self._cuts is None or name not in self._cuts or not isinstance(column, Factor):
            return False
        others = set(map(str, column.values)).difference(self.intervals(name))
        return all(is_missing_state(value) for value in others)

    def _read_target(
        self, columns: Mapping[str, Raw], labels: ArrayLike | None
    ) -> NDArray[np.int32] | None:
        """Code the target."""
        given = (self.target is not None) + (labels is not None)
        if given != (self.method == "information"):
            raise KesError(
                "the method 'information' needs a target: the name of a column, or labels"
                if self.method == "information"
                else f"the method {self.method!r} does not use a target",
                option="target",
            )
        if not given:
            return None
        named = self.target is not None
        column = _known(self.target or "", columns) if named else from_array(np.asarray(labels))
        verdict = judge(column, cases=False)
        factor = verdict.column
        if verdict.kind != "discrete" or not isinstance(factor, Factor):
            raise KesError("the target must be discrete", option="target", column=self.target)
        rows = next((column.rows for column in columns.values()), 0)
        if len(factor.codes) != rows:
            raise KesError(f"{len(factor.codes)} labels for {rows} rows", option="target")
        return factor.codes

    def __eq__(self, other: object) -> bool:
        """Return whether the cut points, or before fitting the options, are equal."""
        if not isinstance(other, Discretizer):
            return NotImplemented
        if self._cuts is not None or other._cuts is not None:
            return self._cuts == other._cuts
        return self._options() == other._options()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self._options().items())
        fitted = ""
        if self._cuts is not None:
            places = (
                f"{name!r} at {', '.join(f'{cut:.15g}' for cut in cuts) or 'no place'}"
                for name, cuts in self._cuts.items()
            )
            fitted = f", fitted: {listed(places, show=str) or 'no column'}"
        return f"Discretizer({options}){fitted}"

    def _options(self) -> dict[str, object]:
        options: dict[str, object] = {"bins": self.bins, "method": self.method}
        if self.method == "information":
            options |= {"target": self.target, "min_count": self.min_count}
        return options


def discretize(
    data: DataT,
    bins: int = 3,
    strategy: Literal["quantile", "uniform", "mutual_information"] = "quantile",
    *,
    target: str | ArrayLike | None = None,
    columns: Iterable[str] | None = None,
    min_count: int = 5,
) -> DataT:
    """Discretize continuous columns with a `Discretizer`, in one step.

    Parameters
    ----------
    data : DataFrame, Table or ndarray
        As in `Discretizer.transform`.
    bins : int
        Number of intervals; ties or few distinct values may give fewer.
    strategy : {"quantile", "uniform", "mutual_information"}
        The method of the `Discretizer`.
    target : str or array-like, optional
        For "mutual_information": a column, which is not changed, or a label for each row.
    columns : iterable of str, optional
        The columns to discretize; by default those that are continuous for `kes.learn`.
    min_count : int
        For "mutual_information": minimum number of cases in an interval.

    Returns
    -------
    DataFrame, Table or ndarray
        As `Discretizer.transform` returns it. Cut points have as few digits as separate the data
        in the same way.

    Raises
    ------
    KesError
        If a column has infinite values or is not numeric, or an option is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> discretize(np.array([[0.1, 1], [0.3, 0], [0.5, 1], [0.7, 0]]), bins=2)
    array([[0, 1],
           [0, 0],
           [1, 1],
           [1, 0]])
    """
    _open(data)
    methods = {name.replace("information", "mutual_information"): name for name in _METHODS}
    if strategy not in methods:
        raise unknown("strategy", strategy, methods, option="strategy")
    column, labels = (target, None) if isinstance(target, str) else (None, target)
    discretizer = Discretizer(
        bins if columns is None else dict.fromkeys(columns, bins),
        method=cast("Method", methods[strategy]),
        target=column,
        min_count=min_count,
    )
    return discretizer.fit(data, labels).transform(data)


def _open(data: object) -> Source:
    if isinstance(data, str | os.PathLike):
        raise KesError(
            "discretize takes tables in memory; read the file first, for example with "
            "pandas.read_csv",
            file=os.fspath(data),
        )
    if isinstance(data, np.ndarray) and data.dtype.kind not in "biuf":
        raise KesError(f"arrays must hold numbers, not {data.dtype}", option="data")
    return open_source(cast("Any", data))


def _point(column: str, value: object) -> float:
    """Return a cut point."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise KesError(
            f"column {column!r}: a cut must be a number, not {value!r}",
            option="cuts",
            column=column,
        ) from None


def _known(name: str, columns: Mapping[str, Raw]) -> Raw:
    if name not in columns:
        raise unknown("column", name, columns, column=name)
    return columns[name]


def _numbers(column: Raw, name: str, decimal: Sign | None) -> Floats:
    """Return the numbers of a column, NaN where they are missing."""
    with naming(name):
        return to_numbers(column, decimal).floats()
