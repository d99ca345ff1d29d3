"""Signs that the rows of a table are not independent: neighbours that are alike, and copies.

All criteria count each row as one case. If rows follow each other in time, or several come from one
person, there are in truth fewer cases, and edges look surer than they are.

*Neighbours.* For a column with centred values x (of numbers, ranks; of states, indicators), the
autocorrelation in the order of the rows is

    r = sum of x[t] * x[t+1] / sum of x[t]²

Independent rows are in random order: then r has mean 0 and variance v/n, where v <= 1 follows from
the covariance of x. A file that is sorted by a column has neighbours that are alike in all columns
that depend on it. So values are centred within the parts of the file that agree in the columns by
which it is sorted, or around a line if these are continuous.

*Copies.* With continuous columns, independent rows are hardly ever equal in all columns: rows that
agree in the most distinctive column mostly differ in another. This says nothing if the other
columns hardly ever differ, or if there are none: then equal values of one column make equal rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kes.data.factor import Factor
from kes.data.infer_kinds import Verdict
from kes.data.raw_columns import Numbers
from kes.errors import listed

ALIKE = "consecutive rows are alike"
"""The beginning of the note on rows that are not independent."""

_ROWS = 5000
"""Number of rows that are inspected, from the first on."""
_ROWS_OF_COPIES = 200_000
_PRIME = np.uint64(0x9E3779B97F4A7C15)  # of Fibonacci hashing
_LEAST_ROWS = 50
_LEAST_OTHERS = 50
"""Rows that are not in the most frequent state: fewer may be neighbours by chance."""
_FEW = 50
"""Distinct numbers that divide a file into parts if it is sorted by them."""
_ROWS_OF_PART = 3
"""Least mean number of rows in a part."""
_MISPLACED = 0.02
"""Share of rows that may be out of order in a file that is sorted by a column."""
_CORRELATION = 0.15
"""Least autocorrelation that matters: with it, ten cases are worth about seven."""
_ROUNDING = 1e-9
_AT_ONCE = 256
"""Columns whose autocorrelations are computed together."""
_DEVIATIONS = 5.0
"""Standard deviations from 0 that do not occur by chance, even in a thousand columns."""
_COPIES = 0.01
"""Least share of copies that matters."""
_MORE = 10
"""Least ratio of pairs of copies to pairs expected from the most distinctive column."""
_LEAST_COPIES = 5


@dataclass(frozen=True)
class _Column:
    """The first rows of a column: codes or numbers, and which of them are known."""

    values: NDArray[np.float64]
    known: NDArray[np.bool_]
    is_discrete: bool

    @classmethod
    def of(cls, verdict: Verdict) -> _Column | None:
        """Take the column of a verdict; None if it does not vary."""
        column, rows = verdict.column, slice(_ROWS)
        if isinstance(column, Factor):
            values, known = column.codes[rows].astype(np.float64), column.codes[rows] >= 0
        elif isinstance(column, Numbers):
            values, known = column.values[rows].astype(np.float64), column.complete()[rows]
        else:
            return None
        is_discrete = verdict.kind == "discrete"
        observed = values[known]
        if len(observed) < _LEAST_ROWS or observed.min() == observed.max():
            return None
        if is_discrete:
            counts = np.unique(observed, return_counts=True)[1]
            if len(observed) - counts.max() < _LEAST_OTHERS:
                return None
        return cls(values, known, is_discrete)

    def centred(self, order: _Order) -> NDArray[np.float64]:
        """Return ranks or indicators, less what the order of the file explains; 0 if unknown."""
        _, codes, counts = np.unique(self.values, return_inverse=True, return_counts=True)
        if self.is_discrete:
            x = np.eye(len(counts))[codes]
        else:
            x = (np.cumsum(counts) - counts / 2)[codes][:, np.newaxis]
        x[~self.known] = 0.0
        return order.residuals(x, self.known)

    def autocorrelation(self, order: _Order) -> tuple[float, float]:
        """Return the autocorrelation, and its distance from 0 in standard deviations."""
        x = self.centred(order)
        total = float(np.sum(x**2))
        if total <= 1e-9 * len(x):  # the order explains all of it
            return 0.0, 0.0
        r = float(np.sum(x[:-1] * x[1:])) / total
        covariance = x.T @ x
        variance = float(np.sum(covariance**2)) / total**2 / np.count_nonzero(self.known)
        return r, r / np.sqrt(variance)


@dataclass(frozen=True)
class _Order:
    """The sort order of a file: the part that each row belongs to, and numbers that rise."""

    parts: NDArray[np.intp]
    lines: tuple[NDArray[np.float64], ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether the file is not sorted by any column."""
        return not self.lines and not self.parts.any()

    def residuals(self, x: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return values less their mean in each part, and less a line for each rising column."""
        x = self._less_means(x, known)
        for line in self.lines:
            z = self._less_means(line[:, np.newaxis].copy(), known)
            if spread := float(np.sum(z**2)):
                x -= z * (z.T @ x) / spread
        return x

    def _less_means(self, x: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
        x[~known] = 0.0
        counts = np.maximum(np.bincount(self.parts, known), 1.0)
        means = np.stack([np.bincount(self.parts, column) for column in x.T], axis=1)
        x -= (means / counts[:, np.newaxis])[self.parts]
        x[~known] = 0.0
        return x

    def followed_by(self, column: _Column) -> _Order | None:
        """Return the order if the file is sorted by this column, too, within the parts."""
        if not column.known.all():
            return None
        values = column.values
        together = self.parts[1:] == self.parts[:-1]
        if np.count_nonzero(together) < _LEAST_ROWS // 2:
            return None
        distinct, codes = np.unique(values, return_inverse=True)
        if column.is_discrete or len(distinct) <= _FEW:
            _, parts = np.unique(self.parts * len(distinct) + codes, return_inverse=True)
            runs, many = 1 + np.count_nonzero(np.diff(parts)), int(parts.max()) + 1
            if runs != many:
                return None
            if many * _ROWS_OF_PART <= len(parts):
                return _Order(parts, self.lines)
            if column.is_discrete:
                return None
            # Parts of single rows would explain anything: hours within days are a line.
        steps = np.diff(values)[together]
        against, along = sorted((np.count_nonzero(steps < 0), np.count_nonzero(steps > 0)))
        # Steps both ways: mostly equal values with bursts between them are not sorted.
        is_sorted = against <= _MISPLACED * len(steps) and 2 * against <= along
        return _Order(self.parts, (*self.lines, codes.astype(np.float64))) if is_sorted else None


def dependence_notes(verdicts: Mapping[str, Verdict]) -> list[str]:
    """Return notes on rows that seem to depend on each other; none if they seem independent."""
    columns = {name: _Column.of(one) for name, one in verdicts.items() if one.kind is not None}
    found = {name: column for name, column in columns.items() if column is not None}
    return [*_alike(found), *_copies(verdicts)]


def _alike(columns: Mapping[str, _Column]) -> list[str]:
    """Return the note on columns in which consecutive rows are alike."""
    if not columns:
        return []
    order = _Order(np.zeros(len(next(iter(columns.values())).values), dtype=np.intp))
    suspect = _autocorrelated(columns, order)
    keys: list[str] = []
    while True:
        key = next(
            ((name, one) for name in suspect if (one := order.followed_by(columns[name]))), None
        )
        if key is None:
            break
        keys.append(key[0])
        order = key[1]
        suspect = _autocorrelated(
            {name: columns[name] for name in suspect if name not in keys}, order
        )
    if not suspect:
        return []
    shown = [f"{name!r} ({r:.2f})" for name, r in suspect.items()]
    by = f", beyond the order by {listed(keys)}" if keys else ""
    return [
        f"{ALIKE}{by} (autocorrelation): {listed(shown, show=str)}; harmless if the file was "
        "sorted by such columns, but rows that follow each other in time or belong together are "
        "not independent cases, and edges look surer than they are"
    ]


def _autocorrelated(columns: Mapping[str, _Column], order: _Order) -> dict[str, float]:
    ruled_out = _random(columns) if order.is_plain else set()
    found = {
        name: column.autocorrelation(order)
        for name, column in columns.items()
        if name not in ruled_out
    }
    return {name: r for name, (r, z) in found.items() if r >= _CORRELATION and z >= _DEVIATIONS}


def _random(columns: Mapping[str, _Column]) -> set[str]:
    """Return columns whose autocorrelation does not matter, many at once: numbers without ties."""
    whole = [name for name, one in columns.items() if not one.is_discrete and one.known.all()]
    found: set[str] = set()
    for start in range(0, len(whole), _AT_ONCE):
        names = whole[start : start + _AT_ONCE]
        values = np.stack([columns[name].values for name in names])
        order = np.argsort(values, axis=1)
        has_ties = (np.diff(np.take_along_axis(values, order, axis=1), axis=1) == 0).any(axis=1)
        rows = values.shape[1]
        ranks = np.empty_like(values)
        np.put_along_axis(ranks, order, np.arange(rows) - (rows - 1) / 2, axis=1)
        r = (ranks[:, :-1] * ranks[:, 1:]).sum(axis=1) / (rows * (rows**2 - 1) / 12)
        low = ~has_ties & (r < _CORRELATION - _ROUNDING)
        found.update(name for name, one in zip(names, low.tolist(), strict=True) if one)
    return found


def _copies(verdicts: Mapping[str, Verdict]) -> list[str]:
    """Return the note on rows that are copies of others, in a table with continuous columns."""
    used = {name: one for name, one in verdicts.items() if one.kind is not None}
    numbers = [name for name, one in used.items() if one.kind == "continuous"]
    if not numbers:
        return []
    values = {name: _comparable(one) for name, one in used.items()}
    row = _hashes(values)
    _, first, times = np.unique(row, return_index=True, return_counts=True)
    rows, copies = len(row), len(row) - len(times)
    if copies < max(_LEAST_COPIES, _COPIES * rows):
        return []
    agreeing, distinctive = min(
        (_pairs(np.unique(values[name][first], return_counts=True)[1]), name) for name in numbers
    )
    if _pairs(times) <= _MORE * (agreeing + 1):
        return []
    others = _hashes({name: one for name, one in values.items() if name != distinctive}, rows)
    alike = _pairs(np.unique(others, return_counts=True)[1])  # of all pairs of rows
    unlike = rows * (rows - 1) // 2 - alike
    if _pairs(times) * unlike <= _MORE * (agreeing + 1) * alike:  # as many by chance
        return []
    return [
        f"{copies} of {rows} rows are exact copies of others; if they were not measured anew, drop "
        "them: they count as further cases, and edges look surer than they are"
    ]


def _hashes(values: Mapping[str, NDArray[np.float64]], rows: int = 0) -> NDArray[np.uint64]:
    """Return a hash of each row, the same for all of them if there are no columns."""
    row = np.zeros(len(next(iter(values.values()), np.empty(rows))), dtype=np.uint64)
    for column in values.values():
        row = (row ^ column.view(np.uint64)) * _PRIME
        row ^= row >> np.uint64(29)
    return row


def _comparable(verdict: Verdict) -> NDArray[np.float64]:
    """Return numbers that are equal where the values of a column are."""
    column, rows = verdict.column, slice(_ROWS_OF_COPIES)
    if isinstance(column, Numbers):
        values = column.values[rows].astype(np.float64) + 0.0  # -0.0 is 0.0
        present = column.present
        return values if present is None else np.where(present[rows], values, np.inf)
    assert isinstance(column, Factor), "dates are left out"
    return column.codes[rows].astype(np.float64)


def _pairs(times: NDArray[np.intp]) -> int:
    """Return the number of pairs of equal items, from how often each item occurs."""
    return int(np.sum(times * (times - 1) // 2))
