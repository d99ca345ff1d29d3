"""Folds of series: whole series, or later times, are held out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kes.data.dataset import AnyTable
from kes.data.random_stream import Stream
from kes.data.series import Lagged
from kes.errors import KesError, option

SPLITS = ("series", "time")
"""Units that can be held out, besides single cases."""


def series_folds(
    data: object, table: AnyTable, split: str, parts: int, stream: Stream
) -> list[tuple[AnyTable, AnyTable]]:
    """Return training and test rows of each fold.

    With "series", each series is in one test part. With "time", the rows are cut into one more
    part by time, and each part but the first is predicted from all rows before it.
    """
    if not isinstance(data, Lagged) or data.rows != table.rows:
        raise KesError(
            f"{option('split', split)} needs data from kes.lagged, without rows that are dropped "
            "for missing values",
            option="split",
        )
    now = data.places.rows[0]
    if split == "series":
        # Only series with a row that is used: the others would make empty folds.
        used, of_row = np.unique(data.places.series[now], return_inverse=True)
        number = len(used)
        if number < parts:
            raise KesError(
                f"{number} series are too few for {parts} folds; use fewer folds, or another split",
                option="folds",
            )
        order = np.argsort(stream.integers(number), kind="stable")
        fold = np.empty(number, dtype=np.intp)
        fold[order] = np.arange(number) % parts
        return [_parted(table, fold[of_row] != i, fold[of_row] == i) for i in range(parts)]
    moments = data.places.moments[now]
    ends = np.quantile(moments, np.arange(1, parts + 1) / (parts + 1), method="higher")
    later = [*ends[1:], np.inf]
    folds = [
        _parted(table, moments <= end, (moments > end) & (moments <= last))
        for end, last in zip(ends, later, strict=True)
    ]
    if any(train.rows < 2 or not test.rows for train, test in folds):
        raise KesError(
            f"there are too few times for {parts} folds; use fewer folds, or another split",
            option="folds",
        )
    return folds


def _parted(
    table: AnyTable, train: NDArray[np.bool_], test: NDArray[np.bool_]
) -> tuple[AnyTable, AnyTable]:
    return _taken(table, train), _taken(table, test)


def _taken(table: AnyTable, chosen: NDArray[np.bool_]) -> AnyTable:
    rows = np.flatnonzero(chosen)
    return table.take(rows, None if table.weights is None else table.weights[rows])
