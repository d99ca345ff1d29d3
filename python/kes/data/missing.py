"""Missing values: refuse them, drop their rows, make them a state, or leave them to impute."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kes.data.factor import Factor, code_type
from kes.data.infer_kinds import saying
from kes.data.raw_columns import Raw
from kes.errors import KesError, either, listed, option, unknown
from kes.options import MISSING

IMPUTED = "missing values are filled in"
"""The beginning of the note on values that are left to impute."""


def check_choice(missing: str, *, gaps: bool = False) -> None:
    """Validate the option `missing`; "em" is allowed only where `gaps` can be imputed."""
    if missing not in MISSING:
        raise unknown("value of missing", missing, MISSING, option="missing")
    if missing == "em" and not gaps:
        raise KesError(
            f"{option('missing', 'em')} imputes values from a model and is not supported here; use "
            f"{option('missing', 'drop')} or {option('missing', 'state')}",
            option="missing",
        )


class Settled(NamedTuple):
    """Columns after missing values were treated, and the rows that were kept (None: all)."""

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
    """Refuse missing values or drop their rows; with "state" and "em", they remain.

    Messages suggest a state for missing values only if all incomplete columns can have one
    (`state`).
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
            f"{IMPUTED} from the model, which assumes that whether a value is "
            f"missing depends only on values that are there: {_columns(incomplete)}"
        )
        return Settled(list(columns), weights, (note, *sparse))
    if missing == "error":
        message = "; ".join(refusal(incomplete, rows, state=state))
        raise KesError(message, option="missing", column=next(iter(incomplete)))
    complete = np.ones(rows, dtype=np.bool_)
    for column in columns:
        complete &= column.complete()
    kept = np.flatnonzero(complete)
    if not kept.size:
        raise KesError(
            f"{option('missing', 'drop')} leaves no row, since each has missing values: "
            f"{_columns(incomplete)}; leave such columns out, or {_others(state)}",
            option="missing",
            column=next(iter(incomplete)),
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
    """Return whether more than half of the values of a column are missing."""
    return 2 * missing > rows


def unless_needed(names: Sequence[str] = ()) -> str:
    """Return the advice for columns that are mostly missing."""
    how = saying(names, "omit") if names else either('kinds={...: "omit"}', "--drop")
    return f"unless needed, leave {'it' if len(names) <= 1 else 'them'} out with {how}"


def _mostly_missing(incomplete: Mapping[str, int], rows: int) -> tuple[str, ...]:
    """Return a note on columns that are mostly missing, if any."""
    found = {name: count for name, count in incomplete.items() if mostly(count, rows)}
    if not found:
        return ()
    note = f"more than half of the values are missing: {_columns(found, rows)}"
    return (f"{note}; {unless_needed(list(found))}",)


def refusal(incomplete: Mapping[str, int], rows: int, *, state: bool) -> tuple[str, ...]:
    """Return the parts of the error for missing values: counts, and what to do."""
    fill = f"impute them from the model with {option('missing', 'em')}"
    drop = f"drop incomplete rows with {option('missing', 'drop')}"
    own = f"make missing a state of its own with {option('missing', 'state')}"
    sparse = [name for name, count in incomplete.items() if mostly(count, rows)]
    where = "one column" if len(sparse) == 1 else f"{len(sparse)} columns"
    note = f"more than half of the values are missing in {where}, so {unless_needed(sparse)}"
    return (
        f"missing values: {_columns(incomplete, rows)}",
        *([note] if sparse else []),
        f"{fill}, {drop}, or {own}" if state else f"{fill}, or {drop}",
    )


def nowhere(marks: Sequence[str]) -> list[str]:
    """Return a note on `na_values` that occur in no column."""
    if not marks:
        return []
    note = f"{listed(marks)} {'occurs' if len(marks) == 1 else 'occur'} nowhere in the table"
    ways = f"; known ways are {listed(MISSING[1:], show=str)}"
    return [either(f"na_values: {note}", f"{option('na_values')}: {note}{ways}")]


def refuse_gaps(continuous: Mapping[str, Raw]) -> None:
    """Refuse missing values of continuous columns, which have no states."""
    gaps = {name: column.missing() for name, column in continuous.items() if column.missing()}
    if gaps:
        shown = listed([f"{name!r} ({count})" for name, count in gaps.items()], show=str)
        raise KesError(
            f"continuous columns cannot have a state for missing values: {shown}; impute them with "
            f"{option('missing', 'em')}, drop such rows with {option('missing', 'drop')}, or "
            f"discretize the columns with {option('discretize')}",
            option="missing",
            column=next(iter(gaps)),
        )


def _others(state: bool) -> str:
    own = f", or make missing a state with {option('missing', 'state')}" if state else ""
    return f"fill the gaps from the model with {option('missing', 'em')}{own}"


def _columns(counts: Mapping[str, int], rows: int | None = None) -> str:
    """Return columns with their numbers of missing values; the first also says of how many rows."""
    shown = [f"{name!r} ({count})" for name, count in counts.items()]
    if rows is not None:
        shown[0] = f"{shown[0].removesuffix(')')} of {rows} rows)"
    return f"column{'s' * (len(counts) > 1)} {listed(shown, show=str)}"


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
