"""Result files: JSON, gzipped if the name ends in .gz, the same bytes for the same result.

A file is replaced as a whole, so at any moment a crash leaves either the old content or the new.
`kes.results.serialization` describes the content. `OutFile` is the option `out` of `kes.learn`.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kes import _core
from kes.errors import KesError, either, option
from kes.files import (
    GZIP,
    DamagedFile,
    PathLike,
    read_file,
    sole_writer,
    unreadable,
    write_file,
)
from kes.results.serialization import FORMAT, VERSION, decoded, encoded
from kes.results.summary import counted
from kes.search.problem import Problem
from kes.search.record import Record
from kes.settings import Settings

if TYPE_CHECKING:
    from kes.search.collector import Collector

_HEAD = f'{{\n"format": "{FORMAT}"'.encode()
_BEGINNING = 200  # bytes that contain the format
_OPENING = 4096  # compressed bytes that certainly contain as much


def write(record: Record, path: PathLike) -> None:
    """Write a record to a file, atomically."""
    try:
        content = encoded(record)
    except ValueError as error:  # a number that is not finite, or invalid Unicode
        message = f"cannot write {path}: JSON cannot represent this result ({error})"
        raise KesError(message, file=str(path)) from error
    write_file(path, content)


def read(path: PathLike) -> Record:
    """Read a record from a file, which must be a result file of this or an older version."""
    document = _document(path)
    if document.get("format") != FORMAT:
        raise _foreign(path)
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise KesError(
            f"{path} was written by kes {document.get('kes')}, which is newer than this "
            f"{_core.__version__}; install that version, or a later one",
            file=str(path),
        )
    try:
        return decoded(document)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error


def holds_result(path: PathLike) -> bool:
    """Return whether a file is a result file, by its content."""
    try:
        return FORMAT.encode() in _beginning(path)
    except OSError as error:
        raise unreadable(path, error) from error


class Checkpoint:
    """Writes the record of a collector to a file every `interval` seconds.

    The file contains all completed runs, including those ahead of earlier ones. A failed write is
    reported once, on standard error, and repeated at the next checkpoint: a disk that is full or
    missing for a while must not cost hours of work.
    """

    def __init__(self, path: PathLike, interval: float) -> None:
        self._path = path
        self._interval = interval
        self._warned = False
        self._next = time.monotonic() + interval

    def __call__(self, collector: Collector) -> None:
        """Write the runs so far if a checkpoint is due."""
        if time.monotonic() >= self._next:
            self.keep(collector.record(ahead=True))

    def keep(self, record: Record) -> None:
        """Write a record now."""
        try:
            write(record, self._path)
        except KesError as error:
            if not self._warned:
                self._warned = True
                again = f"the search continues and tries again every {self._interval:g} s"
                print(f"Note: {error}; {again}", file=sys.stderr)
        self._next = time.monotonic() + self._interval


# --- parsing -------------------------------------------------------------------------------------


def _document(path: PathLike) -> dict[str, Any]:
    """Read and parse a file; its format is detected from the content, not the name."""
    content = b""
    try:
        content = read_file(path)
        document = json.loads(content)
    except (DamagedFile, ValueError, RecursionError) as error:
        if isinstance(error, KesError) and not isinstance(error, DamagedFile):
            raise
        if not _is_ours(content or _beginning(path)):
            raise _foreign(path) from error
        raise _damaged(path, str(error)) from error
    return document if isinstance(document, dict) else {}


def _beginning(path: PathLike) -> bytes:
    """Return the first bytes of a file, uncompressed; none if they are damaged."""
    with Path(path).open("rb") as file:
        start = file.read(_OPENING)
    try:
        packed = start.startswith(GZIP)
        return zlib.decompressobj(wbits=31).decompress(start, _BEGINNING) if packed else start
    except zlib.error:
        return b""


def _is_ours(content: bytes) -> bool:
    """Return whether a damaged file may have been a result file."""
    start = content[:_BEGINNING]
    return FORMAT.encode() in start or _HEAD.startswith(start) or GZIP.startswith(start)


def _foreign(path: PathLike) -> KesError:
    return KesError(
        f"{path} is not a kes result file; give a file that "
        f"{either('Optima.save', 'kes learn --out')} wrote",
        file=str(path),
    )


def _damaged(path: PathLike, why: str) -> KesError:
    return KesError(
        f"{path} is truncated or damaged ({why}); restore a copy, or remove it and learn again",
        file=str(path),
    )


# --- the option out ------------------------------------------------------------------------------


_OTHER_FORMATS = {
    *(".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".html", ".pdf", ".svg", ".png"),
    *(".bif", ".xmlbif", ".xml", ".net", ".dot", ".gv", ".graphml"),
}

_log = logging.getLogger("kes")


class OutFile:
    """The file of `kes.learn`: checked first, resumed if it exists, with regular checkpoints.

    `is_saved` is whether the final result was written.
    """

    def __init__(self, path: PathLike, interval: float) -> None:
        check_writable(path)
        self.path = path
        self.checkpoint = Checkpoint(path, interval)
        self.is_saved = False

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the file; refuse it if another search is working on it."""
        with sole_writer(self.path) as is_sole:
            if not is_sole:
                raise KesError(
                    f"{self.path} is the file of another search that is still running; wait for "
                    f"it, or give another {option('out')}",
                    option="out",
                    file=str(self.path),
                )
            yield

    def read(self, settings: Settings, *, any_price: bool = False) -> Record | None:
        """Return the record in the file, which must have the same settings; None if no file.

        With `any_price`, a default price of edges may differ: it is that of other data.
        """
        if not Path(self.path).exists():
            return None
        record = read(self.path)
        if any_price and record.has_default_price:
            settings = replace(settings, edge_prior=record.settings.edge_prior)
        differences = record.settings.differences(settings)
        if differences:
            raise KesError(
                f"{self.path} holds a result with other settings:",
                *(f"  {line}" for line in differences),
                f"Repeat its settings to add runs to it, or give another {option('out')}",
                option="out",
                file=str(self.path),
            )
        return record

    def resume(self, record: Record, problem: Problem, runs: int) -> Record:
        """Return the record, ready to be continued; it must come from the same data."""
        try:
            problem.check(record)
        except KesError as error:
            raise KesError(
                f"{self.path}: {error}; or give another {option('out')}",
                option="out",
                file=str(self.path),
            ) from None
        done = len(record.runs)
        if done >= runs:
            _log.info("%s holds %s already.", self.path, counted(done, "run"))
            return record.finished()
        _log.info("%s holds %d of %d runs: resuming from there.", self.path, done, runs)
        return record

    def save(self, record: Record) -> None:
        """Write a record."""
        write(record, self.path)
        self.is_saved = True


def check_writable(path: PathLike) -> None:
    """Raise an error before the search, not after hours, if a file cannot be written."""
    file = Path(path)
    if file.suffix.lower() in _OTHER_FORMATS:
        problem = (
            f"a result is a file of kes; call it {file.with_suffix('.kes.json.gz')}. Networks are "
            "written by kes fit, pages by kes report, pictures by kes plot"
        )
    elif file.is_dir():
        problem = "this is a folder; give the name of a file"
    elif not file.parent.is_dir():
        problem = f"there is no folder {file.parent}"
    elif not os.access(file.parent, os.W_OK):
        problem = f"the folder {file.parent} is read-only"
    else:
        return
    raise KesError(f"{option('out')} {file}: {problem}", option="out", file=str(file))
