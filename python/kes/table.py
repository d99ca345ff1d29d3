"""Tables of results, independent of data frame libraries."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from kes.errors import KesError, listed, not_installed, printable, unknown

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

_ROWS = 20
_HTML_ROWS = 60
_WIDTH = 100
_CELL = 40
_DECIMALS = 3
_LARGE = 1e12


def tabulated(names: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> Table:
    """Return a table with columns of these names and with these rows."""
    every = list(rows)
    return Table({name: [row[i] for row in every] for i, name in enumerate(names)}, note=note)


class Table:
    """Named columns of equal length. Immutable.

    Parameters
    ----------
    columns : mapping of str to sequence
        The values of each column; arrays are converted to Python values.
    note : str
        A note on the figures, shown below them.

    Examples
    --------
    >>> table = Table({"edge": ["a -> b", "b - c"], "support": [1.0, 0.125]})
    >>> table
    edge    support
    a -> b    1.000
    b - c     0.125
    [2 rows]
    >>> table["support"]
    (1.0, 0.125)
    >>> for row in table:
    ...     print(row["edge"])
    a -> b
    b - c
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]], *, note: str = "") -> None:
        values = {
            name: tuple(column.tolist() if hasattr(column, "tolist") else column)
            for name, column in columns.items()
        }
        lengths = {name: len(column) for name, column in values.items()}
        if len(set(lengths.values())) > 1:
            raise KesError(
                f"the columns of a table must have equal lengths, not {lengths}", option="columns"
            )
        self._values: dict[str, tuple[Any, ...]] = values
        self._rows = next(iter(lengths.values()), 0)
        self.note = note

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._values)

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, column: str) -> tuple[Any, ...]:
        try:
            return self._values[column]
        except KeyError:
            raise unknown("column", column, self._values, column=column) from None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows as dicts."""
        for row in zip(*self._values.values(), strict=True):
            yield dict(zip(self._values, row, strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.columns == other.columns and all(
            len(mine) == len(theirs) and all(map(_equal, mine, theirs))
            for mine, theirs in zip(self._values.values(), other._values.values(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]  # cells need not be hashable

    def without(self, *columns: str) -> Table:
        """Return the table without some columns, which it need not have."""
        kept = {name: own for name, own in self._values.items() if name not in columns}
        return Table(kept, note=self.note)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists."""
        return {name: list(column) for name, column in self._values.items()}

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError:
            raise not_installed("pandas") from None
        return pd.DataFrame(self.to_dict())

    def to_polars(self) -> pl.DataFrame:
        """Return a polars DataFrame; sets become sorted lists."""
        try:
            import polars as pl
        except ImportError:
            raise not_installed("polars") from None
        return pl.DataFrame(
            {name: [_as_list(cell) for cell in column] for name, column in self._values.items()},
            strict=False,
        )

    def __repr__(self) -> str:
        return self.to_text(_ROWS)

    def to_text(self, rows: int | None = None, width: int = _WIDTH) -> str:
        """Return the table as text: all rows, or this many of the first and last ones.

        Columns that do not fit into the width are named below the table.
        """
        most = self._rows if rows is None else rows
        blocks = [_padded(block) for block in self._blocks(most)]
        shown = _fitting([len(block[0]) for block in blocks], width)
        lines = ["  ".join(cells).rstrip() for cells in zip(*blocks[:shown], strict=True)]
        size = f"[{self._size(self.columns[shown:])}]"
        return "\n".join([*lines, *wrap(size, width), *self._remarks(width)])

    def _repr_html_(self) -> str:
        blocks = [_html_cells(block) for block in self._blocks(_HTML_ROWS)]
        lines = [f"<tr>{''.join(cells)}</tr>" for cells in zip(*blocks, strict=True)]
        return "\n".join(
            [
                f'<table><caption style="text-align: left">{self._caption()}</caption>',
                f"<thead>{''.join(lines[:1])}</thead>",
                *("<tbody>", *lines[1:], "</tbody>"),
                "</table>",
            ]
        )

    def _blocks(self, most: int) -> list[_ShownColumn]:
        """Return columns as text; beyond `most` rows, those in the middle are omitted."""
        half = most // 2
        rows: list[int | None] = list(range(self._rows))
        if self._rows > most:
            rows = [*range(half), None, *range(self._rows - half, self._rows)]
        blocks = []
        for name, column in self._values.items():
            show = _formatter(column)
            cells = ["..." if row is None else show(column[row]) for row in rows]
            blocks.append(_ShownColumn(name, cells, _is_numeric(column)))
        return blocks

    def _remarks(self, width: int) -> list[str]:
        return [line for text in self.note.split("\n") for line in wrap(printable(text), width)]

    def _caption(self) -> str:
        lines = [self._size(), *map(printable, self.note.split("\n") if self.note else ())]
        return "<br>".join(map(html.escape, lines))

    def _size(self, hidden: Sequence[str] = ()) -> str:
        rows = f"{self._rows} row{'s' if self._rows != 1 else ''}"
        return f"{rows}; columns not shown: {listed(hidden, show=_one_line)}" if hidden else rows


