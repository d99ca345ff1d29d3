"""Everything that can be read as a table, behind one face."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kes.data import raw_columns
from kes.data.column import Continuous
from kes.data.csv_dialect import CsvDialect
from kes.data.dataset import Data, Dataset
from kes.data.factor import Factor, code_type
from kes.data.incomplete import Incomplete
from kes.data.memory import Wanted, whole
from kes.data.numbers import Numbers
from kes.data.parse_text import Sign
from kes.data.raw_columns import Raw
from kes.data.table_files import read
from kes.errors import KesError, listed, repeated


class Source(Protocol):
    """Columns that can be read one by one. Errors do not name the column; the caller does."""

    @property
    def names(self) -> Sequence[str]:
        """The columns."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def likely_decimal(self) -> Sign | None:
        """The decimal sign of numbers in text that can be read in two ways, as a file hints at."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about the reading."""

    def column(self, index: int, absent: frozenset[str]) -> Raw:
        """Read a column; values whose text is in `absent` are missing."""

    def numbers(self, index: int) -> NDArray[np.float64]:
        """Read a column of numbers, missing ones as NaN."""


def open_source(data: Data, dialect: CsvDialect | None = None, wanted: Wanted = whole) -> Source:
    """Find out what `data` is and make sure that its columns have distinct names.

    Whether a file fits into memory depends on which of its columns are `wanted`.
    """
    source = _open(data, dialect or CsvDialect(), wanted)
    if not isinstance(source, Coded) and not all(map(str.strip, source.names)):
        source = Named(source)
    check_distinct(source.names)
    return source


def called(name: str, source: Source) -> str:
    """Return what a column is called whose name is given; it may be as empty as in the table."""
    return source.called.get(name, name) if isinstance(source, Named) else name


def is_nameless(index: int, source: Source) -> bool:
    """Tell whether a column has no name but its place."""
    return isinstance(source, Named) and index in source.unnamed


def check_distinct(names: Sequence[str]) -> None:
    """Refuse columns of the same name."""
    double = repeated(names)
    if "" in double:
        raise KesError("several columns have no name; name them, or leave them out")
    if double:
        raise KesError(f"several columns have the same name: {listed(sorted(double))}; rename them")


def _open(data: Data, dialect: CsvDialect, wanted: Wanted) -> Source:
    if isinstance(data, str | os.PathLike):
        return read(data, dialect, wanted)
    if isinstance(data, Dataset):
        return Coded(data)
    if isinstance(data, Incomplete):
        return Coded(data.dataset, data.gaps)
    if isinstance(data, np.ndarray):
        return Array(data)
    # Only for frames: to import narwhals would add a tenth to the time of `import kes`.
    from kes.data.frames import open_frame

    return open_frame(data)


class Named:
    """A table in which columns without a name are called by their place: column 1 and so on.

    Attributes
    ----------
    unnamed : dict
        What they are called, by their places.
    called : dict
        The same by what the table has instead of names; the first where that is the same.
    """

    def __init__(self, source: Source) -> None:
        own = source.names
        self.unnamed = {i: _by_place(i, own) for i, name in enumerate(own) if not name.strip()}
        self.called = {own[i]: name for i, name in reversed(self.unnamed.items())}
        self.names = [self.unnamed.get(i, name) for i, name in enumerate(own)]
        self.rows, self.notes = source.rows, source.notes
        self.likely_decimal = source.likely_decimal
        self.column, self.numbers = source.column, source.numbers


def _by_place(place: int, taken: Sequence[str]) -> str:
    name = f"column {place + 1}"
    while name in taken:
        name = f"unnamed {name}"
    return name


class Array:
    """A two-dimensional array; its columns are called x0, x1, ..."""

    likely_decimal = None
    notes = ()

    def __init__(self, array: NDArray[Any]) -> None:
        if array.ndim != 2:
            raise KesError(
                f"an array of data must have two dimensions (rows, columns), not {array.ndim}"
            )
        if isinstance(array, np.ma.MaskedArray):
            raise KesError(
                "masked arrays are not supported; pass a DataFrame, or floats with NaN for missing"
            )
        self.rows = array.shape[0]
        self.names = [f"x{i}" for i in range(array.shape[1])]
        self._array = array

    def column(self, index: int, absent: frozenset[str]) -> Raw:
        """Read a column by its dtype."""
        return raw_columns.from_array(self._column(index)).without(absent)

    def numbers(self, index: int) -> NDArray[np.float64]:
        """Read a column of numbers."""
        return raw_columns.to_floats(self._column(index))

    def _column(self, index: int) -> NDArray[Any]:
        """Return a column, its values side by side: rows are, as a rule, in the array."""
        return np.ascontiguousarray(self._array[:, index])


class Coded:
    """A table that was read before, perhaps with gaps."""

    likely_decimal = None

    def __init__(self, dataset: Dataset, gaps: NDArray[np.bool_] | None = None) -> None:
        self.names = dataset.names
        self.rows = dataset.rows
        self.notes = dataset.notes
        self._dataset, self._gaps = dataset, gaps

    def column(self, index: int, absent: frozenset[str]) -> Raw:
        """Take the codes or numbers as they are."""
        column = self._dataset.columns[index]
        if isinstance(column, Continuous):
            return Numbers(column.values, None if self._gaps is None else ~self._gaps[index])
        codes = column.codes.astype(code_type(len(column.states)))
        if self._gaps is not None:
            codes[self._gaps[index]] = -1
        return Factor(column.states, codes, declared=True).without(absent)

    def numbers(self, index: int) -> NDArray[np.float64]:
        """Read a column whose states are numbers."""
        column = self._dataset.columns[index]
        if isinstance(column, Continuous):
            return column.values
        values = raw_columns.to_floats(np.array(column.states, dtype=object))
        numbers: NDArray[np.float64] = values[column.codes]
        return numbers
