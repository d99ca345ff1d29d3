"""Means and covariances of continuous nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kes.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Means and covariances of some nodes.

    Attributes
    ----------
    nodes : tuple of str
        The nodes, in order.
    mean : ndarray, shape (nodes,)
        Their means.
    covariance : ndarray, shape (nodes, nodes)
        Their covariances.
    error : ndarray, shape (nodes,)
        Standard errors of the means, if these were estimated by drawing; 0 if they are exact.
    """

    nodes: tuple[str, ...]
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    error: NDArray[np.float64]

    @property
    def deviation(self) -> NDArray[np.float64]:
        """Standard deviations."""
        return np.sqrt(np.diag(self.covariance))

    def table(self) -> Table:
        """Return a row for each node: mean, standard deviation, and errors that are not 0."""
        columns: dict[str, Sequence[object]] = {
            "node": self.nodes,
            "mean": self.mean.tolist(),
            "deviation": self.deviation.tolist(),
        }
        if self.error.any():
            columns["standard_error"] = self.error.tolist()
        return Table(columns)

    def of(self, nodes: Sequence[str]) -> Moments:
        """Return the moments of some of the nodes, in this order."""
        at = [self.nodes.index(node) for node in nodes]
        return Moments(tuple(nodes), self.mean[at], self.covariance[np.ix_(at, at)], self.error[at])

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@dataclass(frozen=True)
class Probability:
    """A probability that was estimated by drawing.

    Attributes
    ----------
    value : float
        The estimate.
    error : float
        Its standard error; 0 if the value is exact.

    Examples
    --------
    >>> print(Probability(0.3125, 0.0046))
    0.3125 ± 0.0046
    """

    value: float
    error: float = 0.0

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4f} ± {self.error:.4f}"
