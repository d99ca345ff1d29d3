"""Curves: continuous columns as polynomials of their normal scores.

A column becomes the Legendre polynomials P1, ..., Pd of its normal scores
(`kes.data.normal_scores`), clipped and scaled to [-1, 1]. Linear functions of these are curves, the
same whatever increasing function the values are passed through.

A column with few distinct values has fewer independent polynomials: with m values m - 1, and with
nearly all cases at one value perhaps one. The rest are left out.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kes import _core
from kes.data.column import Continuous
from kes.data.dataset import Dataset

_NEW = 1e-4
"""Least share of the variance of a polynomial that those of lower degree leave unexplained."""


def polynomials(scores: NDArray[np.float64], degree: int) -> NDArray[np.float64]:
    """Return the polynomials of normal scores, shape (rows, degree).

    Examples
    --------
    >>> polynomials(np.array([-9.0, 0.0, 1.0]), 2)
    array([[-1.   ,  1.   ],
           [ 0.   , -0.5  ],
           [ 0.5  , -0.125]])
    """
    return _core.polynomials(np.ascontiguousarray(scores, dtype=np.float64), degree)


def degrees(scores: Dataset, degree: int) -> list[int]:
    """Return the number of independent polynomials of each column, at most `degree`.

    `scores` has the normal scores of continuous columns; discrete columns have 0.
    """
    weights = np.ones(scores.rows) if scores.weights is None else scores.weights
    return [
        _independent(column.values, weights, degree) if isinstance(column, Continuous) else 0
        for column in scores.columns
    ]


def _independent(scores: NDArray[np.float64], weights: NDArray[np.float64], degree: int) -> int:
    """Return the number of polynomials before the first that depends on those of lower degree.

    It is computed from distinct scores in ascending order: the order of rows has no effect.
    """
    order = np.lexsort((weights, scores))
    distinct, starts = np.unique(scores[order], return_index=True)
    shares = np.add.reduceat(weights[order], starts)
    shares /= shares.sum()
    found: list[NDArray[np.float64]] = []  # orthogonal, of length 1
    for column in polynomials(distinct, degree).T:
        apart = column - shares @ column
        total = shares @ apart**2
        for _ in range(2):  # twice, against rounding
            apart = apart - _explained(apart, found, shares)
        left = shares @ apart**2
        if left <= _NEW * total:
            break
        found.append(apart / np.sqrt(left))
    return max(1, len(found))


def _explained(
    column: NDArray[np.float64], others: Sequence[NDArray[np.float64]], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    explained = np.zeros_like(column)
    for other in others:
        explained += (shares * column) @ other * other
    return explained
