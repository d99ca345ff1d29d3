"""Tables in files: CSV by the Rust core, Parquet by pyarrow, which keeps declared categories."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kes import _core
from kes.data.decimals import Sign, no_numbers, parse
from kes.data.factor import Factor
from kes.data.kinds import to_numbers
from kes.data.order import text_order
from kes.data.sniffing import Writing, find_delimiter, requoted, single_quoted, to_utf8
from kes.errors import KesError, not_installed, option
from kes.files import check_unfolded, how_to_lift, most_unfolded, no_file, read_file

if TYPE_CHECKING:
    from kes.data.source import Source

_TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
_CODE_BYTES = 4  # of a cell in memory, at least
_COLUMN_BYTES = 3200  # of a column in memory, at least
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,400}\s*", re.ASCII)


def read(path: str | os.PathLike[str], writing: Writing) -> Source:
    """Open a table file by its suffix.

    ``.csv``, ``.tsv`` and ``.txt``, also with ``.gz`` behind, or ``.parquet``. Whether a text file
    is compressed is seen from its first bytes, whatever it is called.
    """
    file = Path(path)
    if not os.path.exists(file):  # also of names that no file can have
        raise no_file(path)
    suffix = _suffix(file)
    if not is_table(file):
        raise KesError(
            f"cannot tell what kind of file {str(path)!r} is; the name of a table must end in "
            ".csv, .tsv or .txt (also with .gz behind) or .parquet"
        )
    return _read_parquet(file) if suffix == ".parquet" else _read_text(file, suffix, writing)


def is_table(file: Path) -> bool:
    """Tell by its name whether a file is a table."""
    return _suffix(file) in (*_TEXT_SUFFIXES, ".parquet")


def _suffix(file: Path) -> str:
    """Return the last suffix of a name, whether compressed or not."""
    return (file.with_suffix("") if file.suffix.lower() == ".gz" else file).suffix.lower()


def _read_parquet(file: Path) -> Source:
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise not_installed("pyarrow") from None
    from kes.data.frames import open_frame

    try:
        with ParquetFile(file) as parquet:
            _check_size(file, parquet.metadata)
            texts = [
                field.name
                for field in parquet.schema_arrow
                if field.type in (pa.string(), pa.large_string())
            ]
        with ParquetFile(file, read_dictionary=texts) as parquet:  # coded, as the file has them
            table = parquet.read()
            table.validate(full=True)  # a damaged file may refer to categories that are not there
            return open_frame(table)
    except KesError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
        raise KesError(f"{str(file)!r} is not a readable Parquet file: {error}") from error


def _check_size(file: Path, metadata: Any) -> None:  # noqa: ANN401
    """Refuse a table that would take far more memory than its file does on the disk."""
    groups = (metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    codes = metadata.num_columns * max(metadata.num_rows * _CODE_BYTES, _COLUMN_BYTES)
    check_unfolded(file, max(codes, sum(groups)), file.stat().st_size)


def _read_text(file: Path, suffix: str, writing: Writing) -> Source:
    content = read_file(file)
    try:
        content, guessed = to_utf8(content, writing.encoding)
        if not content.strip():
            raise KesError("is empty; the first line must name the columns")
        delimiter = writing.sep or ("\t" if suffix == ".tsv" else find_delimiter(content))
        if single_quoted(content, delimiter):
            content = requoted(content, delimiter)
        _check_width(content, delimiter)
        names, columns = _core.parse_csv(content, delimiter)
        if len(names) == 1:
            names, columns = _core.parse_csv(_blank_lines_as_fields(content), delimiter)
    except (ValueError, csv.Error, _core.CoreError) as error:
        joint = " " if str(error).startswith(("is ", "has ")) else ", "
        raise KesError(f"{str(file)!r}{joint}{error}") from None
    notes = [f"not UTF-8, so read as {guessed} (see {option('encoding')})"] if guessed else []
    if _are_values(names):
        notes.append(
            "the first line is taken for names, but they are all numbers; if it is a row like the "
            "others, write a line of names before it"
        )
    # Where semicolons separate, commas are decimal signs: that is why.
    likely: Sign | None = writing.decimal or ("," if delimiter == ";" else None)
    return Text(names, columns, likely, tuple(notes))


def _are_values(names: Sequence[str]) -> bool:
    """Tell whether all names are numbers, and do not just count the columns."""
    counting = [[str(first + i) for i in range(len(names))] for first in (0, 1)]
    return not no_numbers(names) and list(names) not in counting


def _check_width(content: bytes, delimiter: str) -> None:
    """Refuse a header of so many columns that a small file would take much memory."""
    most = most_unfolded() // _COLUMN_BYTES
    if content.partition(b"\n")[0].count(delimiter.encode()) >= most:
        raise KesError(f"has more than {most} columns; {how_to_lift()}")


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


class Text:
    """A CSV file: values stay as they are written, empty fields are missing."""

    def __init__(
        self,
        names: Sequence[str],
        columns: Sequence[tuple[list[str], NDArray[np.int32]]],
        likely_decimal: Sign | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.names = names
        self.rows = len(columns[0][1]) if columns else 0
        self.likely_decimal = likely_decimal
        self.notes = notes
        self._columns = columns

    def column(self, index: int, absent: frozenset[str]) -> Factor:
        """Take the codes of the file."""
        values, codes = self._columns[index]
        return Factor(values, codes, order=_order, untyped=True).without(absent | {""})

    def numbers(self, index: int) -> NDArray[np.float64]:
        """Read a column of numbers, empty fields as NaN."""
        factor = self.column(index, frozenset())
        for code, value in enumerate(factor.values):
            if parse([str(value)], self.likely_decimal or ".") is None:
                row = int(np.argmax(factor.codes == code))
                raise KesError(f"row {row}: {value!r} is not a number")
        return to_numbers(factor, self.likely_decimal or ".").floats()


def _order(values: Sequence[str]) -> list[int]:
    """Sort the distinct values of a column: numbers numerically, others as `text_order` does."""
    places = range(len(values))
    if all(_INTEGER.fullmatch(value) for value in values):
        return sorted(places, key=lambda i: (int(values[i]), values[i]))
    parsed = parse(values)
    if parsed is None or parsed == "unclear":
        return text_order(values)
    return sorted(places, key=lambda i: (parsed.numbers[i], values[i]))
