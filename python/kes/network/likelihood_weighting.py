"""Likelihood weighting: draw hidden nodes, weight the draws by the evidence.

Hidden nodes are drawn one after the other given their parents, and each draw is weighted by the
probability of the observed nodes [Fung & Chang 1990]. If all hidden nodes are continuous, they are
drawn from their exact posterior given the linear nodes, and only logistic nodes give weights.

The weighted mean of a function f of the draws estimates its expectation given the evidence, and the
mean weight estimates the probability of the evidence. With weights w that sum to 1, the standard
error is about sqrt(sum of w^2 (f - mean)^2), and the effective sample size is 1 / (sum of w^2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kes.data.normal_scores import quantiles
from kes.data.resampling import Stream
from kes.network.cpds import LEAST_UNIFORM, Linear, Values
from kes.network.evidence import Evidence
from kes.network.gaussian_posterior import integrate


@dataclass(frozen=True)
class Draws:
    """Weighted draws of hidden nodes.

    Attributes
    ----------
    columns
        For each node its draws, shape (rows, draws).
    log_weights
        Logarithms of the weights, of the same shape.
    """

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
    """Draw hidden nodes given their parents; observed nodes give the weights.

    Parameters
    ----------
    evidence
        The observed columns.
    component
        A component of hidden nodes, in topological order.
    touched
        The nodes whose families contain any of them.
    draws
        Number of draws for each row.
    seed
        Every row uses the same random numbers.
    """
    uniforms = Stream(seed).uniforms(draws, len(component)).T
    drawn = _repeated(evidence, touched, draws)
    for node, numbers in zip(component, uniforms, strict=True):
        values = evidence.network.local(node).draw(
            drawn.inputs(node), np.tile(numbers, evidence.rows)
        )
        drawn = drawn.with_columns({node: values})
    logs = drawn.log_probabilities([node for node in touched if node in evidence.columns])
    shape = (evidence.rows, draws)
    columns = {node: drawn.columns[node].reshape(shape) for node in component}
    return Draws(columns, logs.reshape(shape))


def draw_normal(
    evidence: Evidence, component: Sequence[str], touched: Sequence[str], draws: int, seed: int
) -> Draws:
    """Draw hidden continuous nodes given all linear nodes; logistic nodes give the weights.

    A single node is not drawn at random: evenly spread quantiles are more accurate.
    """
    linear = [node for node in touched if isinstance(evidence.network.local(node), Linear)]
    found = integrate(evidence, component, linear)
    if len(component) > 1:
        uniforms = Stream(seed).uniforms(draws, len(component))
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
