"""Resampling: subsamples, bootstrap samples and folds of a table.

Cases are drawn, not rows: a row of weight 3 stands for three cases, each of which may be drawn. A
sample is a number of cases for every row, so that every sample has the states of the table.
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
"""Maximum number of cases, which are drawn one by one."""


class Cases(Generic[TableT]):
    """The cases of a table, to draw from.

    Parameters
    ----------
    table : Dataset or Incomplete
        The table; its weights are numbers of cases.

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
                "resampled; from so many, samples would hardly differ",
                option="weights",
            )

    def subsample(self, size: int, stream: Stream) -> TableT:
        """Draw `size` cases without replacement."""
        keys = stream.integers(self.number)
        drawn = self._rows[np.argpartition(keys, size - 1)[:size]]
        return self._sample(np.bincount(drawn, minlength=self.table.rows))

    def bootstrap(self, stream: Stream) -> TableT:
        """Draw as many cases as there are, with replacement."""
        total = np.cumsum(self._weights)
        drawn = np.searchsorted(total, stream.uniforms(self.number) * total[-1], side="right")
        return self._sample(np.bincount(drawn, minlength=self.table.rows))

    def folds(self, number: int, stream: Stream) -> list[tuple[TableT, TableT]]:
        """Split the cases at random; return, for each part, the other parts and itself."""
        shuffled = self._rows[np.argsort(stream.integers(self.number), kind="stable")]
        whole = np.bincount(shuffled, minlength=self.table.rows)
        parts = [
            np.bincount(shuffled[part::number], minlength=self.table.rows) for part in range(number)
        ]
        return [(self._sample(whole - part), self._sample(part)) for part in parts]

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        """The row of each case."""
        if np.any(self._weights != np.rint(self._weights)):
            raise KesError(
                "some weights are not integers, so cases cannot be drawn without replacement; use "
                "integers, or, for kes.stability, scheme='bootstrap'",
                option="weights",
            )
        return np.repeat(np.arange(self.table.rows), self._weights.astype(np.int64))

    def _sample(self, counts: NDArray[np.int64]) -> TableT:
        """Return the table with these numbers of cases; rows without any are dropped."""
        rows = np.flatnonzero(counts)
        chosen = counts[rows]
        weights = None if np.all(chosen == 1) else chosen.astype(np.float64)
        return cast("TableT", self.table.take(rows, weights))
