"""Estimate the memory of a table before reading it.

A coded table is stored once here and about once in the core; with bitmaps and other structures it
needs at most two and a half times the bytes of its cells, plus those of the process. `make
bench-long` measures it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from kes.data.csv_dialect import sample, sample_rows
from kes.errors import KesError, either
from kes.files import given_limit, how_to_lift, is_packed

COLUMN_BYTES = 3200
"""Minimum bytes of a column in memory."""

NUMBER_BYTES = 8
"""Bytes of a cell with a number."""

Wanted: TypeAlias = Callable[[str], bool]
"""Returns whether the column with a name will be read."""

_TEXT_BYTES = 80  # of a text that occurs in few rows
_COPIES = 2.5
_PROCESS = 200 * 10**6
_SMALL = 500 * 10**6  # always read: estimates are rough, and systems overcommit
_PACKED = 4  # typical compression ratio of text
_MEMORY = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def whole(_: str) -> bool:
    """Read all columns."""
    return True


def check_memory(path: object, rows: int, columns: int, coded: int) -> None:
    """Refuse a table that does not fit into the available memory.

    Parameters
    ----------
    path
        File of the table.
    rows, columns
        Its estimated size.
    coded
        Bytes of all its cells when coded.

    Raises
    ------
    KesError
        Names the memory that it needs, the memory available, and what to do.
    """
    needed, there = int(_COPIES * coded) + _PROCESS, given_limit() or available()
    if coded <= _SMALL or there is None or needed <= there:
        return
    raise KesError(
        f"{str(path)!r} has about {rows:.3g} rows of {columns} columns, which need about "
        f"{_shown(needed)} of memory, but {_shown(there)} are available; use fewer columns with "
        f"{either('kes.data.encode(path, columns=[...])', '--columns')}, a sample of the rows, "
        "Parquet with categories instead of text or numbers with many values, or a machine with "
        f"more memory; {how_to_lift()}",
        file=str(path),
    )


def check_text(path: Path, head: bytes, delimiter: str) -> None:
    """Refuse a CSV file whose table will not fit, extrapolating from its first lines."""
    rows = sample_rows(sample(head), delimiter)
    if len(rows) < 2:
        return
    size = path.stat().st_size * (_PACKED if is_packed(path) else 1)
    number = size * max(1, head.count(b"\n")) // len(head)
    table = list(zip(*rows[1:], strict=False))
    various = sum(2 * len(set(column)) > len(column) > 10 for column in table)
    cell_bytes = len(table) - various + _TEXT_BYTES * various
    check_memory(path, number, len(rows[0]), number * cell_bytes)


def available() -> int | None:
    """Return how many bytes this process can still allocate; None if unknown."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        for line in _MEMORY.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found.append(1024 * int(line.split()[1]))
    with suppress(OSError, ValueError, KeyError):  # a container may have a lower limit
        most = int((_GROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_GROUP / "memory.current").read_text(encoding="ascii"))
        figures = (_GROUP / "memory.stat").read_text(encoding="ascii").split()
        figure = dict(zip(figures[::2], figures[1::2], strict=True))
        files = int(figure["active_file"]) + int(figure["inactive_file"])  # reclaimable
        found.append(max(0, most - used + files))
    with suppress(AttributeError, ValueError, OSError):
        if not found:
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(found, default=None)


def _shown(size: int) -> str:
    return f"{size / 10**9:.1f} GB"
