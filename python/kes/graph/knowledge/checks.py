"""What must hold for knowledge, and what to say when it does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kes import _core
from kes.errors import KesError, listed
from kes.native import core_errors

if TYPE_CHECKING:
    from kes.graph.knowledge.knowledge import Knowledge

_SHOWN = 3
"""Reasons that a message gives."""

_LONGEST = 100
"""Characters of a wrong value that a message shows."""

_HOPELESS = "no network can have all that is known: "


def names_of(part: str, value: object) -> tuple[str, ...]:
    """Return names, sorted, each once."""
    names = _items(value)
    if names is None:
        raise KesError(f"{part} must be a list of names, not {_shown(value)}")
    for name in names:
        if not isinstance(name, str):
            raise KesError(f"{part} must be a list of names, but it holds {_shown(name)}")
    return tuple(sorted(set(names)))


def tiers_of(value: object) -> tuple[tuple[str, ...], ...]:
    """Return tiers, earliest first, each sorted; empty ones say nothing and are left out."""
    given = _items(value)
    if given is None:
        raise KesError(f"tiers must be a list of lists of names, not {_shown(value)}")
    every: list[list[Any]] = []
    for tier in given:
        names = _items(tier)
        if names is None:
            raise KesError(
                f"a tier is a list of names, not {_shown(tier)}: write "
                "tiers=[['age', 'sex'], ['smoker']]"
            )
        every.append(names)
    tiers = tuple(names_of("a tier", tier) for tier in every)
    numbers = Counter(name for tier in every for name in tier)
    double = sorted(name for name, number in numbers.items() if number > 1)
    if double:
        raise KesError(f"{listed(double)}: more than once in the tiers; a variable has one tier")
    return tuple(tier for tier in tiers if tier)


def arcs(part: str, value: object) -> tuple[tuple[str, str], ...]:
    """Return arcs (a, b), sorted, each once."""
    items = _items(value)
    if items is None:
        raise KesError(f"{part} must be a list of pairs of names, not {_shown(value)}")
    return tuple(sorted({_pair(part, item) for item in items}))


def pairs(part: str, value: object) -> tuple[tuple[str, str], ...]:
    """Return pairs of names in which the order does not matter, sorted, each once."""
    return tuple(sorted({(min(pair), max(pair)) for pair in arcs(part, value)}))


def _pair(part: str, item: object) -> tuple[str, str]:
    ends = _items(item) or []
    if len(ends) != 2 or not all(isinstance(end, str) for end in ends):
        raise KesError(f"{part} must be a list of pairs of names, but it holds {_shown(item)}")
    if ends[0] == ends[1]:
        raise KesError(f"{part}: no arc leads from {ends[0]!r} to itself")
    return ends[0], ends[1]


def _items(value: object) -> list[Any] | None:
    """Return what a list holds; None if the value is none, as texts and tables of keys are."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return None
    return list(value)


def _shown(value: object) -> str:
    """Return how a value is written, as far as a message can show it."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer with thousands of digits; a deep nest
        return f"an unprintable {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def refuse_contradiction(known: Knowledge) -> None:
    """Complain if no network can obey the knowledge, naming arcs that cannot be together.

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
        more = f"; and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
        raise KesError(_HOPELESS + "; ".join(reasons[:_SHOWN]) + more)
    names = sorted({name for arc in known.required for name in arc})
    at = {name: i for i, name in enumerate(names)}
    with core_errors():
        required = [(at[a], at[b]) for a, b in known.required]
        found = _core.contradiction(len(names), (None, required, []))
    if found is not None:
        way = [names[found[1][0][0]], *(names[b] for _, b in found[1])]
        raise KesError(f"{_HOPELESS}the required arcs form the cycle {' -> '.join(way)}")


class _Reasons:
    """Says what forbids an arc, if anything does."""

    def __init__(self, known: Knowledge) -> None:
        self._forbidden, self._apart = set(known.forbidden), set(known.apart)
        self._roots, self._leaves = set(known.roots), set(known.leaves)
        self._tier = {name: i for i, names in enumerate(known.tiers) for name in names}

    def __call__(self, a: str, b: str) -> str | None:
        if (a, b) in self._forbidden:
            return "it is forbidden, too"
        if (min(a, b), max(a, b)) in self._apart:
            return f"{a} and {b} are apart"
        if b in self._roots:
            return f"{b} is one of the roots"
        if a in self._leaves:
            return f"{a} is one of the leaves"
        if a in self._tier and b in self._tier and self._tier[a] > self._tier[b]:
            return f"{b} is in an earlier tier than {a}"
        return None
