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
        The best of the optima, best first. What no run ended in follows: where GES ends, and
        models found by improving.
    names : sequence of str
        How Python calls each of them: ``optima[3]``, ``optima.ges``, ``optima.improved[0]``.
    points : ndarray of shape (optima, 2)
        Their places; the best optimum is to the upper right of the middle.
    distances : ndarray of shape (optima, optima)
        Structural Hamming distances.
    runs : int
        How many of them runs ended in: the first ones.
    best, ges : int
        Which of them scores highest, and which is where GES ends.
    """

    optima: Sequence[Optimum]
    names: Sequence[str]
    points: NDArray[np.float64]
    distances: NDArray[np.int64]
    runs: int
    best: int
    ges: int

    @classmethod
    def of(cls, optima: Optima, most: int = MOST) -> Landscape:
        """Place the best of the optima."""
        shown: list[Optimum] = list(optima[:most])
        names = [f"optima[{i}]" for i in range(len(shown))]
        index = {optimum._edges: i for i, optimum in enumerate(shown)}
        further: list[tuple[str, Optimum]] = [("optima.ges", optima.ges)]
        further += [(f"optima.improved[{i}]", own) for i, own in enumerate(optima.improved or ())]
        for name, optimum in further:
            if index.setdefault(optimum._edges, len(shown)) == len(shown):
                shown.append(optimum)
                names.append(name)
        between = shd_matrix([optimum.graph for optimum in shown])
        return cls(
            optima=shown,
            names=names,
            points=placed(between),
            distances=between,
            runs=min(most, len(optima)),
            best=max(range(len(shown)), key=lambda i: (shown[i].score, -i)),
            ges=index[optima.ges._edges],
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
