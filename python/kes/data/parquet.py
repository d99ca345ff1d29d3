"""Parquet files, and folders of them: columns are read one by one, each in pieces.

Text and 64-bit integers are coded or narrowed piece by piece, so that little more than the codes of
the table is ever in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow.parquet import ParquetFile

from kes.data import factor as factors
from kes.data import raw_columns
from kes.data.factor import code_type, recoded
from kes.data.frames import categories_of_pandas, open_frame
from kes.data.raw_columns import Numbers, Raw
from kes.data.source import Source, Wanted
from kes.errors import KesError, listed
from kes.files import COLUMN_BYTES, check_memory, check_unfolded

_PIECE = 2**18  # rows
_BLOCK = 2**20  # cells
_TEXTS = (pa.string(), pa.large_string())
_FLOATS = (pa.float32(), pa.float64())


class Parquet(Source):
    """A Parquet file, or a folder with the parts of one table."""

    def __init__(self, path: Path, wanted: Wanted) -> None:
        self._files = [_File(file, wanted) for file in _parts(path)]
        first = self._files[0]
        self.names = first.names
        self.rows = sum(file.rows for file in self._files)
        for file in self._files[1:]:
            file.check_like(first)
        names = list(filter(wanted, self.names))
        cells = sum(_cell_bytes(first.types[name]) for name in names)
        check_memory(path, self.rows, len(names), self.rows * cells)

    def column(self, index: int, absent: frozenset[str]) -> Raw:
        """Read a column, in pieces if its type allows."""
        name = self._files[0].names[index]
        types = [file.types[name] for file in self._files]
        kind = next((one for one in types if one != pa.null()), pa.null())
        pieces = self._pieces(name, pa.dictionary(pa.int32(), kind) if kind in _TEXTS else kind)
        if _is_coded(kind):
            ordered = pa.types.is_dictionary(kind) and kind.ordered
            declared = ordered or any(name in file.declared for file in self._files)
            return _categories(pieces, self.rows, declared).without(absent)
        if pa.types.is_boolean(kind):
            return factors.from_booleans(*_values(pieces, self.rows)).without(absent)
        if pa.types.is_integer(kind):
            values, missing = _values(pieces, self.rows)
            return Numbers(values, ~missing if missing.any() else None).without(absent)
        if kind in _FLOATS:
            floats, filled = np.empty(self.rows, dtype=np.float64), 0
            for piece in pieces:
                floats[filled : filled + len(piece)] = piece.to_numpy(zero_copy_only=False)
                filled += len(piece)
            return Numbers.of_floats(floats).without(absent)
        tables = [file.whole(name) for file in self._files]
        whole = pa.concat_tables(tables, promote_options="default")
        return open_frame(whole).column(0, absent)

    def _pieces(self, name: str, kind: pa.DataType) -> Iterator[pa.Array]:
        """Yield a column; in files in which it has no values at all, its type is another one."""
        for file in self._files:
            for piece in file.pieces(name):
                yield piece if piece.type != pa.null() else pa.nulls(len(piece), kind)


class _File:
    """One file."""

    def __init__(self, path: Path, wanted: Wanted) -> None:
        self.path = path
        self._block: dict[str, list[pa.Array]] = {}
        with self._reading(), ParquetFile(path) as parquet:
            metadata, schema = parquet.metadata, parquet.schema_arrow
            self.names = schema.names
            self.types = dict(zip(schema.names, schema.types, strict=True))
            self.rows = metadata.num_rows
            self._wanted = [name for name in self.names if wanted(name)]
            self._place = {name: i for i, name in enumerate(self._wanted)}
            # The metadata of the file itself, as when all of it is read at once.
            self.declared = categories_of_pandas(schema.with_metadata(metadata.metadata))
            groups = (metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
            least = metadata.num_columns * max(self.rows, COLUMN_BYTES)
            unfolded = max(least, sum(groups))
            size = path.stat().st_size
        check_unfolded(path, unfolded, size, at_once=False)

    def check_like(self, first: _File) -> None:
        """Refuse a file that is not a part of the same table."""
        lacking = [name for name in first.types if name not in self.types]
        further = [name for name in self.types if name not in first.types]
        if lacking or further:
            odd = f"lacks {listed(lacking)}" if lacking else f"has {listed(further)} as well"
            raise KesError(
                f"{str(self.path)!r} has other columns than {first.path.name!r} beside it: it "
                f"{odd}; put only parts of one table into a folder",
                column=(lacking or further)[0],
                file=str(self.path),
            )
        for name, kind in self.types.items():
            if not _alike(kind, first.types[name]):
                raise KesError(
                    f"column {name!r} is of type {kind} in {str(self.path)!r}, but of type "
                    f"{first.types[name]} in {first.path.name!r} beside it; write all parts of a "
                    "table with the same types",
                    column=name,
                    file=str(self.path),
                )

    def pieces(self, name: str) -> Iterable[pa.Array]:
        """Return a column in pieces; text as dictionaries with the codes of the file.

        Opening a file takes time in proportion to all of its columns, so where there are few rows,
        the columns that follow are read with it.
        """
        if (number := _BLOCK // max(1, self.rows)) < 2:
            return (batch[name] for batch in self._batches([name]))
        if name not in self._block:
            place = self._place[name]
            names = self._wanted[place : place + number]
            batches = list(self._batches(names))
            self._block = {one: [batch[one] for batch in batches] for one in names}
        return self._block[name]

    def _batches(self, names: list[str]) -> Iterator[dict[str, pa.Array]]:
        """Yield some columns by name, in pieces."""
        texts, left = [name for name in names if self.types[name] in _TEXTS], self.rows
        with self._reading(), ParquetFile(self.path, read_dictionary=texts) as parquet:
            for batch in parquet.iter_batches(_PIECE, columns=names, use_threads=False):
                batch.validate(full=True)  # codes of a damaged file may be out of range
                left -= batch.num_rows
                if left >= 0:
                    yield dict(zip(batch.schema.names, batch.columns, strict=True))
            if left:
                lacking = f"{self.rows - left} of {self.rows} rows"
                raise ValueError(f"column {names[0]!r} has {lacking}")

    def whole(self, name: str) -> pa.Table:
        """Return a table of one column."""
        with self._reading(), ParquetFile(self.path) as parquet:
            table = parquet.read(columns=[name]).select([name])
            table.validate(full=True)
            if table.num_rows != self.rows:
                raise ValueError(f"column {name!r} has {table.num_rows} of {self.rows} rows")
            return table

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except KesError:
            raise
        except (pa.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
            message = f"{str(self.path)!r} is not a readable Parquet file: {error}"
            raise KesError(message, file=str(self.path)) from error


def _parts(path: Path) -> list[Path]:
    """Return the files of a table, in the order of their names."""
    if not path.is_dir():
        return [path]
    inside = sorted(path.rglob("*.parquet"))
    files = [file for file in inside if file.is_file() and file.name[0] not in "._"]
    if not files:
        raise KesError(f"the folder {str(path)!r} has no *.parquet files", file=str(path))
    for file in files:
        for folder in file.relative_to(path).parts[:-1]:
            if "=" in folder:
                raise KesError(
                    f"{str(path)!r} is partitioned: the folder {folder!r} stands for a column that "
                    "is not in the files; write the table without partitions",
                    file=str(path),
                )
    return files


def _is_coded(kind: pa.DataType) -> bool:
    """Return whether values are read as codes, as text is."""
    return pa.types.is_dictionary(kind) or kind in _TEXTS


def _alike(a: pa.DataType, b: pa.DataType) -> bool:
    """Return whether columns of two files have one type; either may have no values at all."""
    if pa.null() in (a, b):
        return True
    if pa.types.is_dictionary(a) and pa.types.is_dictionary(b):
        return bool(a.value_type == b.value_type and a.ordered == b.ordered)
    return bool(a == b)


def _cell_bytes(kind: pa.DataType) -> int:
    """Estimate the bytes of a coded cell from its type."""
    small = _is_coded(kind) or pa.types.is_boolean(kind) or kind in (pa.int8(), pa.uint8())
    return 1 if small else 8


# --- a column of pieces --------------------------------------------------------------------------


def _categories(pieces: Iterable[pa.Array], rows: int, declared: bool) -> Raw:
    """Code by the distinct values of all pieces, in order of occurrence."""
    place_of: dict[object, int] = {}
    codes, filled = np.empty(rows, dtype=code_type(0)), 0
    dictionary, lookup = None, np.empty(0, dtype=np.int32)
    for piece in pieces:
        if dictionary is None or not piece.dictionary.equals(dictionary):
            dictionary = piece.dictionary
            places = [place_of.setdefault(v, len(place_of)) for v in dictionary.to_pylist()]
            lookup = np.array([*places, -1], dtype=np.int32)  # the last is for -1
            codes = codes.astype(code_type(len(place_of)), copy=False)
        indices = piece.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
        codes[filled : filled + len(piece)] = recoded(lookup, indices)
        filled += len(piece)
    values = list(place_of)
    return (
        factors.from_categories(values, codes)
        if declared
        else raw_columns.from_dictionary(values, codes)
    )


def _values(pieces: Iterable[pa.Array], rows: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return integers or booleans, 0 where they are missing, and which are missing.

    Integers have the smallest type that fits.
    """
    values, missing, filled = np.empty(rows, dtype=np.int8), np.zeros(rows, dtype=np.bool_), 0
    for piece in pieces:
        part = slice(filled, filled + len(piece))
        filled = part.stop
        if piece.null_count:
            missing[part] = piece.is_null().to_numpy(zero_copy_only=False)
        numbers = piece.fill_null(0 if piece.type != pa.bool_() else False)
        array = numbers.to_numpy(zero_copy_only=False)
        values = values.astype(_holding(values.dtype, array), copy=False)
        values[part] = array
    return values, missing


def _holding(kind: np.dtype[Any], numbers: NDArray[Any]) -> np.dtype[Any]:
    """Return the smallest type of integers, not below `kind`, that holds the numbers."""
    if not numbers.size or numbers.dtype.kind == "b":
        return kind
    low, high = int(numbers.min()), int(numbers.max())
    if high > np.iinfo(np.int64).max:
        return np.dtype(np.uint64)
    if kind == np.uint64:
        return kind
    sizes = [np.dtype(f"i{size}") for size in (1, 2, 4, 8) if size >= kind.itemsize]
    return next(one for one in sizes if np.iinfo(one).min <= low and high <= np.iinfo(one).max)
