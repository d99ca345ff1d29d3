"""Continuous columns into intervals, and new rows into the same ones.

Where to cut is decided per column: into bins that hold equally many cases ("quantile"), that are
equally wide ("uniform"), or that tell most about a target ("information"). What was decided is a
few numbers, which go wherever the result goes, so that later rows can come as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal, Self, TypeAlias, TypeGuard, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes.data.cuts import Floats, find_cuts, interval_labels
from kes.data.dataset import Dataset, naming
from kes.data.factor import Factor, recoded
from kes.data.incomplete import Incomplete
from kes.data.infer_kinds import is_continuous, judge, to_numbers
from kes.data.missing import is_missing_state
from kes.data.parse_text import Sign
from kes.data.raw_columns import Raw, from_array
from kes.data.replace import Ordered, replace_columns
from kes.data.source import Coded, Source, open_source
from kes.errors import KesError, listed, option, unknown

_METHODS = ("quantile", "uniform", "information")

DataT = TypeVar("DataT")
Method: TypeAlias = Literal["quantile", "uniform", "information"]


class Discretizer:
    """Cuts columns of numbers into intervals.

    Parameters
    ----------
    bins : int or mapping
        Number of intervals for every continuous column, or a number for each of the columns that
        are to be cut, such as ``{"age": 5}``. Ties or few distinct values may give fewer.
    method : {"quantile", "uniform", "information"}
        Bins with equally many cases, of equal width between the smallest and the largest value,
        or with the greatest mutual information with the target (see `mutual_information_cuts`).
    target : str, optional
        For "information": a discrete column, which is itself left as it is.
    min_count : int
        For "information": the fewest cases in a bin.

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

    def __init__(
        self,
        bins: int | Mapping[str, int] = 3,
        *,
        method: Method = "quantile",
        target: str | None = None,
        min_count: int = 5,
    ) -> None:
        _check_options(bins, method, min_count)
        self.bins = bins
        self.method = method
        self.target = target
        self.min_count = min_count
        self._cuts: dict[str, tuple[float, ...]] | None = None

    @classmethod
    def checked(cls, given: object) -> Discretizer | None:
        """Make one of its own of what a user gave as `discretize`, or say what is wrong with it."""
        if given is None:
            return None
        if isinstance(given, Discretizer):
            return copy(given)
        if isinstance(given, Mapping | int):
            return cls(given)
        raise KesError(
            f"{option('discretize')} must be a number of intervals, a number for each of some "
            f"columns, or a kes.Discretizer, not {given!r}"
        )

    @classmethod
    def at(cls, cuts: Mapping[str, Sequence[float]]) -> Self:
        """Return one that cuts these columns at these numbers, and needs no fitting.

        Raises
        ------
        KesError
            If the numbers are not finite and increasing.
        """
        found = {}
        for name, numbers in cuts.items():
            ends = tuple(float(number) for number in numbers)
            if not np.isfinite(ends).all() or any(b <= a for a, b in pairwise(ends)):
                raise KesError(
                    f"column {name!r}: cuts must be finite numbers, each greater than the one "
                    f"before, not {listed(numbers)}"
                )
            found[name] = ends
        made = cls({name: len(ends) + 1 for name, ends in found.items() if ends} or 3)
        made._cuts = found
        return made

    # --- cuts ---

    @property
    def is_fitted(self) -> bool:
        """Whether it knows where to cut."""
        return self._cuts is not None

    @property
    def cuts(self) -> Mapping[str, tuple[float, ...]]:
        """Where each column is cut; a value at a cut belongs to the interval below.

        Raises
        ------
        KesError
            Before `fit`.
        """
        if self._cuts is None:
            raise KesError("the Discretizer does not know where to cut yet; call fit(data) first")
        return MappingProxyType(self._cuts)

    @property
    def named(self) -> frozenset[str]:
        """The columns that are to be cut whatever they are taken for."""
        return frozenset(self.bins if isinstance(self.bins, Mapping) else ())

    def intervals(self, column: str) -> tuple[str, ...]:
        """Return what the intervals of a column are called, from left to right."""
        if column not in self.cuts:
            raise unknown("column", column, self.cuts)
        return tuple(interval_labels(self.cuts[column]))

    def fit(self, data: object, labels: ArrayLike | None = None) -> Self:
        """Decide where to cut.

        Parameters
        ----------
        data
            Any table that `kes.learn` takes. Missing values are passed over.
        labels : array-like, optional
            For "information", if no column is the target: a label for each row.

        Raises
        ------
        KesError
            If a column to cut has infinite values or is not numeric, or the target is missing.
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
        labels: ArrayLike | None = None,
        decimal: Sign | None = None,
    ) -> Self:
        """Decide where to cut columns that are read already; some of them are continuous."""
        target = self._read_target(columns, labels)
        if isinstance(self.bins, Mapping):
            wanted: dict[str, int] = dict(self.bins)
        else:
            wanted = dict.fromkeys(continuous, self.bins)
        wanted.pop(self.target or "", None)
        self._cuts = {}
        for name, bins in wanted.items():
            values = _numbers(_known(name, columns), name, decimal)
            self._cuts[name] = self._find(values, bins, target)
        return self

    def transform(self, data: DataT) -> DataT:
        """Put the intervals in the place of the numbers.

        Parameters
        ----------
        data : DataFrame, Table, ndarray or Dataset
            A pandas or polars DataFrame, a pyarrow Table, a two-dimensional numpy array, whose
            columns are called x0, x1, ..., or a `kes.Dataset`. Columns that are not known are left
            as they are, and so are those that hold intervals of this kind already.

        Returns
        -------
        DataFrame, Table, ndarray or Dataset
            The same kind of table, with ordered categories (pandas), Enums (polars) or ordered
            dictionaries (pyarrow) such as "<= 1.5", "(1.5, 3.2]", "> 3.2" in place of the numbers;
            missing values stay missing. In a numpy array, which has no place for labels, a number
            is replaced by that of its bin, from 0; the array is one of integers if all columns
            are.
        """
        if isinstance(data, Dataset):
            return cast("DataT", self._cut_dataset(data))
        if isinstance(data, Incomplete):
            return cast("DataT", Incomplete(self._cut_dataset(data.dataset), data.gaps))
        source = _open(data)
        pieces = {}
        for index, name in enumerate(source.names):
            if name in self.cuts:
                factor = self.cut(name, source.column(index, frozenset()), source.likely_decimal)
                pieces[index] = Ordered(cast("list[str]", factor.values), factor.codes)
        return replace_columns(data, pieces)

    def _cut_dataset(self, table: Dataset) -> Dataset:
        source, columns = Coded(table), list(table.columns)
        for index, name in enumerate(table.names):
            if name in self.cuts:
                columns[index] = self.cut(name, source.column(index, frozenset())).to_column()
        return Dataset.of(table.names, columns, table.weights, table.notes)

    def cut(self, name: str, column: Raw, decimal: Sign | None = None) -> Factor:
        """Put the intervals in the place of the numbers of one column, if they are not there yet.

        All intervals are states, also those that do not occur. If "missing" is a state already, it
        stays one.
        """
        intervals = self.intervals(name)
        if self.is_cut(column, name):
            states = (*intervals, *filter(is_missing_state, column.values))
            place = {state: code for code, state in enumerate(states)}
            lookup = [*(place[str(value)] for value in column.values), -1]
            codes = recoded(np.array(lookup, dtype=np.int32), column.codes)
            return Factor(states, codes, declared=True)
        values = _numbers(column, name, decimal)
        codes = np.searchsorted(self.cuts[name], values).astype(np.int32)  # the cuts below
        codes[np.isnan(values)] = -1
        return Factor(intervals, codes, declared=True)

    def is_cut(self, column: Raw, name: str) -> TypeGuard[Factor]:
        """Tell whether a column holds the intervals already that it is to be cut into."""
        if name not in self.cuts or not isinstance(column, Factor):
            return False
        others = set(map(str, column.values)).difference(self.intervals(name))
        return all(is_missing_state(value) for value in others)

    def _find(
        self, values: Floats, bins: int, target: NDArray[np.int32] | None
    ) -> tuple[float, ...]:
        present = ~np.isnan(values)
        if target is not None:
            present &= target >= 0
        labels = None if target is None else target[present]
        return find_cuts(values[present], bins, self.method, labels, self.min_count)

    def _read_target(
        self, columns: Mapping[str, Raw], labels: ArrayLike | None
    ) -> NDArray[np.int32] | None:
        """Code the target."""
        given = (self.target is not None) + (labels is not None)
        if given != (self.method == "information"):
            raise KesError(
                "cuts that tell most about a target need one: a column's name or a label per row"
                if self.method == "information"
                else f"a target is of use for cuts by information only, not by {self.method}"
            )
        if not given:
            return None
        named = self.target is not None
        column = _known(self.target or "", columns) if named else from_array(np.asarray(labels))
        verdict = judge(column, cases=False)
        factor = verdict.column
        if verdict.kind != "discrete" or not isinstance(factor, Factor):
            raise KesError("the target must be discrete, but is continuous, or dates")
        rows = next((column.rows for column in columns.values()), 0)
        if len(factor.codes) != rows:
            raise KesError(f"the target has {len(factor.codes)} labels for {rows} rows")
        return factor.codes

    # --- Python ---

    def __eq__(self, other: object) -> bool:
        """Tell whether both cut at the same places, or, before that is known, will look alike."""
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
    """Cut continuous columns into intervals: what a `Discretizer` does, in one step.

    Parameters
    ----------
    data : DataFrame, Table or ndarray
        As in `Discretizer.transform`.
    bins : int
        Number of intervals; ties or few distinct values may give fewer.
    strategy : {"quantile", "uniform", "mutual_information"}
        The method of the `Discretizer`.
    target : str or array-like, optional
        For "mutual_information": a column, which is itself left as it is, or a label for each row.
    columns : iterable of str, optional
        The columns to cut; by default those that `kes.learn` takes as continuous.
    min_count : int
        For "mutual_information": the fewest cases in a bin.

    Returns
    -------
    DataFrame, Table or ndarray
        As `Discretizer.transform` does. The ends are written, and meant, with as few digits as
        separate the data in the same way.

    Raises
    ------
    KesError
        If a column to cut has infinite values or is not numeric, or an option is unknown.

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
        raise unknown("strategy", strategy, methods)
    column, labels = (target, None) if isinstance(target, str) else (None, target)
    discretizer = Discretizer(
        bins if columns is None else dict.fromkeys(columns, bins),
        method=cast("Method", methods[strategy]),
        target=column,
        min_count=min_count,
    )
    return discretizer.fit(data, labels).transform(data)


def _check_options(bins: object, method: object, min_count: object) -> None:
    numbers = bins.values() if isinstance(bins, Mapping) else [bins]
    wanted = [*(("bins", number, 2) for number in numbers), ("min_count", min_count, 1)]
    for name, value, least in wanted:
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise KesError(f"{name} must be a whole number from {least} on, not {value!r}")
    if method not in _METHODS:
        raise unknown("method", method, _METHODS)


def _open(data: object) -> Source:
    if isinstance(data, str | os.PathLike):
        raise KesError(
            "discretize takes tables in memory; read the file first, for example with "
            "pandas.read_csv"
        )
    if isinstance(data, np.ndarray) and data.dtype.kind not in "biuf":
        raise KesError(f"can only cut arrays of numbers, not of dtype {data.dtype}")
    return open_source(cast("Any", data))


def _known(name: str, columns: Mapping[str, Raw]) -> Raw:
    if name not in columns:
        raise unknown("column", name, columns)
    return columns[name]


def _numbers(column: Raw, name: str, decimal: Sign | None) -> Floats:
    """Return the numbers of a column to cut, NaN where they are missing."""
    with naming(name):
        return to_numbers(column, decimal).floats()
