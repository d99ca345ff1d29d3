"""Regression: estimate linear nodes by least squares, logistic ones by Newton's method.

*Linear nodes.* Columns are centred and scaled first, so neither units nor distant origins matter.
With N cases, p independent regressors and the sum of squared residuals RSS, the variance is RSS / N
by maximum likelihood, and RSS / (N - p - 1), which is unbiased, otherwise.

Where least squares has no unique solution, maximum likelihood is an error. Otherwise:

* Collinear regressors: the solution with the smallest coefficients (of scaled columns) is taken,
  which shares an effect evenly among copies of a column.
* Fewer than p + 2 cases: `ess` imaginary cases are added, in which every column has the mean and
  variance that it has in the data and none depends on another.
* A node that its parents determine: the variance is at least 1e-9 of that of its column.

*Logistic nodes.* The maximum likelihood estimate is not finite where the parents separate the
states, or a state never occurs. So, by default, `ess` imaginary cases are spread evenly over the
states, with all regressors at their means, and the slopes of scaled regressors get the penalty
ess/2 times their sum of squares (those of all states, shifted to have mean 0, so that no state is
special). Without parents, the probabilities are those of a CPT under the prior of BDeu.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes.errors import KesError, listed, option
from kes.network.cpds import Linear, Logistic, log_softmax
from kes.network.large_logistic import grouped, maximise

_MANY_CELLS = 2**22
"""Cells of a table of regressors above which it is reduced to a triangle first."""

DETERMINED = 1e-9
"""Share of a column's variance below which others determine it, as in the criteria."""


class Scaled(NamedTuple):
    """Columns centred and scaled to unit variance; constant ones are all 0, with scale 1."""

    values: NDArray[np.float64]
    means: NDArray[np.float64]
    scales: NDArray[np.float64]
    constant: NDArray[np.bool_]


def scaled(columns: NDArray[np.float64], weights: NDArray[np.float64]) -> Scaled:
    """Scale columns, shape (rows, columns), by the moments of their weighted rows."""
    constant = columns.min(axis=0) == columns.max(axis=0)
    means = np.where(constant, columns[0], weights @ columns / weights.sum())
    centred = columns - means
    scales = np.sqrt(weights @ centred**2 / weights.sum())
    scales[constant] = 1.0
    return Scaled(centred / scales, means, scales, constant)


def fit_linear(
    node: str,
    own: NDArray[np.float64],
    regressors: NDArray[np.float64],
    names: Sequence[str],
    *,
    weights: NDArray[np.float64],
    ess: float | None,
    degree: int = 1,
) -> Linear:
    """Estimate a linear node from rows of positive weight.

    `ess` imaginary cases are added where they are needed; None means maximum likelihood. `degree`
    is that of the regressors.
    """
    target = scaled(own[:, np.newaxis], weights)
    if target.constant[0]:
        zeros, errors = np.zeros(len(names)), np.zeros(1 + len(names))
        return Linear(own[0], zeros, deviation=0.0, errors=errors, degree=degree)
    given = scaled(regressors, weights)
    cases, roots = weights.sum(), np.sqrt(weights)
    y = target.values[:, 0] * roots
    x = given.values * roots[:, np.newaxis]
    if x.size > _MANY_CELLS:
        x, y = _reduced(x, y)
    u, d, vt = np.linalg.svd(x, full_matrices=False)
    independent = d**2 > DETERMINED * cases
    free = cases - independent.sum() - 1
    if ess is None and (free <= 0 or independent.sum() < len(names)):
        _refuse_linear(node, names, x, cases)
    imaginary = 0.0 if ess is None or free >= 1 else ess
    inverse = np.zeros_like(d)
    np.divide(1.0, d**2 + imaginary, out=inverse, where=independent | (imaginary > 0))
    slopes = vt.T @ (inverse * d * (u.T @ y))
    rss = float(np.sum((y - x @ slopes) ** 2) + imaginary * (slopes @ slopes + 1))
    unbiased = max(rss / (max(free, 0.0) + imaginary), DETERMINED)
    variance = unbiased if ess is not None else rss / cases
    if variance < DETERMINED:
        raise KesError(
            f"the parents of {node!r} determine it: {listed(names)}; the maximum likelihood "
            f"estimate has no variance, so use {option('prior', 'bdeu')}, or leave a column out",
            option="prior",
            column=node,
        )
    covariance = unbiased * (vt.T * inverse) @ vt
    of_mean = unbiased / (cases + imaginary)
    return _in_units(
        target,
        given,
        slopes,
        covariance,
        deviation=variance**0.5,
        of_mean=of_mean,
        degree=degree,
    )


