"""Columns as they come, made of arrays and objects: text and the like, numbers, or dates.

Nothing is decided here about what a column means; that is up to `kes.data.infer_kinds`.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data.factor import Factor, from_booleans, from_values, nothing, recoded
from kes.data.numbers import FEW, Numbers
from kes.errors import KesError


@dataclass(frozen=True, slots=True, eq=False)
class Dates:
    """A column of dates, times or lengths of time."""

    values: NDArray[Any]
    """Of numpy's kinds, or Python objects; NaT or None where a value is missing."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    def missing(self) -> int:
        """Count the rows without a value."""
        return int(np.count_nonzero(~self.complete()))

    def complete(self) -> NDArray[np.bool_]:
        """Tell which rows have a value."""
        if self.values.dtype.kind in "mM":
            present: NDArray[np.bool_] = ~np.isnat(self.values)
            return present
        return np.array([value is not None for value in self.values], dtype=np.bool_)

    def take(self, rows: NDArray[np.intp]) -> Dates:
        """Keep some rows."""
        return Dates(self.values[rows])

    def without(self, absent: Collection[str]) -> Dates:
        """Return the same: a date that means missing would be text."""
        return self

    def factor(self) -> Factor:
        """Code the dates as text."""
        present = self.complete()
        return from_values(
            str(value) if known else None
            for value, known in zip(self.values, present.tolist(), strict=True)
        )


Raw: TypeAlias = Factor | Numbers | Dates

_DATES = (datetime.date, datetime.time, datetime.timedelta)


def from_objects(values: Iterable[object]) -> Raw:
    """Take Python objects of one kind: text, truth values, numbers or dates."""
    rows: list[Any] = list(values)
    kinds = set(map(type, rows)) - {type(None)}
    if kinds != {str}:  # text is frequent and needs no closer look
        rows = [_plain(value) for value in rows]
        kinds = set(map(type, rows)) - {type(None)}
    if not kinds:
        return nothing(len(rows))
    if kinds <= {int, float}:
        return _numbers(rows, kinds)
    if all(issubclass(kind, _DATES) for kind in kinds):
        return Dates(np.array(rows, dtype=object))
    if len(kinds) > 1:
        examples = {type(value).__name__: value for value in reversed(rows) if value is not None}
        shown = " and ".join(f"{kind} ({value!r})" for kind, value in examples.items())
        raise KesError(f"mixes values of different types: {shown}; make them all text")
    if not kinds <= {str, bool}:
        raise unsupported(f"type {kinds.pop().__name__}")
    return from_values(rows)


def _numbers(rows: list[Any], kinds: set[type]) -> Raw:
    if float not in kinds:
        present = np.array([value is not None for value in rows], dtype=np.bool_)
        try:
            values = np.array([value or 0 for value in rows], dtype=np.int64)
        except OverflowError:  # beyond 64 bits: states if they are few
            if len(set(rows)) <= FEW:
                return from_values(rows)
        else:
            return Numbers(values, None if present.all() else present)
    try:
        floats = [np.nan if value is None else float(value) for value in rows]
    except OverflowError:
        raise KesError("holds a number of more than 308 digits; leave it out") from None
    return Numbers.of_floats(np.array(floats))


def from_dictionary(values: Sequence[object], codes: NDArray[Any]) -> Raw:
    """Take a column that is compressed as indices (-1: missing) into some values."""
    inner = from_objects(values)
    if isinstance(inner, Factor):
        lookup = np.append(inner.codes, inner.codes.dtype.type(-1))
        factor = replace(inner, codes=recoded(lookup, codes))
        return factor.select(factor.occurring().tolist())
    if isinstance(inner, Dates):
        known = np.array([*inner.values.tolist(), None], dtype=object)  # the last is that of -1
        return Dates(known[codes])
    present = (codes >= 0) & inner.complete()[codes]
    return Numbers(inner.values[codes], None if present.all() else present)


def from_array(values: NDArray[Any]) -> Raw:
    """Take an array by its dtype."""
    match values.dtype.kind:
        case "i" | "u":
            return Numbers(values)
        case "b":
            return from_booleans(values)
        case "f":
            return Numbers.of_floats(values)
        case "m" | "M":
            return Dates(values)
        case "U" | "O" | "T":
            return from_objects(values.tolist())
        case _:
            raise unsupported(f"dtype {values.dtype}")


def to_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """Convert an array to floats."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise KesError("holds values that are not numbers") from None


def unsupported(what: str) -> KesError:
    """Error for values that nothing can be made of."""
    return KesError(
        f"holds values of {what}, but values must be text, numbers or booleans; turn the column "
        "into one of these, or leave it out"
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
