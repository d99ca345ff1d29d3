"""CSV files, parsed by the Rust core block by block: the text is never in memory as a whole."""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kes import _core
from kes.data.factor import Factor
from kes.data.intervals import text_order
from kes.data.parse_text import Sign, no_numbers, parse
from kes.data.source import Source
from kes.data.text_encoding import TextFile, blank_lines_as_fields, requoted
from kes.errors import KesError, option
from kes.files import COLUMN_BYTES, check_memory, how_to_lift, is_packed, most_unfolded

_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,400}\s*", re.ASCII)
_SEPARATORS = ",;\t|"
_SAMPLE_ROWS = 50
_HEAD = 2**16  # bytes from which the dialect is detected
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
        self.names, self._columns, self.likely_decimal = names, columns, decimal
        self.rows = len(columns[0].codes) if columns else 0

    def column(self, index: int, absent: frozenset[str]) -> Factor:
        """Return the coded column."""
        column = self._columns[index]
        factor = Factor(column.values(), column.codes, order=_order, untyped=True)
        return factor.without(absent | {""})


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
        head = text.head(_HEAD)
        if not any(block.strip() for block in text.blocks()):
            raise ValueError("is empty; the first line must name the columns")
        delimiter = dialect.sep or usual or find_delimiter(head)
        quoted = _single_quoted(head, delimiter)

        def blocks() -> Iterator[bytes]:
            return requoted(text.blocks(), delimiter) if quoted else text.blocks()

        _check_width(blocks(), delimiter)
        _check_size(file, head, delimiter)
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
    # A semicolon separates columns where the comma is the decimal sign.
    source = Text(names, columns, dialect.decimal or ("," if delimiter == ";" else None))
    if text.guessed:
        source.notes += (f"not UTF-8, so read as {text.encoding} (see {option('encoding')})",)
    counting = [[str(first + i) for i in range(len(names))] for first in (0, 1)]
    if not no_numbers(names) and list(names) not in counting:
        source.notes += (
            "the first line is taken for names, but they are all numbers; if it is a row like the "
            "others, write a line of names before it",
        )
    return source


def find_delimiter(content: bytes) -> str:
    """Detect the column separator from the first rows; a comma by default.

    The separator splits the header and all rows into the same number of fields, at least two; the
    one with the most fields wins.
    """

    def splits(delimiter: str) -> tuple[bool, bool, int]:
        fields = [len(row) for row in _sample(content, delimiter)]
        several = bool(fields) and fields[0] > 1
        return several, several and len(set(fields)) == 1, fields[0] if fields else 0

    return max(_SEPARATORS, key=splits)


def _single_quoted(content: bytes, delimiter: str) -> bool:
    """Return whether fields are quoted by ' instead of "."""
    header = next(iter(_sample(content, delimiter)), [])
    quoted = all(len(field) > 1 and field[0] == field[-1] == "'" for field in header)
    return bool(header) and quoted and b'"' not in content[:_HEAD]


def _sample(content: bytes, delimiter: str) -> list[list[str]]:
    """Return the first rows without blank ones before the header, or one that may be truncated."""
    text = re.sub(r"\A\s*\n", "", content[:_HEAD].decode(errors="ignore"))
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    found: list[list[str]] = []
    with suppress(csv.Error):  # the core has the better error message
        found.extend(row for row in islice(rows, _SAMPLE_ROWS) if row)
    return found[:-1] if len(found) > 2 and len(text) >= _HEAD else found


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


def _check_size(path: Path, head: bytes, delimiter: str) -> None:
    """Refuse a file whose table will not fit into memory, extrapolating from its first lines."""
    rows = _sample(head, delimiter)
    if len(rows) < 2:
        return
    size = path.stat().st_size * (_PACKED if is_packed(path) else 1)
    number = size * max(1, head.count(b"\n")) // len(head)
    table = list(zip(*rows[1:], strict=False))
    various = sum(2 * len(set(column)) > len(column) > 10 for column in table)
    cell_bytes = len(table) - various + _TEXT_BYTES * various
    check_memory(path, number, len(rows[0]), number * cell_bytes)
