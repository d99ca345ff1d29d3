"""What each variable looks like: how many cases have each state, or a histogram of the values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Column, Continuous
from kes.data.dataset import AnyTable, Incomplete

BINS = 16
"""Bars of a histogram: enough to see a shape, few enough to hit one with a finger."""


def variables(table: AnyTable) -> list[dict[str, Any]]:
    """Return, for each variable, the cases of each state or of each bin in which it was observed.

    Continuous variables also have the ends of their range, mean and standard deviation. Where
    values are missing, ``missing`` says in how many cases.
    """
    weights = np.ones(table.rows) if table.weights is None else table.weights
    columns = table.dataset.columns if isinstance(table, Incomplete) else table.columns
    gaps = table.gaps if isinstance(table, Incomplete) else np.zeros((len(columns), 1), np.bool_)
    found = []
    for column, gap in zip(columns, gaps, strict=True):
        there = ~np.broadcast_to(gap, table.rows)
        own = _shown(column, there, weights[there])
        if not there.all():
            own |= {"missing": cases(weights[~there].sum(keepdims=True))[0]}
        found.append(own)
    return found


def _shown(
    column: Column, there: NDArray[np.bool_], weights: NDArray[np.float64]
) -> dict[str, Any]:
    if isinstance(column, Continuous):
        return _histogram(column.values[there], weights)
    return {"counts": cases(np.bincount(column.codes[there], weights, len(column.states)))}


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
