"""Notes on the columns of a table: inferred kinds, and what may be unintended.

Columns with the same note for the same reason share it. Result files keep the notes.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Column, Discrete, State
from kes.data.factor import Factor
from kes.data.infer_kinds import Verdict, saying, without_strays
from kes.data.parse_text import LOOKS_MISSING
from kes.data.raw_columns import Numbers, Raw
from kes.errors import either, listed, option

_INTEGER = re.compile(r"[+-]?[0-9]+(\.0*)?")
_LEFT_OUT = "left out: "
_CASES_PER_STATE = 5
_CASES_PER_VARIABLE = 2
_MANY_VARIABLES = 5
"""From this number of variables on, some pairs are joined by chance if cases are few."""
BY_CHANCE = "edges come up by chance"
"""Words of the note on too few cases, which is shown where people look first."""
_ID = re.compile(r"(.*[_.])?id", re.IGNORECASE)
_MANY_CASES = 50
"""At least this many values that recur equally often identify repeated measurements."""
MANY_STATES = 10
"""This number of states is never too large."""


def too_many(states: int, cases: float) -> bool:
    """Return whether there are fewer than five cases for each state, so that edges cost much."""
    return states > max(MANY_STATES, cases / _CASES_PER_STATE)


def remarks(verdicts: Mapping[str, Verdict]) -> list[str]:
    """Return notes on inferred kinds that are not obvious."""
    groups = [
        f"{listed(own)} ({_why(own)}; {remedy(own)})"
        for own in _together(verdicts, lambda one: one.kind is None and one.what != "omitted")
    ]
    notes = [f"{_LEFT_OUT}{listed(groups, show=str)}"] if groups else []
    return [*notes, *map(_kind_note, _together(verdicts, lambda one: one.noted))]


def absent_marks(verdicts: Mapping[str, Verdict], *, columns: bool = True) -> list[str]:
    """Return a note on texts that are read as missing because they stand beside numbers.

    The `columns` are left out where the next words name all that have missing values.
    """
    marks = sorted({mark for verdict in verdicts.values() for mark in verdict.absent})
    own = [name for name, verdict in verdicts.items() if verdict.absent]
    which = f": {listed(own)}" if columns else ""
    return [f"{listed(marks)} read as missing{which}"] if own else []


def left_out(names: Iterable[str], notes: Iterable[str]) -> str:
    """Return the notes on these columns if they were left out, as the end of an error message."""
    wanted = [repr(name) for name in names]
    said = [note for note in notes if note.startswith(_LEFT_OUT)]
    return "".join(f"; {note}" for note in said if any(name in note for name in wanted))


def _together(
    verdicts: Mapping[str, Verdict], chosen: Callable[[Verdict], bool]
) -> list[dict[str, Verdict]]:
    """Group columns with the same verdict for the same reason."""
    groups: dict[tuple[str, str, bool], dict[str, Verdict]] = {}
    for name, verdict in verdicts.items():
        if chosen(verdict):
            key = (verdict.what, verdict.reason, isinstance(verdict.column, Numbers))
            groups.setdefault(key, {})[name] = verdict
    return list(groups.values())


def _kind_note(own: Mapping[str, Verdict]) -> str:
    """Return the note on the inferred kind of columns, and how to change it."""
    first, strays = next(iter(own.values())), _strays(own)
    also = f"; {without_strays(strays)}" if strays else ""
    if codes := [name for name, verdict in own.items() if verdict.may_be_codes]:
        also = f"; {as_codes(codes, some=len(codes) < len(own))}"
    elif first.has_few_values:
        also = (
            f"; to use {'it' if len(own) == 1 else 'them'} as states: {saying([*own], 'discrete')}"
        )
    if len(own) == 1:
        return f"{listed(own)}: {first.why}, taken as {first.kind}{also}"
    return f"{len(own)} columns of {first.reason}, taken as {first.kind}: {listed(own)}{also}"


def as_codes(names: Sequence[str], *, some: bool = False) -> str:
    """Return advice to use whole numbers as states, or some of those that were named."""
    which = "some of these" if some else "these"
    return f"if {which} are codes without an order: {saying(names, 'discrete')}"


def _why(own: Mapping[str, Verdict]) -> str:
    first = next(iter(own.values()))
    return first.why if len(own) == 1 else first.reason


def _strays(own: Mapping[str, Verdict]) -> list[str]:
    return list(dict.fromkeys(stray for verdict in own.values() for stray in verdict.strays))


def remedy(own: Mapping[str, Verdict]) -> str:
    """Return advice to use columns that are left out."""
    first, strays = next(iter(own.values())), _strays(own)
    if strays:
        return without_strays(strays)
    match first.what:
        case "date":
            return f"to use them: {option('dates', 'days')} or {option('dates', 'year')}"
        case "unclear":
            return f"say which with {option('decimal')}, or make numbers of them"
    kind = "continuous" if isinstance(first.column, Numbers) else "discrete"
    return f"to use {'it' if len(own) == 1 else 'them'}: {saying(list(own), kind)}"


def identifier_remarks(seeming_of: Mapping[str, str]) -> list[str]:
    """Return notes on columns that are used but look like identifiers."""
    found: dict[str, list[str]] = {}
    for name, seems in seeming_of.items():
        found.setdefault(seems, []).append(name)
    return [
        f"{listed(names)} {'looks' if len(names) == 1 else 'each look'} like {seems}; leave "
        f"{'it' if len(names) == 1 else 'them'} out with {saying(names, 'omit')}"
        for seems, names in found.items()
    ]


def seeming(name: str, verdict: Verdict, *, cases: bool) -> str:
    """Return the sort of identifier that a column looks like; "" if it does not."""
    if verdict.what not in ("discrete", "continuous"):
        return ""
    times = _times_each(verdict.column) if cases else 0
    if times:
        return f"an identifier of cases that occur {times} times each, so rows are not independent"
    if not _ID.fullmatch(name):
        return ""
    if cases and _most_times(verdict.column) > 1:
        return "an identifier of cases by its name, so rows with the same one are not independent"
    return "an identifier of cases by its name"


def _times_each(column: Raw) -> int:
    """Return the frequency of each of many values if it is the same for all, otherwise 0."""
    if isinstance(column, Factor) and len(column.values) >= _MANY_CASES:
        counts = np.bincount(column.codes[column.codes >= 0])
        counts = counts[counts > 0]
    elif isinstance(column, Numbers):
        known = column.known()
        times = np.count_nonzero(known == known[0])
        if times < 2 or times != np.count_nonzero(known == known[-1]):
            return 0  # most columns: avoids sorting
        counts = np.unique(known, return_counts=True)[1]
    else:
        return 0
    alike = len(counts) >= _MANY_CASES and counts.min() == counts.max() > 1
    return int(counts[0]) if alike else 0


def _most_times(column: Raw) -> int:
    """Return the frequency of the most frequent value of a column."""
    known = column.known() if isinstance(column, Numbers) else column.factor().codes
    return int(np.unique(known[known >= 0], return_counts=True)[1].max(initial=0))


def state_remarks(
    states_of: Mapping[str, Sequence[State]], cases_of: Mapping[str, float]
) -> list[str]:
    """Return notes on states of discrete columns that may be unintended.

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
    """Return the advice for columns with too many states."""
    numbers = [name for name in many if are_numbers(states_of[name])]
    if not numbers:
        return "merge states, or leave such columns out"
    return f"take numbers as continuous with {saying(numbers, 'continuous')}, or merge states"


