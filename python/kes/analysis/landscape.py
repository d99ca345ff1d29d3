"""A map of the optima on which similar models are close together.

Classical multidimensional scaling [Torgerson 1952] of the structural Hamming distances: distances
in the plane approximate the number of edges in which models differ.
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

MAX_OPTIMA = 1000
"""Optima on a map: more are neither distinguishable nor placed in reasonable time."""


@dataclass(frozen=True)
class Landscape:
    """Models in the plane.

    Attributes
    ----------
    optima : sequence of Optimum
        The best optima, best first, and that of GES if it is not among them.
    numbers : sequence of int
        Their indices among all optima.
    points : ndarray of shape (optima, 2)
        Their positions; the best optimum is to the upper right of the middle.
    distances : ndarray of shape (optima, optima)
        Structural Hamming distances.
    ges : int
        Place of the optimum of GES in `optima`.
    """

    optima: Sequence[Optimum]
    numbers: Sequence[int]
    points: NDArray[np.float64]
    distances: NDArray[np.int64]
    ges: int

    @classmethod
    def of(cls, optima: Optima, max_optima: int = MAX_OPTIMA) -> Landscape:
        """Place the best of the optima."""
        ges = optima.index(optima.ges)
        numbers = [*range(min(max_optima, len(optima))), *([ges] if ges >= max_optima else [])]
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

    The signs of eigenvectors are arbitrary: the first point gets nonnegative coordinates.
    """
    squares = between.astype(np.float64) ** 2
    centred = squares - squares.mean(axis=0)
    inner = -(centred - centred.mean(axis=1, keepdims=True)) / 2
    values, vectors = np.linalg.eigh(inner)
    points = np.zeros((len(between), 2))
    for axis, largest in enumerate(np.argsort(-values, kind="stable")[:2]):
        points[:, axis] = vectors[:, largest] * np.sqrt(max(values[largest], 0.0))
    return np.where(points[0] < 0, -points, points)
