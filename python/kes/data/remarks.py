"""What there is to say of the columns of a table: what they are taken for, what may not be meant.

Columns of which the same is to be said for the same reason are named together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from kes.data.column import State
from kes.data.decimals import LOOKS_MISSING
from kes.data.kinds import Verdict, saying, without_strays
from kes.data.numbers import Numbers
from kes.errors import listed, option

_WHOLE = re.compile(r"[+-]?[0-9]+(\.0*)?")
_LEFT_OUT = "left out: "
_CASES_PER_STATE = 5
MANY_STATES = 10
"""So many states are never too many."""


def too_many(states: int, cases: float) -> bool:
    """Tell whether there are fewer than five cases for each state, so that no edge can pay."""
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


def state_remarks(states_of: Mapping[str, Sequence[State]], cases: float) -> list[str]:
    """Say what of the states of discrete columns is allowed but may not be meant."""
    constant = [name for name, states in states_of.items() if len(states) == 1]
    many = {name: len(own) for name, own in states_of.items() if too_many(len(own), cases)}
    suspect = {
        name: value
        for name, values in states_of.items()
        for value in sorted(LOOKS_MISSING.intersection(values))
    }
    notes = []
    if constant:
        notes.append(f"constant, so isolated in every model: {listed(constant)}")
    if many:
        shown = listed([f"{name!r} ({states})" for name, states in many.items()], show=str)
        notes.append(
            f"too many states for {cases:.12g} cases, so hardly ever joined to anything: {shown}; "
            f"{fewer(states_of, many)}"
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
