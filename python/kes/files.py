"""Read files up to a size limit, and write files atomically.

Any file may be compressed by gzip, whatever its name. A small compressed file may expand to more
than fits into memory, so the uncompressed size has a limit:

* ``KES_MAX_MB`` megabytes, if this environment variable is set;
* otherwise 64 MB, or 50 times the bytes read so far if that is more, but at most half of the
  memory of the machine.

A file is written to a temporary file first and then replaced in one step, so that a crash, a full
disk or a power failure leaves either the old content or the new. `sole_writer` keeps others from
replacing it meanwhile.
"""

import errno
import gzip
import io
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias, TypeVar

from kes.errors import KesError, either

PathLike: TypeAlias = str | os.PathLike[str]
T = TypeVar("T")

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""

LIMIT = "KES_MAX_MB"
"""The environment variable for the maximum size of uncompressed content."""

_MB = 10**6
_UNFOLDED = 64 * _MB
_RATIO = 50
_BLOCK = 2**20

COLUMN_BYTES = 3200
"""Minimum bytes of a column of a table in memory."""

_COPIES = 2.5
_PROCESS = 200 * _MB
_SMALL = 500 * _MB  # always read: estimates are rough, and systems overcommit
_MEMORY = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


class DamagedFile(KesError):
    """A compressed file that is truncated or corrupt."""


def stem(path: PathLike) -> str:
    """Return the name of a file without folder and suffixes."""
    name = os.path.basename(path)
    return name.split(".")[0] or name


# --- reading -------------------------------------------------------------------------------------


def read_file(path: PathLike) -> bytes:
    """Return the uncompressed content of a file, unless it is damaged or exceeds the limit."""
    return b"".join(_blocks(path, at_once=True))


def load(path: PathLike, parse: Callable[[bytes], T]) -> T:
    """Parse the content of a file by `parse`; errors name the file and keep their fields."""
    content = read_file(path)
    try:
        return parse(content)
    except KesError as error:
        raise KesError(
            f"{path}: {error}",
            option=error.option,
            column=error.column,
            row=error.row,
            file=str(path),
        ) from None


def read_blocks(path: PathLike) -> Iterator[bytes]:
    """Yield the content of a file block by block; the memory of the machine is then no limit."""
    return _blocks(path, at_once=False)


def is_packed(path: PathLike) -> bool:
    """Return whether a file is compressed."""
    with open(path, "rb") as file:
        return file.read(len(GZIP)) == GZIP


def _blocks(path: PathLike, *, at_once: bool) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            packed = file.peek(len(GZIP)).startswith(GZIP)
            source: BinaryIO | gzip.GzipFile = gzip.GzipFile(fileobj=file) if packed else file
            total = 0
            while block := source.read(_BLOCK):
                total += len(block)
                check_unfolded(path, total, file.tell(), at_once=at_once)
                yield block
    except KesError:
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        message = f"cannot read {path}: it is damaged or incomplete ({error})"
        raise DamagedFile(message, file=str(path)) from error
    except (OSError, ValueError) as error:  # ValueError: invalid name
        raise unreadable(path, error) from error


def unreadable(path: PathLike, error: OSError | ValueError) -> KesError:
    """Return the error for a file that cannot be read, or does not exist."""
    if isinstance(error, FileNotFoundError):
        return no_file(path)
    return KesError(f"cannot read {path}: {_why(error)}", file=str(path))


def no_file(path: PathLike) -> KesError:
    """Return the error for a file that does not exist."""
    folder = os.path.abspath(Path(path).parent)
    return KesError(f"there is no file {str(path)!r} (looked in {folder!r})", file=str(path))


def most_unfolded() -> int:
    """Return the maximum uncompressed size of a small file, in bytes."""
    return given_limit() or _UNFOLDED


def how_to_lift() -> str:
    """Return the advice to set the limit."""
    return f"the environment variable {LIMIT} sets this limit"


def check_unfolded(path: PathLike, unfolded: int, on_disk: int, *, at_once: bool = True) -> None:
    """Refuse content beyond the limit, for a file with `on_disk` bytes read.

    Unless it is in memory `at_once`, memory is no limit.
    """
    folded = max(_UNFOLDED, _RATIO * on_disk)
    most = given_limit() or (min(_half_of_memory(), folded) if at_once else folded)
    if unfolded > most:
        raise KesError(
            f"cannot read {path}: its content is larger than {most // _MB} MB in memory; "
            f"{how_to_lift()}",
            file=str(path),
        )


