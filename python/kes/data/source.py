"""Sources of tables: files, data frames, arrays and datasets behind one interface."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data import raw_columns
from kes.data.column import Continuous
from kes.data.dataset import Data, Dataset, Incomplete
from kes.data.factor import Factor, code_type
from kes.data.notation import Notation
from kes.data.parse_text import Sign
from kes.data.raw_columns import Numbers, Raw
from kes.errors import KesError, listed, not_installed, repeated
from kes.files import no_file

if TYPE_CHECKING:
    from kes.data.csv_source import CsvDialect

_TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
_WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_NONE: Mapping[Any, str] = MappingProxyType({})

Wanted: TypeAlias = Callable[[str], bool]
"""Returns whether the column with a name will be read."""


class Source:
    """A table whose columns can be read one by one. Its errors do not name the column.

    Unnamed columns get names by position, "column 1" and so on: `unnamed`, by index. The dialect
    of a file may suggest a decimal sign for ambiguous numbers: `likely_decimal`. Some sources know
    what their columns are: `notations`.
    """

    names: Sequence[str]
    rows: int
    likely_decimal: Sign | None = None
    notes: tuple[str, ...] = ()
    unnamed: Mapping[int, str] = _NONE
    notations: Mapping[str, Notation] = MappingProxyType({})
    _named: Mapping[str, str] = _NONE

    def column(self, index: int, absent: frozenset[str]) -> Raw:
        """Read a column; values whose text is in `absent` are missing."""
        raise NotImplementedError

    def called(self, name: str) -> str:
        """Return the name of a column; the first one without a name has a blank one in the data."""
        return self._named.get(name, name)

    def name_all(self) -> None:
        """Name unnamed columns."""
        own = self.names
        self.unnamed = {i: _by_place(i, own) for i, name in enumerate(own) if not name.strip()}
        self._named = {own[i]: name for i, name in reversed(self.unnamed.items())}
        self.names = [self.unnamed.get(i, name) for i, name in enumerate(own)]


def _by_place(place: int, taken: Sequence[str]) -> str:
    name = f"column {place + 1}"
    while name in taken:
        name = f"unnamed {name}"
    return name


def open_source(
    data: Data, dialect: CsvDialect | None = None, wanted: Wanted = lambda _: True
) -> Source:
    """Open a table and check that the names of its columns are distinct.

    Only the `wanted` columns of a file need to fit into memory.
    """
    source = _open(data, dialect, wanted)
    if not isinstance(source, Coded) and not all(map(str.strip, source.names)):
        source.name_all()
    check_distinct(source.names)
    return source


def _open(data: Data, dialect: CsvDialect | None, wanted: Wanted) -> Source:
    if isinstance(data, Source):
        return data
    if isinstance(data, str | os.PathLike):
        return _open_file(data, dialect, wanted)
    if isinstance(data, Dataset):
        return Coded(data)
    if isinstance(data, Incomplete):
        return Coded(data.dataset, data.gaps)
    if isinstance(data, np.ndarray):
        return Array(data)
    # Only for frames: importing narwhals would add a tenth to the time of `import kes`.
    from kes.data.frames import open_frame

    return open_frame(data)


def check_distinct(names: Sequence[str]) -> None:
    """Refuse columns of the same name."""
    double = sorted(repeated(names))
    if "" in double:
        raise KesError("several columns have no name; name them, or leave them out", column="")
    if double:
        raise KesError(
            f"several columns have the same name: {listed(double)}; rename them", column=double[0]
        )


# --- files ---------------------------------------------------------------------------------------


def _open_file(path: str | os.PathLike[str], dialect: CsvDialect | None, wanted: Wanted) -> Source:
    """Open a table file by its suffix.

    CSV (``.csv``, ``.tsv``, ``.txt``, optionally with ``.gz``) is read by the Rust core, Parquet
    (``.parquet``, or a folder of such files) by pyarrow, which keeps declared categories, and
    workbooks (``.xlsx`` and the like) by calamine. Whether a text file is compressed is detected
    from its first bytes.
    """
    file = Path(path)
    if not os.path.exists(file):  # also for names that no file can have
        raise no_file(path)
    suffix = _suffix(file)
    if suffix in _TEXT_SUFFIXES:
        from kes.data.csv_source import CsvDialect, read_text

        return read_text(file, suffix, dialect or CsvDialect())
    if suffix in _WORKBOOKS:
        try:
            import python_calamine  # noqa: F401 - only to find out whether it is installed
        except ImportError:
            raise KesError(
                f"{str(path)!r} is a workbook: save the table as CSV, or install the extra excel: "
                "pip install python-calamine",
                file=str(path),
            ) from None
        from kes.data.workbook import Workbook

        return Workbook(file)
    if suffix == ".parquet" or file.is_dir():
        try:
            import pyarrow  # noqa: F401 - only to find out whether it is installed
        except ImportError:
            raise not_installed("pyarrow") from None
        from kes.data.parquet import Parquet

        return Parquet(file, wanted)
    raise KesError(
        f"unknown kind of file: {str(path)!r}; the name of a table must end in .csv, .tsv or .txt "
        "(optionally followed by .gz), .parquet or .xlsx, or be a folder of Parquet files",
        file=str(path),
    )


def is_table(file: Path) -> bool:
    """Return whether a file is a table, by its name."""
    return _suffix(file) in (*_TEXT_SUFFIXES, *_WORKBOOKS, ".parquet")


def _suffix(file: Path) -> str:
    """Return the suffix of a name without ``.gz``."""
    return (file.with_suffix("") if file.suffix.lower() == ".gz" else file).suffix.lower()


# --- tables in memory ----------------------------------------------------------------------------


class Array(Source):
    """A two-dimensional array; its columns are named x0, x1, ..."""

    def __init__(self, array: NDArray[Any]) -> None:
        if array.ndim != 2:
            raise KesError(
                f"an array of data must have two dimensions (rows, columns), not {array.ndim}",
                option="data",
            )
        if isinstance(array, np.ma.MaskedArray):
            raise KesError(
                "masked arrays are not supported; pass a DataFrame, or floats with NaN for missing",
                option="data",
            )
        self.rows = array.shape[0]
        self.names = [f"x{i}" for i in range(array.shape[1])]
        self._array = array

    def column(self, index: int, absent: frozenset[str]) -> Raw:
        """Read a column by its dtype, made contiguous: most arrays store rows contiguously."""
        column = np.ascontiguousarray(self._array[:, index])
        return raw_columns.from_array(column).without(absent)


class Coded(Source):
    """A dataset, with or without missing values."""

    def __init__(self, dataset: Dataset, gaps: NDArray[np.bool_] | None = None) -> None:
        self.names, self.rows, self.notes = dataset.names, dataset.rows, dataset.notes
        self.notations = dataset.notations
        self._dataset, self._gaps = dataset, gaps

    def column(self, index: int, absent: frozenset[str]) -> Raw:
        """Return the codes or numbers."""
        column = self._dataset.columns[index]
        if isinstance(column, Continuous):
            return Numbers(column.values, None if self._gaps is None else ~self._gaps[index])
        codes = column.codes.astype(code_type(len(column.states)))
        if self._gaps is not None:
            codes[self._gaps[index]] = -1
        return Factor(column.states, codes, declared=True).without(absent)
