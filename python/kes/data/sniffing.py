"""How a text file of a table is written: encoding, separator and quotes, as far as they show."""

from __future__ import annotations

import codecs
import csv
import io
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from kes.data.decimals import Sign
from kes.errors import KesError, option

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before that of UTF-16, with which it begins
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SEPARATORS = ",;\t|"
_SAMPLE_ROWS = 50
_BLOCK = 2**20


@dataclass(frozen=True)
class Writing:
    """How a text file is written; what is None is found out.

    Attributes
    ----------
    sep
        What separates the columns.
    decimal
        The decimal sign of numbers.
    encoding
        Name of the encoding.
    """

    sep: str | None = None
    decimal: Sign | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if self.sep is not None and (len(self.sep) != 1 or not self.sep.isascii()):
            raise KesError(f"{option('sep')} must be one ASCII character, not {self.sep!r}")
        if self.decimal not in (None, ".", ","):
            raise KesError(f"{option('decimal')} must be a point or a comma, not {self.decimal!r}")
        if self.sep is not None and self.sep == self.decimal:
            raise KesError(f"{option('sep')} and {option('decimal')} cannot both be {self.sep!r}")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise KesError(f"there is no {option('encoding')} {self.encoding!r}") from None


def to_utf8(content: bytes, encoding: str | None) -> tuple[bytes, str | None]:
    """Return a file's bytes as UTF-8 without a mark, and the encoding if it had to be guessed.

    A byte order mark decides; without one it is UTF-8 if it can be, and else what Windows writes
    in Western Europe, in which every byte is a character.

    Raises
    ------
    KesError
        If it is not in the encoding that it is said to be in.
    """
    marked = next(((mark, name) for mark, name in _MARKS if content.startswith(mark)), None)
    if marked is not None:
        content = content[len(marked[0]) :]
    name = encoding or (marked[1] if marked else "utf-8")
    if _is_utf8(name):
        if _decodes(content):
            return content, None
        if encoding is not None or marked is not None:
            raise _undecodable(content, name)
        try:
            return content.decode("cp1252").encode(), "cp1252"
        except UnicodeDecodeError:  # five bytes have no meaning there
            return content.decode("latin-1").encode(), "latin-1"
    try:
        return content.decode(name).encode(), None
    except UnicodeDecodeError:
        raise _undecodable(content, name) from None


def _is_utf8(name: str) -> bool:
    return codecs.lookup(name).name in ("utf-8", "utf-8-sig")


def _decodes(content: bytes) -> bool:
    """Tell whether bytes are UTF-8, without a second copy of them."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), _BLOCK):
            decoder.decode(content[start : start + _BLOCK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _undecodable(content: bytes, name: str) -> KesError:
    try:
        content.decode(name)
        at = 0
    except UnicodeDecodeError as error:
        at = error.start
    line = content.count(b"\n", 0, at) + 1
    return KesError(
        f"line {line}: this is not text in {name}; give the right {option('encoding')}, such as "
        "cp1252 or latin-1"
    )


def find_delimiter(content: bytes) -> str:
    """Return what separates the columns, as the first rows show; a comma if nothing does.

    It is what splits the header and all rows into equally many fields, several of course; of
    several such, the one that makes most fields.
    """
    sample = _sample(content)

    def splits(delimiter: str) -> tuple[bool, bool, int]:
        fields = [len(row) for row in _rows(sample, delimiter)]
        several = bool(fields) and fields[0] > 1
        return several, several and len(set(fields)) == 1, fields[0] if fields else 0

    return max(_SEPARATORS, key=splits)


def single_quoted(content: bytes, delimiter: str) -> bool:
    """Tell whether fields are quoted by ' instead of "."""
    sample = _sample(content)
    rows = list(_rows(sample, delimiter))
    header = rows[0] if rows else []
    return (
        bool(header)
        and '"' not in sample
        and all(len(field) > 1 and field[0] == field[-1] == "'" for field in header)
    )


def requoted(content: bytes, delimiter: str) -> bytes:
    """Return a table that is quoted by ' with fields quoted by " instead."""
    text = io.StringIO()
    rows = csv.reader(io.StringIO(content.decode()), delimiter=delimiter, quotechar="'")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode()


def _sample(content: bytes) -> str:
    """Return the first lines, blank ones before the header left out."""
    head = content[: 2**16].decode(errors="ignore")
    return re.sub(r"\A\s*\n", "", head)


def _rows(sample: str, delimiter: str) -> list[list[str]]:
    rows = csv.reader(io.StringIO(sample), delimiter=delimiter)
    found: list[list[str]] = []
    with suppress(csv.Error):  # the core says better what is wrong
        found.extend(row for row in islice(rows, _SAMPLE_ROWS) if row)
    return found[:-1] if len(found) > 2 and len(sample) >= 2**16 else found
