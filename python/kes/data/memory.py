"""How much memory a table will take, told before it is read.

A table that is coded takes the bytes of its cells once here and about once more in the core, and
bitmaps and the like some more: at most two and a half times as much, and what any process needs.
`make bench-long` measures it.
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
"""Bytes of a column in memory, at least, however few its rows."""

NUMBER_BYTES = 8
"""Bytes of a cell that holds a number of many."""

Wanted: TypeAlias = Callable[[str], bool]
"""Tells of a column, by its name, whether it will be read."""

_TEXT_BYTES = 80  # of a value that hardly any other row has, as text
_COPIES = 2.5
_PROCESS = 200 * 10**6
_SMALL = 500 * 10**6  # tables that are read in any case: estimates are rough, and machines lend
_PACKED = 4  # how much larger than its file a packed text is, more or less
_MEMORY = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def whole(_: str) -> bool:
    """Want all columns."""
    return True


def check_memory(path: object, rows: int, columns: int, coded: int) -> None:
    """Refuse a table that cannot fit into the memory that is available.

    Parameters
    ----------
    path
        What the table is called.
    rows, columns
        Its size, as far as it is known.
    coded
        Bytes of all its cells when they are coded.

    Raises
    ------
    KesError
        Says how much memory it would take, how much there is, and what to do.
    """
    needed, there = int(_COPIES * coded) + _PROCESS, given_limit() or available()
    if coded <= _SMALL or there is None or needed <= there:
        return
    raise KesError(
        f"{str(path)!r} has about {rows:.3g} rows of {columns} columns, which take about "
        f"{_shown(needed)} of memory, but {_shown(there)} are available; use fewer columns with "
        f"{either('kes.data.encode(path, columns=[...])', '--columns')}, a sample of the rows, "
        "Parquet with categories instead of text or numbers with many values, or a machine with "
        f"more memory; {how_to_lift()}"
    )


def check_text(path: Path, head: bytes, delimiter: str) -> None:
    """Refuse a CSV file whose table will not fit, as far as its first lines show."""
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
    """Return how many bytes this process could still take; None if the system does not tell."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        for line in _MEMORY.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found.append(1024 * int(line.split()[1]))
    with suppress(OSError, ValueError, KeyError):  # a container may have less than its machine
        most = int((_GROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_GROUP / "memory.current").read_text(encoding="ascii"))
        figures = (_GROUP / "memory.stat").read_text(encoding="ascii").split()
        figure = dict(zip(figures[::2], figures[1::2], strict=True))
        files = int(figure["active_file"]) + int(figure["inactive_file"])  # given back on demand
        found.append(max(0, most - used + files))
    with suppress(AttributeError, ValueError, OSError):
        if not found:
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(found, default=None)


def _shown(size: int) -> str:
    return f"{size / 10**9:.1f} GB"
