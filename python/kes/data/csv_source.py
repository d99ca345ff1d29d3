"""CSV files, parsed by the Rust core block by block: the text is never in memory as a whole."""

import codecs
import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kes import _core
from kes.data.csv_layout import HEAD, LEAST_LINES, CsvLayout, find_layout, one_space, title_note
from kes.data.factor import Factor, recoded
from kes.data.intervals import text_order
from kes.data.parse_text import Sign, no_numbers, parse
from kes.data.raw_columns import Numbers
from kes.data.source import Source
from kes.data.text_encoding import TextFile, blank_lines_as_fields, map_lines
from kes.errors import KesError, option
from kes.files import COLUMN_BYTES, check_memory, how_to_lift, is_packed, most_unfolded

_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,400}\s*", re.ASCII)
_TEXT_BYTES = 80  # of a text that occurs in few rows
_PACKED = 4  # typical compression ratio of text


@dataclass(frozen=True)
class CsvDialect:
    """Column separator, decimal sign and text encoding of a CSV file; None: detected."""

    sep: str | None = None
    decimal: Sign | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        """Validate the options."""
        if self.sep is not None and (len(self.sep) != 1 or not self.sep.isascii()):
            raise KesError(
                f"{option('sep')} must be one ASCII character, not {self.sep!r}", option="sep"
            )
        if self.decimal not in (None, ".", ","):
            raise KesError(
                f"{option('decimal')} must be a point or a comma, not {self.decimal!r}",
                option="decimal",
            )
        if self.sep is not None and self.sep == self.decimal:
            raise KesError(
                f"{option('sep')} and {option('decimal')} cannot both be {self.sep!r}",
                option="decimal",
            )
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError:
            message = f"unknown {option('encoding')} {self.encoding!r}"
            raise KesError(message, option="encoding") from None


class Text(Source):
    """A CSV file: values remain as written, empty fields are missing."""

    def __init__(
        self, names: Sequence[str], columns: Sequence[_core.CsvColumn], decimal: Sign | None
    ) -> None:
        # Rows may end in separators: a column without a name or a value is none.
        there = [i for i, name in enumerate(names) if name.strip() or any(columns[i].values())]
        self.names, self._columns = [names[i] for i in there], [columns[i] for i in there]
        self.rows = len(columns[0].codes) if columns else 0
        self.likely_decimal = decimal

    def column(self, index: int, absent: frozenset[str]) -> Numbers | Factor:
        """Return the coded column, or its numbers if it is written in plain ones only."""
        column = self._columns[index]
        numbers = column.numbers()
        if numbers is None:
            return _text(column).without(absent)
        values, empty = recoded(numbers, column.codes), column.empty
        present = None if empty is None else column.codes != empty
        return Numbers(values, present, partial(_text, column)).without(absent)


def _text(column: _core.CsvColumn) -> Factor:
    """Return the text of a column; an empty one is missing."""
    factor = Factor(column.values(), column.codes, order=_order, untyped=True)
    return factor if column.empty is None else factor.without(frozenset({""}))


def _order(values: Sequence[str]) -> list[int]:
    """Sort the distinct values of a column: numbers numerically, others by `text_order`."""
    places = range(len(values))
    if all(_INTEGER.fullmatch(value) for value in values):
        return sorted(places, key=lambda i: (int(values[i]), values[i]))
    parsed = parse(values)
    if parsed is None or parsed == "unclear":
        return text_order(values)
    return sorted(places, key=lambda i: (parsed.numbers[i], values[i]))


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
        head = text.head(HEAD, LEAST_LINES)
        if not any(block.strip() for block in text.blocks()):
            raise ValueError("is empty; the first line must name the columns")
        layout = find_layout(head, dialect.sep or usual)

        def blocks() -> Iterator[bytes]:
            return map_lines(one_space, text.blocks()) if layout.spaces else text.blocks()

        form = (layout.delimiter, layout.quote, len(layout.titles), layout.unnamed)
        _check_width(blocks(), layout)
        _check_size(file, head, layout)
        names, columns = _core.parse_csv(blocks(), *form)
        if len(names) == 1:
            filled = blank_lines_as_fields(blocks(), layout.quote.encode())
            names, columns = _core.parse_csv(filled, *form)
    except (UnicodeError, KesError):
        raise
    except (ValueError, csv.Error, _core.CoreError) as error:
        joint = " " if str(error).startswith(("is ", "has ")) else ", "
        line = re.match(r"line ([0-9]+):", str(error))
        raise KesError(
            f"{str(file)!r}{joint}{error}", row=int(line[1]) if line else None, file=str(file)
        ) from None
    # A semicolon separates columns where the comma is the decimal sign.
    likely: Sign | None = "," if layout.delimiter == ";" else None
    source = Text(names, columns, dialect.decimal or likely)
    if note := title_note(layout.titles):
        source.notes += (note,)
    if text.guessed:
        source.notes += (f"not UTF-8, so read as {text.encoding} (see {option('encoding')})",)
    counting = [[str(first + i) for i in range(len(names))] for first in (0, 1)]
    if not no_numbers(names) and list(names) not in counting:
        source.notes += (
            "the first line is taken for names, but they are all numbers; if it is a row like the "
            "others, write a line of names before it",
        )
    return source


def _check_width(blocks: Iterable[bytes], layout: CsvLayout) -> None:
    """Refuse headers whose number of columns would make a small file need much memory."""
    most, fields, lines = most_unfolded() // COLUMN_BYTES, 0, 0
    for block in blocks:
        for i, part in enumerate(block.split(b"\n")):
            lines, fields = (lines, fields) if i == 0 else (lines + 1, 0)
            if lines > len(layout.titles):
                return
            fields += part.count(layout.delimiter.encode())
            if fields >= most:
                raise ValueError(f"has more than {most} columns; {how_to_lift()}")


def _check_size(path: Path, head: bytes, layout: CsvLayout) -> None:
    """Refuse a file whose table will not fit into memory, extrapolating from its first lines."""
    header, *rows = layout.rows or [[]]
    if not rows:
        return
    size = path.stat().st_size * (_PACKED if is_packed(path) else 1)
    number = size * max(1, head.count(b"\n")) // len(head)
    table = list(zip(*rows, strict=False))
    various = sum(2 * len(set(column)) > len(column) > 10 for column in table)
    cell_bytes = len(table) - various + _TEXT_BYTES * various
    check_memory(path, number, len(header), number * cell_bytes)
