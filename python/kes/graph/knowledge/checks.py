"""Validation of knowledge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kes import _core
from kes.errors import KesError, listed
from kes.native import core_errors

if TYPE_CHECKING:
    from kes.graph.knowledge.knowledge import Knowledge

_MAX_REASONS = 3
"""Contradictions that a message lists."""

_MAX_SHOWN = 100
"""Characters of an invalid value that a message shows."""

_CONTRADICTION = "no network satisfies the knowledge: "


def names_of(part: str, value: object) -> tuple[str, ...]:
    """Return distinct names, sorted."""
    names = _items(value)
    if names is None:
        raise _invalid(part, "a list of names", value)
    for name in names:
        if not isinstance(name, str):
            raise _invalid(part, "a list of names", name, "but it contains")
    return tuple(sorted(set(names)))


def tiers_of(value: object) -> tuple[tuple[str, ...], ...]:
    """Return tiers, earliest first, each sorted, without empty ones."""
    given = _items(value)
    if given is None:
        raise _invalid("tiers", "a list of lists of names", value)
    every: list[list[Any]] = []
    for tier in given:
        names = _items(tier)
        if names is None:
            raise KesError(
                f"a tier must be a list of names, not {_shown(tier)}: write "
                "tiers=[['age', 'sex'], ['smoker']]",
                option="tiers",
            )
        every.append(names)
    tiers = tuple(names_of("tiers", tier) for tier in every)
    numbers = Counter(name for tier in every for name in tier)
    double = sorted(name for name, number in numbers.items() if number > 1)
    if double:
        raise KesError(
            f"in more than one tier: {listed(double)}; list each variable once",
            option="tiers",
            column=double[0],
        )
    return tuple(tier for tier in tiers if tier)


def arcs(part: str, value: object) -> tuple[tuple[str, str], ...]:
    """Return distinct arcs (a, b), sorted."""
    items = _items(value)
    if items is None:
        raise _invalid(part, "a list of pairs of names", value)
    return tuple(sorted({_pair(part, item) for item in items}))


def pairs(part: str, value: object) -> tuple[tuple[str, str], ...]:
    """Return distinct unordered pairs of names, sorted."""
    return tuple(sorted({(min(pair), max(pair)) for pair in arcs(part, value)}))


def _pair(part: str, item: object) -> tuple[str, str]:
    ends = _items(item) or []
    if len(ends) != 2 or not all(isinstance(end, str) for end in ends):
        raise _invalid(part, "a list of pairs of names", item, "but it contains")
    if ends[0] == ends[1]:
        raise KesError(
            f"{part}: an arc cannot lead from {ends[0]!r} to itself", option=part, column=ends[0]
        )
    return ends[0], ends[1]


def _invalid(part: str, expected: str, value: object, but: str = "not") -> KesError:
    return KesError(f"{part} must be {expected}, {but} {_shown(value)}", option=part)


def _items(value: object) -> list[Any] | None:
    """Return the items of a list; None for other values, such as strings and mappings."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return None
    return list(value)


def _shown(value: object) -> str:
    """Return the repr of a value, truncated."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer with thousands of digits, or deep nesting
        return f"an unprintable {type(value).__name__}"
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def refuse_contradiction(known: Knowledge) -> None:
    """Raise an error if no network satisfies the knowledge, naming the contradiction.

    If no required arc is forbidden and they form no cycle, the network of the required arcs alone
    is admissible.
    """
    why_not = _Reasons(known)
    reasons = [
        f"{a} -> {b} is required, but {reason}"
        for a, b in known.required
        if (reason := why_not(a, b)) is not None
    ]
    if reasons:
        more = f"; and {len(reasons) - _MAX_REASONS} more" if len(reasons) > _MAX_REASONS else ""
        raise KesError(_CONTRADICTION + "; ".join(reasons[:_MAX_REASONS]) + more, option="required")
    names = sorted({name for arc in known.required for name in arc})
    at = {name: i for i, name in enumerate(names)}
    with core_errors(names):
        required = [(at[a], at[b]) for a, b in known.required]
        found = _core.contradiction(len(names), (None, required, []))
    if found is not None:
        way = [names[found[1][0][0]], *(names[b] for _, b in found[1])]
        raise KesError(
            f"{_CONTRADICTION}the required arcs form the cycle {' -> '.join(way)}",
            option="required",
        )


class _Reasons:
    """Finds out what forbids an arc."""

    def __init__(self, known: Knowledge) -> None:
        self._forbidden, self._apart = set(known.forbidden), set(known.apart)
        self._roots, self._leaves = set(known.roots), set(known.leaves)
        self._tier = {name: i for i, names in enumerate(known.tiers) for name in names}

    def __call__(self, a: str, b: str) -> str | None:
        if (a, b) in self._forbidden:
            return "it is also forbidden"
        if (min(a, b), max(a, b)) in self._apart:
            return f"{a} and {b} must be apart"
        if b in self._roots:
            return f"{b} is a root"
        if a in self._leaves:
            return f"{a} is a leaf"
        if a in self._tier and b in self._tier and self._tier[a] > self._tier[b]:
            return f"{b} is in an earlier tier than {a}"
        return None
