"""Exact answers where unknown nodes are discrete and continuous, and continuous ones are linear.

Given the states of the unknown discrete nodes, the continuous ones are normal, and how probable the
states are follows from the integral over these [Lauritzen 1992]. So the answer is a mixture with
one normal distribution for each combination of states, as long as there are not too many of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from kes.network.evidence import Known
from kes.network.gaussian_posterior import integrate

MOST_CELLS = 1024
"""Combinations of states that are looked at."""


@dataclass(frozen=True)
class Mixture:
    """A normal distribution of continuous nodes for each combination of states of discrete ones.

    Attributes
    ----------
    codes
        For each discrete node its state in each combination.
    nodes
        The continuous nodes.
    log_weights
        Logarithm of the probability of each combination together with what is known, shape (rows,
        combinations).
    means
        Shape (combinations, rows, nodes).
    covariances
        Shape (combinations, nodes, nodes).
    """

    codes: Mapping[str, NDArray[np.intp]]
    nodes: tuple[str, ...]
    log_weights: NDArray[np.float64]
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]

    def log_evidence(self) -> NDArray[np.float64]:
        """Return the logarithm of the probability of what is known, in each row."""
        total: NDArray[np.float64] = np.logaddexp.reduce(self.log_weights, axis=1)
        return total

    def weights(self) -> NDArray[np.float64]:
        """Return the probability of each combination, in each row; NaN in impossible rows."""
        with np.errstate(invalid="ignore"):
            weights: NDArray[np.float64] = np.exp(
                self.log_weights - self.log_evidence()[:, np.newaxis]
            )
        return weights

    def distribution(self, node: str, states: int) -> NDArray[np.float64]:
        """Return the probabilities of the states of a discrete node, shape (rows, states)."""
        weights = self.weights()
        parts = [weights[:, self.codes[node] == code].sum(axis=1) for code in range(states)]
        return np.stack(parts, axis=1)

    def moments(self, row: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return means and covariances of the continuous nodes in a row."""
        weights, means = self.weights()[row], self.means[:, row]
        mean: NDArray[np.float64] = weights @ means
        apart = means - mean
        within = np.tensordot(weights, self.covariances, axes=1)
        covariance: NDArray[np.float64] = within + (apart * weights[:, np.newaxis]).T @ apart
        return mean, covariance

    def spread(self, node: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean and standard deviation of a continuous node in each row."""
        place, weights = self.nodes.index(node), self.weights()
        means = self.means[:, :, place].T
        mean = (weights * means).sum(axis=1)
        variance = self.covariances[:, place, place] + (means - mean[:, np.newaxis]) ** 2
        return mean, np.sqrt((weights * variance).sum(axis=1))


def is_mixture(known: Known, component: Sequence[str], touched: Sequence[str]) -> bool:
    """Tell whether unknown nodes are a mixture of few enough normal distributions.

    They are if no discrete node depends on an unknown continuous one.
    """
    network = known.network
    numbers = {node for node in component if not network.states[node]}
    cells = prod(len(network.states[node]) for node in component if node not in numbers)
    return cells <= MOST_CELLS and not any(
        network.states[node] and not numbers.isdisjoint(network.parents[node]) for node in touched
    )


def mixture(known: Known, component: Sequence[str], touched: Sequence[str]) -> Mixture:
    """Integrate over the continuous nodes of a component, for all states of the discrete ones."""
    states = known.network.states
    numbers = tuple(node for node in component if not states[node])
    discrete = [node for node in component if states[node]]
    linear = [node for node in touched if not states[node]]
    tables = [node for node in touched if states[node]]
    cells = np.indices([len(states[node]) for node in discrete]).reshape(len(discrete), -1)
    logs, means, covariances = [], [], []
    for cell in cells.T:
        given = {n: np.full(known.rows, c, np.int32) for n, c in zip(discrete, cell, strict=True)}
        told = known.with_columns(given)
        found = integrate(told, numbers, linear)
        logs.append(found.log_evidence + told.log_probabilities(tables))
        means.append(found.means)
        covariances.append(found.covariance)
    codes = dict(zip(discrete, cells, strict=True))
    return Mixture(codes, numbers, np.stack(logs, axis=1), np.array(means), np.array(covariances))
