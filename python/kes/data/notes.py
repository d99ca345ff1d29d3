"""What there is to say of the columns of a table: what they are taken for, what may not be meant.

Columns of which the same is to be said for the same reason are named together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Column, Discrete, State
from kes.data.factor import Factor
from kes.data.infer_kinds import Verdict, saying, without_strays
from kes.data.numbers import Numbers
from kes.data.parse_text import LOOKS_MISSING
from kes.data.raw_columns import Raw
from kes.errors import either, listed, option

_WHOLE = re.compile(r"[+-]?[0-9]+(\.0*)?")
_LEFT_OUT = "left out: "
_CASES_PER_STATE = 5
_CASES_PER_VARIABLE = 2
_MANY_VARIABLES = 5
"""So many variables have pairs enough for chance to join some where cases are as few."""
_ID = re.compile(r"(.*[_.])?id", re.IGNORECASE)
_MANY_CASES = 50
"""So many values that all recur equally often stand for cases that were looked at again."""
MANY_STATES = 10
"""So many states are never too many."""


def too_many(states: int, cases: float) -> bool:
    """Tell whether there are fewer than five cases for each state, so that edges hardly pay."""
    return states > max(MANY_STATES, cases / _CASES_PER_STATE)


def remarks(verdicts: Mapping[str, Verdict]) -> list[str]:
    """Say what was decided about the columns, where it is not plain to see."""
    groups = [
        f"{listed(own)} ({_why(own)}; {remedy(own)})"
        for own in _together(verdicts, lambda one: one.kind is None and one.what != "omitted")
    ]
    notes = [f"{_LEFT_OUT}{listed(groups, show=str)}"] if groups else []
    return [*notes, *map(_told, _together(verdicts, lambda one: one.told))]


def left_out(names: Iterable[str], notes: Iterable[str]) -> str:
    """Return what notes say of columns that are wanted but were left out, to end an error with."""
    wanted = [repr(name) for name in names]
    said = [note for note in notes if note.startswith(_LEFT_OUT)]
    return "".join(f"; {note}" for note in said if any(name in note for name in wanted))


def _together(
    verdicts: Mapping[str, Verdict], chosen: Callable[[Verdict], bool]
) -> list[dict[str, Verdict]]:
    """Put columns with the same verdict for the same reason together."""
    groups: dict[tuple[str, str, bool], dict[str, Verdict]] = {}
    for name, verdict in verdicts.items():
        if chosen(verdict):
            key = (verdict.what, verdict.reason, isinstance(verdict.column, Numbers))
            groups.setdefault(key, {})[name] = verdict
    return list(groups.values())


def _told(own: Mapping[str, Verdict]) -> str:
    """Say what columns were taken for, and what if that was not meant."""
    first, strays = next(iter(own.values())), _strays(own)
    also = f"; {without_strays(strays)}" if strays else ""
    if len(own) == 1:
        return f"{listed(own)}: {first.why}, taken as {first.kind}{also}"
    return f"{len(own)} columns of {first.reason}, taken as {first.kind}: {listed(own)}{also}"


def _why(own: Mapping[str, Verdict]) -> str:
    first = next(iter(own.values()))
    return first.why if len(own) == 1 else first.reason


def _strays(own: Mapping[str, Verdict]) -> list[str]:
    return list(dict.fromkeys(stray for verdict in own.values() for stray in verdict.strays))


def remedy(own: Mapping[str, Verdict]) -> str:
    """Say how to use columns that are left out for one reason all the same."""
    first, strays = next(iter(own.values())), _strays(own)
    if strays:
        return without_strays(strays)
    match first.what:
        case "date":
            return "to use them, make numbers of them, such as years or days since the first"
        case "unclear":
            return f"say which with {option('decimal')}, or make numbers of them"
    kind = "continuous" if isinstance(first.column, Numbers) else "discrete"
    return f"to use {'it' if len(own) == 1 else 'them'}: {saying(list(own), kind)}"


def identifier_remarks(seeming_of: Mapping[str, str]) -> list[str]:
    """Name columns that are used and yet look like identifiers of some sort."""
    found: dict[str, list[str]] = {}
    for name, seems in seeming_of.items():
        found.setdefault(seems, []).append(name)
    return [
        f"{listed(names)} {'looks' if len(names) == 1 else 'each look'} like {seems}; leave "
        f"{'it' if len(names) == 1 else 'them'} out with {saying(names, 'omit')}"
        for seems, names in found.items()
    ]


def seeming(name: str, verdict: Verdict, *, cases: bool) -> str:
    """Return what sort of identifier a column looks like, if like any; rows may be no `cases`."""
    if verdict.what not in ("discrete", "continuous"):
        return ""
    times = _times_each(verdict.column) if cases else 0
    if times:
        return f"an identifier of cases that occur {times} times each"
    return "an identifier of cases by its name" if _ID.fullmatch(name) else ""


def _times_each(column: Raw) -> int:
    """Return how often each of many values occurs if all recur equally often; else 0."""
    if isinstance(column, Factor) and len(column.values) >= _MANY_CASES:
        counts = np.bincount(column.codes[column.codes >= 0])
        counts = counts[counts > 0]
    elif isinstance(column, Numbers):
        known = column.known()
        times = np.count_nonzero(known == known[0])
        if times < 2 or times != np.count_nonzero(known == known[-1]):
            return 0  # most columns: without sorting them
        counts = np.unique(known, return_counts=True)[1]
    else:
        return 0
    alike = len(counts) >= _MANY_CASES and counts.min() == counts.max() > 1
    return int(counts[0]) if alike else 0


def state_remarks(
    states_of: Mapping[str, Sequence[State]], cases_of: Mapping[str, float]
) -> list[str]:
    """Say what of the states of discrete columns is allowed but may not be meant.

    The cases of a column are those that have a value in it.
    """
    constant = [name for name, states in states_of.items() if len(states) == 1]
    many = [name for name, own in states_of.items() if too_many(len(own), cases_of[name])]
    suspect = {
        name: value
        for name, values in states_of.items()
        for value in sorted(LOOKS_MISSING.intersection(values))
    }
    notes = []
    if constant:
        notes.append(f"constant, so isolated in every model: {listed(constant)}")
    if many:
        sizes = [f"{name!r} ({len(states_of[name])} for {cases_of[name]:.12g})" for name in many]
        notes.append(
            "many states for the cases with a value, so each edge costs many parameters, at least "
            f"one less than the states: {listed(sizes, show=str)}; {fewer(states_of, many)}"
        )
    if suspect:
        shown = listed([f"{name!r} ({value!r})" for name, value in suspect.items()], show=str)
        marks = sorted({str(value) for value in suspect.values()})
        notes.append(f"a state looks like a missing value: {shown}; {without_strays(marks)}")
    return notes


def fewer(states_of: Mapping[str, Sequence[State]], many: Iterable[str]) -> str:
    """Say what to do about columns with too many states."""
    numbers = [name for name in many if are_numbers(states_of[name])]
    if not numbers:
        return "merge states, or leave such columns out"
    return f"take numbers as continuous with {saying(numbers, 'continuous')}, or merge states"


def are_numbers(states: Sequence[State]) -> bool:
    """Tell whether all states are whole numbers, also as the text of a file."""
    return all(not isinstance(one, bool) and _WHOLE.fullmatch(str(one)) for one in states)


def with_value(column: Raw, weights: NDArray[np.float64] | None, missing: str) -> float:
    """Return how many cases have a value in a column; a gap that is a state is one, too."""
    complete = np.ones(column.rows, np.bool_) if missing == "state" else column.complete()
    return float(np.count_nonzero(complete) if weights is None else weights[complete].sum())


def few_cases(columns: Sequence[Column], cases: float) -> list[str]:
    """Say so if cases are so few that edges mean little."""
    varying = sum(not isinstance(one, Discrete) or len(one.states) > 1 for one in columns)
    if varying < _MANY_VARIABLES or cases > _CASES_PER_VARIABLE * varying:
        return []
    return [
        f"only {cases:.12g} cases of {varying} variables: with so few, edges come up by chance; "
        f"see {either('kes.stability', 'kes stability')}"
    ]
