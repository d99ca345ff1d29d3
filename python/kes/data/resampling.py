"""Drawing cases anew: subsamples, bootstrap samples and folds of a table.

What is drawn are cases, not rows: a row of weight 3 stands for three cases, and some of them may
be drawn while others are not. The result is a number of cases for every row, so that the coding of
the table, with all states it declares, is the same in every sample.
"""

from __future__ import annotations

from functools import cached_property
from typing import Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from kes.data.incomplete import AnyTable
from kes.data.random_stream import Stream
from kes.errors import KesError

TableT = TypeVar("TableT", bound=AnyTable)

MOST_CASES = 10**8
"""Cases are drawn one by one; more of them would not fit into memory."""


class Cases(Generic[TableT]):
    """The cases of a table, to draw from.

    Parameters
    ----------
    table : Dataset or Incomplete
        The table. Its weights are numbers of cases.

    Raises
    ------
    KesError
        If there are too many cases to be drawn one by one.
    """

    def __init__(self, table: TableT) -> None:
        self.table = table
        weights = table.weights
        self._weights = np.ones(table.rows) if weights is None else weights
        self.number = round(float(self._weights.sum()))
        if self.number > MOST_CASES:
            raise KesError(
                f"the weights sum to {self.number:.6g} cases, but at most {MOST_CASES:.0e} can be "
                "drawn one by one; from so many, samples would hardly differ anyway"
            )

    def subsample(self, size: int, stream: Stream) -> TableT:
        """Draw `size` different cases, each set of them being equally likely."""
        keys = stream.integers(self.number)
        drawn = self._rows[np.argpartition(keys, size - 1)[:size]]
        return self._sample(np.bincount(drawn, minlength=self.table.rows))

    def bootstrap(self, stream: Stream) -> TableT:
        """Draw as many cases as there are, each time from all of them."""
        heap = np.cumsum(self._weights)
        drawn = np.searchsorted(heap, stream.uniforms(self.number) * heap[-1], side="right")
        return self._sample(np.bincount(drawn, minlength=self.table.rows))

    def folds(self, number: int, stream: Stream) -> list[tuple[TableT, TableT]]:
        """Split the cases at random into parts; return, for each, the other parts and itself."""
        shuffled = self._rows[np.argsort(stream.integers(self.number), kind="stable")]
        whole = np.bincount(shuffled, minlength=self.table.rows)
        parts = [
            np.bincount(shuffled[part::number], minlength=self.table.rows) for part in range(number)
        ]
        return [(self._sample(whole - part), self._sample(part)) for part in parts]

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        """For each case, its row."""
        if np.any(self._weights != np.rint(self._weights)):
            raise KesError(
                "some weights are no whole numbers, and a part of a case cannot be drawn without "
                "replacement; use whole numbers, or, for kes.stability, scheme='bootstrap'"
            )
        return np.repeat(np.arange(self.table.rows), self._weights.astype(np.int64))

    def _sample(self, counts: NDArray[np.int64]) -> TableT:
        """Return the table with so many cases in each row; rows without any are left out."""
        rows = np.flatnonzero(counts)
        chosen = counts[rows]
        weights = None if np.all(chosen == 1) else chosen.astype(np.float64)
        return cast("TableT", self.table.take(rows, weights))
