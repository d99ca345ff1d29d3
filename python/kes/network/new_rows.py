"""Rows of a table as a network knows them: codes of its states, and numbers; some unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data import Dataset, Incomplete, State
from kes.data.cuts import named_cuts
from kes.data.dataset import Data, Weights, naming
from kes.data.discretizer import Discretizer
from kes.data.factor import Factor
from kes.data.infer_kinds import to_numbers
from kes.data.like import find_columns, match_states, strangers_found
from kes.data.numbers import Numbers
from kes.data.parse_text import Sign, no_numbers
from kes.data.raw_columns import Raw
from kes.data.source import open_source
from kes.data.weights import read_weights
from kes.errors import KesError, either, option, unknown
from kes.network.cpds import Values

Unseen: TypeAlias = Literal["error", "missing"]


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
        As in `kes.learn`; further columns are ignored.
    states
        The nodes to read and their states; none for continuous ones.
    unseen
        Whether a missing value, or one that is none of the states, is an error or unknown.
    discretizer
        Where to cut columns of numbers; those that hold intervals already are left as they are.
        Others are cut where the names of states tell of intervals.
    """
    if unseen not in ("error", "missing"):
        raise unknown("value of unseen", unseen, ("error", "missing"))
    source = open_source(data)
    named = Discretizer.at(named_cuts(states))
    columns: dict[str, Values] = {}
    for node, index in zip(states, find_columns(list(states), source), strict=True):
        raw = source.column(index, frozenset())
        if discretizer is not None and node in discretizer.cuts:
            raw = discretizer.cut(node, raw, source.likely_decimal)
        elif node in named.cuts and _has_numbers(raw):
            raw = named.cut(node, raw, source.likely_decimal)
        columns[node] = (
            _codes(node, raw, states[node], unseen)
            if states[node]
            else _numbers(node, raw, source.likely_decimal, unseen)
        )
    row_weights = read_weights(weights, source)
    if weights is None and isinstance(data, Dataset | Incomplete):
        row_weights = data.weights
    return Rows(columns, source.rows, row_weights)


def _has_numbers(raw: Raw) -> bool:
    """Tell whether values are numbers; if none is, they are names of states, or of none."""
    if isinstance(raw, Factor):
        texts = [str(value) for value in raw.values]
        return len(no_numbers(texts)) < len(texts)
    return isinstance(raw, Numbers)


def _codes(node: str, raw: Raw, states: Sequence[State], unseen: Unseen) -> NDArray[np.int32]:
    factor = raw if isinstance(raw, Factor) else raw.factor()
    codes, strange = match_states(factor, states)
    rows = np.flatnonzero(strange)
    if rows.size and unseen == "error":
        values = [factor.values[code] for code in np.unique(factor.codes[rows])]
        raise KesError(
            strangers_found(node, values, int(rows[0]), states)
            + "; "
            + either(
                'unseen="missing" takes such values as unknown',
                "correct them, or leave such rows out",
            )
        )
    _refuse_gaps(node, codes < 0, unseen)
    return codes


def _numbers(node: str, raw: Raw, decimal: Sign | None, unseen: Unseen) -> NDArray[np.float64]:
    with naming(node):
        values = to_numbers(raw, decimal).floats()
    _refuse_gaps(node, np.isnan(values), unseen)
    return values


def _refuse_gaps(node: str, gaps: NDArray[np.bool_], unseen: Unseen) -> None:
    rows = np.flatnonzero(gaps)
    if rows.size and unseen == "error":
        raise KesError(
            f"column {node!r} has {rows.size} missing values (first in row {rows[0]}, counting "
            f"from 0); {option('unseen', 'missing')} takes them as unknown"
        )
