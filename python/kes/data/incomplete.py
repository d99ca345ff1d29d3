"""Tables with missing values, and multiple imputation.

A gap is a missing cell. A `Stack` has the complete rows once and m copies of every incomplete row
at an m-th of its weight. Imputed with draws from a model, it is an ordinary weighted table, on
which every criterion remains a function of sets of variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes.data.column import Column, Continuous, Discrete, Kind
from kes.data.dataset import Dataset
from kes.data.random_stream import Stream
from kes.errors import KesError, option

MOST_CELLS = 2**30
"""Maximum number of cells of a stack."""

_DIGITS = 20  # binary digits of imputed numbers


@dataclass(frozen=True, eq=False, repr=False)
class Incomplete:
    """A table in which some values are missing.

    Attributes
    ----------
    dataset : Dataset
        The table, with arbitrary values in gaps.
    gaps : ndarray of bool, shape (variables, rows)
        Where values are missing.
    """

    dataset: Dataset
    gaps: NDArray[np.bool_]

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.dataset.names

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kind of each variable."""
        return self.dataset.kinds

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user."""
        return self.dataset.notes

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.dataset.rows

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Number of cases that each row stands for; None: one each."""
        return self.dataset.weights

    @property
    def cells(self) -> tuple[int, ...]:
        """Number of rows in which each variable is missing."""
        return tuple(int(count) for count in self.gaps.sum(axis=1))

    def take(
        self, rows: NDArray[np.intp], weights: NDArray[np.float64] | None = None
    ) -> Incomplete:
        """Return the table with some rows, and these weights; all states stay."""
        return Incomplete(self.dataset.take(rows, weights), self.gaps[:, rows])

    def select(self, names: Sequence[str]) -> Incomplete:
        """Return the table with some of the variables, in this order."""
        place = {name: i for i, name in enumerate(self.names)}
        return Incomplete(self.dataset.select(names), self.gaps[[place[name] for name in names]])

    def renamed(self, names: Sequence[str]) -> Incomplete:
        """Return the table with other names for its variables."""
        return Incomplete(self.dataset.renamed(names), self.gaps)

    def reweighted(self, weights: ArrayLike | None) -> Incomplete:
        """Return the table with other weights."""
        return Incomplete(self.dataset.reweighted(weights), self.gaps)

    def __repr__(self) -> str:
        return f"<Incomplete: {sum(self.cells)} gaps in {self.dataset!r}>"


AnyTable: TypeAlias = Dataset | Incomplete
"""A table, with or without missing values."""


class Stack:
    """Copies of the rows of an incomplete table, to be imputed.

    The rows are sorted and equal ones merged, so that their order has no effect, and a row of
    weight 3 equals three rows. A row that stands for w cases has m times w copies (w rounded up):
    with fewer, the randomness of the draws would count as evidence.

    Parameters
    ----------
    table : Incomplete
        The table.
    completions : int
        Number of copies m for each case.

    Attributes
    ----------
    copies : list of ndarray
        For each variable the codes or numbers of the copies, with the current imputations.
    gaps : list of ndarray of int
        For each variable the copies in which it is missing.

    Raises
    ------
    KesError
        If there would be too many copies.
    """

    def __init__(self, table: Incomplete, completions: int) -> None:
        first, cases = _distinct(table)
        gaps = table.gaps[:, first]
        open_rows = np.flatnonzero(gaps.any(axis=0))
        self._table = table.dataset.take(first, cases)
        self._whole = np.flatnonzero(~gaps.any(axis=0))
        self._observed = ~gaps
        number = completions * np.maximum(1.0, np.ceil(cases[open_rows]))
        if number.sum() * len(gaps) > MOST_CELLS:
            raise KesError(
                f"{number.sum():.6g} imputed rows would not fit into memory; use fewer "
                f"{option('completions')}, or divide the weights by a common factor",
                option="completions",
            )
        repeats = number.astype(np.intp)
        rows = np.repeat(open_rows, repeats)
        self._weights = np.repeat(cases[open_rows] / number, repeats)
        self.copies: list[NDArray[Any]] = [
            _values(column)[rows].astype(np.float64 if column.kind == "continuous" else np.int32)
            for column in self._table.columns
        ]
        self.gaps = [np.flatnonzero(missing) for missing in gaps[:, rows]]

    @property
    def size(self) -> int:
        """The number of values, including those of all copies.

        In a mixed table each state counts like a number: models have a slope for each.
        """
        is_mixed = self._table.kind == "mixed"
        columns = sum(max(1, len(states) - 1) if is_mixed else 1 for states in self._table.states)
        return columns * (len(self._whole) + len(self._weights))

    @property
    def filled(self) -> frozenset[str]:
        """The variables that have gaps."""
        return frozenset(
            v for v, gaps in zip(self._table.names, self.gaps, strict=True) if gaps.size
        )

    def scatter(self, stream: Stream) -> None:
        """Fill each gap with an observed value of the same variable, drawn at random.

        Without any, as in a part of a table, the arbitrary values in the gaps are used.
        """
        cases = self._table.weights
        assert cases is not None, "distinct rows are counted"
        for v, places in enumerate(self.gaps):
            donors = self._observed[v] if self._observed[v].any() else ~self._observed[v]
            values, total = _values(self._table.columns[v])[donors], np.cumsum(cases[donors])
            drawn = np.searchsorted(total, stream.uniforms(len(places)) * total[-1], side="right")
            self.copies[v][places] = values[drawn]

    def put(self, v: int, drawn: NDArray[Any]) -> None:
        """Fill the gaps of a variable.

        Numbers are rounded to a millionth of the standard deviation, so that the last bits of
        logarithms and matrix products, in which machines differ, have no effect.
        """
        column = self._table.columns[v]
        if isinstance(column, Continuous):
            known = column.values[self._observed[v]]
            _, exponent = np.frexp(np.std(known) if len(known) else 0.0)
            step = np.ldexp(1.0, int(exponent) - _DIGITS)
            drawn = np.rint(drawn / step) * step
        self.copies[v][self.gaps[v]] = drawn

    def dataset(self) -> Dataset:
        """Return the rows with the current imputations."""
        assert self._table.weights is not None, "distinct rows are counted"
        columns: list[Column] = []
        for column, copies in zip(self._table.columns, self.copies, strict=True):
            values = np.concatenate([_values(column)[self._whole], copies])
            columns.append(
                Discrete(column.states, values)
                if isinstance(column, Discrete)
                else Continuous(values)
            )
        weights = np.concatenate([self._table.weights[self._whole], self._weights])
        return Dataset.of(self._table.names, columns, weights, self._table.notes)


def _values(column: Column) -> NDArray[Any]:
    return column.codes if isinstance(column, Discrete) else column.values


def _distinct(table: Incomplete) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the distinct rows of positive weight in sorted order, and their cases."""
    parts = []
    for column, missing in zip(table.dataset.columns, table.gaps, strict=True):
        # Adding zero turns -0.0 into 0.0: rows are compared by their bytes.
        known = np.where(missing, 0, _values(column)) + 0
        parts += [missing[:, np.newaxis].view(np.uint8), known[:, np.newaxis].view(np.uint8)]
    content = np.ascontiguousarray(np.hstack(parts))
    keys = content.view(np.dtype((np.void, content.shape[1]))).ravel()
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    weights = np.ones(table.rows) if table.weights is None else table.weights
    order = np.lexsort((weights, kind))  # sums of reals must not depend on the order of the rows
    starts = np.searchsorted(kind[order], np.arange(len(first)))
    cases = np.add.reduceat(weights[order], starts)
    counts = cases > 0
    return first[counts], cases[counts]
