"""Linear regression: estimate linear nodes by least squares.

Columns are centred and scaled first, so neither units nor distant origins matter. With N cases, p
independent regressors and the sum of squared residuals RSS, the variance is RSS / N by maximum
likelihood, and RSS / (N - p - 1), which is unbiased, otherwise.

Where least squares has no unique solution, maximum likelihood is an error. Otherwise:

* Collinear regressors: the solution with the smallest coefficients (of scaled columns) is taken,
  which shares an effect evenly among copies of a column.
* Fewer than p + 2 cases: `ess` imaginary cases are added, in which every column has the mean and
  variance that it has in the data and none depends on another.
* A node that its parents determine: the variance is at least 1e-9 of that of its column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kes.errors import KesError, listed, option
from kes.network.cpds import Linear

DETERMINED = 1e-9
"""Share of a column's variance below which others determine it, as in the criteria."""


class Scaled(NamedTuple):
    """Columns centred and scaled to unit variance; constant ones are all 0, with scale 1."""

    values: NDArray[np.float64]
    means: NDArray[np.float64]
    scales: NDArray[np.float64]
    constant: NDArray[np.bool_]


def scaled(columns: NDArray[np.float64], weights: NDArray[np.float64]) -> Scaled:
    """Scale columns, shape (rows, columns), by the moments of their weighted rows."""
    constant = columns.min(axis=0) == columns.max(axis=0)
    means = np.where(constant, columns[0], weights @ columns / weights.sum())
    centred = columns - means
    scales = np.sqrt(weights @ centred**2 / weights.sum())
    scales[constant] = 1.0
    return Scaled(centred / scales, means, scales, constant)


def fit_linear(
    node: str,
    own: NDArray[np.float64],
    regressors: NDArray[np.float64],
    names: Sequence[str],
    *,
    weights: NDArray[np.float64],
    ess: float | None,
) -> Linear:
    """Estimate a linear node.

    Parameters
    ----------
    node
        The node, for messages.
    own
        Its values.
    regressors, names
        The regressors, shape (rows, regressors), and their names.
    weights
        Number of cases that each row stands for; all positive.
    ess
        Number of imaginary cases, where needed; None: maximum likelihood.
    """
    target = scaled(own[:, np.newaxis], weights)
    if target.constant[0]:
        zeros = np.zeros(len(names))
        return Linear(own[0], zeros, deviation=0.0, errors=np.zeros(1 + len(names)))
    given = scaled(regressors, weights)
    cases, roots = weights.sum(), np.sqrt(weights)
    y = target.values[:, 0] * roots
    x = given.values * roots[:, np.newaxis]
    u, d, vt = np.linalg.svd(x, full_matrices=False)
    independent = d**2 > DETERMINED * cases
    free = cases - independent.sum() - 1
    if ess is None and (free <= 0 or independent.sum() < len(names)):
        _refuse(node, names, x, cases)
    imaginary = 0.0 if ess is None or free >= 1 else ess
    inverse = np.zeros_like(d)
    np.divide(1.0, d**2 + imaginary, out=inverse, where=independent | (imaginary > 0))
    slopes = vt.T @ (inverse * d * (u.T @ y))
    rss = float(np.sum((y - x @ slopes) ** 2) + imaginary * (slopes @ slopes + 1))
    unbiased = max(rss / (max(free, 0.0) + imaginary), DETERMINED)
    variance = unbiased if ess is not None else rss / cases
    if variance < DETERMINED:
        raise KesError(
            f"the parents of {node!r} determine it: {listed(names)}; the maximum likelihood "
            f"estimate has no variance, so use {option('prior', 'bdeu')}, or leave a column out",
            option="prior",
            column=node,
        )
    covariance = unbiased * (vt.T * inverse) @ vt
    of_mean = unbiased / (cases + imaginary)
    return _in_units(target, given, slopes, covariance, deviation=variance**0.5, of_mean=of_mean)


def _in_units(
    target: Scaled,
    given: Scaled,
    slopes: NDArray[np.float64],
    covariance: NDArray[np.float64],
    *,
    deviation: float,
    of_mean: float,
) -> Linear:
    """Undo the scaling of an estimate.

    At the means of the columns the estimate is 0, with the variance `of_mean`.
    """
    unit = target.scales[0]
    coefficients = slopes * unit / given.scales
    spread = covariance * np.outer(unit / given.scales, unit / given.scales)
    of_intercept = of_mean * unit**2 + given.means @ spread @ given.means
    return Linear(
        target.means[0] - coefficients @ given.means,
        coefficients,
        deviation=unit * deviation,
        errors=np.sqrt(np.maximum([of_intercept, *np.diag(spread)], 0.0)),
    )


def _refuse(node: str, names: Sequence[str], x: NDArray[np.float64], cases: float) -> None:
    """Raise an error that says why there is no maximum likelihood estimate."""
    remedy = f"use {option('prior', 'bdeu')}, or other parents"
    if cases <= len(names) + 1:
        raise KesError(
            f"the node {node!r} has {len(names)} regressors, {listed(names)}, for which "
            f"{cases:g} cases are too few: {remedy}",
            option="prior",
            column=node,
        )
    pivots = np.diag(np.linalg.qr(x, mode="r")) ** 2
    determined = [name for name, p in zip(names, pivots, strict=True) if p <= DETERMINED * cases]
    raise KesError(
        f"the regressors of {node!r}, {listed(names)}, are collinear: earlier ones determine "
        f"{listed(determined)}, so their coefficients are not unique; {remedy}",
        option="prior",
        column=node,
    )
