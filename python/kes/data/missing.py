"""Missing values: refuse them, drop their rows, make them a state, or leave gaps to be filled."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kes.data.column import State
from kes.data.factor import Factor, code_type
from kes.data.infer_kinds import saying
from kes.data.raw_columns import Raw
from kes.errors import KesError, either, listed, option, unknown

CHOICES = ("error", "drop", "state", "em")
_STATE = re.compile(r"(<+)missing(>+)")


def check_choice(missing: str, *, gaps: bool = False) -> None:
    """Refuse what is no way of treating missing values; leaving gaps is one only where it helps."""
    if missing not in CHOICES:
        raise unknown("value of missing", missing, CHOICES)
    if missing == "em" and not gaps:
        raise KesError(
            f"{option('missing', 'em')} fills gaps from a model, so it is for kes.learn and the "
            "like; here rows can be dropped, or missing be a state"
        )


class Settled(NamedTuple):
    """Columns whose rows are those to learn from.

    Attributes
    ----------
    rows
        Which rows of the table they are; None: all.
    """

    columns: list[Raw]
    weights: NDArray[np.float64] | None
    notes: tuple[str, ...] = ()
    rows: NDArray[np.intp] | None = None


def settle(
    names: Sequence[str],
    columns: Sequence[Raw],
    weights: NDArray[np.float64] | None,
    missing: str,
    *,
    state: bool,
) -> Settled:
    """Refuse missing values or drop their rows; as a state, or to be filled, they are left.

    Only where missing can be a `state` of all columns that lack values, messages suggest that.
    """
    counts = [column.missing() for column in columns]
    incomplete = {name: count for name, count in zip(names, counts, strict=True) if count}
    if not incomplete:
        return Settled(list(columns), weights)
    rows = columns[0].rows
    sparse = _mostly_missing(incomplete, rows)
    if missing == "state":
        note = f"missing is a state of {_columns(incomplete)}"
        return Settled(list(columns), weights, (note, *sparse))
    if missing == "em":
        note = (
            "missing values are filled in from the model, which assumes that whether a value is "
            f"missing depends only on values that are there: {_columns(incomplete)}"
        )
        return Settled(list(columns), weights, (note, *sparse))
    if missing == "error":
        raise KesError("; ".join(refusal(incomplete, rows, state=state)))
    kept = _complete_rows(columns)
    if not kept.size:
        raise KesError(
            f"{option('missing', 'drop')} leaves no row, since each has missing values: "
            f"{_columns(incomplete)}; leave such columns out, or {_others(state)}"
        )
    notes = [
        f"dropped {rows - kept.size} of {rows} rows with missing values: {_columns(incomplete)}"
    ]
    if 2 * kept.size < rows:
        notes.append(
            "less than half of the rows are left, and they may be unlike the others: "
            + _others(state)
        )
    return Settled(
        [column.take(kept) for column in columns],
        None if weights is None else weights[kept],
        (*notes, *sparse),
        kept,
    )


def mostly(missing: int, rows: int) -> bool:
    """Tell whether more than half of the values of a column are missing."""
    return 2 * missing > rows


def unless_needed(names: Sequence[str] = ()) -> str:
    """Return what to do with columns that are mostly missing."""
    how = saying(names, "omit") if names else either('kinds={...: "omit"}', "--drop")
    return f"unless needed, leave {'it' if len(names) <= 1 else 'them'} out with {how}"


def _mostly_missing(incomplete: Mapping[str, int], rows: int) -> tuple[str, ...]:
    """Name the columns that are, and say what to do, if there are any."""
    found = {name: count for name, count in incomplete.items() if mostly(count, rows)}
    if not found:
        return ()
    told = f"more than half of the values are missing: {_columns(found, rows)}"
    return (f"{told}; {unless_needed(list(found))}",)


def refusal(incomplete: Mapping[str, int], rows: int, *, state: bool) -> tuple[str, ...]:
    """Say that values are missing, how many in each column; and what can be done."""
    fill = f"fill them in from the model with {option('missing', 'em')}"
    drop = f"drop the rows that have any with {option('missing', 'drop')}"
    own = f"make missing a state of its own with {option('missing', 'state')}"
    return (
        f"missing values: {_columns(incomplete, rows)}",
        *_mostly_missing(incomplete, rows),
        f"{fill}, {drop}, or {own}" if state else f"{fill}, or {drop}",
    )


def nowhere(marks: Sequence[str]) -> list[str]:
    """Say so of marks of missing values that no column has: perhaps something else was meant."""
    if not marks:
        return []
    told = f"{listed(marks)} {'occurs' if len(marks) == 1 else 'occur'} nowhere in the table"
    ways = f"; known ways are {listed(CHOICES[1:], show=str)}"
    return [either(f"na_values: {told}", f"{option('na_values')}: {told}{ways}")]


def _others(state: bool) -> str:
    own = f", or make missing a state with {option('missing', 'state')}" if state else ""
    return f"fill the gaps from the model with {option('missing', 'em')}{own}"


def _columns(counts: Mapping[str, int], rows: int | None = None) -> str:
    if rows is None:
        shown = [f"{name!r} ({count})" for name, count in counts.items()]
        return f"column{'s' * (len(counts) > 1)} {listed(shown, show=str)}"
    shown = [f"column {name!r} ({count} of {rows} rows)" for name, count in counts.items()]
    return listed(shown, show=str)


def _complete_rows(columns: Sequence[Raw]) -> NDArray[np.intp]:
    complete = np.ones(columns[0].rows, dtype=np.bool_)
    for column in columns:
        complete &= column.complete()
    return np.flatnonzero(complete)


def with_missing_state(factor: Factor) -> Factor:
    """Make missing the last state of a column with missing values."""
    if not factor.missing():
        return factor
    name = "<missing>"
    while name in factor.values:
        name = f"<{name}>"
    number = len(factor.values)
    codes = factor.codes.astype(code_type(number + 1))
    codes[codes < 0] = number
    return replace(factor, values=[*factor.values, name], codes=codes)


def is_missing_state(state: State) -> bool:
    """Tell whether a state is one that `with_missing_state` makes for missing values."""
    match = _STATE.fullmatch(state) if isinstance(state, str) else None
    return match is not None and len(match[1]) == len(match[2])
