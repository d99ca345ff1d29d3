"""CSV files, parsed by the Rust core block by block: the text is never in memory as a whole."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kes import _core
from kes.data.csv_dialect import HEAD, CsvDialect, find_delimiter, single_quoted
from kes.data.factor import Factor
from kes.data.infer_kinds import to_numbers
from kes.data.intervals import text_order
from kes.data.memory import COLUMN_BYTES, check_text
from kes.data.parse_text import Sign, no_numbers, parse
from kes.data.text_encoding import TextFile, blank_lines_as_fields, requoted
from kes.errors import KesError, option
from kes.files import how_to_lift, most_unfolded

_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,400}\s*", re.ASCII)


def read_text(file: Path, suffix: str, dialect: CsvDialect) -> Text:
    """Read a CSV file, trying text encodings until one fits."""
    text = TextFile(file, dialect.encoding)
    while True:
        try:
            return _read(file, text, "\t" if suffix == ".tsv" else None, dialect)
        except UnicodeError as error:
            if not text.guess_again():
                line = int(error.args[-1])
                message = f"{str(file)!r}, {text.complaint(line)}"
                raise KesError(message, option="encoding", row=line, file=str(file)) from None


def _read(file: Path, text: TextFile, usual: str | None, dialect: CsvDialect) -> Text:
    """Read a file in the current text encoding."""
    try:
        head = text.head(HEAD)
        if not any(block.strip() for block in text.blocks()):
            raise ValueError("is empty; the first line must name the columns")
        delimiter = dialect.sep or usual or find_delimiter(head)
        quoted = single_quoted(head, delimiter)

        def blocks() -> Iterator[bytes]:
            return requoted(text.blocks(), delimiter) if quoted else text.blocks()

        _check_width(blocks(), delimiter)
        check_text(file, head, delimiter)
        names, columns = _core.parse_csv(blocks(), delimiter)
        if len(names) == 1:
            names, columns = _core.parse_csv(blank_lines_as_fields(blocks()), delimiter)
    except (UnicodeError, KesError):
        raise
    except (ValueError, csv.Error, _core.CoreError) as error:
        joint = " " if str(error).startswith(("is ", "has ")) else ", "
        line = re.match(r"line ([0-9]+):", str(error))
        raise KesError(
            f"{str(file)!r}{joint}{error}", row=int(line[1]) if line else None, file=str(file)
        ) from None
    notes = []
    if text.guessed:
        notes.append(f"not UTF-8, so read as {text.encoding} (see {option('encoding')})")
    if _are_values(names):
        notes.append(
            "the first line is taken for names, but they are all numbers; if it is a row like the "
            "others, write a line of names before it"
        )
    # A semicolon separates columns where the comma is the decimal sign.
    likely: Sign | None = dialect.decimal or ("," if delimiter == ";" else None)
    return Text(names, columns, likely, tuple(notes))


def _are_values(names: Sequence[str]) -> bool:
    """Return whether all names are numbers that do not just count the columns."""
    counting = [[str(first + i) for i in range(len(names))] for first in (0, 1)]
    return not no_numbers(names) and list(names) not in counting


def _check_width(blocks: Iterable[bytes], delimiter: str) -> None:
    """Refuse headers with so many columns that a small file would need much memory."""
    most, fields = most_unfolded() // COLUMN_BYTES, 0
    for block in blocks:
        line, end, _ = block.partition(b"\n")
        fields += line.count(delimiter.encode())
        if fields >= most:
            raise ValueError(f"has more than {most} columns; {how_to_lift()}")
        if end:
            return


class Text:
    """A CSV file: values remain as written, empty fields are missing."""

    def __init__(
        self,
        names: Sequence[str],
        columns: Sequence[_core.CsvColumn],
        likely_decimal: Sign | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.names = names
        self.rows = len(columns[0].codes) if columns else 0
        self.likely_decimal = likely_decimal
        self.notes = notes
        self._columns = columns

    def column(self, index: int, absent: frozenset[str]) -> Factor:
        """Return the coded column."""
        column = self._columns[index]
        factor = Factor(column.values(), column.codes, order=_order, untyped=True)
        return factor.without(absent | {""})

    def numbers(self, index: int) -> NDArray[np.float64]:
        """Read a column of numbers, empty fields as NaN."""
        factor = self.column(index, frozenset())
        for code, value in enumerate(factor.values):
            if parse([str(value)], self.likely_decimal or ".") is None:
                row = int(np.argmax(factor.codes == code))
                raise KesError(f"row {row}: {value!r} is not a number", row=row)
        return to_numbers(factor, self.likely_decimal or ".").floats()


def _order(values: Sequence[str]) -> list[int]:
    """Sort the distinct values of a column: numbers numerically, others by `text_order`."""
    places = range(len(values))
    if all(_INTEGER.fullmatch(value) for value in values):
        return sorted(places, key=lambda i: (int(values[i]), values[i]))
    parsed = parse(values)
    if parsed is None or parsed == "unclear":
        return text_order(values)
    return sorted(places, key=lambda i: (parsed.numbers[i], values[i]))
