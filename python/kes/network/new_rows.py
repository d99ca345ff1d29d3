"""New rows for a network: codes of its states, and numbers; some missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kes.data import Dataset, Incomplete, Schema, State
from kes.data.dataset import Data, Weights
from kes.data.discretizer import Discretizer
from kes.data.interventions import Indicators
from kes.data.notation import Notation
from kes.data.schema import Strangers, Unseen, gaps_of, match_rows
from kes.data.source import open_source
from kes.data.weights import read_weights
from kes.errors import unknown
from kes.network.regressors import Values

__all__ = ["Rows", "Unseen", "read_rows"]


@dataclass(frozen=True)
class Rows:
    """Columns of some nodes.

    Missing codes are -1, and missing numbers NaN: also for the `strangers`, values that are none of
    the states. Without weights, each row is one case.
    """

    columns: Mapping[str, Values]
    number: int
    weights: NDArray[np.float64] | None = None
    strangers: Strangers = field(default_factory=dict)

    def take(self, rows: NDArray[np.intp]) -> Rows:
        """Return some of the rows, without weights and strangers."""
        return Rows({node: column[rows] for node, column in self.columns.items()}, len(rows))

    def total(self, logs: NDArray[np.float64]) -> float:
        """Return the sum of a number for each row, weighted."""
        if self.weights is None:
            return float(logs.sum())
        counts = self.weights > 0  # rows of weight 0 may be impossible
        return float(np.sum(self.weights[counts] * logs[counts]))

    def patterns(self) -> Iterator[tuple[list[str], NDArray[np.intp]]]:
        """Group rows by their missing values: yield the nodes, and the numbers of the rows."""
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


def read_rows(
    data: Data,
    states: Mapping[str, Sequence[State]],
    choose: Callable[[Sequence[str]], Iterable[str]] | None = None,
    *,
    weights: Weights = None,
    unseen: Unseen = "error",
    discretizer: Discretizer | None = None,
    notations: Mapping[str, Notation] | None = None,
) -> Rows:
    """Read the columns of nodes with the given states; () for continuous nodes.

    `choose` selects some of the nodes by the names of the table's columns. Without a
    `discretizer`, numbers are cut where the states are labels of intervals. `notations` says how
    dates are read, and in which units numbers must be.
    """
    if unseen not in ("error", "missing"):
        raise unknown("value of unseen", unseen, ("error", "missing"), option="unseen")
    derived = {own.of for own in (notations or {}).values() if own.state}
    source = open_source(data, wanted=lambda name: name in states or name in derived)
    if derived.intersection(source.names):  # not the indicators themselves
        source = Indicators(source, {column: {} for column in derived}, [*states])
    if choose is not None:
        states = {node: states[node] for node in choose(source.names)}
    row_weights = read_weights(weights, source)
    if weights is None and isinstance(data, Dataset | Incomplete):
        row_weights = data.weights
    columns, strangers = match_rows(source, Schema.of(states, notations), discretizer, unseen)
    return Rows(dict(zip(states, columns, strict=True)), source.rows, row_weights, strangers)
