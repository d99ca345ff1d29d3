"""Queries about hidden nodes: exact where that is possible, by weighted draws elsewhere.

==========================================  =========================================
hidden nodes that matter                    method
==========================================  =========================================
all discrete                                variable elimination (exact)
all continuous, with linear families        normal posterior (exact)
all continuous, some other nodes logistic   weighted draws from the normal posterior
or curves of them
both, none discrete with a continuous one   mixture of normal posteriors (exact), if
among its parents, none a curve             there are few configurations
others                                      likelihood weighting
==========================================  =========================================

Continuous nodes that are only known to lie in a range turn normal posteriors and mixtures into
truncated ones (`kes.network.truncation`), and the rest into likelihood weighting.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kes.network.evidence import Evidence, HiddenNodes
from kes.network.posteriors import (
    Draws,
    Mixture,
    Posterior,
    draw_forward,
    draw_normal,
    integrate,
    is_mixture,
    mixture,
)
from kes.network.truncation import TruncatedMixture
from kes.table import Table

_SMALL = 0.00005
_BLOCK = 2**20
"""Draws, of all rows together, that are held in memory at a time."""


class Answer(NamedTuple):
    """The posterior of a node in each row.

    The values are probabilities of the states, shape (rows, states), or means, shape (rows, 1);
    NaN where the evidence is impossible. If they are exact, their standard errors are 0 and the
    effective sample size is infinite. The standard deviations of a discrete node are 0.
    """

    values: NDArray[np.float64]
    deviations: NDArray[np.float64]
    errors: NDArray[np.float64]
    sample_size: NDArray[np.float64]


class Query:
    """A query about hidden targets, given evidence that includes the constants.

    Every row uses the same random numbers, so its answer does not depend on the other rows.
    `sample_size` is that of the draws behind `moments`; infinite if all is exact.
    """

    def __init__(
        self, evidence: Evidence, targets: Iterable[str] = (), *, draws: int, seed: int = 0
    ) -> None:
        self._evidence, self._states = evidence, evidence.network.states
        self._draws, self._seed = draws, seed
        self.hidden = HiddenNodes(evidence, targets)
        self.sample_size = math.inf

    def log_probabilities(self) -> NDArray[np.float64]:
        """Return ln of the probability of the evidence in each row."""
        result = self._evidence.log_probabilities(self.hidden.settled())
        for component in self.hidden.components:
            result += self.log_evidence(component)
        return result

    def log_evidence(self, component: Sequence[str]) -> NDArray[np.float64]:
        """Return ln of the sum or integral over a component."""
        if self._is_discrete(component):
            return self.hidden.log_evidence(component)
        if self._is_truncated(component):
            return np.array([self._truncated(component).log_evidence()])
        if self._is_linear(component):
            return self._integrate(component).log_evidence
        if self._is_mixture(component):
            return self._mixture(component).log_evidence()
        return np.concatenate([draws.log_evidence() for draws in self._blocks(component)])

    def answer(self, target: str) -> Answer:
        """Return the posterior of a target."""
        if target in self._evidence.columns:  # a constant
            return exact_answer(self._evidence.columns[target][:, np.newaxis])
        component = self.hidden.component(target)
        if self._is_discrete(component):
            return exact_answer(self.hidden.posterior(component, target))
        if self._is_truncated(component):
            return self._truncated_answer(component, target)
        if self._is_linear(component):
            found, place = self._integrate(component), component.index(target)
            deviation = found.covariance[place, place] ** 0.5
            return exact_answer(found.means[:, place : place + 1], deviation)
        if self._is_mixture(component):
            return self._mixture_answer(component, target)
        states = len(self._states[target])
        parts = [_estimated(draws, target, states) for draws in self._blocks(component)]
        return Answer(*map(np.concatenate, zip(*parts, strict=True)))

    def _mixture_answer(self, component: Sequence[str], target: str) -> Answer:
        mixed = self._mixture(component)
        if states := len(self._states[target]):
            return exact_answer(mixed.distribution(target, states))
        mean, spread = mixed.spread(target)
        return exact_answer(mean[:, np.newaxis], spread)

    def between(self, target: str, low: float, high: float) -> Probability:
        """Return the probability that a continuous target is between bounds, in the first row."""
        if target in self._evidence.columns:
            return Probability(float(low < self._evidence.columns[target][0] <= high))
        component = self.hidden.component(target)
        known = self._evidence.bounds.get(target, (-math.inf, math.inf))
        ends = max(low, known[0]), min(high, known[1])
        if ends[0] >= ends[1]:
            return Probability(0.0)
        if self._is_linear(component) or self._is_mixture(component):
            bounds = {node: b for node, b in self._evidence.bounds.items() if node in component}
            here = self._truncated(component, bounds)
            both = self._truncated(component, {**bounds, target: ends})
            value = math.exp(min(0.0, both.log_evidence() - here.log_evidence()))
            return Probability(value, value * math.hypot(here.relative_error, both.relative_error))
        draws = next(self._blocks(component))
        weights, drawn = draws.weights()[0], draws.columns[target][0]
        self.sample_size = float(1 / (weights**2).sum())
        inside = (drawn > low) & (drawn <= high)
        value = float(weights @ inside)
        error = float(np.sqrt(((weights * (inside - value)) ** 2).sum()))
        return Probability(value, max(error, 1 / self.sample_size))

    def moments(self, nodes: Sequence[str]) -> Moments:
        """Return the moments of continuous nodes, observed or targets, in the first row."""
        observed = [node for node in nodes if node in self._evidence.columns]
        groups = [g for g in self.hidden.components if not set(g).isdisjoint(nodes)]
        groups = [[node for node in group if not self._states[node]] for group in groups]
        parts = [self._moments_of(group) for group in groups]
        order = [*observed, *(node for group in groups for node in group)]
        mean, error = np.zeros(len(order)), np.zeros(len(order))
        covariance = np.zeros((len(order), len(order)))
        mean[: len(observed)] = [self._evidence.columns[node][0] for node in observed]
        start = len(observed)
        for part in parts:
            at = slice(start, start := start + len(part.nodes))
            mean[at], covariance[at, at], error[at] = part.mean, part.covariance, part.error
        return Moments(tuple(order), mean, covariance, error).of(nodes)

    def _moments_of(self, nodes: Sequence[str]) -> Moments:
        """Return the moments of the continuous nodes of a component in the first row."""
        component = self.hidden.component(nodes[0])
        if self._is_truncated(component):
            return Moments(tuple(nodes), *self._truncated(component).moments(nodes))
        if self._is_linear(component):
            found = self._integrate(component)
            exact = np.zeros(len(component))
            return Moments(tuple(component), found.means[0], found.covariance, exact)
        if self._is_mixture(component):
            mean, covariance = self._mixture(component).moments(0)
            return Moments(tuple(nodes), mean, covariance, np.zeros(len(nodes)))
        draws = next(self._blocks(component))
        weights = draws.weights()[0]
        self.sample_size = min(self.sample_size, float(1 / (weights**2).sum()))
        values = np.stack([draws.columns[node][0] for node in nodes])
        mean = values @ weights
        apart = values - mean[:, np.newaxis]
        error = np.sqrt(((weights * apart) ** 2).sum(axis=1))
        return Moments(tuple(nodes), mean, (apart * weights) @ apart.T, error)

    def _is_discrete(self, component: Sequence[str]) -> bool:
        return all(self._states[node] for node in component)

    def _is_continuous(self, component: Sequence[str]) -> bool:
        return not any(self._states[node] for node in component)

    def _is_linear(self, component: Sequence[str]) -> bool:
        touched = self.hidden.touching(component)
        return self._is_continuous(component) and not any(
            self._states[node] or self._evidence.is_curved(node, component) for node in touched
        )

    def _is_mixture(self, component: Sequence[str]) -> bool:
        return not self._is_continuous(component) and is_mixture(
            self._evidence, component, self.hidden.touching(component)
        )

    def _mixture(self, component: Sequence[str]) -> Mixture:
        return mixture(self._evidence, component, self.hidden.touching(component))

    def _is_bounded(self, component: Sequence[str]) -> bool:
        return not self._evidence.bounds.keys().isdisjoint(component)

    def _is_truncated(self, component: Sequence[str]) -> bool:
        """Tell whether the posterior is a truncated normal distribution or mixture."""
        return self._is_bounded(component) and (
            self._is_linear(component) or self._is_mixture(component)
        )

    def _truncated(
        self, component: Sequence[str], bounds: Mapping[str, tuple[float, float]] | None = None
    ) -> TruncatedMixture:
        if bounds is None:
            own = self._evidence.bounds
            bounds = {node: own[node] for node in own if node in component}
        return TruncatedMixture(self._mixture(component), bounds, self._draws, self._seed)

    def _truncated_answer(self, component: Sequence[str], target: str) -> Answer:
        found = self._truncated(component)
        if states := len(self._states[target]):
            values, errors = found.distribution(target, states)
            return Answer(values[np.newaxis], np.zeros(1), errors[np.newaxis], np.full(1, np.inf))
        mean, covariance, error = found.moments([target])
        spread = np.sqrt(covariance[0])
        return Answer(mean[np.newaxis], spread, error[np.newaxis], np.full(1, np.inf))

    def _integrate(self, component: Sequence[str]) -> Posterior:
        return integrate(self._evidence, component, self.hidden.touching(component))

    def _blocks(self, component: Sequence[str]) -> Iterator[Draws]:
        """Draw a component, for blocks of rows that fit into memory."""
        is_curved = any(self._evidence.is_curved(node, component) for node in component)
        is_forward = is_curved or self._is_bounded(component) or not self._is_continuous(component)
        draw = draw_forward if is_forward else draw_normal
        touched = self.hidden.touching(component)
        for block in self._evidence.blocks(max(1, _BLOCK // self._draws)):
            yield draw(block, component, touched, self._draws, self._seed)


def exact_answer(
    values: NDArray[np.float64], deviation: float | NDArray[np.float64] = 0.0
) -> Answer:
    """Return an answer without errors."""
    rows = len(values)
    return Answer(values, np.full(rows, deviation), np.zeros_like(values), np.full(rows, np.inf))


def _estimated(draws: Draws, target: str, states: int) -> Answer:
    """Estimate the distribution, or mean and deviation, of a node."""
    weights, drawn = draws.weights(), draws.columns[target]
    each = [drawn == code for code in range(states)] if states else [drawn]
    values = np.stack([(weights * f).sum(axis=1) for f in each], axis=1)
    apart = [f - value[:, np.newaxis] for f, value in zip(each, values.T, strict=True)]
    errors = np.stack([np.sqrt(((weights * a) ** 2).sum(axis=1)) for a in apart], axis=1)
    share_of_one = (weights**2).sum(axis=1)
    if states:  # also of a state in no draw, or in all
        errors = np.maximum(errors, share_of_one[:, np.newaxis])
    spread = np.zeros(len(weights)) if states else (weights * apart[0] ** 2).sum(axis=1)
    return Answer(values, np.sqrt(spread), errors, 1 / share_of_one)


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Means and covariances of some nodes.

    Attributes
    ----------
    nodes : tuple of str
        The nodes, in order.
    mean : ndarray, shape (nodes,)
        Their means.
    covariance : ndarray, shape (nodes, nodes)
        Their covariances.
    error : ndarray, shape (nodes,)
        Standard errors of the means, if these were estimated by drawing; 0 if they are exact.
    """

    nodes: tuple[str, ...]
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    error: NDArray[np.float64]

    @property
    def deviation(self) -> NDArray[np.float64]:
        """Standard deviations."""
        return np.sqrt(np.diag(self.covariance))

    def table(self) -> Table:
        """Return a row for each node: mean, standard deviation, and errors that are not 0."""
        columns: dict[str, Sequence[object]] = {
            "node": self.nodes,
            "mean": self.mean.tolist(),
            "deviation": self.deviation.tolist(),
        }
        if self.error.any():
            columns["standard_error"] = self.error.tolist()
        return Table(columns)

    def of(self, nodes: Sequence[str]) -> Moments:
        """Return the moments of some of the nodes, in this order."""
        at = [self.nodes.index(node) for node in nodes]
        return Moments(tuple(nodes), self.mean[at], self.covariance[np.ix_(at, at)], self.error[at])

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@dataclass(frozen=True, repr=False)
class Probability:
    """A probability, exact or estimated by drawing.

    Attributes
    ----------
    value : float
        The probability.
    error : float
        Its standard error; 0 if the value is exact. That of a share of n draws is at least 1/n,
        even if all draws agree.

    Examples
    --------
    >>> print(Probability(0.3125, 0.0046))
    0.3125 ± 0.0046
    >>> Probability(1 / 3)
    Probability(0.333333)
    """

    value: float
    error: float = 0.0

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if not self.error:
            return f"{self.value:.4f}"
        digits = ".4f" if self.error >= _SMALL else ".1g"  # no error is shown as 0
        return f"{self.value:.4f} ± {self.error:{digits}}"

    def __repr__(self) -> str:
        error = f", error={self.error:.2g}" if self.error else ""
        return f"Probability({self.value:.6g}{error})"
