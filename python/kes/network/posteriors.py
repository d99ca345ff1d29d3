"""Posteriors of hidden nodes: normal distributions, mixtures of them, and weighted draws.

*Normal posteriors* are exact where all hidden nodes are continuous and their families linear. Every
family says that some linear function of the hidden values u is normal: a'u has mean t and standard
deviation s, where t follows from the evidence of a row. The product of such densities is
proportional to a normal density of u with the precision P = sum of a a' / s^2 and the mean
P^-1 (sum of a t / s^2). Only the nodes of one component are in u, so this costs the cube of their
number, however large the network is.

*Mixtures.* If discrete nodes are hidden, too, and none of them depends on a hidden continuous one,
the posterior is a mixture with one normal distribution for each configuration of their states,
weighted by the integral over the continuous nodes [Lauritzen 1992].

*Likelihood weighting.* Otherwise, hidden nodes are drawn one after the other given their parents,
and each draw is weighted by the probability of the observed nodes [Fung & Chang 1990]. If all
hidden nodes are continuous, and none is a curve of others, they are drawn from their exact
posterior given the linear nodes, and only logistic nodes and curves give weights. The weighted mean
of a function f of the draws estimates its expectation given the evidence, and the mean weight
estimates the probability of the evidence. With weights w that sum to 1, the standard error is about
sqrt(sum of w^2 (f - mean)^2), and the effective sample size is 1 / (sum of w^2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, pi, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kes.data.normal_scores import quantiles
from kes.data.random_stream import Purpose, Stream
from kes.network.cpds import Linear
from kes.network.evidence import Evidence
from kes.network.normal import LEAST_UNIFORM, between, draw_between
from kes.network.regressors import Values, regressor_places

MOST_CELLS = 1024
"""Largest number of components of a mixture."""


class Posterior(NamedTuple):
    """The normal distribution of hidden nodes in each row, with the log of the integral.

    Means have the shape (rows, nodes); the covariance is the same in all rows.
    """

    log_evidence: NDArray[np.float64]
    means: NDArray[np.float64]
    covariance: NDArray[np.float64]


def integrate(evidence: Evidence, component: Sequence[str], nodes: Sequence[str]) -> Posterior:
    """Multiply densities of linear nodes, and integrate over a hidden continuous component.

    `nodes` are linear ones, those of the component among them; none of the latter is constant.
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

    `codes` are the states of each discrete node in the configurations. `log_weights`, of shape
    (rows, configurations), are logarithms of the joint probabilities with the evidence. Means have
    the shape (configurations, rows, nodes), covariances (configurations, nodes, nodes).
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

    They are if no discrete node depends on a hidden continuous one, and no other by a curve.
    """
    network = evidence.network
    numbers = {node for node in component if not network.states[node]}
    cells = prod(len(network.states[node]) for node in component if node not in numbers)
    return cells <= MOST_CELLS and not any(
        (network.states[node] and not numbers.isdisjoint(network.parents[node]))
        or evidence.is_curved(node, numbers)
        for node in touched
    )


def mixture(evidence: Evidence, component: Sequence[str], touched: Sequence[str]) -> Mixture:
    """Integrate over the continuous nodes of a component, for each configuration of the others."""
    states = evidence.network.states
    numbers = tuple(node for node in component if not states[node])
    discrete = [node for node in component if states[node]]
    linear = [node for node in touched if not states[node]]
    tables = [node for node in touched if states[node]]
    sizes = [len(states[node]) for node in discrete]
    cells = np.indices(sizes).reshape(len(sizes), prod(sizes))
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


@dataclass(frozen=True)
class Draws:
    """Weighted draws of hidden nodes; columns and weights have the shape (rows, draws)."""

    columns: Mapping[str, Values]
    log_weights: NDArray[np.float64]

    def log_evidence(self) -> NDArray[np.float64]:
        """Return the logarithm of the mean weight in each row."""
        top = self._top()
        with np.errstate(divide="ignore"):
            means: NDArray[np.float64] = np.log(np.exp(self.log_weights - top).mean(axis=1))
        return means + top[:, 0]

    def weights(self) -> NDArray[np.float64]:
        """Return weights that sum to 1 in each row; NaN where all are zero."""
        raw = np.exp(self.log_weights - self._top())
        with np.errstate(invalid="ignore"):
            weights: NDArray[np.float64] = raw / raw.sum(axis=1, keepdims=True)
        return weights

    def _top(self) -> NDArray[np.float64]:
        top = self.log_weights.max(axis=1, keepdims=True)
        return np.where(np.isneginf(top), 0.0, top)


def draw_forward(
    evidence: Evidence, component: Sequence[str], touched: Sequence[str], draws: int, seed: int
) -> Draws:
    """Draw hidden nodes given their parents; observed and bounded nodes give the weights.

    `touched` are the nodes whose families contain any of the component, which is in topological
    order. Every row uses the same random numbers.
    """
    uniforms = Stream(seed, Purpose.QUERIES).uniforms(draws, len(component)).T
    drawn = _repeated(evidence, touched, draws)
    of_bounds = np.zeros(drawn.rows)
    for node, numbers in zip(component, uniforms, strict=True):
        model, inputs = evidence.network.local(node), drawn.inputs(node)
        if node in evidence.bounds:
            assert isinstance(model, Linear), "only continuous nodes have bounds"
            mean, (low, high) = model.mean(inputs), evidence.bounds[node]
            ends = (low - mean) / model.deviation, (high - mean) / model.deviation
            scores = draw_between(ends, np.tile(numbers, evidence.rows))
            values: Values = mean + model.deviation * scores
            with np.errstate(divide="ignore"):
                of_bounds += np.log(between(ends))
        else:
            values = model.draw(inputs, np.tile(numbers, evidence.rows))
        drawn = drawn.with_columns({node: values})
    logs = of_bounds + drawn.log_probabilities([n for n in touched if n in evidence.columns])
    shape = (evidence.rows, draws)
    columns = {node: drawn.columns[node].reshape(shape) for node in component}
    return Draws(columns, logs.reshape(shape))


def draw_normal(
    evidence: Evidence, component: Sequence[str], touched: Sequence[str], draws: int, seed: int
) -> Draws:
    """Draw hidden continuous nodes given all linear nodes; the others give the weights.

    A single node is not drawn at random: evenly spread quantiles are more accurate.
    """
    linear = [
        node
        for node in touched
        if isinstance(evidence.network.local(node), Linear)
        and not evidence.is_curved(node, component)
    ]
    found = integrate(evidence, component, linear)
    if len(component) > 1:
        uniforms = Stream(seed, Purpose.QUERIES).uniforms(draws, len(component))
    else:
        uniforms = (np.arange(draws)[:, np.newaxis] + 0.5) / draws
    normals = quantiles(np.maximum(uniforms, LEAST_UNIFORM))
    spread = normals @ np.linalg.cholesky(found.covariance).T
    values = found.means.T[:, :, np.newaxis] + spread.T[:, np.newaxis, :]
    columns = dict(zip(component, values, strict=True))
    drawn = _repeated(evidence, touched, draws)
    drawn = drawn.with_columns({node: column.reshape(-1) for node, column in columns.items()})
    logs = drawn.log_probabilities([node for node in touched if node not in linear])
    weights = logs.reshape(evidence.rows, draws) + found.log_evidence[:, np.newaxis]
    return Draws(columns, weights)


def _repeated(evidence: Evidence, touched: Sequence[str], draws: int) -> Evidence:
    """Repeat each row for every draw, keeping only the columns of the given families."""
    network = evidence.network
    needed = {member for node in touched for member in (node, *network.parents[node])}
    columns = {n: np.repeat(evidence.columns[n], draws) for n in evidence.columns if n in needed}
    return Evidence(network, columns, evidence.rows * draws)