def _reduced(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return few rows with the same products of columns: the triangular factor of all."""
    triangle: NDArray[np.float64] = np.asarray(np.linalg.qr(np.column_stack([x, y]), mode="r"))
    return triangle[:, :-1], triangle[:, -1]


def _in_units(
    target: Scaled,
    given: Scaled,
    slopes: NDArray[np.float64],
    covariance: NDArray[np.float64],
    *,
    deviation: float,
    of_mean: float,
    degree: int,
) -> Linear:
    """Undo the scaling of an estimate.

    At the means of the columns the estimate is 0, with the variance `of_mean`.
    """
    unit = target.scales[0]
    coefficients = slopes * unit / given.scales
    spread = covariance * np.outer(unit / given.scales, unit / given.scales)
    of_intercept = of_mean * unit**2 + given.means @ spread @ given.means
    return Linear(
        target.means[0] - coefficients @ given.means,
        coefficients,
        deviation=unit * deviation,
        errors=np.sqrt(np.maximum([of_intercept, *np.diag(spread)], 0.0)),
        degree=degree,
    )


def _refuse_linear(
    node: str, names: Sequence[str], x: NDArray[np.float64], cases: float
) -> NoReturn:
    """Raise an error that says why there is no maximum likelihood estimate."""
    remedy = f"use {option('prior', 'bdeu')}, or other parents"
    if cases <= len(names) + 1:
        raise KesError(
            f"the node {node!r} has {len(names)} regressors, {listed(names)}, for which "
            f"{cases:g} cases are too few: {remedy}",
            option="prior",
            column=node,
        )
    pivots = np.diag(np.linalg.qr(x, mode="r")) ** 2
    determined = [name for name, p in zip(names, pivots, strict=True) if p <= DETERMINED * cases]
    raise KesError(
        f"the regressors of {node!r}, {listed(names)}, are collinear: earlier ones determine "
        f"{listed(determined)}, so their coefficients are not unique; {remedy}",
        option="prior",
        column=node,
    )


_MOST_STEPS, _ROUGH_STEPS = 100, 20
_CONVERGED = 1e-18
"""Stop when the expected gain in log-likelihood per case of the next step is smaller."""
_ENOUGH = 1e-6
"""The same for rough estimates."""
_ROUGHLY = 3_000_000
"""Upper limit of rows x states x regressors for rough estimates."""
_MANY = 120
"""With more coefficients, rough estimates ignore second derivatives between states."""
_LARGE, _HUGE = 4e8, 2e9
"""Products of a step of Newton's method above which equal rows are merged first, and above which
another method is used: it would take seconds."""
_WIDE = 400
"""Coefficients above which that method is used in large problems: Newton's solves an equation for
all of them together in each step."""
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
    degree: int = 1,
    rough: bool = False,
    start: Logistic | None = None,
    check: Callable[[], None] = lambda: None,
) -> Logistic:
    """Estimate a logistic node with at least two states from rows of positive weight.

    `ess` is the strength of the prior; None means maximum likelihood. A rough estimate, from a
    sample of many rows, is enough if the rows will change again. `start` is an estimate from
    nearly the same rows, to start from. `check` is called in each step of Newton's
    method.
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
    # In units of the columns: intercept - sum of slope x mean / scale, and slope / scale.
    unscale = np.diag(1 / np.concatenate([[1.0], given.scales]))
    unscale[0, 1:] = -given.means / given.scales
    near = np.zeros((states - 1, len(unscale)))
    if start is not None:
        near = _solved(unscale, start.coefficients.T).T
    if not rough and len(x) * near.size**2 > _LARGE:
        data = grouped(x, own, states, weights)
        rows, codes = np.nonzero(data.cases)
        if ess is not None and (near.size > _WIDE or len(rows) * near.size**2 > _HUGE):
            found = maximise(data.with_constant(), penalty, near)
            return Logistic(found @ unscale.T, degree=degree)
        x, own, weights = data.x[rows], codes.astype(own.dtype), data.cases[rows, codes]
    problem = _PenalisedLikelihood(x, own, states, weights=weights, penalty=penalty, check=check)
    if rough and len(problem.penalty) > _MANY:
        return Logistic(problem.approach(near) @ unscale.T, degree=degree)
    coefficients, curvature = problem.solve(node, near, _ENOUGH if rough else _CONVERGED)
    covariance = np.linalg.inv(curvature).reshape(coefficients.shape * 2)
    variances = [
        np.diag(unscale @ covariance[state, :, state] @ unscale.T) for state in range(states - 1)
    ]
    errors = np.sqrt(np.maximum(variances, 0.0))
    return Logistic(coefficients @ unscale.T, errors=errors, degree=degree)


class _PenalisedLikelihood:
    """The penalised log-likelihood as a function of the coefficients."""

    def __init__(
        self,
        x: NDArray[np.float64],
        own: NDArray[np.int32],
        states: int,
        *,
        weights: NDArray[np.float64],
        penalty: float,
        check: Callable[[], None],
    ) -> None:
        self.check = check
        self.x = np.concatenate([np.ones((len(x), 1)), x], axis=1)
        self.rooted = self.x * np.sqrt(weights)[:, np.newaxis]
        self.own, self.weights = own, weights
        self.occurring = np.equal(own[:, np.newaxis], np.arange(1, states))
        # Squares of slopes around their mean over all states, those of the first being 0.
        between = penalty * (np.eye(states - 1) - 1 / states)
        slopes = np.diag([0.0] + [1.0] * x.shape[1])
        self.penalty = np.kron(between, slopes).astype(np.float64)

    def solve(
        self, node: str, place: NDArray[np.float64], enough: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the maximising coefficients, and minus the second derivatives there."""
        cases = self.weights.sum()
        value, gradient, probabilities = self.look(place)
        before = np.inf
        for _ in range(_MOST_STEPS):
            curvature = self.penalty + self._curvature(probabilities)
            try:
                np.linalg.cholesky(curvature - _FLAT * cases * np.eye(len(curvature)))
            except np.linalg.LinAlgError:
                _refuse_logistic(node)
            step = _solved(curvature, gradient.ravel()).reshape(place.shape)
            expected = (gradient * step).sum() / cases
            if expected <= enough or before / 2 < expected < _ROUNDING:
                return place, curvature
            before = expected
            # Near the maximum, values differ by rounding only, and full steps converge.
            least = -np.inf if expected < _ROUNDING else value
            if (found := self._gain(place, step, least)) is None:
                return place, curvature  # no step gains more than rounding
            place, (value, gradient, probabilities) = found
        _refuse_logistic(node)

    def approach(self, place: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return approximate coefficients.

        Each state takes its Newton step as if it were the only one: cheaper with many states.
        """
        cases = self.weights.sum()
        value, gradient, probabilities = self.look(place)
        states, size = place.shape
        parts = np.arange(states * size).reshape(place.shape)
        penalty = self.penalty[parts[:, :, np.newaxis], parts[:, np.newaxis, :]]
        for _ in range(_ROUGH_STEPS):
            step = _solved(penalty + self._own(probabilities), gradient[:, :, np.newaxis])[..., 0]
            enough = (gradient * step).sum() / cases <= _ENOUGH
            if enough or (found := self._gain(place, step, value)) is None:
                break
            place, (value, gradient, probabilities) = found
        return place

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
        self.check()
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


def _refuse_logistic(node: str) -> NoReturn:
    raise KesError(
        f"there is no maximum likelihood estimate for {node!r}: its parents separate its states, "
        f"or are collinear, or a state never occurs; use {option('prior', 'bdeu')}",
        option="prior",
        column=node,
    )
