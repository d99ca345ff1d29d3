"""Logistic regression with many rows and many coefficients, in seconds.

A step of Newton's method costs the rows times the square of the number of coefficients: hours for a
hundred destinations of three hundred thousand flights. Here

* rows with the same regressors are one row with a number of cases for each state, which changes
  nothing in the likelihood;
* a quasi-Newton method (L-BFGS [Nocedal 1980]) needs only gradients. It starts from an upper bound
  on the second derivatives [Böhning 1992], with which no step is too long.

Where the parents nearly determine the states, coefficients grow without much effect on the
likelihood; then the last steps, and not the maximum, decide how large they are.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

_BLOCK = 2**10
_MOST_STEPS, _MEMORY, _HALVINGS = 60, 30, 40
_ENOUGH = 1e-9
"""Stop when the expected gain in log-likelihood per case of the next step is smaller."""


class Grouped(NamedTuple):
    """Distinct rows of regressors, and the cases of each state in them: (rows, states)."""

    x: Floats
    cases: Floats

    def with_constant(self) -> Grouped:
        """Return the same with a first regressor that is always 1."""
        return Grouped(np.concatenate([np.ones((len(self.x), 1)), self.x], axis=1), self.cases)


def grouped(x: Floats, own: NDArray[np.int32], states: int, weights: Floats) -> Grouped:
    """Merge rows with the same regressors."""
    # Rows are distinguished by one number. Different rows with the same number are not merged.
    key = x @ np.sin(np.arange(1.0, 1 + x.shape[1]))
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    if not all(
        np.array_equal(x[start : start + _BLOCK], x[first[place[start : start + _BLOCK]]])
        for start in range(0, len(x), _BLOCK)
    ):
        first = place = np.arange(len(x))
    cells = place * states + own
    cases = np.bincount(cells, weights=weights, minlength=len(first) * states)
    return Grouped(x[first], cases.astype(np.float64).reshape(len(first), states))


def maximise(data: Grouped, penalty: float, start: Floats) -> Floats:
    """Return the coefficients of all states but the first, shape (states - 1, regressors).

    The first regressor is the constant. `penalty` is the factor of half the squares of the slopes
    around their mean over all states.
    """
    cases, place = data.cases.sum(), start
    bound = _bound(data, penalty)
    value, gradient = _look(data, penalty, place)
    pairs: deque[tuple[Floats, Floats]] = deque(maxlen=_MEMORY)
    for _ in range(_MOST_STEPS):
        step = _direction(gradient, bound, pairs)
        if (gradient * step).sum() / cases <= _ENOUGH:
            break
        for _ in range(_HALVINGS):  # the value is concave, so a short step gains
            found, there = _look(data, penalty, place + step)
            if found >= value:
                break
            step = step / 2
        else:
            break
        change = gradient - there
        if (step * change).sum() > 0:
            pairs.append((step, change))
        place, value, gradient = place + step, found, there
    return place


def _look(data: Grouped, penalty: float, place: Floats) -> tuple[float, Floats]:
    """Return the penalised log-likelihood and its gradient."""
    gradient = -penalty * (place - place.sum(axis=0) / (len(place) + 1))
    gradient[:, 0] = 0.0
    value = 0.5 * float((place * gradient).sum())
    every = np.concatenate([np.zeros((1, place.shape[1])), place])
    for start in range(0, len(data.x), _BLOCK):
        x, cases = data.x[start : start + _BLOCK], data.cases[start : start + _BLOCK].T
        terms = every @ x.T
        terms -= terms.max(axis=0)
        value += float((cases * terms).sum())
        np.exp(terms, out=terms)  # in place: most of the time is spent here
        totals, sizes = terms.sum(axis=0), cases.sum(axis=0)
        value -= float(sizes @ np.log(totals))
        terms *= sizes / totals
        gradient += ((cases - terms) @ x)[1:]
    return value, gradient


def _bound(data: Grouped, penalty: float) -> Floats:
    """Return the inverse of twice the bound on minus the second derivatives, of one state."""
    products = (data.x * data.cases.sum(axis=1)[:, np.newaxis]).T @ data.x
    products += np.diag([0.0] + [penalty] * (len(products) - 1))
    products += 1e-9 * np.trace(products) * np.eye(len(products))  # regressors may be collinear
    inverse: Floats = 2 * np.linalg.inv(products)
    return inverse


def _direction(gradient: Floats, bound: Floats, pairs: deque[tuple[Floats, Floats]]) -> Floats:
    """Return the step of L-BFGS, by its two loops."""
    rest, kept = gradient.copy(), []
    for step, change in reversed(pairs):
        share = (step * rest).sum() / (step * change).sum()
        rest -= share * change
        kept.append(share)
    result = _bounded(rest, bound)
    if pairs:
        step, change = pairs[-1]
        result *= (step * change).sum() / (change * _bounded(change, bound)).sum()
    for (step, change), share in zip(pairs, reversed(kept), strict=True):
        result += (share - (change * result).sum() / (step * change).sum()) * step
    return result


def _bounded(vector: Floats, bound: Floats) -> Floats:
    """Multiply by the inverse of the bound: 2 (1 + 1 1') for the states, times that of one."""
    each = vector @ bound
    both: Floats = each + each.sum(axis=0)
    return both