class _ShownColumn(NamedTuple):
    """A column as text."""

    name: str
    cells: list[str]
    numeric: bool


def _padded(block: _ShownColumn) -> list[str]:
    """Return header and cells, truncated and padded to one width."""
    texts = [_one_line(text) for text in (block.name, *block.cells)]
    width = max(map(len, texts))
    return [text.rjust(width) if block.numeric else text.ljust(width) for text in texts]


def _one_line(text: object) -> str:
    line = printable(" ".join(str(text).split("\n")))
    return line if len(line) <= _CELL else line[: _CELL - 3] + "..."


def _html_cells(block: _ShownColumn) -> list[str]:
    """Return header and cells as HTML elements."""
    style = f'style="text-align: {"right" if block.numeric else "left"}"'
    header = f"<th {style}>{html.escape(printable(block.name))}</th>"
    return [header, *(f"<td {style}>{html.escape(printable(cell))}</td>" for cell in block.cells)]


def _fitting(widths: Sequence[int], most: int) -> int:
    """Return the number of columns that fit into a line, at least one."""
    total = -2
    for count, width in enumerate(widths):
        total += width + 2
        if total > most and count:
            return count
    return len(widths)


def _is_numeric(column: Sequence[Any]) -> bool:
    present = [cell for cell in column if cell is not None]
    return bool(present) and all(
        isinstance(cell, int | float) and not isinstance(cell, bool) for cell in present
    )


def _formatter(column: Sequence[Any]) -> Callable[[Any], str]:
    """Choose one format for all floats of a column, so that they are easy to compare."""
    floats = [abs(cell) for cell in column if isinstance(cell, float) and math.isfinite(cell)]
    smallest = min(filter(None, floats), default=1.0)
    fixed = smallest >= 0.5 * 10**-_DECIMALS and max(floats, default=0.0) < _LARGE
    form = f".{_DECIMALS}f" if fixed else ".4g"
    return lambda cell: format(cell, form) if isinstance(cell, float) else _text(cell)


def _text(cell: object) -> str:
    """Format a cell; sets and tuples as lists of their elements."""
    if cell is None:
        return ""
    if isinstance(cell, frozenset | set):
        return ", ".join(sorted(map(str, cell)))
    if isinstance(cell, tuple | list):
        return ", ".join(map(str, cell))
    return str(cell)


def _as_list(cell: object) -> object:
    return sorted(cell, key=str) if isinstance(cell, frozenset | set) else cell


def _equal(mine: object, theirs: object) -> bool:
    """Compare cells; NaN equals NaN."""
    if isinstance(mine, float) and isinstance(theirs, float) and math.isnan(mine):
        return math.isnan(theirs)
    return mine == theirs
