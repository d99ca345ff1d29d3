"""Factors: columns as distinct values and codes.

Every column of every table is coded, so the common cases avoid sorting the rows: integers within a
small range are their own codes up to an offset. For the sake of long tables, codes have the
smallest type that fits, and rows are looked up block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Discrete, ScalarT, State
from kes.data.intervals import text_order
from kes.errors import KesError, listed

_SMALL_RANGE = 1024
_HEAD = 1024
_BLOCK = 2**18  # rows; numpy converts indices to 64-bit integers


def code_type(values: int) -> type[np.signedinteger[Any]]:
    """Return the smallest type for the codes of a number of values, and for -1."""
    return np.int8 if values <= 2**7 else np.int16 if values <= 2**15 else np.int32


def recoded(lookup: NDArray[ScalarT], codes: NDArray[Any]) -> NDArray[ScalarT]:
    """Return ``lookup[codes]`` without the eight bytes per row that numpy would use."""
    result = np.empty(len(codes), dtype=lookup.dtype)
    for start in range(0, len(codes), _BLOCK):
        result[start : start + _BLOCK] = lookup[codes[start : start + _BLOCK]]
    return result


@dataclass(frozen=True, slots=True)
class Factor:
    """A coded column: its distinct values, and for each row the index of its value.

    The index is -1 where a value is missing. Any integer array that no one else will modify;
    stored read-only in the smallest type that fits.
    """

    values: Sequence[State]
    codes: NDArray[np.signedinteger[Any]]
    declared: bool = False
    """Whether the user declared the values as categories: states even if they do not occur."""
    order: Callable[[Sequence[Any]], list[int]] | None = None
    """Sorts the values into the order of states (None: they are in order). Called once the rows
    to keep are known, since one value can decide how the others are read."""
    untyped: bool = False
    """Whether the values are text only because a file has no types: they may be numbers."""

    def __post_init__(self) -> None:
        """Store the codes in the smallest type."""
        codes = self.codes.astype(code_type(len(self.values)), copy=False)
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def select(self, order: Sequence[int]) -> Factor:
        """Keep the values at these indices, in this order; rows with other values are missing."""
        if list(order) == list(range(len(self.values))):
            return self
        kind = code_type(len(order))
        lookup = np.full(len(self.values) + 1, -1, dtype=kind)  # the last is for -1
        lookup[list(order)] = np.arange(len(order), dtype=kind)
        codes = recoded(lookup, self.codes)
        return replace(self, values=[self.values[i] for i in order], codes=codes)

    def ordered(self) -> Factor:
        """Put the values into the order of states."""
        return self if self.order is None else self.select(self.order(self.values))

    def without(self, absent: frozenset[str]) -> Factor:
        """Treat values whose text is in `absent` as missing."""
        if not absent or absent.isdisjoint(map(str, self.values)):
            return self
        return self.select([i for i, value in enumerate(self.values) if str(value) not in absent])

    def occurring(self) -> NDArray[np.intp]:
        """Find the indices of the values that occur."""
        seen = np.zeros(len(self.values) + 1, dtype=np.bool_)
        for start in range(0, self.rows, _BLOCK):
            seen[self.codes[start : start + _BLOCK]] = True
        return np.flatnonzero(seen[:-1])

    def missing(self) -> int:
        """Count the rows without a value."""
        return int(np.count_nonzero(self.codes < 0)) if self.codes.min(initial=0) < 0 else 0

    def complete(self) -> NDArray[np.bool_]:
        """Return which rows have a value."""
        return self.codes >= 0

    def take(self, rows: NDArray[np.intp]) -> Factor:
        """Keep some rows, and the values that still occur or were declared."""
        kept = replace(self, codes=self.codes[rows])
        return kept if kept.declared else kept.select(kept.occurring().tolist())

    def factor(self) -> Factor:
        """Return the column itself, which is coded already."""
        return self

    def to_column(self) -> Discrete:
        """Return a discrete column with the values as states; none may be missing."""
        return Discrete(tuple(self.values), self.codes)


def nothing(rows: int) -> Factor:
    """Return a column in which every value is missing."""
    return Factor((), np.full(rows, -1, dtype=code_type(0)))


def from_integers(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> Factor:
    """Code integers in ascending order."""
    if missing is not None and missing.any():
        known = from_integers(values[~missing])
        codes = np.full(len(missing), -1, dtype=known.codes.dtype)
        codes[~missing] = known.codes
        return replace(known, codes=codes)
    if not values.size:
        return nothing(0)
    low, high = int(values.min()), int(values.max())
    if high - low >= max(_SMALL_RANGE, 2 * values.size):
        distinct, codes = np.unique(values, return_inverse=True)
        return Factor(distinct.tolist(), codes)
    wide = np.uint64 if values.dtype == np.uint64 else np.int64  # int8 would overflow
    codes = np.empty(values.size, dtype=code_type(high - low + 1))
    for start in range(0, values.size, _BLOCK):
        part = np.subtract(values[start : start + _BLOCK], low, dtype=wide)
        codes[start : start + _BLOCK] = part
    factor = Factor(range(low, high + 1), codes)
    if len(np.unique(codes[:_HEAD])) == len(factor.values):  # nearly always true
        return factor
    return factor.select(factor.occurring().tolist())


def from_booleans(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> Factor:
    """Code booleans, False first."""
    factor = from_integers(values.astype(np.uint8), missing)
    return Factor([bool(value) for value in factor.values], factor.codes)


def from_text(values: Sequence[str], codes: NDArray[Any]) -> Factor:
    """Make a factor from coded text."""
    return Factor(values, codes, order=text_order)


def from_categories(categories: Sequence[object], codes: NDArray[Any]) -> Factor:
    """Code declared categories in their order; unless text, integers or booleans, as text."""
    values: list[Any] = list(categories)
    if all(isinstance(value, float) and value.is_integer() for value in values):
        values = [int(value) for value in values]
    kinds = {type(value) for value in values}
    if len(kinds) > 1 or not kinds <= {str, int, bool}:
        values = [str(value) for value in values]
    if len(set(values)) < len(values):
        raise KesError(f"has categories that look the same as text: {listed(categories)}")
    # A copy: these may be the codes of the user's own table.
    return Factor(values, codes.astype(code_type(len(values))), declared=True)


def from_values(values: Iterable[State | None]) -> Factor:
    """Code Python values of one type, None where missing."""
    rows = list(values)
    distinct: list[Any] = sorted({value for value in rows if value is not None})
    code_of: dict[Any, int] = {value: code for code, value in enumerate(distinct)}
    code_of[None] = -1
    codes = np.fromiter(map(code_of.__getitem__, rows), code_type(len(distinct)), len(rows))
    is_text = bool(distinct) and isinstance(distinct[0], str)
    return Factor(distinct, codes, order=text_order if is_text else None)
