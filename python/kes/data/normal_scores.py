"""Normal scores: what ``transform="ranks"`` makes of a continuous column.

A value is replaced by the normal quantile of its rank, the mean rank if it occurs several times,
so that a column of any shape becomes a normal one and only the order of the values counts. On
skewed data that helps all criteria that take variables for normal [van der Waerden 1952].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Continuous
from kes.data.dataset import Dataset
from kes.data.normal_quantile import quantiles
from kes.errors import KesError


@dataclass(frozen=True, eq=False)
class Scores:
    """The values of a column that occurred, ascending, and the normal score of each."""

    values: NDArray[np.float64]
    scores: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> Scores:
        """Rank the values of the cases; a row of weight w counts as w rows of that value.

        The share below a value is that of the smaller ones and half of that of its own.

        Examples
        --------
        >>> Scores.of(np.array([3.0, 1.0, 2.0, 2.0])).scores.round(3)
        array([-1.15,  0.  ,  1.15])
        """
        distinct, place = np.unique(values, return_inverse=True)
        counts = np.bincount(place.reshape(-1), weights=weights, minlength=len(distinct))
        occurs = counts > 0  # rows of weight 0 have no say
        counts = counts[occurs]
        heap = np.cumsum(counts)
        return cls(distinct[occurs], quantiles((heap - counts / 2) / heap[-1]))

    def forward(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of values; of new ones by interpolation, never beyond the ends."""
        return np.interp(values, self.values, self.scores)

    def back(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values that have these scores."""
        return np.interp(scores, self.scores, self.values)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Scores)
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.scores, other.scores)
        )

    def __hash__(self) -> int:
        return hash(self.values.tobytes())


@dataclass(frozen=True)
class Ranks:
    """The normal scores of the continuous columns of a table, for it and for new rows."""

    columns: Mapping[str, Scores]

    @classmethod
    def of(cls, dataset: Dataset, gaps: NDArray[np.bool_] | None = None) -> Ranks:
        """Rank every continuous column; gaps, shape (variables, rows), are passed over."""
        weights = np.ones(dataset.rows) if dataset.weights is None else dataset.weights
        columns = {}
        for i, (name, column) in enumerate(zip(dataset.names, dataset.columns, strict=True)):
            if isinstance(column, Continuous):
                there = np.ones(dataset.rows, dtype=np.bool_)
                if gaps is not None and not gaps[i].all():
                    there = ~gaps[i]
                columns[name] = Scores.of(column.values[there], weights[there])
        return cls(columns)

    def transform(self, column: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of values of a column."""
        return self._known(column).forward(values)

    def inverse(self, column: str, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values that have these scores in a column."""
        return self._known(column).back(scores)

    def apply(self, dataset: Dataset) -> Dataset:
        """Return the table with scores in the place of the values."""
        columns = [
            Continuous(self.transform(name, column.values))
            if isinstance(column, Continuous)
            else column
            for name, column in zip(dataset.names, dataset.columns, strict=True)
        ]
        return Dataset.of(dataset.names, columns, dataset.weights, dataset.notes)

    def undo(self, dataset: Dataset) -> Dataset:
        """Return a table of scores with values in their place."""
        columns = [
            Continuous(self.inverse(name, column.values))
            if isinstance(column, Continuous)
            else column
            for name, column in zip(dataset.names, dataset.columns, strict=True)
        ]
        return Dataset.of(dataset.names, columns, dataset.weights, dataset.notes)

    def _known(self, column: str) -> Scores:
        if column not in self.columns:
            raise KesError(f"column {column!r} had no numbers to be ranked")
        return self.columns[column]
