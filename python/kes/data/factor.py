"""Factors: columns as distinct values and codes, made from arrays.

Coding is done for every column of every table, so the common cases never sort the rows: integers
within a small range are their own codes but for an offset.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Discrete, State
from kes.data.order import text_order
from kes.errors import KesError, listed

MOST_INTEGER_FLOATS = 50
"""Floats that are all integers count as integers up to this many distinct values."""

MANY_STATES = 50
"""From this many states on, a column may be one that is not meant to be discrete."""

LOOKS_MISSING = frozenset({"NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?"})
"""Text that other programs write for a missing value; for kes a value unless told otherwise."""

_SMALL_RANGE = 1024
_HEAD = 1024
_EXACT_FLOAT = 2.0**53


class ContinuousError(KesError):
    """A column of numbers that are no states."""

    def __init__(self, distinct: Sequence[float | str]) -> None:
        low, high = float(distinct[0]), float(distinct[-1])
        super().__init__(
            f"holds decimal numbers ({len(distinct)} distinct values from {low:g} to {high:g}), "
            "but kes needs discrete states; cut it into intervals with kes.discretize, or, if its "
            "values are names of states, pass it as text or categories"
        )


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
    """

    values: Sequence[State]
    codes: NDArray[np.int32]
    declared: bool = False
    order: Callable[[Sequence[Any]], list[int]] | None = None

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


def from_floats(values: NDArray[np.floating[Any]]) -> Factor:
    """Code floats that are integers; NaN is missing."""
    missing = np.isnan(values)
    present = values[~missing] if missing.any() else values
    whole = np.array_equal(present, np.rint(present)) and (np.abs(present) < _EXACT_FLOAT).all()
    factor = from_integers(present.astype(np.int64)) if whole else None
    if factor is None or len(factor.values) > MOST_INTEGER_FLOATS:
        raise ContinuousError(np.unique(present).tolist())
    return _spread(factor, ~missing)


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


def from_objects(values: Iterable[object]) -> Factor:
    """Code Python objects of one kind: text, integers or truth values; floats as `from_floats`."""
    rows: list[Any] = list(values)
    kinds = set(map(type, rows)) - {type(None)}
    if kinds != {str}:  # text is frequent and needs no closer look
        rows = [_plain(value) for value in rows]
        kinds = set(map(type, rows)) - {type(None)}
    if float in kinds and kinds <= {int, float}:
        return from_floats(np.array([np.nan if value is None else value for value in rows]))
    if len(kinds) > 1:
        examples = {type(value).__name__: value for value in reversed(rows) if value is not None}
        shown = " and ".join(f"{kind} ({value!r})" for kind, value in examples.items())
        raise KesError(f"mixes values of different types: {shown}; make them all text")
    if not kinds <= {str, int, bool}:
        raise unsupported(f"type {kinds.pop().__name__}")
    distinct = sorted(set(rows) - {None})
    code_of = {value: code for code, value in enumerate(distinct)} | {None: -1}
    codes = np.fromiter(map(code_of.__getitem__, rows), np.int32, len(rows))
    return Factor(distinct, codes, order=text_order if kinds == {str} else None)


def from_dictionary(values: Sequence[object], codes: NDArray[Any]) -> Factor:
    """Code a column that is compressed as indices (-1: missing) into some values."""
    inner = from_objects(values)
    lookup = np.append(inner.codes, np.int32(-1))
    factor = replace(inner, codes=lookup[codes])
    return factor.select(factor.occurring().tolist())


def from_array(values: NDArray[Any]) -> Factor:
    """Code an array by its dtype."""
    match values.dtype.kind:
        case "i" | "u":
            return from_integers(values)
        case "b":
            return from_booleans(values)
        case "f":
            return from_floats(values)
        case "U" | "O" | "T":
            return from_objects(values.tolist())
        case _:
            raise unsupported(f"dtype {values.dtype}")


def to_numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    """Convert an array to floats."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise KesError("holds values that are not numbers") from None


def unsupported(what: str) -> KesError:
    """Error for values that are no states."""
    return KesError(
        f"holds values of {what}, but states are text, integers or booleans; turn the column "
        "into one of these (dates: for example into years), or leave it out"
    )


def _plain(value: object) -> object:
    """Return the Python scalar behind a numpy one, and None for all that means missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:  # those of pandas
        return None
    if isinstance(value, float | Decimal):
        return None if value != value else float(value)  # noqa: PLR0124 - only NaN differs
    return value


def _spread(factor: Factor, present: NDArray[np.bool_]) -> Factor:
    """Put the codes of the present values to their rows; all others are missing."""
    if present.all():
        return factor
    codes = np.full(len(present), -1, dtype=np.int32)
    codes[present] = factor.codes
    return replace(factor, codes=codes)
