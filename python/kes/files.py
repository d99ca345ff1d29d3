"""Reading and writing files: up to a limit, and all or nothing.

Every file that kes reads may be compressed by gzip, whatever it is called. A small one may unfold
to more than a machine holds, so what is unfolded has a limit:

* ``KES_MAX_MB``, if this environment variable is set, is the largest content in megabytes;
* otherwise it is 64 MB, or 50 times as much as was read of the file if that is more, but no more
  than half of the memory of the machine.

Every file that kes writes takes the place of the old one in one step, so that at any moment a
crash, a full disk or a power cut leaves the old content or the new.
"""

from __future__ import annotations

import gzip
import io
import os
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias

from kes.errors import KesError

PathLike: TypeAlias = str | os.PathLike[str]

GZIP = b"\x1f\x8b"
"""The first bytes of a compressed file."""

LIMIT = "KES_MAX_MB"
"""The environment variable that sets how much a file may unfold to."""

_MB = 10**6
_UNFOLDED = 64 * _MB
_RATIO = 50
_BLOCK = 2**20


class DamagedFile(KesError):
    """A compressed file that is cut off, or was changed."""


def stem(path: PathLike) -> str:
    """Return the name of a file without its folder and its suffixes."""
    name = os.path.basename(path)
    return name.split(".")[0] or name


# --- reading -------------------------------------------------------------------------------------


def read_file(path: PathLike) -> bytes:
    """Return the content of a file, uncompressed.

    Raises
    ------
    KesError
        If it cannot be read, is damaged, or has more content than the limit allows.
    """
    return b"".join(_blocks(path, at_once=True))


def read_blocks(path: PathLike) -> Iterator[bytes]:
    """Yield the content of a file, uncompressed, block by block, as it is asked for.

    Raises
    ------
    KesError
        As `read_file` does, but the memory of the machine is no limit.
    """
    return _blocks(path, at_once=False)


def is_packed(path: PathLike) -> bool:
    """Tell whether a file is compressed."""
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
        raise DamagedFile(f"cannot read {path}: it is damaged or incomplete ({error})") from error
    except (OSError, ValueError) as error:  # no file can have such a name
        raise unreadable(path, error) from error


def unreadable(path: PathLike, error: OSError | ValueError) -> KesError:
    """Error for a file that cannot be read, or is not there."""
    if isinstance(error, FileNotFoundError):
        return no_file(path)
    return KesError(f"cannot read {path}: {_why(error)}")


def no_file(path: PathLike) -> KesError:
    """Error for a file that is not there."""
    folder = os.path.abspath(Path(path).parent)
    return KesError(f"there is no file {str(path)!r} (looked in {folder!r})")


def most_unfolded() -> int:
    """Return how many bytes a small file may unfold to."""
    return given_limit() or _UNFOLDED


def how_to_lift() -> str:
    """Say how the limit is set."""
    return f"the environment variable {LIMIT} sets this limit"


def check_unfolded(path: PathLike, unfolded: int, on_disk: int, *, at_once: bool = True) -> None:
    """Refuse a file that would unfold to more bytes than the limit allows.

    What is never in memory `at_once` may be larger than that.

    Raises
    ------
    KesError
        Says what the limit is, and how to lift it.
    """
    most = _most(on_disk, at_once=at_once)
    if unfolded > most:
        raise KesError(
            f"cannot read {path}: its content is larger than {most // _MB} MB in memory; "
            f"{how_to_lift()}"
        )


def _most(on_disk: int, *, at_once: bool) -> int:
    """Return how large the content of a file may be of which so much was read from the disk."""
    folded = max(_UNFOLDED, _RATIO * on_disk)
    return given_limit() or (min(_half_of_memory(), folded) if at_once else folded)


def given_limit() -> int | None:
    """Return the limit that the user sets, in bytes."""
    text = os.environ.get(LIMIT, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or not int(text[:10]) > 0:
        raise KesError(f"{LIMIT} must be a number of megabytes such as 2000, not {text!r}")
    return int(text[:10]) * _MB


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # not a system that tells
        return 2**62


# --- writing -------------------------------------------------------------------------------------


def write_file(path: PathLike, content: bytes) -> None:
    """Put content in the place of a file, all of it or none; gzipped if its name ends in .gz.

    Links are followed, and a file that is there keeps its permissions. What is no file, such as
    ``/dev/stdout``, is written to as it is.

    Raises
    ------
    KesError
        If it cannot be written; what was there before is then still there.
    """
    try:
        if Path(path).suffix.lower() == ".gz":
            content = _gzipped(content)
        if Path(path).exists() and not Path(path).is_file():
            Path(path).write_bytes(content)
        else:
            _replace(Path(os.path.realpath(path)), content)
    except (OSError, ValueError) as error:  # no file can have such a name
        raise KesError(f"cannot write {path}: {_why(error)}") from error


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
        with suppress(OSError):  # the new name should survive a power cut, too
            _sync(target.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _keep_permissions(file: Path, old: os.stat_result) -> None:
    """Give a file the owner and the permissions of another one, as far as the system lets us."""
    if hasattr(os, "chown"):
        with suppress(OSError):  # only some may give files away
            os.chown(file, old.st_uid, old.st_gid)
    file.chmod(stat.S_IMODE(old.st_mode))


def _gzipped(content: bytes) -> bytes:
    """Compress; no time and no name in the header, so that equal contents are equal files."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
