"""Tables in files: CSV by the Rust core, Parquet by pyarrow, which keeps declared categories."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kes import _core
from kes.data.factor import LOOKS_MISSING, MOST_INTEGER_FLOATS, ContinuousError, Factor
from kes.data.order import text_order
from kes.errors import KesError, missing_extra

if TYPE_CHECKING:
    from kes.data.source import Source

_TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
_GZIP_MAGIC = b"\x1f\x8b"
_INTEGER = re.compile(r"[+-]?[0-9]{1,400}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)


def read(path: str | os.PathLike[str]) -> Source:
    """Open a table file by its suffix.

    ``.csv``, ``.tsv`` and ``.txt``, also with ``.gz`` behind, or ``.parquet``. Whether a text file
    is compressed is seen from its first bytes, whatever it is called.
    """
    file = Path(path)
    if not file.exists():
        raise KesError(f"there is no file {str(path)!r} (looked in {str(file.parent.resolve())!r})")
    suffix = (file.with_suffix("") if file.suffix.lower() == ".gz" else file).suffix.lower()
    if suffix not in (*_TEXT_SUFFIXES, ".parquet"):
        raise KesError(
            f"cannot tell what kind of file {str(path)!r} is; the name of a table must end in "
            ".csv, .tsv or .txt (also with .gz behind) or .parquet"
        )
    try:
        return _read_parquet(file) if suffix == ".parquet" else _read_text(file, suffix)
    except OSError as error:
        raise KesError(f"cannot read {str(path)!r}: {error.strerror or error}") from error


def _read_parquet(file: Path) -> Source:
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise missing_extra("pyarrow", "parquet") from None
    from kes.data.frames import open_frame

    try:
        with ParquetFile(file) as parquet:
            texts = [
                field.name
                for field in parquet.schema_arrow
                if field.type in (pa.string(), pa.large_string())
            ]
        with ParquetFile(file, read_dictionary=texts) as parquet:  # coded, as the file has them
            return open_frame(parquet.read())
    except pa.ArrowException as error:
        raise KesError(f"{str(file)!r} is not a readable Parquet file: {error}") from error


def _read_text(file: Path, suffix: str) -> Source:
    content = file.read_bytes()
    if content.startswith(_GZIP_MAGIC):
        try:
            content = gzip.decompress(content)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise KesError(f"{str(file)!r} is damaged or incomplete: {error}") from error
    if not re.search(rb"\S", content):
        raise KesError(f"{str(file)!r} is empty; the first line must name the columns")
    delimiter = "\t" if suffix == ".tsv" else find_delimiter(content)
    try:
        names, columns = _core.parse_csv(content, delimiter)
        if len(names) == 1:
            names, columns = _core.parse_csv(_blank_lines_as_fields(content), delimiter)
        return Text(names, columns)
    except (ValueError, _core.CoreError) as error:
        raise KesError(f"{str(file)!r}, {error}") from None


def _blank_lines_as_fields(content: bytes) -> bytes:
    """Quote the blank lines of a file of one column, where they are empty fields.

    Those before the header and at the end are none, nor are those within quotes.
    """
    lines = content.rstrip(b"\r\n").splitlines(keepends=True)
    header = next(i for i, line in enumerate(lines) if line.strip(b"\r\n"))
    quotes = 0
    for i, line in enumerate(lines):
        if i > header and quotes % 2 == 0 and not line.strip(b"\r\n"):
            lines[i] = b'""' + line
        quotes += line.count(b'"')
    return b"".join(lines)


def find_delimiter(content: bytes) -> str:
    """Return what separates the columns: a comma, unless only others occur in the first line."""
    first_line = re.search(rb"[^\r\n]+", content)
    header = re.sub(rb'"[^"]*"', b"", first_line.group() if first_line else b"")
    if b"," in header:
        return ","
    return max(",;\t", key=lambda delimiter: header.count(delimiter.encode()))


class Text:
    """A CSV file: values stay as they are written, empty fields are missing."""

    def __init__(
        self, names: Sequence[str], columns: Sequence[tuple[list[str], NDArray[np.int32]]]
    ) -> None:
        self.names = names
        self.rows = len(columns[0][1]) if columns else 0
        self._columns = columns

    def factor(self, index: int, absent: frozenset[str]) -> Factor:
        """Take the codes of the file."""
        values, codes = self._columns[index]
        return Factor(values, codes, order=_order).without(absent | {""})

    def numbers(self, index: int) -> NDArray[np.float64]:
        """Read a column of numbers, empty fields as NaN."""
        values, codes = self._columns[index]
        numbers = np.full(len(values), np.nan)
        for i, value in enumerate(values):
            if _DECIMAL.fullmatch(value):
                numbers[i] = float(value)
            elif value:
                row = int(np.argmax(codes == i))
                raise KesError(f"row {row}: {value!r} is not a number")
        return numbers[codes]


def _order(values: Sequence[str]) -> list[int]:
    """Sort the distinct values of a column: integers numerically, others as `text_order` does.

    Decimal numbers are refused unless they are all integers ("1.0") and few, as in a data frame.
    """
    places = range(len(values))
    if _all_match(_INTEGER, values):
        return sorted(places, key=lambda i: (int(values[i]), values[i]))
    numbers = [value for value in values if value not in LOOKS_MISSING]
    if _all_match(_DECIMAL, numbers) and not _all_match(_INTEGER, numbers):
        whole = all(float(value).is_integer() for value in numbers)
        if not whole or len(numbers) > MOST_INTEGER_FLOATS:
            raise ContinuousError(sorted(numbers, key=float))
        if len(numbers) == len(values):
            return sorted(places, key=lambda i: (float(values[i]), values[i]))
    return text_order(values)


def _all_match(pattern: re.Pattern[str], values: Sequence[str]) -> bool:
    return all(pattern.fullmatch(value) for value in values)
