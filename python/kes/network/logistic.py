"""Estimating logistic nodes: multinomial logistic regression by Newton's method.

Maximum likelihood has no finite answer where the parents separate the states, or a state never
occurs. So, by default, `ess` imaginary cases are spread evenly over the states, with all regressors
at their means, and the slopes of scaled regressors get the penalty ess/2 times their sum of squares
(those of all states, shifted to have the mean 0, so that no state is special). Without parents,
the probabilities are those of a table under the prior of BDeu.
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
"""Gain in log-likelihood per case, which the next step promises, at which to stop."""
_ENOUGH = 1e-6
"""The same of rough estimates."""
_ROUGHLY = 3_000_000
"""Rows x states x regressors that a rough estimate looks at, at most."""
_MANY = 600
"""Coefficients, from which on a rough estimate knows no second derivatives between states."""
_ROUNDING = 1e-12
"""Below this a promise falls with its square from step to step; if not, it is rounding."""
_BLOCK = 2**12
_FLAT = 1e-9
"""Curvature per case below which the likelihood has no maximum to speak of."""


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
        Its codes, and how many states it has; at least two.
    regressors
        Shape (rows, regressors).
    weights
        Cases that each row stands for; all positive.
    ess
        Strength of the prior; None: maximum likelihood.
    rough
        Whether it need not be exact, as rows will change again: of many rows, some are looked at.
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
        """Return the best coefficients, and minus the second derivatives there."""
        place, cases = self._start(start), self.weights.sum()
        value, gradient, chances = self.look(place)
        before = np.inf
        for _ in range(_MOST_STEPS):
            curvature = self.penalty + self._curvature(chances)
            if np.linalg.eigvalsh(curvature)[0] < _FLAT * cases:
                _refuse(node)
            step = _solved(curvature, gradient.ravel()).reshape(place.shape)
            promised = (gradient * step).sum() / cases
            if promised <= enough or before / 2 < promised < _ROUNDING:
                return place, curvature
            before = promised
            if (found := self._gain(place, step, value)) is None:
                return place, curvature  # no step gains more than rounding
            place, (value, gradient, chances) = found
        _refuse(node)

    def approach(self, start: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return good coefficients.

        Each state takes its step as if it were the only one: many that cost little, where there are
        many states.
        """
        place, cases = self._start(start), self.weights.sum()
        value, gradient, chances = self.look(place)
        states, size = place.shape
        parts = np.arange(states * size).reshape(place.shape)
        penalty = self.penalty[parts[:, :, np.newaxis], parts[:, np.newaxis, :]]
        for _ in range(_MOST_STEPS):
            step = _solved(penalty + self._own(chances), gradient[:, :, np.newaxis])[..., 0]
            if (gradient * step).sum() / cases <= _ENOUGH:
                break
            if (found := self._gain(place, step, value)) is None:
                break
            place, (value, gradient, chances) = found
        return place

    def _start(self, start: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return np.zeros((self.states - 1, self.x.shape[1])) if start is None else start

    def _gain(
        self, place: NDArray[np.float64], step: NDArray[np.float64], value: float
    ) -> tuple[NDArray[np.float64], _Look] | None:
        """Go on by a step, or half of it and so on: the value is concave, so a short one gains."""
        for _ in range(_MOST_STEPS):
            found = self.look(there := place + step)
            if found[0] >= value:
                return there, found
            step = step / 2
        return None

    def look(self, coefficients: NDArray[np.float64]) -> _Look:
        """Return the value, its gradient, and the chances of all states but the first."""
        odds = np.concatenate([np.zeros((len(self.x), 1)), self.x @ coefficients.T], axis=1)
        logs = log_softmax(odds)
        chances = np.exp(logs[:, 1:])
        pulled = (self.penalty @ coefficients.ravel()).reshape(coefficients.shape)
        value = self.weights @ logs[np.arange(len(self.own)), self.own]
        gradient = ((self.occurring - chances) * self.weights[:, np.newaxis]).T @ self.x
        penalised = float(value - 0.5 * (coefficients * pulled).sum())
        return penalised, gradient - pulled, chances

    def _own(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sums of w p_a x x' for each state: what second derivatives are without others."""
        return self._of_states(sum(products.T @ x for products, x in self._products(chances)))

    def _curvature(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return minus the second derivatives: sums of w (p_a [a = b] - p_a p_b) x x'."""
        size = self.x.shape[1]
        both = np.zeros((chances.shape[1] * size,) * 2)
        own = np.zeros((len(both), size))
        for products, x in self._products(chances):
            both -= products.T @ products
            own += products.T @ x
        for state, part in enumerate(self._of_states(own)):
            place = slice(state * size, (state + 1) * size)
            both[place, place] += part
        return both

    def _products(
        self, chances: NDArray[np.float64]
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Go through p_a x of all states, and x, both times the root of w.

        Of some rows at a time, so that they stay near.
        """
        for start in range(0, len(self.x), _BLOCK):
            x, p = self.rooted[start : start + _BLOCK], chances[start : start + _BLOCK]
            yield (p[:, :, np.newaxis] * x[:, np.newaxis, :]).reshape(len(x), -1), x

    def _of_states(self, sums: ArrayLike) -> NDArray[np.float64]:
        """Return a matrix for each state, symmetric, which sums are but for rounding."""
        size = self.x.shape[1]
        parts = np.reshape(np.asarray(sums, dtype=np.float64), (-1, size, size))
        return (parts + parts.transpose(0, 2, 1)) / 2


def _solved(matrices: NDArray[np.float64], sides: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.linalg.solve(matrices, sides).astype(np.float64)


def _refuse(node: str) -> NoReturn:
    raise KesError(
        f"maximum likelihood has no answer for {node!r}: its parents separate its states, or "
        f"determine each other, or a state never occurs; use {option('prior', 'bdeu')}"
    )
