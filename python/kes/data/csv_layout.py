"""The layout of a CSV file, detected from its first lines.

A file may have lines above its header, such as a title, and a header that leaves out the column of
row names, as R writes it. Columns may be separated by runs of spaces.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from kes.data.parse_text import no_numbers
from kes.errors import listed

_SEPARATORS = ",;\t|"
_HINT = re.compile(r'\s*"?sep=(.)"?;*,*\s*')
"""The first line of files for Excel, which names the separator."""
_LINE_END = re.compile(r"\r\n?|\n")
SAMPLE_ROWS = 50
"""Number of rows from which the layout is detected."""
_MOST_TITLES = 10
_LEAST_SPACED = 3
"""Minimum number of columns that spaces separate; two may be the words of one column."""
HEAD = 2**16
"""Number of bytes from which the layout is detected; more if the first lines are longer."""
LEAST_LINES = 4
"""Lines from which it is detected, however long: a header may have thousands of names."""

Rows = list[list[str]]


@dataclass(frozen=True)
class CsvLayout:
    """The positions of the parts of a file.

    Attributes
    ----------
    delimiter, quote : str
        One character each.
    spaces : bool
        Whether runs of spaces or tabs separate the columns; the delimiter is then a space.
    titles : tuple of str
        The lines above the header; "" for blank ones, and for a hint at the separator.
    unnamed : int or None
        The place of a column that the header leaves out: the first one if it holds row names, or
        the last one if all rows end in a separator.
    rows : list of list of str
        The header and the first rows.
    """

    delimiter: str
    quote: str
    spaces: bool
    titles: tuple[str, ...]
    unnamed: int | None
    rows: Rows

    @property
    def fits(self) -> tuple[bool, bool, int, int]:
        """Rank of the layout: several columns, as many in every row; few oddities; columns.

        Oddities are titles and names that are left out.
        """
        fields = [len(row) for row in self.rows]
        if not fields or fields[0] <= 1:
            return False, False, 0, fields[0] if fields else 0
        left_out = self.unnamed is not None
        header, oddities = fields[0] + left_out, len(self.titles) + left_out
        return True, set(fields[1:]) <= {header}, -oddities, header


def title_note(titles: Sequence[str]) -> str:
    """Return a note on lines that are skipped; "" if there are none."""
    said = [title for title in titles if title]
    if not said:
        return ""
    which = "the first line is" if len(said) == 1 else "the first lines are"
    return f"{which} taken for a title, not for names, and skipped: {listed(said)}"


def find_layout(content: bytes, sep: str | None = None) -> CsvLayout:
    """Detect the layout of a file from its first bytes; its separator may be known.

    The separator splits the header and all rows into the same number of fields, at least two; the
    one with the most fields wins. If there is none, spaces may be; a comma by default.
    """
    text = _head(content).decode(errors="ignore")
    hint = _HINT.fullmatch(text.split("\n", 1)[0])
    given = sep or (hint[1] if hint and hint[1].isascii() else None)
    if given is not None:
        return _with_quotes(text, given)
    found = max((_layout(text, one) for one in _SEPARATORS), key=lambda one: one.fits)
    if not all(found.fits[:2]):
        spaced = _layout(text, " ", spaces=True)
        several, even, _, columns = spaced.fits
        found = spaced if several and even and columns >= _LEAST_SPACED else found
    return _with_quotes(text, found.delimiter, spaces=found.spaces)


def _head(content: bytes) -> bytes:
    """Return the first bytes, and at least the first lines."""
    end = 0
    for _ in range(LEAST_LINES):
        end = content.find(b"\n", end) + 1
        if not end:
            return content
    return content[: max(end, HEAD)]


def one_space(line: bytes) -> bytes:
    """Separate the fields of a line by one space each, unless it has quotes."""
    content = line.rstrip(b"\r\n")
    fields = content if b'"' in content else b" ".join(content.split())
    return fields + line[len(content) :]


def _with_quotes(text: str, delimiter: str, *, spaces: bool = False) -> CsvLayout:
    """Return the layout with single quotes if these enclose all names."""
    found = _layout(text, delimiter, spaces=spaces)
    header = found.rows[0] if found.rows else []
    enclosed = all(len(field) > 1 and field[0] == field[-1] == "'" for field in header)
    if header and enclosed and '"' not in text:
        return _layout(text, delimiter, "'", spaces=spaces)
    return found


def _layout(text: str, delimiter: str, quote: str = '"', *, spaces: bool = False) -> CsvLayout:
    rows = _sample(text, delimiter, quote, spaces=spaces)
    hint = int(bool(rows) and _HINT.fullmatch(delimiter.join(rows[0])) is not None)
    titles = hint + titles_above(rows[hint:])
    below = rows[titles:]
    said = [delimiter.join(row).strip(f"{delimiter} ") for row in rows[hint:titles]]
    return CsvLayout(delimiter, quote, spaces, (*[""] * hint, *said), _left_out(below), below)


def _sample(text: str, delimiter: str, quote: str, *, spaces: bool) -> Rows:
    """Return the first rows that are not blank, without one that may be truncated."""
    if spaces:
        text = "\n".join(one_space(line.encode()).decode() for line in _LINE_END.split(text))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote)
    found: Rows = []
    with suppress(csv.Error):  # the core has the better error message
        found.extend(row for row in islice(rows, SAMPLE_ROWS) if row)
    return found[:-1] if len(found) > 2 and len(text) >= HEAD else found


def titles_above(rows: Rows) -> int:
    """Count the lines above the header.

    The header is the first row with as many fields as most rows have, or the line before it if
    only a name is missing. Each line above it must look like a title.
    """
    fields = _usual_width(rows)
    header = next((i for i, row in enumerate(rows) if len(row) == fields), 0)
    if header and _left_out(rows[header - 1 :]) is not None and not _is_title(rows[header - 1]):
        header -= 1
    padded = fields > 2 and len(rows[header]) == fields
    while padded and header < len(rows) - 1 and _is_title(rows[header]):  # "Report 2024;;;"
        header += 1
    above, below = rows[:header], rows[header:]
    enough = fields > 1 and len(above) <= _MOST_TITLES and len(below) > max(1, len(above))
    return header if enough and all(map(_is_title, above)) and _are_names(below[0]) else 0


def _are_names(row: Sequence[str]) -> bool:
    named = [field for field in row if field.strip()]
    return no_numbers(named) == named


def _is_title(row: Sequence[str]) -> bool:
    """Return whether a line is a single text, perhaps with separators within, or blank."""
    _, *further = row
    prose = bool(further) and all(field.startswith(" ") for field in further)
    return prose or row[0].lstrip().startswith("#") or not any(map(str.strip, further))


def _left_out(rows: Rows) -> int | None:
    """Return the place of the column that is in most rows, but not in the header."""
    if len(rows) < 2 or _usual_width(rows[1:]) != len(rows[0]) + 1:
        return None
    return len(rows[0]) if not any(row[-1].strip() for row in rows[1:]) else 0


def _usual_width(rows: Rows) -> int:
    """Return the most frequent number of fields."""
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
