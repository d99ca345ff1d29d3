"""Exact posteriors of hidden continuous nodes whose families are all linear.

Every family says that some linear function of the hidden values u is normal: a'u has mean t and
standard deviation s, where t follows from the evidence of a row. The product of such densities is
proportional to a normal density of u with the precision P = sum of a a' / s^2 and the mean
P^-1 (sum of a t / s^2). Only the nodes of one component are in u, so this costs the cube of their
number, however large the network is.

If discrete nodes are hidden, too, and none of them depends on a hidden continuous one, the
posterior is a mixture with one normal distribution for each configuration of their states, weighted
by the integral over the continuous nodes [Lauritzen 1992].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, pi, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kes.network.cpds import Linear, regressor_places
from kes.network.evidence import Evidence

MOST_CELLS = 1024
"""Largest number of components of a mixture."""


class Posterior(NamedTuple):
    """The normal distribution of hidden nodes in each row.

    Attributes
    ----------
    log_evidence
        Logarithm of the integral, shape (rows,).
    means
        Shape (rows, nodes).
    covariance
        Shape (nodes, nodes): the same in all rows.
    """

    log_evidence: NDArray[np.float64]
    means: NDArray[np.float64]
    covariance: NDArray[np.float64]


def integrate(evidence: Evidence, component: Sequence[str], nodes: Sequence[str]) -> Posterior:
    """Multiply densities of linear nodes, and integrate over hidden values.

    Parameters
    ----------
    evidence
        The observed columns.
    component
        The hidden nodes, all continuous and none constant.
    nodes
        The nodes whose densities are multiplied: linear ones, those of the component among them.
    """
    network = evidence.network
    place = {node: i for i, node in enumerate(component)}
    filled = evidence.with_columns({node: np.zeros(evidence.rows) for node in component})
    signs, targets, deviations = [], [], []
    for node in nodes:
        model = network.local(node)
        assert isinstance(model, Linear), "only linear nodes are integrated"
        levels = [len(network.states[parent]) for parent in network.parents[node]]
        sign = np.zeros(len(component))
        for parent, at in zip(network.parents[node], regressor_places(levels), strict=True):
            if parent in place:
                sign[place[parent]] = -model.coefficients[at.start]
        if node in place:
            sign[place[node]] = 1.0
        signs.append(sign)
        targets.append(model.mean(filled.inputs(node)) - filled.columns[node])
        deviations.append(model.deviation)
    a = np.array(signs) / np.array(deviations)[:, np.newaxis]
    t = np.array(targets).T / np.array(deviations)
    precision = a.T @ a
    scales = np.sqrt(np.diag(precision))  # makes the result independent of units
    root = np.linalg.cholesky(precision / np.outer(scales, scales))
    inverse = np.linalg.solve(root, np.diag(1 / scales))
    covariance = inverse.T @ inverse
    means = t @ a @ covariance
    apart = means @ a.T - t
    log_evidence = -0.5 * (apart**2).sum(axis=1) + (
        0.5 * (len(component) - len(nodes)) * log(2 * pi)
        - np.log(deviations).sum()
        - np.log(np.diag(root)).sum()
        - np.log(scales).sum()
    )
    return Posterior(log_evidence, means, covariance)


@dataclass(frozen=True)
class Mixture:
    """A normal distribution of continuous nodes for each configuration of discrete ones.

    Attributes
    ----------
    codes
        For each discrete node its state in each configuration.
    nodes
        The continuous nodes.
    log_weights
        Logarithm of the joint probability of each configuration and the evidence, shape (rows,
        configurations).
    means
        Shape (configurations, rows, nodes).
    covariances
        Shape (configurations, nodes, nodes).
    """

    codes: Mapping[str, NDArray[np.intp]]
    nodes: tuple[str, ...]
    log_weights: NDArray[np.float64]
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]

    def log_evidence(self) -> NDArray[np.float64]:
        """Return the logarithm of the probability of the evidence, in each row."""
        total: NDArray[np.float64] = np.logaddexp.reduce(self.log_weights, axis=1)
        return total

    def weights(self) -> NDArray[np.float64]:
        """Return the posterior of the configurations, in each row; NaN in impossible rows."""
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


def is_mixture(evidence: Evidence, component: Sequence[str], touched: Sequence[str]) -> bool:
    """Tell whether hidden nodes are a mixture of few enough normal distributions.

    They are if no discrete node depends on a hidden continuous one.
    """
    network = evidence.network
    numbers = {node for node in component if not network.states[node]}
    cells = prod(len(network.states[node]) for node in component if node not in numbers)
    return cells <= MOST_CELLS and not any(
        network.states[node] and not numbers.isdisjoint(network.parents[node]) for node in touched
    )


def mixture(evidence: Evidence, component: Sequence[str], touched: Sequence[str]) -> Mixture:
    """Integrate over the continuous nodes of a component, for each configuration of the others."""
    states = evidence.network.states
    numbers = tuple(node for node in component if not states[node])
    discrete = [node for node in component if states[node]]
    linear = [node for node in touched if not states[node]]
    tables = [node for node in touched if states[node]]
    cells = np.indices([len(states[node]) for node in discrete]).reshape(len(discrete), -1)
    logs, means, covariances = [], [], []
    for cell in cells.T:
        given = {
            n: np.full(evidence.rows, c, np.int32) for n, c in zip(discrete, cell, strict=True)
        }
        filled = evidence.with_columns(given)
        found = integrate(filled, numbers, linear)
        logs.append(found.log_evidence + filled.log_probabilities(tables))
        means.append(found.means)
        covariances.append(found.covariance)
    codes = dict(zip(discrete, cells, strict=True))
    return Mixture(codes, numbers, np.stack(logs, axis=1), np.array(means), np.array(covariances))
