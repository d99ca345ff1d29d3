"""Reader of Tetrad's text format for knowledge.

A file begins with ``/knowledge``, followed by sections, each with its name on a separate line::

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

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, product

from kes.errors import KesError, suggest
from kes.files import how_to_lift, most_unfolded

HEAD = "/knowledge"

_WORD = re.compile(r'"([^"]*)"|([^\s,"]+)')
_SPACE = re.compile(r"[\s,]*")
_TIER = re.compile(r"([0-9]{1,6})([*-]{0,2})")
_ARCS = {"forbiddirect": "forbidden", "requiredirect": "required"}
_GROUPS = {"forbiddengroup": "forbidden", "requiredgroup": "required"}
_ARC_BYTES = 200  # approximate size of an arc in memory
_SECTIONS = ("addtemporal", *_ARCS, *_GROUPS)


@dataclass
class _Parsed:
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


def parse(text: str) -> dict[str, object]:
    """Return the content of a file as arguments of `Knowledge`."""
    found, section = _Parsed(), None
    lines = _lines(text)
    number, head = next(lines)
    if head != [HEAD]:
        raise KesError(f"line {number}: expected {HEAD} alone on its line", row=number)
    for number, words in lines:
        try:
            if len(words) == 1 and words[0].lower() in _SECTIONS and found.group is None:
                section = words[0].lower()
            elif section is None:
                raise KesError(f"expected a section{suggest(words[0], _SECTIONS)}: {_sections()}")
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
        if line.strip() and not line.lstrip().startswith("//"):
            yield number, _words(number, line)


def _words(number: int, line: str) -> list[str]:
    words, at = [], 0
    while (at := _end(_SPACE.match(line, at), at)) < len(line):
        match = _WORD.match(line, at)
        if match is None:
            raise KesError(f"line {number}: unterminated quote", row=number)
        words.append(match[2] if match[1] is None else match[1])
        at = match.end()
    return words


def _end(match: re.Match[str] | None, otherwise: int) -> int:
    return match.end() if match else otherwise


def _parse_line(found: _Parsed, section: str, words: list[str]) -> None:
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


def _arguments(found: _Parsed) -> dict[str, object]:
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


def _sections() -> str:
    return ", ".join(_SECTIONS)
