"""The folder that the page works in: its files by name, and the state that outlives the server.

A name from the page is the name of a file in the folder itself. Names with separators, hidden
files, links and anything that is not a regular file are refused, so nothing outside the folder can
be reached.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import stat
import unicodedata
from collections.abc import AsyncIterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from kes.data.source import is_table
from kes.errors import KesError
from kes.files import write_file

STATE = ".kes-app"
RESULT = (".kes.json.gz", ".kes.json")
GRAPHS = (".bif", ".xmlbif", ".net", ".dot", ".gv", ".graphml")
KNOWLEDGE = (".toml",)

_LONGEST = 120
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*\u200b-\u200f\u202a-\u202e\u2060-\u206f]')
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
_SUFFIX = re.compile(
    r"(?ai)(?:\.kes\.json|\.knowledge\.toml|\.interventions\.json|\.\w{1,10})(?:\.gz)?\Z"
)
_BLOCK = 2**20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class TooLarge(KesError):
    """An upload beyond the limit."""


class Workspace:
    """A folder, and the state of the page in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.realpath(folder))
        if not self.folder.is_dir():
            raise KesError(f"there is no folder {folder}", option="folder", file=str(folder))
        self.state = self.folder / STATE
        try:
            self._refuse_links()
            for part in (self.state, self.state / "jobs", self.state / "reports"):
                part.mkdir(mode=0o700, exist_ok=True)
            for left in self.state.glob("upload-*"):  # of a server that was killed
                left.unlink()
        except OSError as error:
            message = f"cannot write to the folder {folder}: {error.strerror}"
            raise KesError(message, option="folder", file=str(folder)) from error

    def _refuse_links(self) -> None:
        """Refuse a state that would be read or written elsewhere."""
        for path in (self.state, *self.state.rglob("*")):
            if path.is_symlink():
                name = path.relative_to(self.folder)
                raise KesError(f"{name} is a link; remove it", option="folder", file=str(name))

    # --- names -----------------------------------------------------------------------------------

    def file(self, name: object) -> Path:
        """Return the path of an existing file of the folder; refuse every other name."""
        return file_in(self.folder, name)

    def unused(self, name: str) -> str:
        """Return a name that no file has: this one, or one with a number."""
        found = clean(name)
        head, suffix = _split(found)
        number = 2
        while os.path.lexists(self.folder / found):
            found, number = f"{head}-{number}{suffix}", number + 1
        return found

    def listing(self) -> dict[str, list[dict[str, Any]]]:
        """Return the files that the page can use, by what they are, newest first."""
        found: dict[str, list[dict[str, Any]]] = {
            part: [] for part in ("tables", "results", "graphs", "knowledge")
        }
        for entry in os.scandir(self.folder):
            part = sort_of(entry.name)
            if part is None or not _is_plain(entry.name):
                continue
            with suppress(OSError):  # removed meanwhile
                if entry.is_file(follow_symlinks=False):
                    about = entry.stat(follow_symlinks=False)
                    item = {"name": entry.name, "bytes": about.st_size, "time": about.st_mtime}
                    found[part].append(item)
        for items in found.values():
            items.sort(key=lambda item: (-item["time"], item["name"]))
        return found

    async def receive(self, name: str, blocks: AsyncIterable[bytes], most: int) -> str:
        """Store an upload block by block; return the name that it got."""
        temporary = self.state / f"upload-{secrets.token_hex(8)}"
        size = 0
        try:
            with temporary.open("xb", buffering=_BLOCK) as file:
                async for block in blocks:
                    size += len(block)
                    if size > most:
                        raise TooLarge(
                            f"{clean(name)} is larger than {most // 10**6} MB; copy it into the "
                            "folder instead, or start kes app with a larger --max-upload",
                            option="max_upload",
                            file=clean(name),
                        )
                    file.write(block)
            stored = self.unused(name)
            temporary.rename(self.folder / stored)
        except OSError as error:
            raise _not_stored(clean(name), error) from error
        finally:
            temporary.unlink(missing_ok=True)
        return stored

    # --- the state of the page --------------------------------------------------------------------

    def read(self, name: str, default: Any) -> Any:  # noqa: ANN401 - JSON
        """Return a part of the state; the default if it is missing or damaged."""
        try:
            found = json.loads((self.state / name).read_bytes(), parse_constant=not_finite)
        except (OSError, ValueError, RecursionError):
            return default
        return found if isinstance(found, type(default)) else default

    def write(self, name: str, value: object) -> None:
        """Write a part of the state, atomically."""
        try:
            write_file(self.state / name, json.dumps(value, indent=1, allow_nan=False).encode())
        except ValueError:
            raise KesError("numbers must be finite") from None
        except KesError as error:
            raise _not_stored(name, error.__cause__) from None

    def without_paths(self, text: str) -> str:
        """Return a message without the paths of the user."""
        for path, shown in ((self.folder, "the folder"), (Path.home(), "~")):
            if len(str(path)) > 1:
                text = text.replace(str(path), shown)
        return text


def not_finite(name: str) -> float:
    """Refuse NaN and infinity, which JSON does not have."""
    raise ValueError(f"{name} is not a number of JSON")


def file_in(folder: Path, name: object) -> Path:
    """Return the path of an existing file of a folder; refuse links and every other name."""
    path = folder / plain(name)
    try:
        is_file = stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise KesError(f"there is no file {name!r} in the folder", file=str(name))
    return path


def plain(name: object) -> str:
    """Return a name that can only mean a file of the folder itself."""
    if not isinstance(name, str) or not _is_plain(name):
        raise KesError(f"{str(name)[:80]!r} is not the name of a file in the folder")
    return name


def _is_plain(name: str) -> bool:
    return bool(name) and name[0] not in ".-" and not _FORBIDDEN.search(name) and len(name) <= 255


def clean(name: str) -> str:
    """Return a harmless name for a file that comes from elsewhere."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    kept = _FORBIDDEN.sub("_", last).encode("utf-8", "ignore").decode().strip(" ").lstrip(".-")
    if _RESERVED.fullmatch(kept):
        kept = f"_{kept}"
    head, suffix = _split(kept)
    head = head.encode()[:_LONGEST].decode("utf-8", "ignore")
    return (head + suffix).rstrip(". ") or "table.csv"


def _split(name: str) -> tuple[str, str]:
    """Return a name without its suffix, and the suffix."""
    found = _SUFFIX.search(name)
    return (name, "") if found is None else (name[: found.start()], found[0])


def sort_of(name: str) -> str | None:
    """Return the use of a file on the page, by its name."""
    lower = name.lower()
    if lower.endswith(RESULT):
        return "results"
    if is_table(Path(name)):
        return "tables"
    if lower.removesuffix(".gz").endswith(GRAPHS):
        return "graphs"
    return "knowledge" if lower.endswith(KNOWLEDGE) else None


def stem(name: str) -> str:
    """Return the name of a file without its suffix."""
    return _split(name)[0] or "result"


def _not_stored(name: str, error: BaseException | None) -> KesError:
    why = getattr(error, "strerror", None) or "unknown error"
    if getattr(error, "errno", None) in _FULL:
        why = "the disk is full; make room and try again"
    return KesError(f"cannot store {name}: {why}", file=name)
