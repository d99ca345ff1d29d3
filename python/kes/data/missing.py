"""Missing values: refuse them, drop their rows, or make them a state."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kes.data.dataset import State
from kes.data.factor import Factor
from kes.errors import KesError, listed, unknown

_CHOICES = ("error", "drop", "state")
_STATE = re.compile(r"(<+)missing(>+)")


def check_choice(missing: str) -> None:
    """Refuse what is no way of treating missing values."""
    if missing not in _CHOICES:
        raise unknown("value of missing", missing, _CHOICES)


def settle(
    names: Sequence[str],
    factors: list[Factor],
    weights: NDArray[np.float64] | None,
    missing: str,
) -> tuple[list[Factor], NDArray[np.float64] | None, tuple[str, ...]]:
    """Return factors without missing values, the weights of their rows, and notes."""
    counts = [factor.missing() for factor in factors]
    incomplete = {name: count for name, count in zip(names, counts, strict=True) if count}
    if not incomplete:
        return factors, weights, ()
    if missing == "state":
        factors = [_with_state(f) if count else f for f, count in zip(factors, counts, strict=True)]
        return factors, weights, (f"missing is a state of {_columns(incomplete)}",)
    rows = len(factors[0].codes)
    if missing == "error":
        raise KesError(
            f"missing values, in {rows} rows: {_columns(incomplete)}; drop the rows that have any "
            'with missing="drop", or make missing a state of its own with missing="state"'
        )
    complete = _complete_rows(factors)
    kept = int(np.count_nonzero(complete))
    if not kept:
        raise KesError(
            f'missing="drop" leaves no row, since each has missing values: {_columns(incomplete)}; '
            'leave such columns out, or use missing="state"'
        )
    factors = [_take(factor, complete) for factor in factors]
    note = f"dropped {rows - kept} of {rows} rows with missing values: {_columns(incomplete)}"
    return factors, None if weights is None else weights[complete], (note,)


def _columns(counts: Mapping[str, int]) -> str:
    return listed([f"column {name!r} ({count})" for name, count in counts.items()], show=str)


def _complete_rows(factors: Sequence[Factor]) -> NDArray[np.bool_]:
    complete = np.ones(len(factors[0].codes), dtype=np.bool_)
    for factor in factors:
        complete &= factor.codes >= 0
    return complete


def _take(factor: Factor, rows: NDArray[np.bool_]) -> Factor:
    """Keep some rows, and of the values those that still occur or were declared."""
    kept = Factor(factor.values, factor.codes[rows], factor.declared)
    return kept if kept.declared else kept.select(kept.occurring().tolist())


def _with_state(factor: Factor) -> Factor:
    """Make missing the last state."""
    name = "<missing>"
    while name in factor.values:
        name = f"<{name}>"
    codes = np.where(factor.codes < 0, np.int32(len(factor.values)), factor.codes)
    return Factor([*factor.values, name], codes, factor.declared)


def is_missing_state(state: State) -> bool:
    """Tell whether a state is one that `settle` makes for missing values."""
    match = _STATE.fullmatch(state) if isinstance(state, str) else None
    return match is not None and len(match[1]) == len(match[2])
