"""Read a table with earlier values beside each row: code it first, then join its rows.

So current and earlier values of a variable have the same kind and the same states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from kes.data.dataset import AnyTable, Data, Dataset, Incomplete, dataset_of
from kes.data.dependence import ALIKE
from kes.data.missing import IMPUTED
from kes.data.schema import ReadOptions, Schema
from kes.data.series import Places, Series, join_earlier, variable_of
from kes.data.source import open_source
from kes.errors import KesError


class Read(Protocol):
    """Reads a table without series; `kes.data.encoder.read_data`."""

    def __call__(self, data: Data, options: ReadOptions, *, schema: Schema | None) -> AnyTable:
        """Read a table as the options say."""


def has_earlier(data: object) -> bool:
    """Return whether a table has earlier values beside each row already."""
    if isinstance(data, Incomplete):
        data = data.dataset
    return isinstance(data, Dataset) and any(own.lag for own in data.notations.values())


def read_series(read: Read, data: Data, options: ReadOptions, schema: Schema | None) -> AnyTable:
    """Read a table, and put earlier values beside each row.

    Rows with missing values are dropped at the end: a missing value affects later rows, too.
    """
    series = options.series
    assert series is not None, "the rows form series"
    source = open_source(data, options.dialect)
    places = Places.find(source, series)
    used = options.columns if schema is None else tuple(schema.names)
    now = [name for name in used if variable_of(name, used, series.lags) is None]
    how = replace(
        options,
        series=None,
        missing="em" if options.missing == "drop" else options.missing,
        columns=tuple(now) if options.columns else (),
        kinds=_kinds(options, used, series),
    )
    if schema is not None:
        states = dict(zip(schema.names, schema.states, strict=True))
        schema = Schema.of({name: states[name] for name in now}, schema.notations)
    if isinstance(data, Dataset | Incomplete):
        how = replace(how, kinds={})
        data = data.select([name for name in data.names if name not in series.keys])
    else:
        data = source
    joined = join_earlier(_modelled(read(data, how, schema=schema)), places, series)
    if options.missing == "drop" and isinstance(joined, Incomplete):
        joined = _complete(joined)
    if joined.rows < 2:
        raise KesError(
            f"too few rows have all their earlier rows, {joined.rows}, and at least two are needed "
            f"({places.notes[0]})",
            option="lags",
        )
    return joined if len(now) == len(used) else joined.select(used)


def _kinds(options: ReadOptions, used: Sequence[str], series: Series) -> dict[str, str]:
    """Return the kinds of columns: earlier values have that of their variable."""
    kinds = {
        name: kind
        for name, kind in options.kinds.items()
        if variable_of(name, used, series.lags) is None
    }
    return {**kinds, **dict.fromkeys(series.keys, "omit")}


def _modelled(table: AnyTable) -> AnyTable:
    """Leave out the note that consecutive rows are alike: earlier values explain it."""
    dataset = dataset_of(table)
    notes = [note for note in dataset.notes if not note.startswith(ALIKE)]
    dataset = Dataset.of(dataset.names, dataset.columns, dataset.weights, notes)
    return Incomplete(dataset, table.gaps) if isinstance(table, Incomplete) else dataset


def _complete(table: Incomplete) -> Dataset:
    """Drop the rows with missing values."""
    rows = np.flatnonzero(~table.gaps.any(axis=0))
    weights = None if table.weights is None else table.weights[rows]
    note = f"dropped the rows with missing values, now or earlier: {table.rows - len(rows)}"
    kept = table.dataset.take(rows, weights)
    notes = [own for own in kept.notes if not own.startswith(IMPUTED)]
    return Dataset.of(kept.names, kept.columns, weights, [*notes, note])
