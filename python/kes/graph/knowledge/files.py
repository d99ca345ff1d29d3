"""Knowledge files: TOML and JSON by their suffix, Tetrad's text format by its first word."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kes.errors import KesError, repeated, unknown
from kes.files import read_file, write_file
from kes.graph.knowledge import tetrad

if TYPE_CHECKING:
    from kes.graph.knowledge.knowledge import Knowledge

PARTS = ("tiers", "required", "forbidden", "apart", "roots", "leaves")
"""Keys of a file: the parameters of `Knowledge`."""


def read(path: str | PathLike[str], make: Callable[..., Knowledge]) -> Knowledge:
    """Read a file; errors carry its name."""
    content = read_file(path)
    try:
        return make(**_parsed(content, Path(path).suffix.lower()))
    except KesError as error:
        raise KesError(
            f"{path}: {error}",
            option=error.option,
            column=error.column,
            row=error.row,
            file=str(path),
        ) from None


def write(parts: dict[str, list[Any]], path: str | PathLike[str]) -> None:
    """Write knowledge to a file."""
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        raise KesError(
            f"{path}: unsupported suffix {suffix!r}; write knowledge to .toml or .json",
            file=str(path),
        )
    try:
        content = _WRITERS[suffix](parts).encode("utf-8")
    except UnicodeEncodeError:
        raise KesError(
            f"{path}: a name is not valid Unicode and cannot be written to a file", file=str(path)
        ) from None
    write_file(path, content)


def _parsed(content: bytes, suffix: str) -> dict[str, Any]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise KesError(f"line {line}: not UTF-8; save the file as UTF-8", row=line) from None
    if text.lstrip().startswith(tetrad.HEAD):
        return tetrad.parse(text)
    if suffix not in _READERS:
        raise KesError(
            "unknown file format; knowledge files are .toml, .json, or text files of Tetrad, which "
            f"begin with {tetrad.HEAD}"
        )
    try:
        document = _READERS[suffix](text)
    except RecursionError:
        raise KesError("nested too deeply; use lists of names or pairs of names") from None
    except ValueError as error:  # of both parsers, with line and column
        raise KesError(f"invalid or truncated {suffix[1:].upper()}: {error}") from None
    if not isinstance(document, dict):
        raise KesError(f"expected the keys {', '.join(PARTS)}, not a {type(document).__name__}")
    for key in document:
        if key not in PARTS:
            raise unknown("key", key, PARTS)
    return document


def _as_json(parts: dict[str, list[Any]]) -> str:
    lines = [f"  {json.dumps(key)}: {_list(value)}" for key, value in parts.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _from_json(text: str) -> Any:  # noqa: ANN401
    return json.loads(text, object_pairs_hook=_each_once)


def _each_once(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse duplicate keys, of which JSON would keep only the last."""
    found = dict(entries)
    if len(found) < len(entries):
        double = repeated(key for key, _ in entries)[0]
        raise KesError(f"duplicate key {double!r}; put all of it into one list", option=double)
    return found


def _as_toml(parts: dict[str, list[Any]]) -> str:
    # Lists of strings are the same in TOML as in JSON, except for DEL, which must be escaped.
    lines = [f"{key} = {_list(value)}\n" for key, value in parts.items()]
    return "".join(lines).replace("\x7f", "\\u007F")


def _list(value: list[Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


_READERS: dict[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".json": _from_json}
_WRITERS = {".toml": _as_toml, ".json": _as_json}
