"""Shuffled tables: every column keeps its values, but nothing depends on anything else.

Each column is permuted independently, so any relation that a search finds in the result is due to
chance. Missing values stay missing in the same cells, and columns that others are shuffled *within*
do not change: values of these others move only between rows that agree on them.

Weights count cases, and rows of unequal weight cannot swap their values. A weighted table is
therefore written out case by case first; the distribution of each column and the number of cases
stay the same, up to rounding.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Column, Continuous
from kes.data.dataset import AnyTable, Dataset, Incomplete
from kes.data.random_stream import Purpose, Stream
from kes.errors import KesError

TableT = TypeVar("TableT", bound=AnyTable)

MOST_CASES = 10**7
"""Maximum number of cases of a weighted table, which are written out one by one."""


def shuffled(
    table: TableT,
    seed: int,
    number: int,
    *,
    within: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> TableT:
    """Return the table with its columns shuffled; `number` tells copies of one seed apart.

    `within` names the columns that do not change, and for each the columns that are shuffled within
    it; it must have no missing values. The result depends neither on the order of the rows nor on
    that of the columns.
    """
    dataset = table if isinstance(table, Dataset) else table.dataset
    gaps = table.gaps if isinstance(table, Incomplete) else np.zeros((len(table.names), 1), bool)
    gaps = np.broadcast_to(gaps, (len(table.names), table.rows))
    columns = dict(zip(table.names, dataset.columns, strict=True))
    fixed = {name: _values(columns[name]) for name in sorted(within)}
    # Rows that agree on gaps and fixed columns may swap all their values, so that sorting by these
    # removes the order of the rows.
    order = np.lexsort(np.vstack([*gaps[np.argsort(table.names)], *fixed.values()]))
    weights = None if dataset.weights is None else dataset.weights[order]
    chosen = order[_cases(weights, len(order))]
    deals: dict[tuple[str, ...], _Deal] = {}
    dealt = {}
    for (name, column), missing in zip(columns.items(), gaps, strict=True):
        rows = chosen
        if name not in within:
            own = tuple(x for x in fixed if name in within[x])
            if own not in deals:
                strata = _strata([fixed[x] for x in own], table.rows)
                deals[own] = _Deal(dataset.weights, strata, chosen)
            stream = Stream(seed, Purpose.SHUFFLES, number, _key(name))
            rows = deals[own].rows(_values(column), missing, stream)
        dealt[name] = column.take(rows)
    each = None if dataset.weights is None else np.full(len(chosen), dataset.cases / len(chosen))
    new = Dataset.of(table.names, [*dealt.values()], each, dataset.notes)
    whole = new if isinstance(table, Dataset) else Incomplete(new, gaps[:, chosen])
    return cast("TableT", whole)


def _values(column: Column) -> NDArray[np.float64]:
    """Return a column as numbers to sort by."""
    values = column.values if isinstance(column, Continuous) else column.codes
    return values.astype(np.float64)


def _key(name: str) -> int:
    """Return a number for a name, to give each column a stream of its own."""
    digest = hashlib.sha256(name.encode("utf-8", errors="surrogatepass")).digest()
    return int.from_bytes(digest[:4], "little")


def _cases(weights: NDArray[np.float64] | None, rows: int) -> NDArray[np.intp]:
    """Return the row of each case, in the order of the rows."""
    if weights is None:
        return np.arange(rows)
    number = max(1, round(float(weights.sum())))
    if number > MOST_CASES:
        raise KesError(
            f"the weights sum to {number:.6g} cases, but at most {MOST_CASES:.0e} can be shuffled",
            option="weights",
        )
    return _quantiles(weights, rows, number)


def _quantiles(weights: NDArray[np.float64] | None, rows: int, number: int) -> NDArray[np.intp]:
    """Return rows, each in proportion to its weight: those at evenly spaced quantiles."""
    if weights is None:
        return np.arange(rows)
    total = np.cumsum(weights)
    places = (np.arange(number) + 0.5) * (total[-1] / number)
    found: NDArray[np.intp] = np.searchsorted(total, places, side="right")
    return np.minimum(found, rows - 1)


def _strata(fixed: list[NDArray[np.float64]], rows: int) -> NDArray[np.intp]:
    """Return the number of the stratum of each row: equal iff all fixed columns are."""
    if not fixed:
        return np.zeros(rows, np.intp)
    found: NDArray[np.intp] = np.unique(np.stack(fixed), axis=1, return_inverse=True)[1]
    return found.reshape(-1)


@dataclass(frozen=True)
class _Deal:
    """Deals the values of columns to cases, within strata.

    `chosen` is the row of each case, which has its gaps and its stratum.
    """

    weights: NDArray[np.float64] | None
    strata: NDArray[np.intp]
    chosen: NDArray[np.intp]

    @cached_property
    def _numbers(self) -> NDArray[np.intp]:
        return np.unique(self.strata)

    def rows(
        self, values: NDArray[np.float64], missing: NDArray[np.bool_], stream: Stream
    ) -> NDArray[np.intp]:
        """Return, for each case, the row whose value it gets; its own where it is missing."""
        rows = self.chosen.copy()
        for stratum in self._numbers:
            there = np.flatnonzero((self.strata == stratum) & ~missing)
            cases = np.flatnonzero(((self.strata == stratum) & ~missing)[self.chosen])
            if len(there) and len(cases):
                there = there[np.argsort(values[there], kind="stable")]
                weights = None if self.weights is None else self.weights[there]
                order = np.argsort(stream.integers(len(cases)))  # 64 random bits do not tie
                rows[cases] = there[_quantiles(weights, len(there), len(cases))][order]
        return rows
