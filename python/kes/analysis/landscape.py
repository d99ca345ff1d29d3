"""A map of the optima: similar models close together.

Classical multidimensional scaling [Torgerson 1952] of the structural Hamming distances: the plane
in which the distances between points come closest to the number of edges in which models differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kes.analysis.compare import shd_matrix

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.results.optimum import Optimum

MOST = 1000
"""Optima on a map: more would neither be told apart nor placed in reasonable time."""


@dataclass(frozen=True)
class Landscape:
    """Models in the plane.

    Attributes
    ----------
    optima : sequence of Optimum
        The best of the optima, best first, and the one of GES if it is not one of them.
    numbers : sequence of int
        Which of all optima each of them is.
    points : ndarray of shape (optima, 2)
        Their places; the best optimum is to the upper right of the middle.
    distances : ndarray of shape (optima, optima)
        Structural Hamming distances.
    ges : int
        Which of those shown is where GES ends.
    """

    optima: Sequence[Optimum]
    numbers: Sequence[int]
    points: NDArray[np.float64]
    distances: NDArray[np.int64]
    ges: int

    @classmethod
    def of(cls, optima: Optima, most: int = MOST) -> Landscape:
        """Place the best of the optima."""
        ges = optima.index(optima.ges)
        numbers = [*range(min(most, len(optima))), *([ges] if ges >= most else [])]
        shown = [optima[number] for number in numbers]
        between = shd_matrix([optimum.mpdag for optimum in shown])
        return cls(
            optima=shown,
            numbers=numbers,
            points=placed(between),
            distances=between,
            ges=numbers.index(ges),
        )


def placed(between: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return points in the plane with about the given distances between them.

    Eigenvectors have no sign of their own: the first point is given coordinates that are not
    negative.
    """
    squares = between.astype(np.float64) ** 2
    centred = squares - squares.mean(axis=0)
    inner = -(centred - centred.mean(axis=1, keepdims=True)) / 2
    values, vectors = np.linalg.eigh(inner)
    points = np.zeros((len(between), 2))
    for axis, largest in enumerate(np.argsort(-values, kind="stable")[:2]):
        points[:, axis] = vectors[:, largest] * np.sqrt(max(values[largest], 0.0))
    return np.where(points[0] < 0, -points, points)
