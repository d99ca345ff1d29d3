"""Knowledge files: TOML and JSON by their suffix, Tetrad's text format by its first word.

A file of Tetrad has sections, each with its name on a separate line::

    /knowledge
    addtemporal
    1 age sex
    2* smoker drinker
    forbiddirect
    sex smoker
    requiredirect
    age smoker

Lines of ``addtemporal`` begin with the number of a tier; ``*`` after it forbids arcs within the
tier, ``-`` arcs to all later tiers but the next. ``forbiddengroup`` and ``requiredgroup`` take two
lines each: every arc from a variable of the first to one of the second. Names are separated by
spaces, commas or tabs; names with spaces are quoted. Lines that begin with ``//`` are comments.
"""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, product
from os import PathLike
from pathlib import Path
from typing import Any

from kes.errors import KesError, repeated, suggest, unknown
from kes.files import how_to_lift, most_unfolded

_PARTS = (
    *("tiers", "required", "forbidden", "apart", "roots", "leaves", "likely"),
    *("exogenous", "targets"),
)
"""Keys of a file: the parameters of `Knowledge`."""

_HEAD = "/knowledge"
_WORD = re.compile(r'"([^"]*)"|([^\s,"]+)')
_TIER = re.compile(r"([0-9]{1,6})([*-]{0,2})")
_ARCS = {"forbiddirect": "forbidden", "requiredirect": "required"}
_GROUPS = {"forbiddengroup": "forbidden", "requiredgroup": "required"}
_ARC_BYTES = 200  # approximate size of an arc in memory
_SECTIONS = ("addtemporal", *_ARCS, *_GROUPS)


def parse(content: bytes, suffix: str) -> dict[str, Any]:
    """Return the content of a file as arguments of `Knowledge`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise KesError(f"line {line}: not UTF-8; save the file as UTF-8", row=line) from None
    if text.lstrip().startswith(_HEAD):
        return _from_tetrad(text)
    if suffix not in _READERS:
        raise KesError(
            "unknown file format; knowledge files are .toml, .json, or text files of Tetrad, which "
            f"begin with {_HEAD}"
        )
    try:
        document = _READERS[suffix](text)
    except RecursionError:
        raise KesError("nested too deeply; use lists of names or of pairs of names") from None
    except ValueError as error:  # of both parsers, with line and column
        raise KesError(f"invalid or truncated {suffix[1:].upper()}: {error}") from None
    if not isinstance(document, dict):
        raise KesError(f"expected the keys {', '.join(_PARTS)}, not a {type(document).__name__}")
    for key in document:
        if key not in _PARTS:
            raise unknown("key", key, _PARTS)
    return document


def _each_once(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse duplicate keys: JSON would keep only the last."""
    if double := repeated(key for key, _ in entries):
        raise KesError(
            f"duplicate key {double[0]!r}; put all of it into one list", option=double[0]
        )
    return dict(entries)


_READERS: dict[str, Callable[[str], Any]] = {
    ".toml": tomllib.loads,
    ".json": partial(json.loads, object_pairs_hook=_each_once),
}


def dump(parts: dict[str, list[Any]], path: str | PathLike[str]) -> bytes:
    """Return the content of a file with knowledge, in the format of its suffix."""
    lists = {key: json.dumps(value, ensure_ascii=False) for key, value in parts.items()}
    match Path(path).suffix.lower():
        case ".json":
            text = (
                "{\n" + ",\n".join(f'  "{key}": {value}' for key, value in lists.items()) + "\n}\n"
            )
        case ".toml":
            # Lists of strings are the same as in JSON, except for DEL, which must be escaped.
            text = "".join(f"{key} = {value}\n" for key, value in lists.items())
            text = text.replace("\x7f", "\\u007F")
        case suffix:
            raise KesError(
                f"{path}: unsupported suffix {suffix!r}; write knowledge to .toml or .json",
                file=str(path),
            )
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise KesError(
            f"{path}: a name is not valid Unicode and cannot be written to a file", file=str(path)
        ) from None


# --- the text format of Tetrad -------------------------------------------------------------------


@dataclass
class _TetradFile:
    """Content of the lines read so far."""

    tiers: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    marks: dict[int, str] = field(default_factory=dict)
    arcs: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    unfolded: int = 0
    group: list[str] | None = None
    """First line of a group whose second line is still missing."""

    def unfold(self, part: str, arcs: Iterable[tuple[str, str]], number: int) -> None:
        """Add arcs that tiers and groups imply."""
        self.unfolded += number
        most = most_unfolded() // _ARC_BYTES
        if self.unfolded > most:
            raise KesError(f"tiers and groups imply more than {most} arcs; {how_to_lift()}")
        self.arcs[part] += arcs


def _from_tetrad(text: str) -> dict[str, Any]:
    found, section = _TetradFile(), None
    lines = _lines(text)
    number, head = next(lines)
    if head != [_HEAD]:
        raise KesError(f"line {number}: expected {_HEAD} alone on its line", row=number)
    for number, words in lines:
        try:
            if len(words) == 1 and words[0].lower() in _SECTIONS and found.group is None:
                section = words[0].lower()
            elif section is None:
                meant = suggest(words[0], _SECTIONS)
                raise KesError(f"expected a section{meant}: {', '.join(_SECTIONS)}")
            else:
                _parse_line(found, section, words)
        except KesError as error:
            raise KesError(f"line {number}: {error}", row=number) from None
    if found.group is not None:
        raise KesError(
            f"line {number}: the second line of the group is missing; the file may be truncated",
            row=number,
        )
    return _arguments(found)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that are not blank or comments, with their numbers, as lists of words."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("//"):
            continue
        if line.count('"') % 2:
            raise KesError(f"line {number}: unterminated quote", row=number)
        if words := [quoted or bare for quoted, bare in _WORD.findall(line)]:
            yield number, words


def _parse_line(found: _TetradFile, section: str, words: list[str]) -> None:
    """Parse a line of a section."""
    if section == "addtemporal":
        match = _TIER.fullmatch(words[0])
        if match is None or int(match[1]) < 1:
            raise KesError(f"a tier must begin with its number (1, 2, ...), not {words[0]!r}")
        found.tiers[int(match[1])] += words[1:]
        found.marks[int(match[1])] = found.marks.get(int(match[1]), "") + match[2]
    elif section in _ARCS:
        if len(words) != 2:
            raise KesError(f"an arc must have two names, not {len(words)}: {' '.join(words)}")
        found.arcs[_ARCS[section]].append((words[0], words[1]))
    elif found.group is None:
        found.group = words
    else:
        number = len(found.group) * len(words)
        found.unfold(_GROUPS[section], product(found.group, words), number)
        found.group = None


def _arguments(found: _TetradFile) -> dict[str, Any]:
    order = sorted(found.tiers)
    later: list[str] = []  # names of all tiers after the next
    for place, tier in reversed([*enumerate(order)]):
        names = found.tiers[tier]
        later += found.tiers[order[place + 2]] if place + 2 < len(order) else []
        if "*" in found.marks[tier]:
            found.unfold("apart", combinations(names, 2), len(names) * (len(names) - 1) // 2)
        if "-" in found.marks[tier]:
            found.unfold("forbidden", product(names, later), len(names) * len(later))
    parts = {part: found.arcs[part] for part in ("required", "forbidden", "apart")}
    return {"tiers": [found.tiers[tier] for tier in order], **parts}
