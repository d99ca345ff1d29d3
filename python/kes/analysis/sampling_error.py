"""Sampling error: how much the difference between two models varies from sample to sample.

The log-likelihoods of two models differ by a sum over the cases, one term for each. The standard
error of such a sum follows from the spread of its terms [Vuong 1989]. Where the criterion fits the
data badly, terms spread widely: columns that nearly determine each other give many nats for a
direction, and as many against it in another sample.

The terms are those of the location model; multinomial and Gaussian models are special cases. A set
function has a term for each set of variables, so only the sets matter in which the models differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Discrete
from kes.data.curves import degrees, polynomials
from kes.data.normal_scores import Ranks

if TYPE_CHECKING:
    from kes.data.dataset import Dataset
    from kes.graph.core_graph import Arc
    from kes.search.problem import Problem

_ROWS = 5_000
"""Rows that the error is estimated from, evenly spaced in the sorted table if it has more."""

_SETS = 1_000
"""Sets whose terms are kept."""


class SamplingError:
    """Standard errors of score differences between models of a problem, in nats."""

    def __init__(self, problem: Problem) -> None:
        dataset, criterion = problem.dataset, problem.settings.measure
        if criterion.uses_ranks(dataset.kind):
            dataset = Ranks.of(dataset).apply(dataset)
        rows = _spaced(dataset)
        own = np.ones(len(rows)) if dataset.weights is None else dataset.weights[rows]
        curved = [1] * len(dataset.names)
        if criterion.basis is not None:
            curved = degrees(dataset, criterion.degree)
        taken = zip((column.take(rows) for column in dataset.columns), curved, strict=True)
        self._columns = [
            column if isinstance(column, Discrete) else _numbers(column.values, degree)
            for column, degree in taken
        ]
        self._weights = own * (dataset.cases / own.sum())
        self._terms = lru_cache(_SETS)(self._compute)

    def between(self, one: Iterable[Arc], other: Iterable[Arc]) -> float:
        """Return the standard error of the difference between two networks.

        It is infinite if a set of variables determines one of them.
        """
        sets = _sets(one)
        sets.subtract(_sets(other))
        try:
            terms = sum(
                times * self._terms(members) for members, times in sets.items() if times and members
            )
        except np.linalg.LinAlgError:
            return np.inf
        spread = np.asarray(terms) - np.average(
            np.broadcast_to(terms, self._weights.shape), weights=self._weights
        )
        return float(np.sqrt((self._weights * spread**2).sum()))

    def _compute(self, members: frozenset[int]) -> NDArray[np.float64]:
        """Return the log-likelihood of a set of variables in each row."""
        weights = self._weights
        columns = [self._columns[member] for member in sorted(members)]
        cells = np.zeros(len(weights), dtype=np.intp)
        for column in columns:
            if isinstance(column, Discrete):
                cells = cells * len(column.states) + column.codes
                cells = np.unique(cells, return_inverse=True)[1].reshape(-1)
        cases = np.bincount(cells, weights)
        terms: NDArray[np.float64] = np.log(cases / weights.sum())[cells]
        numbers = [own for one in columns if not isinstance(one, Discrete) for own in one]
        if numbers:
            centred = np.array(
                [own - (np.bincount(cells, weights * own) / cases)[cells] for own in numbers]
            )
            within = np.linalg.cholesky((centred * weights) @ centred.T / weights.sum())
            independent = np.linalg.solve(within, centred)
            terms = terms - 0.5 * (independent**2).sum(axis=0) - np.log(np.diag(within)).sum()
        return terms


def _numbers(values: NDArray[np.float64], degree: int) -> NDArray[np.float64]:
    """Return the columns that stand for a continuous one: itself, or its polynomials."""
    return values[np.newaxis] if degree <= 1 else polynomials(values, degree).T


def _spaced(dataset: Dataset) -> NDArray[np.intp]:
    """Return rows in sorted order, so that the order of the table has no effect."""
    columns = dict(zip(dataset.names, dataset.columns, strict=True))
    keys = [
        column.codes if isinstance(column, Discrete) else column.values
        for _, column in sorted(columns.items())
    ]
    weights = dataset.weights
    if weights is None:
        order = np.lexsort(keys)
    else:
        order = np.lexsort([weights, *keys])
        order = order[weights[order] > 0]
    return order[:: -(-len(order) // _ROWS)]


def _sets(arcs: Iterable[Arc]) -> Counter[frozenset[int]]:
    """Return the multiplicity of each set of variables in the score of a network.

    Variables without parents occur as they do in every network, so they are left out.
    """
    parents: dict[int, set[int]] = {}
    for parent, child in arcs:
        parents.setdefault(child, set()).add(parent)
    found: Counter[frozenset[int]] = Counter()
    for child, own in parents.items():
        found[frozenset({child, *own})] += 1
        found[frozenset({child})] -= 1
        found[frozenset(own)] -= 1
    return found
