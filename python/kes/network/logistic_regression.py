"""Multinomial logistic regression: estimate logistic nodes by Newton's method.

The maximum likelihood estimate is not finite where the parents separate the states, or a state
never occurs. So, by default, `ess` imaginary cases are spread evenly over the states, with all
regressors at their means, and the slopes of scaled regressors get the penalty ess/2 times their sum
of squares (those of all states, shifted to have mean 0, so that no state is special). Without
parents, the probabilities are those of a CPT under the prior of BDeu.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes.errors import KesError, option
from kes.network.cpds import Logistic, log_softmax
from kes.network.linear_regression import scaled

_MOST_STEPS = 100
_CONVERGED = 1e-18
"""Stop when the expected gain in log-likelihood per case of the next step is smaller."""
_ENOUGH = 1e-6
"""The same for rough estimates."""
_ROUGHLY = 3_000_000
"""Upper limit of rows x states x regressors for rough estimates."""
_MANY = 600
"""With more coefficients, rough estimates ignore second derivatives between states."""
_ROUNDING = 1e-12
"""Below this, the expected gain is squared from step to step; if not, it is rounding."""
_BLOCK = 2**12
_FLAT = 1e-9
"""Curvature per case below which the likelihood has no finite maximum."""


_Look: TypeAlias = tuple[float, NDArray[np.float64], NDArray[np.float64]]


def fit_logistic(
    node: str,
    own: NDArray[np.int32],
    states: int,
    regressors: NDArray[np.float64],
    *,
    weights: NDArray[np.float64],
    ess: float | None,
    rough: bool = False,
    start: Logistic | None = None,
) -> Logistic:
    """Estimate a logistic node.

    Parameters
    ----------
    node
        The node, for messages.
    own, states
        Its codes and its number of states, at least two.
    regressors
        Shape (rows, regressors).
    weights
        Number of cases that each row stands for; all positive.
    ess
        Strength of the prior; None: maximum likelihood.
    rough
        Settle for a rough estimate, from a sample of many rows, as the rows will change again.
    start
        An estimate from nearly the same rows, to start from.
    """
    if rough:
        some = slice(None, None, 1 + len(own) * states * (1 + regressors.shape[1]) // _ROUGHLY)
        share = weights[some].sum() / weights.sum()
        own, regressors, weights = own[some], regressors[some], weights[some] / share
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
    near = None
    if start is not None:
        near = _solved(unscale, start.coefficients.T).T
    if rough and len(problem.penalty) > _MANY:
        return Logistic(problem.approach(near) @ unscale.T)
    coefficients, curvature = problem.solve(node, near, _ENOUGH if rough else _CONVERGED)
    covariance = np.linalg.inv(curvature).reshape(coefficients.shape * 2)
    variances = [
        np.diag(unscale @ covariance[state, :, state] @ unscale.T) for state in range(states - 1)
    ]
    return Logistic(coefficients @ unscale.T, errors=np.sqrt(np.maximum(variances, 0.0)))


class _Likelihood:
    """The penalised log-likelihood as a function of the coefficients."""

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
        self.rooted = self.x * np.sqrt(weights)[:, np.newaxis]
        self.own, self.weights, self.states = own, weights, states
        self.occurring = np.equal(own[:, np.newaxis], np.arange(1, states))
        # Squares of slopes around their mean over all states, those of the first being 0.
        between = penalty * (np.eye(states - 1) - 1 / states)
        slopes = np.diag([0.0] + [1.0] * x.shape[1])
        self.penalty = np.kron(between, slopes).astype(np.float64)

    def solve(
        self, node: str, start: NDArray[np.float64] | None, enough: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the maximising coefficients, and minus the second derivatives there."""
        place, cases = self._start(start), self.weights.sum()
        value, gradient, probabilities = self.look(place)
        before = np.inf
        for _ in range(_MOST_STEPS):
            curvature = self.penalty + self._curvature(probabilities)
            if np.linalg.eigvalsh(curvature)[0] < _FLAT * cases:
                _refuse(node)
            step = _solved(curvature, gradient.ravel()).reshape(place.shape)
            expected = (gradient * step).sum() / cases
            if expected <= enough or before / 2 < expected < _ROUNDING:
                return place, curvature
            before = expected
            if (found := self._gain(place, step, value)) is None:
                return place, curvature  # no step gains more than rounding
            place, (value, gradient, probabilities) = found
        _refuse(node)

    def approach(self, start: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return approximate coefficients.

        Each state takes its Newton step as if it were the only one: cheaper with many states.
        """
        place, cases = self._start(start), self.weights.sum()
        value, gradient, probabilities = self.look(place)
        states, size = place.shape
        parts = np.arange(states * size).reshape(place.shape)
        penalty = self.penalty[parts[:, :, np.newaxis], parts[:, np.newaxis, :]]
        for _ in range(_MOST_STEPS):
            step = _solved(penalty + self._own(probabilities), gradient[:, :, np.newaxis])[..., 0]
            if (gradient * step).sum() / cases <= _ENOUGH:
                break
            if (found := self._gain(place, step, value)) is None:
                break
            place, (value, gradient, probabilities) = found
        return place

    def _start(self, start: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return np.zeros((self.states - 1, self.x.shape[1])) if start is None else start

    def _gain(
        self, place: NDArray[np.float64], step: NDArray[np.float64], value: float
    ) -> tuple[NDArray[np.float64], _Look] | None:
        """Take a step, halved until it gains: the value is concave, so a short one does."""
        for _ in range(_MOST_STEPS):
            found = self.look(there := place + step)
            if found[0] >= value:
                return there, found
            step = step / 2
        return None

    def look(self, coefficients: NDArray[np.float64]) -> _Look:
        """Return the value, its gradient, and the probabilities of all states but the first."""
        odds = np.concatenate([np.zeros((len(self.x), 1)), self.x @ coefficients.T], axis=1)
        logs = log_softmax(odds)
        probabilities = np.exp(logs[:, 1:])
        pulled = (self.penalty @ coefficients.ravel()).reshape(coefficients.shape)
        value = self.weights @ logs[np.arange(len(self.own)), self.own]
        gradient = ((self.occurring - probabilities) * self.weights[:, np.newaxis]).T @ self.x
        penalised = float(value - 0.5 * (coefficients * pulled).sum())
        return penalised, gradient - pulled, probabilities

    def _own(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sums of w p_a x x' for each state: second derivatives without the others."""
        return self._of_states(sum(products.T @ x for products, x in self._products(probabilities)))

    def _curvature(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return minus the second derivatives: sums of w (p_a [a = b] - p_a p_b) x x'."""
        size = self.x.shape[1]
        both = np.zeros((probabilities.shape[1] * size,) * 2)
        own = np.zeros((len(both), size))
        for products, x in self._products(probabilities):
            both -= products.T @ products
            own += products.T @ x
        for state, part in enumerate(self._of_states(own)):
            place = slice(state * size, (state + 1) * size)
            both[place, place] += part
        return both

    def _products(
        self, probabilities: NDArray[np.float64]
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Iterate over p_a x of all states, and x, both times the root of w, by blocks of rows."""
        for start in range(0, len(self.x), _BLOCK):
            x, p = self.rooted[start : start + _BLOCK], probabilities[start : start + _BLOCK]
            yield (p[:, :, np.newaxis] * x[:, np.newaxis, :]).reshape(len(x), -1), x

    def _of_states(self, sums: ArrayLike) -> NDArray[np.float64]:
        """Return a matrix for each state, made symmetric despite rounding."""
        size = self.x.shape[1]
        parts = np.reshape(np.asarray(sums, dtype=np.float64), (-1, size, size))
        return (parts + parts.transpose(0, 2, 1)) / 2


def _solved(matrices: NDArray[np.float64], sides: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.linalg.solve(matrices, sides).astype(np.float64)


def _refuse(node: str) -> NoReturn:
    raise KesError(
        f"there is no maximum likelihood estimate for {node!r}: its parents separate its states, "
        f"or are collinear, or a state never occurs; use {option('prior', 'bdeu')}",
        option="prior",
        column=node,
    )