def are_numbers(states: Sequence[State]) -> bool:
    """Return whether all states are integers, or their text."""
    return all(not isinstance(one, bool) and _INTEGER.fullmatch(str(one)) for one in states)


def in_order(states: Sequence[State]) -> list[int]:
    """Return the positions of states that are integers, the smallest first.

    Examples
    --------
    >>> in_order(["10", "9.0", "-1", "1" + "0" * 320])
    [2, 1, 0, 3]
    """
    numbers = [int(str(one).partition(".")[0]) for one in states]  # maybe too large for a float
    return sorted(range(len(numbers)), key=numbers.__getitem__)


def with_value(column: Raw, weights: NDArray[np.float64] | None, missing: str) -> float:
    """Count the cases with a value in a column; missing counts as one if it is a state."""
    complete = np.ones(column.rows, np.bool_) if missing == "state" else column.complete()
    return float(np.count_nonzero(complete) if weights is None else weights[complete].sum())


_EXCLUDED = {
    "determined": ("{0!r} determines {1!r}", "leave one of them out, or discretize the numbers"),
    "collinear": (
        "states of {0!r} and {1!r} determine each other",
        "the criteria bic and aic can connect them",
    ),
    "too large": (
        "an edge between {0!r} and {1!r} has too many parameters for the cases",
        "add cases, merge states, or take numbers of many states as continuous",
    ),
}
"""Why no model connects a pair, and what to do; see `kes._core.Problem.excluded`."""


def why_excluded(x: str, y: str, why: str) -> str:
    """Return why no model connects two columns."""
    return _EXCLUDED[why][0].format(x, y) if why in _EXCLUDED else why


def excluded_pairs(
    names: Sequence[str], excluded: Iterable[tuple[int, int, str]]
) -> dict[tuple[str, str], str]:
    """Return pairs of columns that no model connects, in the order of the columns, and why."""
    return {
        (names[min(x, y)], names[max(x, y)]): why_excluded(names[x], names[y], why)
        for x, y, why in excluded
    }


def without_excluded(pairs: Iterable[tuple[str, str]]) -> str:
    """Return which pairs no network of a proof connects; "" if there are none.

    Examples
    --------
    >>> "no network" + without_excluded([("station", "altitude")])
    "no network without an edge between 'station' and 'altitude'"
    """
    shown = [f"{x!r} and {y!r}" for x, y in pairs]
    return f" without an edge between {listed(shown, show=str)}" if shown else ""


def exclusion_notes(names: Sequence[str], excluded: Iterable[tuple[int, int, str]]) -> list[str]:
    """Return notes on pairs of columns that no model connects, whatever their relation."""
    pairs: dict[str, list[str]] = {}
    for x, y, why in excluded:
        pairs.setdefault(why, []).append(why_excluded(names[x], names[y], why))
    return [
        f"no model connects these pairs: {listed(own, show=str)}; {_EXCLUDED[why][1]}"
        for why, own in pairs.items()
        if why in _EXCLUDED
    ]


def few_cases(columns: Sequence[Column], cases: float) -> list[str]:
    """Return a note if there are too few cases for edges to mean much."""
    varying = sum(not isinstance(one, Discrete) or len(one.states) > 1 for one in columns)
    if varying < _MANY_VARIABLES or cases > _CASES_PER_VARIABLE * varying:
        return []
    return [
        f"only {cases:.12g} cases of {varying} variables: with so few, {BY_CHANCE}; "
        f"see {either('kes.stability', 'kes stability')}"
    ]
