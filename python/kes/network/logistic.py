"""Estimating logistic nodes: multinomial logistic regression by Newton's method.

Maximum likelihood has no finite answer where the parents separate the states, or a state never
occurs. So, by default, `ess` imaginary cases are spread evenly over the states, with all regressors
at their means, and the slopes of scaled regressors get the penalty ess/2 times their sum of squares
(those of all states, shifted to have the mean 0, so that no state is special). Without parents,
the probabilities are those of a table under the prior of BDeu.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from kes.errors import KesError, option
from kes.network.local import Logistic, log_softmax
from kes.network.regression import scaled

_MOST_STEPS = 100
_CONVERGED = 1e-18
"""Gain in log-likelihood per case, which the next step promises, at which to stop."""
_ENOUGH = 1e-8
"""The same, where rows will change again."""
_ROUNDING = 1e-12
"""Below this a promise falls with its square from step to step; if not, it is rounding."""
_BLOCK = 2**12
_FLAT = 1e-9
"""Curvature per case below which the likelihood has no maximum to speak of."""


def fit_logistic(
    node: str,
    own: NDArray[np.int32],
    states: int,
    regressors: NDArray[np.float64],
    *,
    weights: NDArray[np.float64],
    ess: float | None,
    start: Logistic | None = None,
) -> Logistic:
    """Estimate a logistic node.

    Parameters
    ----------
    node
        The node, for messages.
    own, states
        Its codes, and how many states it has; at least two.
    regressors
        Shape (rows, regressors).
    weights
        Cases that each row stands for; all positive.
    ess
        Strength of the prior; None: maximum likelihood.
    start
        An estimate from nearly the same rows, to start from. What comes of it need not be exact:
        rows will change again.
    """
    given = scaled(regressors, weights)
    x, penalty = given.values, 0.0
    if ess is not None:
        penalty = ess
        x = np.concatenate([x, np.zeros((states, x.shape[1]))])
        own = np.concatenate([own, np.arange(states, dtype=own.dtype)])
        weights = np.concatenate([weights, np.full(states, ess / states)])
    problem = _Likelihood(x, own, states, weights=weights, penalty=penalty)
    # In units of the columns: intercept - sum of slope x mean / scale, and slope / scale.
    unscale = np.diag(1 / np.concatenate([[1.0], given.scales]))
    unscale[0, 1:] = -given.means / given.scales
    if start is None:
        coefficients, curvature = problem.solve(node)
    else:
        near = np.linalg.solve(unscale, start.coefficients.T).T.astype(np.float64)
        coefficients, curvature = problem.solve(node, near, enough=_ENOUGH)
    covariance = np.linalg.inv(curvature).reshape(coefficients.shape * 2)
    variances = [
        np.diag(unscale @ covariance[state, :, state] @ unscale.T) for state in range(states - 1)
    ]
    return Logistic(coefficients @ unscale.T, errors=np.sqrt(np.maximum(variances, 0.0)))


class _Likelihood:
    """The penalised log-likelihood of coefficients, of all states but the first."""

    def __init__(
        self,
        x: NDArray[np.float64],
        own: NDArray[np.int32],
        states: int,
        *,
        weights: NDArray[np.float64],
        penalty: float,
    ) -> None:
        self.x = np.concatenate([np.ones((len(x), 1)), x], axis=1)
        self.own, self.weights, self.states = own, weights, states
        self.occurring = np.equal(own[:, np.newaxis], np.arange(1, states))
        # Squares of slopes around their mean over all states, those of the first being 0.
        between = penalty * (np.eye(states - 1) - 1 / states)
        slopes = np.diag([0.0] + [1.0] * x.shape[1])
        self.penalty = np.kron(between, slopes).astype(np.float64)

    def solve(
        self, node: str, start: NDArray[np.float64] | None = None, enough: float = _CONVERGED
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the best coefficients, and minus the second derivatives there."""
        shape = (self.states - 1, self.x.shape[1])
        place = np.zeros(shape).ravel() if start is None else start.ravel()
        cases = self.weights.sum()
        value, gradient, curvature = self.look(place.reshape(shape))
        before = np.inf
        for _ in range(_MOST_STEPS):
            if np.linalg.eigvalsh(curvature)[0] < _FLAT * cases:
                _refuse(node)
            step = np.linalg.solve(curvature, gradient)
            promised = gradient @ step / cases
            if promised <= enough or before / 2 < promised < _ROUNDING:
                return place.reshape(shape), curvature
            before = promised
            for _ in range(_MOST_STEPS):  # concave, so a short step gains
                found = self.look((place + step).reshape(shape))
                if found[0] >= value:
                    break
                step /= 2
            else:
                return place.reshape(shape), curvature  # no step gains more than rounding
            place = place + step
            value, gradient, curvature = found
        _refuse(node)

    def look(
        self, coefficients: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the value, its gradient, and minus its second derivatives."""
        odds = np.concatenate([np.zeros((len(self.x), 1)), self.x @ coefficients.T], axis=1)
        logs = log_softmax(odds)
        chances = np.exp(logs[:, 1:])
        pulled = self.penalty @ coefficients.ravel()
        value = self.weights @ logs[np.arange(len(self.own)), self.own]
        gradient = ((self.occurring - chances) * self.weights[:, np.newaxis]).T @ self.x
        curvature = self.penalty + self._curvature(chances)
        penalised = float(value - 0.5 * coefficients.ravel() @ pulled)
        slope: NDArray[np.float64] = gradient.ravel() - pulled
        return penalised, slope, curvature

    def _curvature(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return minus the second derivatives: sums of w (p_a [a = b] - p_a p_b) x x'.

        Of some rows at a time, so that the products of chances and regressors stay near.
        """
        states, size = chances.shape[1], self.x.shape[1]
        own = np.zeros((states, size, size))
        both = np.zeros((states * size, states * size))
        for start in range(0, len(self.x), _BLOCK):
            x, p = self.x[start : start + _BLOCK], chances[start : start + _BLOCK]
            weighted = p * self.weights[start : start + _BLOCK, np.newaxis]
            products = (weighted[:, :, np.newaxis] * x[:, np.newaxis, :]).reshape(len(x), -1)
            own += (products.T @ x).reshape(states, size, size)
            both += products.T @ (p[:, :, np.newaxis] * x[:, np.newaxis, :]).reshape(len(x), -1)
        both = -(both + both.T) / 2  # symmetric but for rounding
        for state in range(states):
            part = slice(state * size, (state + 1) * size)
            both[part, part] += (own[state] + own[state].T) / 2
        return both


def _refuse(node: str) -> NoReturn:
    raise KesError(
        f"maximum likelihood has no answer for {node!r}: its parents separate its states, or "
        f"determine each other, or a state never occurs; use {option('prior', 'bdeu')}"
    )
