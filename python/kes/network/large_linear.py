"""Least squares with many rows and many states, without a column for each state.

Each configuration of the discrete parents has a mean of its own, or only each state of the one with
most states (then the others enter as indicators). Subtracting these means from all columns leaves a
regression on the other regressors [Frisch & Waugh 1933]; the means follow from its slopes. So
thousands of states in hundreds of thousands of rows take sums over the rows, not a matrix of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.network.cpds import Linear
from kes.network.regressors import (
    Values,
    configurations,
    interactions,
    main_effects,
    regressor_places,
    regressors,
)

Floats: TypeAlias = NDArray[np.float64]

_COLLINEAR = 1e-9
"""Share of the largest eigenvalue below which regressors are collinear, and share their effect."""


def fit_large_linear(
    own: Floats,
    given: Sequence[Values],
    levels: Sequence[int],
    *,
    number: int,
    weights: Floats,
    least: float,
) -> Linear | None:
    """Estimate a linear node with discrete parents as `fit_linear` does.

    There are interactions if the `number` of regressors exceeds the main effects. The variance is
    at least the share `least` of that of the column. Configurations without cases get the mean of
    the others. None if there are too few cases.
    """
    discrete = [i for i, states in enumerate(levels) if states]
    absorbed = discrete
    if number == main_effects(levels):
        absorbed = [max(discrete, key=levels.__getitem__)]
    others = [i for i in range(len(levels)) if i not in absorbed]
    sizes = [levels[i] for i in absorbed]
    cells = configurations([given[i] for i in absorbed], sizes, len(own))
    further = regressors([given[i] for i in others], [levels[i] for i in others], len(own))
    means = _Means.of(cells, int(np.prod(sizes)), np.column_stack([further, own]), weights)
    free = weights.sum() - means.parameters
    total = weights @ (own - weights @ own / weights.sum()) ** 2 / weights.sum()
    if free < 1 or total == 0:
        return None
    variance = max(means.residual / free, least * total)
    effects, spread = means.effects(sizes)
    result, errors = np.zeros(1 + number), np.zeros(1 + number)
    places = regressor_places(levels)
    for i, place in zip(others, regressor_places([levels[i] for i in others]), strict=True):
        there = slice(1 + places[i].start, 1 + places[i].stop)
        result[there], errors[there] = means.slopes[place], np.diag(means.inverse)[place]
    grid = np.arange(len(effects)).reshape(sizes)
    for axis, i in enumerate(absorbed):
        alone = np.moveaxis(grid, axis, 0).reshape(levels[i], -1)[1:, 0]
        there = slice(1 + places[i].start, 1 + places[i].stop)
        result[there], errors[there] = effects[alone], spread[alone]
    result[0], errors[0] = effects[0], spread[0]
    if number > main_effects(levels):
        last = slice(1 + main_effects(levels), None)
        combined = interactions(levels)
        result[last], errors[last] = effects[combined], spread[combined]
    return Linear(
        result[0],
        result[1:],
        deviation=float(variance**0.5),
        errors=np.sqrt(np.maximum(variance * errors, 0.0)),
    )


@dataclass(frozen=True)
class _Means:
    """Means of configurations, given the slopes that all of them share."""

    node: Floats  # mean of the node in each configuration
    regressors: Floats  # (configurations, regressors): theirs
    cases: Floats  # of each configuration; 1 where there are none
    slopes: Floats
    inverse: Floats  # of the products of the regressors
    parameters: int
    residual: float  # sum of squares

    @classmethod
    def of(cls, cells: NDArray[np.intp], number: int, table: Floats, weights: Floats) -> _Means:
        """Regress the last column of a table on the others, all less the means of their cells."""
        cases = np.bincount(cells, weights, number).astype(np.float64)
        there = cases > 0
        known = np.where(there, cases, 1.0)
        sums = np.array([np.bincount(cells, weights * each, number) for each in table.T]).T
        means = sums / known[:, np.newaxis]
        means[~there] = np.average(means[there], axis=0, weights=cases[there])
        centred = table - means[cells]
        products = (centred * weights[:, np.newaxis]).T @ centred
        inside, side = products[:-1, :-1], products[:-1, -1]
        scales = np.sqrt(np.where(np.diag(inside) > 0, np.diag(inside), 1.0))
        scaled = inside / np.outer(scales, scales)
        inverse = np.linalg.pinv(scaled, rcond=_COLLINEAR, hermitian=True)
        rank = round(float(np.trace(inverse @ scaled)))
        inverse = inverse / np.outer(scales, scales)
        slopes = inverse @ side
        parameters = int(there.sum()) + rank
        residual = max(float(products[-1, -1] - slopes @ side), 0.0)
        return cls(means[:, -1], means[:, :-1], known, slopes, inverse, parameters, residual)

    def effects(self, sizes: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the effect of each configuration beyond those of its states, and its variance.

        The first configuration is the intercept; the others are differences from it. The variance
        is in units of that of a case.
        """
        levels = self.node - self.regressors @ self.slopes
        codes = np.array(np.unravel_index(np.arange(len(levels)), sizes))
        together = (codes > 0).sum(axis=0)
        first = np.where(together > 0, together - 1.0, 0.0)
        first[together == 1] = -1.0
        effects = levels + first * levels[0]
        places = self.regressors + first[:, np.newaxis] * self.regressors[0]
        spread = 1 / self.cases + first**2 / self.cases[0]
        steps = np.cumprod([1, *sizes[:0:-1]])[::-1]
        for axis, step in enumerate(steps):
            alone = codes[axis] * step
            part = ((codes[axis] > 0) & (together > 1)).astype(np.float64)
            effects = effects - part * levels[alone]
            places = places - part[:, np.newaxis] * self.regressors[alone]
            spread = spread + part / self.cases[alone]
        return effects, spread + np.einsum("ij,jk,ik->i", places, self.inverse, places)
