"""Random draws: resampling, and multiple imputation.

Cases are drawn, not rows: a row of weight 3 stands for three cases, and each may be drawn. A
sample is a number of cases for every row, so that every sample has the states of the table.

A gap is a missing cell. A `Stack` has the complete rows once and m copies of every incomplete row
at an m-th of its weight. Imputed with draws from a model, it is an ordinary weighted table, on
which every criterion remains a function of sets of variables.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Column, Continuous, Discrete
from kes.data.dataset import AnyTable, Dataset, Incomplete
from kes.data.random_stream import Stream
from kes.errors import KesError, option

TableT = TypeVar("TableT", bound=AnyTable)

MOST_CASES = 10**8
"""Maximum number of cases, which are drawn one by one."""
MOST_CELLS = 2**30
"""Maximum number of cells of a stack."""
MOST_KEPT = 2_000_000
"""Maximum number of imputed values that a result keeps."""
_DIGITS = 20  # binary digits of imputed numbers


class Cases(Generic[TableT]):
    """The cases of a table, to draw from; its weights are numbers of cases."""

    def __init__(self, table: TableT) -> None:
        self.table = table
        weights = table.weights
        self._weights = np.ones(table.rows) if weights is None else weights
        self.number = round(float(self._weights.sum()))
        if self.number > MOST_CASES:
            raise KesError(
                f"the weights sum to {self.number:.6g} cases, but at most {MOST_CASES:.0e} can be "
                "resampled; samples of more would hardly differ",
                option="weights",
            )

    def subsample(self, size: int, stream: Stream) -> TableT:
        """Draw `size` cases without replacement."""
        keys = stream.integers(self.number)
        drawn = self._rows[np.argpartition(keys, size - 1)[:size]]
        return self._sample(np.bincount(drawn, minlength=self.table.rows))

    def bootstrap(self, stream: Stream) -> TableT:
        """Draw as many cases as there are, with replacement."""
        total = np.cumsum(self._weights)
        drawn = np.searchsorted(total, stream.uniforms(self.number) * total[-1], side="right")
        return self._sample(np.bincount(drawn, minlength=self.table.rows))

    def folds(self, number: int, stream: Stream) -> list[tuple[TableT, TableT]]:
        """Split the cases at random; return, for each part, the other parts and itself."""
        shuffled = self._rows[np.argsort(stream.integers(self.number), kind="stable")]
        whole = np.bincount(shuffled, minlength=self.table.rows)
        parts = [
            np.bincount(shuffled[part::number], minlength=self.table.rows) for part in range(number)
        ]
        return [(self._sample(whole - part), self._sample(part)) for part in parts]

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        """The row of each case."""
        if np.any(self._weights != np.rint(self._weights)):
            raise KesError(
                "some weights are not integers, so cases cannot be drawn without replacement; use "
                "integers, or, for kes.stability, scheme='bootstrap'",
                option="weights",
            )
        return np.repeat(np.arange(self.table.rows), self._weights.astype(np.int64))

    def _sample(self, counts: NDArray[np.int64]) -> TableT:
        """Return the table with these numbers of cases; rows without any are dropped."""
        rows = np.flatnonzero(counts)
        chosen = counts[rows]
        weights = None if np.all(chosen == 1) else chosen.astype(np.float64)
        return cast("TableT", self.table.take(rows, weights))


class BayesianBootstrap:
    """Random weights of the rows of a table, from a Dirichlet distribution [Rubin 1981].

    A row that stands for w cases gets the parameter w: as if each case had its own weight, drawn
    from the uniform distribution over all weights with the same sum. Rows are sorted and equal ones
    merged, and columns are in the order of their names, so that neither order has an effect.
    """

    def __init__(self, table: Dataset) -> None:
        ordered = table.select(sorted(table.names))
        nothing = np.zeros((len(table.names), table.rows), dtype=np.bool_)
        first, cases = _distinct(Incomplete(ordered, nothing))
        self._rows, self._cases = ordered.take(first, cases), cases

    def draw(self, stream: Stream) -> Dataset:
        """Return the table with weights that have the same sum as the cases.

        The weights are rounded, so that the last bits of logarithms, in which machines differ, have
        no effect.
        """
        drawn = gammas(self._cases, stream)
        weights = drawn * (self._cases.sum() / drawn.sum())
        return self._rows.reweighted(np.rint(weights * 2.0**_DIGITS) * 2.0**-_DIGITS)


def gammas(shapes: NDArray[np.float64], stream: Stream) -> NDArray[np.float64]:
    """Draw from gamma distributions with these shapes [Marsaglia & Tsang 2000].

    Shapes below 1 are raised by 1, and the draw is multiplied by U^(1 / shape).
    """
    small = shapes < 1
    d = np.where(small, shapes + 1, shapes) - 1 / 3
    c = 1 / np.sqrt(9 * d)
    result = np.empty(len(shapes))
    waiting = np.arange(len(shapes))
    while waiting.size:
        radius, angle, level = stream.uniforms(3, len(waiting))
        x = np.sqrt(-2 * np.log1p(-radius)) * np.cos(2 * np.pi * angle)  # Box and Muller
        own, v = d[waiting], np.maximum(1 + c[waiting] * x, 0.0) ** 3
        with np.errstate(divide="ignore"):
            is_taken = np.log1p(-level) < x**2 / 2 + own * (1 - v + np.log(v))
        result[waiting[is_taken]] = (own * v)[is_taken]
        waiting = waiting[~is_taken]
    raised = stream.uniforms(int(small.sum()))
    result[small] *= (1 - raised) ** (1 / shapes[small])
    return result


class Stack:
    """Copies of the rows of an incomplete table, to be imputed.

    The rows are sorted and equal ones merged, so that their order has no effect, and a row of
    weight 3 equals three rows. A row that stands for w cases has m times w copies (w rounded up):
    with fewer, the randomness of the draws would count as evidence.

    For each variable, `copies` are the codes or numbers of the copies, with the current
    imputations, and `gaps` the copies in which it is missing.
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

    @property
    def imputed(self) -> tuple[tuple[float, ...], ...]:
        """The current imputations of each variable; nothing if they are too many to keep."""
        if sum(places.size for places in self.gaps) > MOST_KEPT:
            return ()
        return tuple(tuple(values.tolist()) for values in self.values())

    def values(self) -> list[NDArray[Any]]:
        """Return the current imputations of each variable."""
        return [copies[places] for copies, places in zip(self.copies, self.gaps, strict=True)]

    def restore(self, imputed: Sequence[Sequence[float] | NDArray[Any]]) -> bool:
        """Put earlier imputations back; return whether they fit the gaps."""
        if [len(values) for values in imputed] != [places.size for places in self.gaps]:
            return False
        for copies, places, values in zip(self.copies, self.gaps, imputed, strict=True):
            copies[places] = values
        return True

    def dataset(self) -> Dataset:
        """Return the rows with the current imputations."""
        assert self._table.weights is not None, "distinct rows are counted"
        columns: list[Column] = []
        for column, copies in zip(self._table.columns, self.copies, strict=True):
            values = np.concatenate([_values(column)[self._whole], copies])
            columns.append(
                Discrete(column.states, values, column.notation)
                if isinstance(column, Discrete)
                else Continuous(values, column.notation)
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
