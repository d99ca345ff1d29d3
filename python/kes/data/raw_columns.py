"""Raw columns: factors, numbers or dates, before `kes.data.infer_kinds` decides on their kinds."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data.factor import (
    Factor,
    from_booleans,
    from_integers,
    from_values,
    nothing,
    recoded,
)
from kes.errors import KesError

FEW = 12
"""Integers are states if they have at most this many distinct values. With more, an edge
has many parameters that ignore their order, and strong relations are missed (docs/quality.md)."""

_GLANCE, _HEAD = 64, 1024
_EXACT_FLOAT = 2.0**53
_DATES = (datetime.date, datetime.time, datetime.timedelta)


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A column of integers or floats, arbitrary in rows that are not `present` (None: all are)."""

    values: NDArray[Any]
    present: NDArray[np.bool_] | None = None
    written: Callable[[], Factor] | None = None
    """Returns the text that a file has for them. States keep it, and most columns need none."""

    @classmethod
    def of_floats(cls, values: NDArray[Any]) -> Numbers:
        """Take floats, NaN where a value is missing."""
        missing = np.isnan(values)
        return cls(values, ~missing if missing.any() else None)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    def missing(self) -> int:
        """Count the rows without a value."""
        return 0 if self.present is None else int(np.count_nonzero(~self.present))

    def complete(self) -> NDArray[np.bool_]:
        """Return which rows have a value."""
        return np.ones(self.rows, dtype=np.bool_) if self.present is None else self.present

    def take(self, rows: NDArray[np.intp]) -> Numbers:
        """Keep some rows."""
        present, written = None if self.present is None else self.present[rows], self.written
        text = None if written is None else lambda: written().take(rows)
        return Numbers(self.values[rows], present, text)

    def unwritten(self) -> Numbers:
        """Forget the text of a file."""
        return self if self.written is None else replace(self, written=None)

    def without(self, absent: Collection[str]) -> Numbers | Factor:
        """Treat the numbers that these texts stand for as missing; of a file, these texts."""
        marks = [mark for mark in map(_parse, absent) if mark is not None]
        if not marks:
            return self
        if self.written is not None:
            text = self.written()
            kept = text.without(frozenset(absent))
            return self if kept is text else kept
        present = self.complete() & ~np.isin(self.values, marks)
        return replace(self, present=None if present.all() else present)

    def known(self) -> NDArray[Any]:
        """Return the values of the rows that have one."""
        return self.values if self.present is None else self.values[self.present]

    def check_finite(self) -> None:
        """Refuse infinite values."""
        if self.values.dtype.kind == "f" and (infinite := np.count_nonzero(np.isinf(self.known()))):
            raise KesError(f"has {infinite} infinite values; drop or correct those rows")

    def integral(self) -> bool:
        """Return whether all values are integers that a float represents exactly."""
        known = self.known()
        if known.dtype.kind != "f":
            return True
        if any(value % 1 for value in known[:_GLANCE].tolist()):  # nearly always decides
            return False
        return bool(np.array_equal(known, np.rint(known)) and (np.abs(known) < _EXACT_FLOAT).all())

    def distinct(self, enough: int | None = None) -> int:
        """Count the distinct values; the count stops at any number beyond `enough`."""
        known = self.known()
        if enough is not None:
            seen = len(set(known[:_GLANCE].tolist()))  # nearly always decides
            seen = seen if seen > enough else len(np.unique(known[:_HEAD]))
            if seen > enough:
                return seen
        return len(np.unique(known))

    def all_differ(self) -> bool:
        """Return whether the values are integers, each occurring once."""
        known = self.known()
        return bool(known.size and self.integral() and self.distinct() == known.size)

    def floats(self) -> NDArray[np.float64]:
        """Return the values, NaN where they are missing."""
        values = self.values.astype(np.float64)
        if self.present is not None:
            values[~self.present] = np.nan
        return values

    def factor(self) -> Factor:
        """Code the values in ascending order; those that are not integers as text."""
        if self.written is not None:
            return self.written()
        absent = None if self.present is None else ~self.present
        if not self.integral():
            distinct, codes = np.unique(self.values, return_inverse=True)
            texts = [
                f"{value:.15g}" if float(f"{value:.15g}") == value else repr(value)
                for value in distinct.tolist()
            ]
            if absent is not None:
                codes = np.where(absent, -1, codes)
            coded = Factor(texts, codes.reshape(-1))
            return coded.select(coded.occurring().tolist())
        if self.values.dtype.kind != "f":
            return from_integers(self.values, absent)
        filled = self.values if absent is None else np.where(absent, 0.0, self.values)
        return from_integers(filled.astype(np.int64), absent)


@dataclass(frozen=True, slots=True, eq=False)
class Dates:
    """A column of dates, times or durations, as datetime64, timedelta64 or Python objects.

    NaT or None where a value is missing.
    """

    values: NDArray[Any]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    def missing(self) -> int:
        """Count the rows without a value."""
        return int(np.count_nonzero(~self.complete()))

    def complete(self) -> NDArray[np.bool_]:
        """Return which rows have a value."""
        if self.values.dtype.kind in "mM":
            present: NDArray[np.bool_] = ~np.isnat(self.values)
            return present
        return np.array([value is not None for value in self.values], dtype=np.bool_)

    def take(self, rows: NDArray[np.intp]) -> Dates:
        """Keep some rows."""
        return Dates(self.values[rows])

    def without(self, absent: Collection[str]) -> Dates:
        """Return the column unchanged: texts that mean missing are never dates."""
        return self

    def factor(self) -> Factor:
        """Code the dates as text."""
        present = self.complete()
        return from_values(
            str(value) if known else None
            for value, known in zip(self.values, present.tolist(), strict=True)
        )


Raw: TypeAlias = Factor | Numbers | Dates


# --- from objects and arrays ---------------------------------------------------------------------


def from_objects(values: Iterable[object]) -> Raw:
    """Take Python objects of one type: text, booleans, numbers or dates."""
    rows: list[Any] = list(values)
    kinds = set(map(type, rows)) - {type(None)}
    if kinds != {str}:  # text is frequent and needs no conversion
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
        raise KesError(f"mixes values of different types: {shown}; convert them all to text")
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
        raise KesError("has a number with more than 308 digits; leave it out") from None
    return Numbers.of_floats(np.array(floats))


def from_dictionary(values: Sequence[object], codes: NDArray[Any]) -> Raw:
    """Take a dictionary-encoded column: indices (-1: missing) into some values."""
    inner = from_objects(values)
    if isinstance(inner, Factor):
        lookup = np.append(inner.codes, inner.codes.dtype.type(-1))
        factor = replace(inner, codes=recoded(lookup, codes))
        return factor.select(factor.occurring().tolist())
    if isinstance(inner, Dates):
        known = np.array([*inner.values.tolist(), None], dtype=object)  # the last is for -1
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


def unsupported(what: str) -> KesError:
    """Return the error for values of an unsupported type."""
    return KesError(
        f"has values of {what}, but only text, numbers, booleans and dates are supported; convert "
        "the column, or leave it out"
    )


def _plain(value: object) -> object:
    """Convert numpy scalars to Python's, and everything that means missing to None."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:  # those of pandas
        return None
    if isinstance(value, float | Decimal):
        return None if value != value else float(value)  # noqa: PLR0124 - only NaN differs
    return value


def _parse(text: str) -> float | int | None:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return None
