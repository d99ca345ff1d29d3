"""Rows of a table as a network knows them: codes of its states, and numbers; some unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kes.data import Continuous, Incomplete, Schema, State
from kes.data.dataset import Data, Weights
from kes.data.discretizer import Discretizer
from kes.data.encoder import read_data
from kes.data.factor import code_type
from kes.data.schema import ReadOptions, Unseen
from kes.data.source import open_source
from kes.errors import unknown
from kes.network.cpds import Values

__all__ = ["Rows", "Unseen", "gaps_of", "read_rows"]


@dataclass(frozen=True)
class Rows:
    """Columns of some nodes.

    Attributes
    ----------
    columns
        For each node its codes, -1 where they are unknown, or its values, NaN where unknown.
    number
        Number of rows.
    weights
        How many cases each row stands for; None: one each.
    """

    columns: Mapping[str, Values]
    number: int
    weights: NDArray[np.float64] | None = None

    def take(self, rows: NDArray[np.intp]) -> Rows:
        """Return some of the rows, without weights."""
        return Rows({node: column[rows] for node, column in self.columns.items()}, len(rows))

    def patterns(self) -> Iterator[tuple[list[str], NDArray[np.intp]]]:
        """Group the rows by what is unknown: yield these nodes, and the numbers of the rows."""
        gaps = {node: gaps_of(column) for node, column in self.columns.items()}
        gappy = [node for node, where in gaps.items() if where.any()]
        if not gappy:
            yield [], np.arange(self.number)
            return
        kinds, kind_of_row = np.unique(
            np.stack([gaps[node] for node in gappy], axis=1), axis=0, return_inverse=True
        )
        order = np.argsort(kind_of_row.reshape(-1), kind="stable")
        ends = np.cumsum(np.bincount(kind_of_row.reshape(-1), minlength=len(kinds)))
        for kind, rows in zip(kinds, np.split(order, ends[:-1]), strict=True):
            yield [node for node, gap in zip(gappy, kind, strict=True) if gap], rows


def gaps_of(column: Values) -> NDArray[np.bool_]:
    """Tell where a column is unknown."""
    gaps: NDArray[np.bool_] = np.isnan(column) if column.dtype.kind == "f" else column < 0
    return gaps


def read_rows(
    data: Data,
    states: Mapping[str, Sequence[State]],
    *,
    weights: Weights = None,
    unseen: Unseen = "error",
    discretizer: Discretizer | None = None,
) -> Rows:
    """Read columns of a table.

    Parameters
    ----------
    data, weights
        As in `kes.learn`; other columns are ignored.
    states
        The nodes to read and their states; () for continuous ones.
    unseen
        Whether missing values, and values that are none of the states, are an error or missing.
    discretizer
        Cuts columns of numbers. Without it, columns are cut whose states are labels of intervals.
    """
    if unseen not in ("error", "missing"):
        raise unknown("value of unseen", unseen, ("error", "missing"))
    table = read_data(
        data,
        ReadOptions(missing="state"),
        schema=Schema.of(states),
        weights=weights,
        discretizer=discretizer,
        unseen=unseen,
    )
    dataset, gaps = (table.dataset, table.gaps) if isinstance(table, Incomplete) else (table, None)
    columns: dict[str, Values] = {}
    for i, (node, column) in enumerate(zip(dataset.names, dataset.columns, strict=True)):
        if isinstance(column, Continuous):
            values: Values = column.values
        else:
            values = column.codes.astype(code_type(len(column.states)))
        if gaps is not None and gaps[i].any():
            absent = np.nan if isinstance(column, Continuous) else -1
            values = np.where(gaps[i], absent, values).astype(values.dtype)
        columns[node] = values
    number = dataset.rows if states else open_source(data).rows
    return Rows(columns, number, dataset.weights)
