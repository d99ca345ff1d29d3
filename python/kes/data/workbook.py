"""Workbooks of Excel and LibreOffice, read by calamine: the first sheet that has a table."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from kes.data import raw_columns
from kes.data.csv_layout import SAMPLE_ROWS, title_note, titles_above
from kes.data.factor import Factor
from kes.data.raw_columns import Raw
from kes.data.source import Source
from kes.errors import KesError, listed
from kes.files import check_unfolded


class Workbook(Source):
    """The first visible sheet with cells; empty cells are missing, and empty rows are skipped."""

    def __init__(self, path: Path) -> None:
        name, others, cells = _first_sheet(path)
        rows = [row for row in cells if any(cell != "" for cell in row)]
        sample = [[_text(cell) for cell in row] for row in rows[:SAMPLE_ROWS]]
        titles = titles_above(sample)
        if len(rows) <= titles:
            raise KesError(
                f"{str(path)!r} is empty; the first row must name the columns", file=str(path)
            )
        self._rows = rows[titles + 1 :]
        names = sample[titles]
        there = [i for i, own in enumerate(names) if own.strip() or self._has_values(i)]
        self.names, self._places = [names[i] for i in there], there
        self.rows = len(self._rows)
        self.notes = tuple(filter(None, [title_note([row[0] for row in sample[:titles]])]))
        if others:
            self.notes += (f"only the sheet {name!r} is read, not {listed(others)}",)

    def _has_values(self, place: int) -> bool:
        return any(row[place] != "" for row in self._rows)

    def column(self, index: int, absent: frozenset[str]) -> Raw:
        """Read a column by the types of its cells; as text, if there are several."""
        place = self._places[index]
        cells = [None if row[place] == "" else row[place] for row in self._rows]
        kinds = {type(cell) for cell in cells if cell is not None}
        if str in kinds and len(kinds) > 1:
            cells = [None if cell is None else _text(cell) for cell in cells]
        column = raw_columns.from_objects(cells)
        return column.without(absent | {""} if isinstance(column, Factor) else absent)


def _first_sheet(path: Path) -> tuple[str, list[str], Sequence[Sequence[Any]]]:
    """Return the name of the first sheet with cells, the names of the others, and its cells."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
            check_unfolded(path, size, path.stat().st_size)
        workbook = CalamineWorkbook.from_path(path)
        sheets = {
            sheet.name: workbook.get_sheet_by_name(sheet.name)
            for sheet in workbook.sheets_metadata
            if (sheet.typ, sheet.visible) == (SheetTypeEnum.WorkSheet, SheetVisibleEnum.Visible)
        }
        filled = [name for name, sheet in sheets.items() if sheet.total_height > 1]
        if not filled:
            raise KesError(f"{str(path)!r} has no sheet with rows", file=str(path))
        return filled[0], filled[1:], sheets[filled[0]].to_python()
    except (CalamineError, zipfile.BadZipFile, OSError, ValueError) as error:
        if isinstance(error, KesError):
            raise
        raise KesError(
            f"{str(path)!r} is not a readable workbook ({error}); save the table as CSV",
            file=str(path),
        ) from None


def _text(cell: object) -> str:
    """Write a cell as text; whole numbers without decimals."""
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)
