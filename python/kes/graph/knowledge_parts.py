"""Validate the parts of knowledge as users write them, and bring them into one form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kes.errors import KesError, listed, repeated
from kes.validation import number

MAX_ODDS = 1e9
"""Largest log odds of an edge."""

_MAX_SHOWN = 100
"""Characters of an invalid value that a message shows."""


def name_list(part: str, value: object) -> tuple[str, ...]:
    """Return distinct names, sorted."""
    names = _items(part, "a list of names", value)
    for name in names:
        if not isinstance(name, str):
            raise _invalid(part, "a list of names", name, "but it contains")
    return tuple(sorted(set(names)))


def tier_list(value: object) -> tuple[tuple[str, ...], ...]:
    """Return tiers, earliest first, each sorted, without empty ones."""
    expected = "a list of lists of names such as [['age', 'sex'], ['smoker']]"
    given = [
        _items("tiers", expected, tier, "but it contains")
        for tier in _items("tiers", expected, value)
    ]
    tiers = tuple(name_list("tiers", tier) for tier in given)
    if double := sorted(repeated(name for tier in given for name in tier)):
        raise KesError(
            f"in more than one tier: {listed(double)}; list each variable once",
            option="tiers",
            column=double[0],
        )
    return tuple(tier for tier in tiers if tier)


def arc_list(part: str, value: object) -> tuple[tuple[str, str], ...]:
    """Return distinct arcs (a, b), sorted."""
    expected = "a list of pairs of names"
    arcs = set()
    for item in _items(part, expected, value):
        ends = _items(part, expected, item, "but it contains")
        if len(ends) != 2 or not all(isinstance(end, str) for end in ends):
            raise _invalid(part, expected, item, "but it contains")
        a, b = ends
        if a == b:
            directed = part in ("required", "forbidden")
            reason = (
                f"an arc cannot lead from {a!r} to itself"
                if directed
                else f"a pair has two different variables, not {a!r} twice"
            )
            raise KesError(f"{part}: {reason}", option=part, column=a)
        arcs.add((a, b))
    return tuple(sorted(arcs))


def odds_list(value: object) -> tuple[tuple[str, str, float], ...]:
    """Return pairs (a, b), a before b, with the log odds of an edge between them, sorted."""
    expected = 'pairs of names with log odds, such as {("a", "b"): 3.0} or [("a", "b", 3.0)]'
    if isinstance(value, Mapping):
        value = [
            (*_items("likely", expected, pair, "but it contains"), odds)
            for pair, odds in value.items()
        ]
    found: dict[tuple[str, str], float] = {}
    for item in _items("likely", expected, value):
        parts = _items("likely", expected, item, "but it contains")
        if len(parts) != 3:
            raise _invalid("likely", expected, item, "but it contains")
        ((a, b),) = arc_list("likely", [parts[:2]])
        pair = (min(a, b), max(a, b))
        if pair in found:
            raise KesError(
                f"likely: {a!r} and {b!r} occur twice; odds are of a pair, in either direction",
                option="likely",
                column=a,
            )
        found[pair] = number("likely", parts[2], minimum=-MAX_ODDS, maximum=MAX_ODDS)
    return tuple((a, b, odds) for (a, b), odds in sorted(found.items()))


def target_list(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return exogenous variables with the names of those that they may point to, sorted."""
    expected = 'names with lists of names, such as {"knockout": ["gene1", "gene2"]}'
    found: dict[str, tuple[str, ...]] = {}
    pairs = value.items() if isinstance(value, Mapping) else _items("targets", expected, value)
    for pair in pairs:
        parts = _items("targets", expected, pair, "but it contains")
        if len(parts) != 2 or not isinstance(parts[0], str):
            raise _invalid("targets", expected, pair, "but it contains")
        name, own = parts
        if name in found:
            raise KesError(
                f"targets: {name!r} occurs twice; put its targets into one list",
                option="targets",
                column=name,
            )
        found[name] = name_list("targets", [own] if isinstance(own, str) else own)
    return tuple(sorted(found.items()))


def _items(part: str, expected: str, value: object, but: str = "not") -> list[Any]:
    """Return the items of a list; strings and mappings do not count as lists."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise _invalid(part, expected, value, but)
    return list(value)


def _invalid(part: str, expected: str, value: object, but: str) -> KesError:
    try:
        shown = repr(value)
    except (ValueError, RecursionError):  # an integer with thousands of digits, or deep nesting
        shown = f"an unprintable {type(value).__name__}"
    if len(shown) > _MAX_SHOWN:
        shown = f"{shown[:_MAX_SHOWN]}..."
    return KesError(f"{part} must be {expected}, {but} {shown}", option=part)
