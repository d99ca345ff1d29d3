"""What each variable looks like: how many cases have each state, or a histogram of the values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Continuous
from kes.data.dataset import Dataset

BINS = 16
"""Bars of a histogram: enough to see a shape, few enough to hit one with a finger."""


def variables(table: Dataset) -> list[dict[str, Any]]:
    """Return, for each variable, the cases of each state or of each bin, which sum up the rows.

    Continuous variables also have the ends of their range, mean and standard deviation.
    """
    weights = np.ones(table.rows) if table.weights is None else table.weights
    return [
        _histogram(column.values, weights)
        if isinstance(column, Continuous)
        else {"counts": cases(np.bincount(column.codes, weights, len(column.states)))}
        for column in table.columns
    ]


def _histogram(values: NDArray[np.float64], weights: NDArray[np.float64]) -> dict[str, Any]:
    least, most = float(values.min()), float(values.max())
    mean = float(np.average(values, weights=weights))
    deviation = float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))
    if least == most:
        counts = cases(np.array([weights.sum()]))
    else:
        # Fractions of the range: its ends may be too large to be subtracted in other ways.
        place = (values / 2 - least / 2) / (most / 2 - least / 2)
        bins = np.minimum((place * BINS).astype(np.intp), BINS - 1)
        counts = cases(np.bincount(bins, weights, BINS))
    return {"range": [least, most], "mean": mean, "deviation": deviation, "counts": counts}


def cases(counts: NDArray[Any]) -> list[float]:
    """Return numbers of cases as short as they can be written: whole ones as integers."""
    return [int(count) if count == int(count) else round(count, 9) for count in counts.tolist()]
