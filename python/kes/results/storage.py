"""Result files: JSON, gzipped if the name ends in .gz, the same bytes for the same result.

A file is replaced as a whole, so at any moment a crash leaves either the old content or the new.
What is in it says `kes.results.document`.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import secrets
import sys
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kes import _core
from kes.errors import KesError
from kes.results.document import FORMAT, VERSION, decoded, encoded
from kes.search.record import Record

if TYPE_CHECKING:
    from kes.search.collector import Collector

PathLike: TypeAlias = str | os.PathLike[str]
_HEAD = f'{{\n"format": "{FORMAT}"'.encode()
_BEGINNING = 200  # bytes in which a file says what it is


def write(record: Record, path: PathLike) -> None:
    """Write a record to a file, atomically.

    Raises
    ------
    KesError
        If the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        content = encoded(record)
    except ValueError as error:  # a number that is none, or text that is no Unicode
        raise KesError(f"cannot write {path}: no file can hold this result ({error})") from error
    if target.suffix == ".gz":
        content = _gzipped(content)
    try:
        _replace(target, content)
    except OSError as error:
        raise KesError(f"cannot write {path}: {error.strerror or error}") from error


def read(path: PathLike) -> Record:
    """Read a record from a file.

    Raises
    ------
    KesError
        If the file cannot be read, is damaged, or is not a result file of this or an older
        version.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise KesError(f"cannot read {path}: {error.strerror or error}") from error
    document = _document(content, path)
    if document.get("format") != FORMAT:
        raise _foreign(path)
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise KesError(
            f"{path} was written by kes {document.get('kes')}, which is newer than this "
            f"{_core.__version__}; update with: pip install --upgrade kes"
        )
    try:
        return decoded(document)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error


class Checkpoint:
    """A watcher of a collector that writes its record to a file at intervals.

    The file holds all runs that have ended, also those that earlier ones still keep waiting.

    Parameters
    ----------
    interval : float
        Seconds from one write to the next.

    Notes
    -----
    If a write fails, this is said once, on the standard error, and the next is tried when it is
    due: a disk that is full or away for a while must not cost hours of work.
    """

    def __init__(self, path: PathLike, interval: float) -> None:
        self._path = path
        self._interval = interval
        self._warned = False
        self._next = time.monotonic() + interval

    def __call__(self, collector: Collector) -> None:
        """Write what has been found if it is time to."""
        if time.monotonic() >= self._next and collector.done:
            self.keep(collector.record(ahead=True))

    def keep(self, record: Record) -> None:
        """Write a record now."""
        try:
            write(record, self._path)
        except (KesError, OSError) as error:
            self._complain(error)
        self._next = time.monotonic() + self._interval

    def _complain(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            again = f"the search goes on, and tries again every {self._interval:g} s"
            print(f"Note: {error}; {again}", file=sys.stderr)


# --- bytes ---------------------------------------------------------------------------------------


def _replace(target: Path, content: bytes) -> None:
    """Put the content in the place of the file: all of it, or none."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if os.name == "posix":  # makes the new name survive a power cut, too
        directory = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _gzipped(content: bytes) -> bytes:
    """Compress; no time and no name in the header, so that equal results are equal files."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def _document(content: bytes, path: PathLike) -> dict[str, Any]:
    """Decompress and parse; by what is in the file, whatever its name."""
    try:
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        document = json.loads(content)
    except (EOFError, zlib.error, gzip.BadGzipFile, ValueError, RecursionError) as error:
        if not _is_ours(content):
            raise _foreign(path) from error
        raise _damaged(path, str(error)) from error
    return document if isinstance(document, dict) else {}


def _is_ours(content: bytes) -> bool:
    """Tell, of what cannot be read, whether it was a result file, as far as it goes."""
    start = content[:_BEGINNING]
    if start.startswith(b"\x1f\x8b"):
        try:
            start = zlib.decompressobj(wbits=31).decompress(content, _BEGINNING)
        except zlib.error:
            return True  # not even the beginning can be read
    return FORMAT.encode() in start or _HEAD.startswith(start)


def _foreign(path: PathLike) -> KesError:
    return KesError(
        f"{path} is not a kes result file; give a file that kes learn --out or Optima.save wrote, "
        "or for a new result a name that is not taken"
    )


def _damaged(path: PathLike, why: str) -> KesError:
    return KesError(
        f"{path} is truncated or damaged ({why}); restore a copy, or remove it and learn again"
    )
