"""Result files: JSON, gzipped if the name ends in .gz, the same bytes for the same result.

A file is replaced as a whole, so at any moment a crash leaves either the old content or the new.
`kes.results.serialization` describes the content.
"""

from __future__ import annotations

import json
import sys
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kes import _core
from kes.errors import KesError, either
from kes.files import GZIP, DamagedFile, PathLike, read_file, unreadable, write_file
from kes.results.serialization import FORMAT, VERSION, decoded, encoded
from kes.search.record import Record

if TYPE_CHECKING:
    from kes.search.collector import Collector

_HEAD = f'{{\n"format": "{FORMAT}"'.encode()
_BEGINNING = 200  # bytes in which a file says what it is
_OPENING = 4096  # bytes that certainly hold as much, compressed


def write(record: Record, path: PathLike) -> None:
    """Write a record to a file, atomically.

    Raises
    ------
    KesError
        If the file cannot be written.
    """
    try:
        content = encoded(record)
    except ValueError as error:  # a number that is not finite, or invalid Unicode
        message = f"cannot write {path}: JSON cannot represent this result ({error})"
        raise KesError(message, file=str(path)) from error
    write_file(path, content)


def read(path: PathLike) -> Record:
    """Read a record from a file.

    Raises
    ------
    KesError
        If the file cannot be read, is damaged, or is not a result file of this or an older
        version.
    """
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
    """Tell whether a file is a result file, by its content.

    Raises
    ------
    KesError
        If it cannot be read.
    """
    try:
        return FORMAT.encode() in _beginning(path)
    except OSError as error:
        raise unreadable(path, error) from error


class Checkpoint:
    """A watcher of a collector that writes its record to a file at intervals.

    The file holds all runs that have ended, also those that are ahead of earlier ones.

    Parameters
    ----------
    interval : float
        Seconds from one write to the next.

    Notes
    -----
    A failed write is reported once, on standard error, and repeated when the next one is due: a
    disk that is full or missing for a while must not cost hours of work.
    """

    def __init__(self, path: PathLike, interval: float) -> None:
        self._path = path
        self._interval = interval
        self._warned = False
        self._next = time.monotonic() + interval

    def __call__(self, collector: Collector) -> None:
        """Write the runs so far if a checkpoint is due."""
        if time.monotonic() >= self._next and collector.done:
            self.keep(collector.record(ahead=True))

    def keep(self, record: Record) -> None:
        """Write a record now."""
        try:
            write(record, self._path)
        except KesError as error:
            self._warn(error)
        self._next = time.monotonic() + self._interval

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            again = f"the search continues and tries again every {self._interval:g} s"
            print(f"Note: {error}; {again}", file=sys.stderr)


# --- within --------------------------------------------------------------------------------------


def _document(path: PathLike) -> dict[str, Any]:
    """Read and parse a file by its content, whatever its name."""
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
    """Return the first bytes of a file, uncompressed; nothing if they are damaged."""
    with Path(path).open("rb") as file:
        start = file.read(_OPENING)
    try:
        packed = start.startswith(GZIP)
        return zlib.decompressobj(wbits=31).decompress(start, _BEGINNING) if packed else start
    except zlib.error:
        return b""


def _is_ours(content: bytes) -> bool:
    """Tell whether a damaged file may have been a result file."""
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
