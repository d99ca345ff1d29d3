"""Columns of numbers as they come, before it is decided whether they are states or quantities."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.data.factor import Factor, from_integers

FEW = 50
"""Whole numbers are states if they have at most this many different values."""

_HEAD = 1024
_EXACT_FLOAT = 2.0**53


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """One column of numbers.

    Attributes
    ----------
    values
        Integers or floats; whatever in rows without a value.
    present
        Which rows have a value; None: all.
    """

    values: NDArray[Any]
    present: NDArray[np.bool_] | None = None

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
        """Tell which rows have a value."""
        return np.ones(self.rows, dtype=np.bool_) if self.present is None else self.present

    def take(self, rows: NDArray[np.intp]) -> Numbers:
        """Keep some rows."""
        return Numbers(self.values[rows], None if self.present is None else self.present[rows])

    def without(self, absent: Collection[str]) -> Numbers:
        """Take the numbers that these texts are as missing."""
        marks = [mark for mark in map(_number, absent) if mark is not None]
        if not marks:
            return self
        present = self.complete() & ~np.isin(self.values, marks)
        return replace(self, present=None if present.all() else present)

    def known(self) -> NDArray[Any]:
        """Return the values of the rows that have one."""
        return self.values if self.present is None else self.values[self.present]

    def infinite(self) -> int:
        """Count the values that are no finite numbers."""
        if self.values.dtype.kind != "f":
            return 0
        return int(np.count_nonzero(np.isinf(self.known())))

    def whole(self) -> bool:
        """Tell whether all are whole numbers, small enough for a float to be exact."""
        known = self.known()
        if known.dtype.kind != "f":
            return True
        return bool(np.array_equal(known, np.rint(known)) and (np.abs(known) < _EXACT_FLOAT).all())

    def distinct(self, most: int | None = None) -> int:
        """Count the different values; beyond `most` of them it may be any larger number."""
        known = self.known()
        if most is not None:
            seen = len(np.unique(known[:_HEAD]))  # nearly always enough
            if seen > most:
                return seen
        return len(np.unique(known))

    def is_range(self) -> bool:
        """Tell whether they are whole numbers without a gap, each of them once."""
        known = self.known()
        if not known.size or not self.whole():
            return False
        low, high = int(known.min()), int(known.max())
        return high - low + 1 == known.size and self.distinct() == known.size

    def floats(self) -> NDArray[np.float64]:
        """Return the values, NaN where they are missing."""
        values = self.values.astype(np.float64)
        if self.present is not None:
            values[~self.present] = np.nan
        return values

    def factor(self) -> Factor:
        """Code the values, smallest first; others than whole numbers as text."""
        absent = None if self.present is None else ~self.present
        if not self.whole():
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


def _number(text: str) -> float | int | None:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return None
