"""Factors: columns as distinct values and codes.

Coding is done for every column of every table, so the common cases never sort the rows: integers
within a small range are their own codes but for an offset.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Discrete, State
from kes.data.order import text_order
from kes.errors import KesError, listed

_SMALL_RANGE = 1024
_HEAD = 1024


@dataclass(frozen=True, slots=True)
class Factor:
    """One coded column.

    Attributes
    ----------
    values
        The distinct values in the order of their codes.
    codes
        For each row the index of its value, -1 where it is missing.
    declared
        Whether the values are categories that the user declared: they are states even if they do
        not occur.
    order
        Puts the values into the order of states: called once it is known which of them occur in
        the rows that are kept, since one value can decide how the others are read. None: they
        are in order.
    untyped
        Whether the values are text only because a file knows no types, so that they may be meant
        as numbers.
    """

    values: Sequence[State]
    codes: NDArray[np.int32]
    declared: bool = False
    order: Callable[[Sequence[Any]], list[int]] | None = None
    untyped: bool = False

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def select(self, order: Sequence[int]) -> Factor:
        """Keep the values at these indices, in this order; rows with other values are missing."""
        if list(order) == list(range(len(self.values))):
            return self
        lookup = np.full(len(self.values) + 1, -1, dtype=np.int32)  # the last is that of code -1
        lookup[list(order)] = np.arange(len(order), dtype=np.int32)
        return replace(self, values=[self.values[i] for i in order], codes=lookup[self.codes])

    def ordered(self) -> Factor:
        """Put the values into the order of states."""
        return self if self.order is None else self.select(self.order(self.values))

    def without(self, absent: Collection[str]) -> Factor:
        """Take values whose text is in `absent` as missing."""
        if not absent:
            return self
        return self.select([i for i, value in enumerate(self.values) if str(value) not in absent])

    def occurring(self) -> NDArray[np.intp]:
        """Find the indices of the values that occur."""
        seen = np.zeros(len(self.values) + 1, dtype=np.bool_)
        seen[self.codes] = True
        return np.flatnonzero(seen[:-1])

    def missing(self) -> int:
        """Count the rows without a value."""
        return int(np.count_nonzero(self.codes < 0)) if self.codes.min(initial=0) < 0 else 0

    def complete(self) -> NDArray[np.bool_]:
        """Tell which rows have a value."""
        return self.codes >= 0

    def take(self, rows: NDArray[np.intp]) -> Factor:
        """Keep some rows, and of the values those that still occur or were declared."""
        kept = replace(self, codes=self.codes[rows])
        return kept if kept.declared else kept.select(kept.occurring().tolist())

    def to_column(self) -> Discrete:
        """Make the values the states; none may be missing."""
        return Discrete(tuple(self.values), self.codes)


def nothing(rows: int) -> Factor:
    """Code a column in which every value is missing."""
    return Factor((), np.full(rows, -1, dtype=np.int32))


def from_integers(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> Factor:
    """Code integers, smallest first."""
    if missing is not None and missing.any():
        return _spread(from_integers(values[~missing]), ~missing)
    if not values.size:
        return nothing(0)
    low, high = int(values.min()), int(values.max())
    if high - low >= max(_SMALL_RANGE, 2 * values.size):
        distinct, codes = np.unique(values, return_inverse=True)
        return Factor(distinct.tolist(), codes.astype(np.int32))
    wide = np.uint64 if values.dtype == np.uint64 else np.int64  # int8 would overflow
    codes = np.subtract(values, low, dtype=wide).astype(np.int32)
    seen = np.zeros(high - low + 1, dtype=np.bool_)
    seen[codes[:_HEAD]] = True  # nearly always enough
    if not seen.all():
        seen[codes] = True
    return Factor(range(low, high + 1), codes).select(np.flatnonzero(seen).tolist())


def from_booleans(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> Factor:
    """Code truth values, False first."""
    factor = from_integers(values.astype(np.uint8), missing)
    return Factor([bool(value) for value in factor.values], factor.codes)


def from_text(values: Sequence[str], codes: NDArray[Any]) -> Factor:
    """Take coded text."""
    return Factor(values, codes.astype(np.int32, copy=False), order=text_order)


def from_categories(categories: Sequence[object], codes: NDArray[Any]) -> Factor:
    """Code declared categories in their order; other than text, integers or booleans as text."""
    values: list[Any] = list(categories)
    if all(isinstance(value, float) and value.is_integer() for value in values):
        values = [int(value) for value in values]
    kinds = {type(value) for value in values}
    if len(kinds) > 1 or not kinds <= {str, int, bool}:
        values = [str(value) for value in values]
    if len(set(values)) < len(values):
        raise KesError(f"has categories that look the same as text: {listed(categories)}")
    return Factor(values, codes.astype(np.int32), declared=True)


def from_values(values: Iterable[State | None]) -> Factor:
    """Code Python values of one type, None where one is missing."""
    rows = list(values)
    distinct: list[Any] = sorted({value for value in rows if value is not None})
    code_of: dict[Any, int] = {value: code for code, value in enumerate(distinct)}
    code_of[None] = -1
    codes = np.fromiter(map(code_of.__getitem__, rows), np.int32, len(rows))
    is_text = bool(distinct) and isinstance(distinct[0], str)
    return Factor(distinct, codes, order=text_order if is_text else None)


def _spread(factor: Factor, present: NDArray[np.bool_]) -> Factor:
    """Put the codes of the present values to their rows; all others are missing."""
    if present.all():
        return factor
    codes = np.full(len(present), -1, dtype=np.int32)
    codes[present] = factor.codes
    return replace(factor, codes=codes)
