"""CSV dialects: separator and quotes, detected from the first lines of a file."""

from __future__ import annotations

import codecs
import csv
import io
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from kes.data.parse_text import Sign
from kes.errors import KesError, option

_SEPARATORS = ",;\t|"
_SAMPLE_ROWS = 50
HEAD = 2**16
"""Number of bytes from which the dialect is detected."""


@dataclass(frozen=True)
class CsvDialect:
    """Dialect of a CSV file; None: detected.

    Attributes
    ----------
    sep
        Column separator.
    decimal
        Decimal sign of numbers.
    encoding
        Text encoding.
    """

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
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise KesError(
                    f"unknown {option('encoding')} {self.encoding!r}", option="encoding"
                ) from None


def find_delimiter(content: bytes) -> str:
    """Detect the column separator from the first rows; a comma by default.

    The separator splits the header and all rows into the same number of fields, at least two; the
    one with the most fields wins.
    """
    head = sample(content)

    def splits(delimiter: str) -> tuple[bool, bool, int]:
        fields = [len(row) for row in sample_rows(head, delimiter)]
        several = bool(fields) and fields[0] > 1
        return several, several and len(set(fields)) == 1, fields[0] if fields else 0

    return max(_SEPARATORS, key=splits)


def single_quoted(content: bytes, delimiter: str) -> bool:
    """Return whether fields are quoted by ' instead of "."""
    head = sample(content)
    rows = sample_rows(head, delimiter)
    header = rows[0] if rows else []
    return (
        bool(header)
        and '"' not in head
        and all(len(field) > 1 and field[0] == field[-1] == "'" for field in header)
    )


def sample(content: bytes) -> str:
    """Return the first lines without blank ones before the header."""
    text = content[:HEAD].decode(errors="ignore")
    return re.sub(r"\A\s*\n", "", text)


def sample_rows(text: str, delimiter: str) -> list[list[str]]:
    """Return the first rows without one that may be truncated."""
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    found: list[list[str]] = []
    with suppress(csv.Error):  # the core has the better error message
        found.extend(row for row in islice(rows, _SAMPLE_ROWS) if row)
    return found[:-1] if len(found) > 2 and len(text) >= HEAD else found
