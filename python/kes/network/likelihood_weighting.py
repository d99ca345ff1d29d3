"""Weighted draws: what is unknown is drawn, and what is known weighs the draws.

In likelihood weighting [Fung & Chang 1990], unknown nodes are drawn one after the other given their
parents, and each draw gets the probability of the known nodes as its weight. If all unknown nodes
are continuous, the linear families have told exactly what they are, and only logistic nodes weigh.

The weighted mean of a function f of the draws estimates its expectation given what is known, and
the mean weight the probability of that. With weights w that sum to 1, the standard error is about
sqrt(sum of w^2 (f - mean)^2), and the draws are worth 1 / (sum of w^2) unweighted ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kes.data.normal_scores import quantiles
from kes.data.random_stream import Stream
from kes.network.cpds import LEAST_UNIFORM, Linear, Values
from kes.network.evidence import Known
from kes.network.gaussian_posterior import integrate


@dataclass(frozen=True)
class Draws:
    """Weighted draws of unknown nodes.

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
    known: Known, component: Sequence[str], touched: Sequence[str], draws: int, seed: int
) -> Draws:
    """Draw unknown nodes given their parents; known nodes weigh.

    Parameters
    ----------
    known
        What is known.
    component
        Unknown nodes that bear on each other and on no others, parents before children.
    touched
        The nodes whose families have any of them.
    draws
        Number of draws for each row.
    seed
        The same random numbers serve every row.
    """
    uniforms = Stream(seed).uniforms(draws, len(component)).T
    drawn = _repeated(known, touched, draws)
    for node, numbers in zip(component, uniforms, strict=True):
        values = known.network.local(node).draw(drawn.inputs(node), np.tile(numbers, known.rows))
        drawn = drawn.with_columns({node: values})
    logs = drawn.log_probabilities([node for node in touched if node in known.columns])
    shape = (known.rows, draws)
    columns = {node: drawn.columns[node].reshape(shape) for node in component}
    return Draws(columns, logs.reshape(shape))


def draw_normal(
    known: Known, component: Sequence[str], touched: Sequence[str], draws: int, seed: int
) -> Draws:
    """Draw unknown continuous nodes given all linear nodes; logistic nodes weigh.

    A single node is not drawn at random: evenly spread quantiles do better.
    """
    linear = [node for node in touched if isinstance(known.network.local(node), Linear)]
    found = integrate(known, component, linear)
    if len(component) > 1:
        uniforms = Stream(seed).uniforms(draws, len(component))
    else:
        uniforms = (np.arange(draws)[:, np.newaxis] + 0.5) / draws
    normals = quantiles(np.maximum(uniforms, LEAST_UNIFORM))
    spread = normals @ np.linalg.cholesky(found.covariance).T
    values = found.means.T[:, :, np.newaxis] + spread.T[:, np.newaxis, :]
    columns = dict(zip(component, values, strict=True))
    drawn = _repeated(known, touched, draws)
    drawn = drawn.with_columns({node: column.reshape(-1) for node, column in columns.items()})
    logs = drawn.log_probabilities([node for node in touched if node not in linear])
    weights = logs.reshape(known.rows, draws) + found.log_evidence[:, np.newaxis]
    return Draws(columns, weights)


def _repeated(known: Known, touched: Sequence[str], draws: int) -> Known:
    """Repeat each row as often as there are draws; leave out what is in none of the families."""
    network = known.network
    needed = {member for node in touched for member in (node, *network.parents[node])}
    columns = {n: np.repeat(known.columns[n], draws) for n in known.columns if n in needed}
    return Known(network, columns, known.rows * draws)
