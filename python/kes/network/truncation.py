"""Normal mixtures in which some variables are restricted to intervals.

The density of x, normal with mean m and covariance L L' (L lower triangular), is that of m + L z
with independent standard normal z. With the bounded variables first, the bounds of z_i follow from
z_1, ..., z_(i-1), so z_i is drawn between its bounds and the draw is weighted by the probability
p_i of being there: the GHK simulator [Geweke 1991]. The last bounded variable needs no draw, as the
moments of a truncated normal variable are known. So the answer is exact with one bounded variable,
an integral over one with two, and an estimate with more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from kes.data.random_stream import Purpose, Stream
from kes.network.normal import Floats, between, draw_between, moments_between
from kes.network.posteriors import Mixture

_POINTS = 400
"""Points of the Gauss-Legendre rule for two bounded variables."""


class TruncatedMixture:
    """A mixture, in its first row, given that some of its continuous nodes are between bounds.

    Every configuration uses the same draws; `weights` has the shape (configurations, draws).
    """

    def __init__(
        self, mixture: Mixture, bounds: Mapping[str, tuple[float, float]], draws: int, seed: int
    ) -> None:
        self._mixture, self._bounds = mixture, bounds
        place = {node: i for i, node in enumerate(mixture.nodes)}
        first = [place[node] for node in bounds]
        self._order = [*first, *(i for i in place.values() if i not in first)]
        self._uniforms, self._shares = _points(len(first) - 1, draws, seed)
        self.is_exact = len(first) <= 2
        logs = mixture.log_weights[0]
        self._top = float(logs.max())
        parts = [self._configuration(c) for c in range(len(logs))]
        scale = np.exp(logs - self._top) if np.isfinite(self._top) else np.zeros(len(logs))
        self.weights = scale[:, np.newaxis] * np.stack([p for p, _, _ in parts]) * self._shares
        self._means, self._squares = [m for _, m, _ in parts], [s for _, _, s in parts]

    def _configuration(self, c: int) -> tuple[Floats, Floats, Floats]:
        """Return for each draw the probability of the bounds, the means, and the covariances.

        In the order of the nodes of the mixture; covariances are those around the means of the
        draw, and the same for all draws but for the last bounded variable.
        """
        mixture, order, number = self._mixture, self._order, len(self._bounds)
        mean = mixture.means[c, 0][order]
        root = np.linalg.cholesky(mixture.covariances[c][np.ix_(order, order)])
        z = np.zeros((len(self._shares), number))
        p = np.ones(len(self._shares))
        spread = np.zeros(len(self._shares))
        for i, (low, high) in enumerate(self._bounds.values()):
            centre = mean[i] + z[:, :i] @ root[i, :i]
            ends = (low - centre) / root[i, i], (high - centre) / root[i, i]
            if i < number - 1:
                p *= between(ends)
                z[:, i] = draw_between(ends, self._uniforms[:, i])
            else:
                last, z[:, i], square = moments_between(ends)
                p *= last
                spread = square - z[:, i] ** 2
        means = np.empty((len(p), len(mean)))
        means[:, order] = mean + z @ root[:, :number].T
        rest = root[:, number:] @ root[:, number:].T
        last_column = root[:, number - 1]
        around = rest + spread[:, np.newaxis, np.newaxis] * np.outer(last_column, last_column)
        covariances = np.empty_like(around)
        covariances[np.ix_(range(len(p)), order, order)] = around
        return p, means, covariances

    def log_evidence(self) -> float:
        """Return the logarithm of the probability of the evidence and the bounds."""
        total = float(self.weights.sum())
        return self._top + math.log(total) if total > 0 else -math.inf

    def distribution(self, node: str, states: int) -> tuple[Floats, Floats]:
        """Return the probabilities of the states of a discrete node, and their standard errors."""
        codes = self._mixture.codes[node]
        parts = [self.weights[codes == code].sum(axis=0) for code in range(states)]
        found = [self._ratio(part) for part in parts]
        return np.array([value for value, _ in found]), np.array([error for _, error in found])

    def moments(self, nodes: Sequence[str]) -> tuple[Floats, Floats, Floats]:
        """Return means, covariances and standard errors of the means of continuous nodes."""
        at = [self._mixture.nodes.index(node) for node in nodes]
        share = self.weights / self.weights.sum()
        means = np.stack(self._means)[:, :, at]  # configurations x draws x nodes
        within = np.stack(self._squares)[:, :, at][:, :, :, at]
        mean = np.einsum("cd,cdn->n", share, means)
        apart = means - mean
        covariance = np.einsum("cd,cdnm->nm", share, within)
        covariance += np.einsum("cd,cdn,cdm->nm", share, apart, apart)
        sums = np.einsum("cd,cdn->dn", self.weights, means)
        errors = np.array([self._ratio(column)[1] for column in sums.T])
        return mean, covariance, errors

    @property
    def relative_error(self) -> float:
        """Relative standard error of the probability of evidence and bounds."""
        totals = self.weights.sum(axis=0) / self._shares
        if self.is_exact or not totals.any():
            return 0.0
        return float(totals.std() / totals.mean() / math.sqrt(len(totals)))

    def _ratio(self, part: Floats) -> tuple[float, float]:
        """Return a weighted share of the draws, and its standard error."""
        totals = self.weights.sum(axis=0)
        value = float(part.sum() / totals.sum())
        if self.is_exact:
            return value, 0.0
        error = math.sqrt(float(((part - value * totals) ** 2).sum())) / float(totals.sum())
        return value, error


def _points(number: int, draws: int, seed: int) -> tuple[Floats, Floats]:
    """Return points in the unit cube of some dimension, and their shares."""
    if number <= 0:
        return np.zeros((1, 0)), np.ones(1)
    if number == 1:
        nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
        return (nodes[:, np.newaxis] + 1) / 2, weights / 2
    return Stream(seed, Purpose.RANGES).uniforms(draws, number), np.full(draws, 1 / draws)
