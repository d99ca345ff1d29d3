"""Causal effects by adjustment for the parents of the cause.

If x has the parents Pa in the true network, intervening on x gives [Pearl 2009, Thm 3.2.2]

    P(y | do(x))  =  sum over pa of  P(y | x, pa) P(pa)

If x, y and Pa are discrete, both factors are estimated from counts: P(pa) by relative frequencies,
and P(y | x, pa) smoothed as the CPDs of `kes.fit`. If y is discrete but another is continuous,
P(y | x, pa) is a logistic regression, and its mean over the cases is taken (standardisation). So an
effect on a probability is a difference of probabilities, however far x is moved. If y is
continuous, the effect is a slope: the coefficient of x in the linear regression of y on x and Pa,
in which a discrete variable is replaced by indicators of its states.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Column, Continuous, Discrete
from kes.data.dataset import Dataset
from kes.network.one_thread import one_thread
from kes.network.regression import fit_logistic

ESS = 1.0
"""Equivalent sample size of the prior: the default of `kes.fit`."""


@dataclass(frozen=True)
class Contrast:
    """The two interventions on the cause x that are compared, and the outcome y.

    `states` are codes of x; None for a continuous x, which is raised by one unit. `outcome` is the
    code of the state of y whose probability changes, None for the mean of a continuous y.
    """

    x: str
    y: str
    states: tuple[int, int] | None
    outcome: int | None


# --- discrete tables -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Interventions:
    """Distributions of y under the interventions that set x to each of its states.

    `table` is P(y | do(x)), `seen` tells for each state of x and configuration of the parents
    whether it occurs (elsewhere the estimate is the prior), and `shares` is P(pa).
    """

    table: NDArray[np.float64]
    seen: NDArray[np.bool_]
    shares: NDArray[np.float64]

    def unseen(self, states: Sequence[int]) -> float:
        """Return the share of cases in configurations that lack one of these states of x."""
        return float(self.shares[~self.seen[list(states)].all(axis=0)].sum())


def interventions(data: Dataset, x: str, y: str, parents: Sequence[str]) -> Interventions:
    """Estimate the distribution of y under each intervention on x, adjusting for its parents."""
    codes = data.select([*parents, x, y]).codes
    above, cause, outcome = codes[:-2], codes[-2], codes[-1]
    sizes = [len(data.states[data.names.index(name)]) for name in (*parents, x, y)]
    place = np.zeros(data.rows, dtype=np.intp)
    if parents:
        place = np.unique(above, axis=1, return_inverse=True)[1].reshape(-1)
    shape = (int(place.max(initial=0)) + 1, sizes[-2], sizes[-1])
    cells = np.ravel_multi_index((place, cause, outcome), shape)
    counts = np.bincount(cells, weights=data.weights, minlength=prod(shape)).reshape(shape)
    cases = counts.sum(axis=2)
    shares = cases.sum(axis=1) / cases.sum()
    smoothed = counts + ESS / prod(sizes)
    given = smoothed / smoothed.sum(axis=2, keepdims=True)
    return Interventions(np.einsum("p,pxy->xy", shares, given), cases.T > 0, shares)


def margin(data: Dataset, y: str) -> NDArray[np.float64]:
    """Return the smoothed marginal distribution of y."""
    states = len(data.states[data.names.index(y)])
    codes = data.select([y]).codes[0]
    counts = np.bincount(codes, weights=data.weights, minlength=states) + ESS / states
    shares: NDArray[np.float64] = counts / counts.sum()
    return shares


# --- continuous and mixed tables -----------------------------------------------------------------


@one_thread()
def standardised(
    data: Dataset, contrast: Contrast, parents: Sequence[str]
) -> NDArray[np.float64] | None:
    """Estimate the distribution of a discrete y under interventions on x, by logistic regression.

    Returns a row for each state of a discrete x; for a continuous one two rows, for x as it is and
    one unit higher in every case. None if the parents determine x.
    """
    column = dict(zip(data.names, data.columns, strict=True))
    cause, outcome = column[contrast.x], column[contrast.y]
    assert isinstance(outcome, Discrete), "the outcome has states"
    weights = np.ones(data.rows) if data.weights is None else data.weights
    x, others = _embedded(cause), _side_by_side([column[name] for name in parents], data.rows)
    if np.isnan(coefficients(outcome.codes.astype(np.float64), x, others, weights)).any():
        return None
    counts = weights > 0
    model = fit_logistic(
        contrast.y,
        outcome.codes[counts].astype(np.int32),
        len(outcome.states),
        np.hstack([x, others])[counts],
        weights=weights[counts],
        ess=ESS,
    )
    settings = (
        [x, x + 1.0]
        if isinstance(cause, Continuous)
        else [np.tile(row, (data.rows, 1)) for row in np.eye(len(cause.states))[:, 1:]]
    )
    shares = weights / weights.sum()
    found = [shares @ np.exp(model.log_distribution(np.hstack([s, others]))) for s in settings]
    return np.array(found)


def slope(data: Dataset, contrast: Contrast, parents: Sequence[str]) -> float:
    """Return the effect on a continuous y by linear regression; NaN if the parents determine x."""
    column = dict(zip(data.names, data.columns, strict=True))
    cause, outcome = _embedded(column[contrast.x]), column[contrast.y]
    assert isinstance(outcome, Continuous), "the outcome has values"
    others = _side_by_side([column[name] for name in parents], data.rows)
    found = coefficients(outcome.values, cause, others, data.weights)
    if contrast.states is None:
        return float(found[0])
    change = np.zeros(len(found) + 1)  # the first state has no indicator
    change[contrast.states[1]] += 1
    change[contrast.states[0]] -= 1
    return float(change[1:] @ found)


@one_thread()
def coefficients(
    target: NDArray[np.float64],
    cause: NDArray[np.float64],
    others: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the coefficients of `cause` in the regression of a target on it and others.

    Computed from the residuals of both after regression on the others and a constant [Frisch &
    Waugh 1933], so that the others may be collinear.
    It is NaN if the cause is collinear with the others. `weights` are numbers of cases.
    """
    root = np.sqrt(np.ones(len(target)) if weights is None else weights)[:, None]
    design = root * np.hstack([np.ones((len(target), 1)), others])
    both = root * np.hstack([cause, target[:, None]])
    rest = both - design @ np.linalg.lstsq(design, both, rcond=None)[0]
    left, scale = rest[:, :-1], np.linalg.norm(root * (cause - cause.mean(axis=0)), axis=0)
    if np.any(scale == 0) or np.linalg.matrix_rank(left / scale, tol=1e-7) < left.shape[1]:
        return np.full(left.shape[1], np.nan)
    found: NDArray[np.float64] = np.linalg.lstsq(left, rest[:, -1], rcond=None)[0]
    return found


def _side_by_side(columns: Sequence[Column], rows: int) -> NDArray[np.float64]:
    """Return the regressors of some variables."""
    return np.hstack([np.empty((rows, 0)), *map(_embedded, columns)])


def _embedded(column: Column) -> NDArray[np.float64]:
    """Return the regressors of a variable: its values, or indicators of its states but one."""
    if isinstance(column, Continuous):
        return column.values[:, None]
    later = np.arange(1, len(column.states))
    indicators: NDArray[np.float64] = (column.codes[:, None] == later).astype(np.float64)
    return indicators
