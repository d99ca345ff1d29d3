"""Choose ranks by default for wide continuous tables whose columns have heavy tails.

The default price of an edge rests on the correlation of two independent normal columns. With other
columns, the correlation of independent ones has an excess kurtosis of about g² / N, where g is
the excess kurtosis of the columns: in heavy tails, a few cases make a correlation. Normal scores of
ranks have the same distribution whatever that of the column is.

So ranks are chosen if the table is wide, which means that the default price is above 0, and the
mean excess kurtosis of its columns exceeds 0.2 √N: g² / N above 0.04. Up to that, shuffled columns
give next to no edges.
"""

import math
from dataclasses import replace

import numpy as np

from kes.data.column import Continuous
from kes.data.dataset import AnyTable, split_gaps
from kes.errors import option
from kes.search.edge_price import default_price
from kes.settings import Settings

HEAVY = 0.2
"""Mean excess kurtosis, in units of √N, above which ranks are chosen."""


def with_transform(settings: Settings, table: AnyTable) -> tuple[Settings, AnyTable]:
    """Return the settings with ranks, and the table with a note, if ranks are chosen."""
    if table.kind != "continuous" or settings.transform is not None or settings.basis is not None:
        return settings, table
    dataset, _ = split_gaps(table)
    if not default_price(dataset.varying, dataset.cases, settings.measure):
        return settings, table
    tails, limit = mean_excess_kurtosis(table), HEAVY * math.sqrt(dataset.cases)
    if tails <= limit:
        return settings, table
    note = (
        f"ranks: many variables for {dataset.cases:g} cases, and heavy tails (mean excess kurtosis "
        f"{tails:.3g}, above {limit:.3g}), in which a few cases relate independent columns; so "
        f"values are replaced by the normal scores of their ranks. {option('transform', 'none')} "
        "uses the values themselves"
    )
    return replace(settings, transform="ranks"), table.with_notes((*table.notes, note))


def mean_excess_kurtosis(table: AnyTable) -> float:
    """Return the mean excess kurtosis of the columns that vary, over the values that are known."""
    dataset, gaps = split_gaps(table)
    found = []
    for place, column in enumerate(dataset.columns):
        if not isinstance(column, Continuous):  # a constant
            continue
        weights = np.ones(dataset.rows) if dataset.weights is None else dataset.weights
        if gaps is not None:
            weights = np.where(gaps[place], 0.0, weights)
        values, total = np.where(weights > 0, column.values, 0.0), weights.sum()
        values /= max(float(np.abs(values).max(initial=0.0)), 1e-300)  # so that no sum overflows
        centred = values - (weights @ values) / max(total, 1.0)
        centred /= max(float(np.abs(centred[weights > 0]).max(initial=0.0)), 1e-300)
        variance = float(weights @ centred**2)
        if variance > 0:
            found.append(total * float(weights @ centred**4) / variance**2 - 3)
    return float(np.mean(found)) if found else 0.0
