"""Regressors: what the parents of a node contribute to a linear function.

A continuous parent enters as its value, or as the polynomials of its normal score (its value, in a
network with curves); a discrete one as an indicator (0 or 1) of each state but the first. With
several discrete parents, an indicator of each combination of states may follow.

The `levels` of parents are their numbers of states, 0 for continuous ones; `degree` is that of the
polynomials, 1 for the values themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data.column import State
from kes.data.curves import polynomials
from kes.formats.escaping import labels

Values: TypeAlias = NDArray[Any]
"""State codes or numbers, one per row."""

MANY, _MANY_CELLS = 256, 2**20
"""Regressors, and cells of a table of them, above which their effects are looked up instead."""


def configurations(
    codes: Sequence[Values], cardinalities: Sequence[int], rows: int
) -> NDArray[np.intp]:
    """Return the index of the configuration of some variables in each row.

    The last variable changes fastest; without variables, every row has configuration 0.
    """
    result = np.zeros(rows, dtype=np.intp)
    for code, cardinality in zip(codes, cardinalities, strict=True):
        result *= cardinality
        result += code
    return result


def regressors(
    given: Sequence[Values],
    levels: Sequence[int],
    rows: int,
    *,
    number: int | None = None,
    degree: int = 1,
) -> NDArray[np.float64]:
    """Return the regressors of parents, shape (rows, regressors).

    If there are more (`number`) than those of single parents, interactions follow.
    """
    parts = [np.empty((rows, 0))]
    for column, states in zip(given, levels, strict=True):
        each = column[:, np.newaxis]
        if states:
            parts.append(np.equal(each, np.arange(1, states)))
        else:
            parts.append(each if degree == 1 else polynomials(column, degree))
    if number is not None and number > main_effects(levels, degree):
        codes = [column for column, states in zip(given, levels, strict=True) if states]
        cells = configurations(codes, [states for states in levels if states], rows)
        parts.append(np.equal(cells[:, np.newaxis], interactions(levels)))
    return np.concatenate(parts, axis=1, dtype=np.float64)


@dataclass(frozen=True)
class SparseRegressors:
    """The regressors of parents with thousands of states, without a column for each.

    A product with coefficients looks up those of the states in each row.
    """

    given: Sequence[Values]
    levels: Sequence[int]
    rows: int
    degree: int

    def __matmul__(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        result = np.zeros((self.rows, *coefficients.shape[1:]))
        start = 0
        for column, states in zip(self.given, self.levels, strict=True):
            end = start + (states - 1 if states else self.degree)
            own = coefficients[start:end]
            if states:
                result += np.concatenate([np.zeros_like(coefficients[:1]), own])[column]
            else:
                result += regressors([column], [0], self.rows, degree=self.degree) @ own
            start = end
        if start < len(coefficients):
            sizes = [states for states in self.levels if states]
            codes = [self.given[i] for i, states in enumerate(self.levels) if states]
            effects = np.zeros((prod(sizes), *coefficients.shape[1:]))
            effects[interactions(self.levels)] = coefficients[start:]
            result += effects[configurations(codes, sizes, self.rows)]
        return result


def inputs(
    given: Sequence[Values], levels: Sequence[int], rows: int, *, number: int, degree: int
) -> NDArray[np.float64] | SparseRegressors:
    """Return the regressors of parents, or what looks up the effects of very many."""
    if number > MANY and number * rows > _MANY_CELLS and any(levels):
        return SparseRegressors(given, levels, rows, degree)
    return regressors(given, levels, rows, number=number, degree=degree)


def main_effects(levels: Sequence[int], degree: int = 1) -> int:
    """Return the number of regressors without interactions."""
    return sum(states - 1 if states else degree for states in levels)


def all_effects(levels: Sequence[int], degree: int = 1) -> int:
    """Return the number of regressors with interactions."""
    return prod(states or 1 for states in levels) - 1 + degree * list(levels).count(0)


def interactions(levels: Sequence[int]) -> NDArray[np.intp]:
    """Return the configurations of discrete parents with at least two states that are not first.

    With an indicator of each of these besides those of single states, every configuration has a
    mean of its own.

    Examples
    --------
    >>> interactions([2, 0, 3])
    array([4, 5])
    """
    codes = np.indices([states for states in levels if states])
    return np.flatnonzero((codes > 0).sum(axis=0) >= 2)


def regressor_places(levels: Sequence[int], degree: int = 1) -> list[slice]:
    """Return the slice of regressors of each parent."""
    ends = np.cumsum([states - 1 if states else degree for states in levels]).tolist()
    return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]


def regressor_names(
    parents: Sequence[str], states: Mapping[str, Sequence[State]], number: int, degree: int = 1
) -> list[str]:
    """Return names: "age" or "P2(age)", "sex = male", "sex = male, smoker = yes"."""

    def of(parent: str) -> list[str]:
        if states[parent]:
            return [f"{parent} = {label}" for label in labels(states[parent])[1:]]
        return [parent] if degree == 1 else [f"P{k}({parent})" for k in range(1, degree + 1)]

    names = [name for parent in parents for name in of(parent)]
    if number == len(names):
        return names
    discrete = [parent for parent in parents if states[parent]]
    cells = product(*([f"{name} = {label}" for label in labels(states[name])] for name in discrete))
    combined = [", ".join(cell) for cell in cells]
    places = interactions([len(states[parent]) for parent in parents])
    return names + [combined[place] for place in places]
