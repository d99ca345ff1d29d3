"""Files of knowledge: TOML and JSON by their suffix, and Tetrad's text by its first word."""

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
"""What a file can say, in the words of `Knowledge`."""


def read(path: str | PathLike[str], make: Callable[..., Knowledge]) -> Knowledge:
    """Return the knowledge that a file holds; complaints get the file's name."""
    content = read_file(path)
    try:
        return make(**_parsed(content, Path(path).suffix.lower()))
    except KesError as error:
        raise KesError(f"{path}: {error}") from None


def write(parts: dict[str, list[Any]], path: str | PathLike[str]) -> None:
    """Write what knowledge says into a file."""
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        raise KesError(f"{path}: knowledge is written as .toml or .json, not as {suffix!r}")
    try:
        content = _WRITERS[suffix](parts).encode("utf-8")
    except UnicodeEncodeError:
        raise KesError(f"{path}: a name is no Unicode text, which no file can hold") from None
    write_file(path, content)


def _parsed(content: bytes, suffix: str) -> dict[str, Any]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise KesError(f"line {line}: not UTF-8 text; save the file with this encoding") from None
    if text.lstrip().startswith(tetrad.HEAD):
        return tetrad.parse(text)
    if suffix not in _READERS:
        raise KesError(
            "cannot tell what is in this file: knowledge is in .toml or .json files, or in text "
            f"files of Tetrad, which begin with {tetrad.HEAD}"
        )
    try:
        document = _READERS[suffix](text)
    except RecursionError:
        raise KesError("nested too deeply; write lists of names and of pairs of names") from None
    except ValueError as error:  # of both parsers, with line and column
        raise KesError(f"not {suffix[1:].upper()}, or cut off: {error}") from None
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
    """Make an object of its entries; of a key that comes twice one would be lost."""
    found = dict(entries)
    if len(found) < len(entries):
        double = repeated(key for key, _ in entries)[0]
        raise KesError(f"the key {double!r} comes twice; put all of it into one list")
    return found


def _as_toml(parts: dict[str, list[Any]]) -> str:
    # Lists of texts are the same in TOML as in JSON, but for one character that must be escaped.
    lines = [f"{key} = {_list(value)}\n" for key, value in parts.items()]
    return "".join(lines).replace("\x7f", "\\u007F")


def _list(value: list[Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


_READERS: dict[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".json": _from_json}
_WRITERS = {".toml": _as_toml, ".json": _as_json}