def given_limit() -> int | None:
    """Return the limit that the user set, in bytes."""
    text = os.environ.get(LIMIT, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or not int(text[:10]) > 0:
        raise KesError(
            f"{LIMIT} must be a number of megabytes such as 2000, not {text!r}", option=LIMIT
        )
    return int(text[:10]) * _MB


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # unknown on this system
        return 2**62


# --- the memory of a table -----------------------------------------------------------------------


def check_memory(path: object, rows: int, columns: int, coded: int) -> None:
    """Refuse a table file whose cells, coded, do not fit into the available memory.

    A coded table is stored once in Python and about once in the core; with bitmaps and other
    structures it needs at most two and a half times the bytes of its cells (`coded`), plus those
    of the process. `make bench-long` measures it.
    """
    needed, there = int(_COPIES * coded) + _PROCESS, given_limit() or available()
    if coded <= _SMALL or there is None or needed <= there:
        return
    raise KesError(
        f"{str(path)!r} has about {rows:.3g} rows of {columns} columns, which need about "
        f"{needed / 10**9:.1f} GB of memory, but {there / 10**9:.1f} GB are available; use fewer "
        f"columns with {either('kes.data.encode(path, columns=[...])', '--columns')}, a sample of "
        "the rows, Parquet with categories instead of text or numbers with many values, or a "
        f"machine with more memory; {how_to_lift()}",
        file=str(path),
    )


def available() -> int | None:
    """Return the number of bytes that this process can still allocate; None if unknown."""
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


# --- writing -------------------------------------------------------------------------------------


def write_file(path: PathLike, content: bytes) -> None:
    """Write a file atomically; compressed if its name ends in ``.gz``.

    Symbolic links are followed, and an existing file keeps its permissions. Devices such as
    ``/dev/stdout`` are written to directly. If it cannot be written, an existing file is unchanged.
    """
    try:
        if Path(path).suffix.lower() == ".gz":
            content = _gzipped(content)
        if Path(path).exists() and not Path(path).is_file():
            Path(path).write_bytes(content)
        else:
            _replace(Path(os.path.realpath(path)), content)
    except (OSError, ValueError) as error:  # ValueError: invalid name
        raise KesError(f"cannot write {path}: {_why(error)}", file=str(path)) from error


@contextmanager
def sole_writer(path: PathLike) -> Iterator[bool]:
    """Lock a file for writing; yield False if another process holds the lock.

    The lock is on a hidden file next to it, because the file itself is replaced. The system
    releases it when the process ends, however that happens. File systems without locks protect
    nothing.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():  # a device
        yield True
        return
    lock = target.with_name(f".{target.name}.lock")
    try:
        descriptor = _held(lock)
    except OSError as error:
        if (is_free := error.errno not in _LOCKED) and lock.exists():
            lock.unlink()
        yield is_free
        return
    try:
        yield True
    finally:
        if os.name == "posix":  # before it is released: no other process can hold it then
            lock.unlink(missing_ok=True)
        os.close(descriptor)


_LOCKED = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)


def _held(lock: Path) -> int:
    """Open and lock a file; return its descriptor."""
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(descriptor)
            with suppress(FileNotFoundError):  # its holder has removed it meanwhile
                if os.path.samestat(os.fstat(descriptor), lock.stat()):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _replace(target: Path, content: bytes) -> None:
    old = target.stat() if target.exists() else None
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, "it is write-protected")
    temporary = target.with_name(f".kes-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            if old is not None:
                _keep_permissions(temporary, old)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if os.name == "posix":
        with suppress(OSError):  # the new name should survive a power failure, too
            _sync(target.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _keep_permissions(file: Path, old: os.stat_result) -> None:
    """Copy owner and permissions, as far as the system allows."""
    if hasattr(os, "chown"):
        with suppress(OSError):  # needs privileges
            os.chown(file, old.st_uid, old.st_gid)
    file.chmod(stat.S_IMODE(old.st_mode))


def _gzipped(content: bytes) -> bytes:
    """Compress without time and name in the header, so that equal content gives equal files."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
