"""Gibbs sampling of missing values.

One *sweep* draws every missing value once from its distribution given all others in the row, which
depends on the Markov blanket only:

    p(y | rest)  is proportional to  p(y | pa(y)) * product over children c of p(c | pa(c))

All rows in which y is missing are drawn at once. The sweeps form a Markov chain whose limit is the
joint distribution of all missing values [Geman & Geman 1984].

A discrete node takes each state in proportion to this product. For a continuous node, its own
normal distribution times those of its linear children is again normal. Logistic children do not fit
into it, nor do curves: the draw is then a proposal, accepted with the probability that they give
(Metropolis within Gibbs).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data.dataset import Dataset
from kes.data.normal_scores import quantiles
from kes.data.random_stream import Stream
from kes.data.resampling import Stack
from kes.network.base import Network
from kes.network.cpds import Inputs, Linear, Local, Logistic, Tabular
from kes.network.normal import LEAST_UNIFORM
from kes.network.regressors import MANY, Values, main_effects, regressor_places

SWEEPS = 10
"""Estimates for one structure, each followed by a sweep."""

_CELLS = 2**23
"""Probabilities of states in a block of rows."""

Check: TypeAlias = Callable[[], None]
"""Called often while missing values are imputed; raises `OutOfTime` to end that."""


class OutOfTime(Exception):
    """The budget has ended."""


def impute(
    stack: Stack,
    estimate: Callable[[Dataset], Network],
    stream: Stream,
    *,
    sweeps: int = SWEEPS,
    check: Check = lambda: None,
) -> int:
    """Impute missing values by stochastic EM: estimate a network and draw from it, in turn.

    The missing values of the stack are filled in place. The estimated networks (the M-step) must
    have no probability of zero, or the chain could get stuck. Return the number of sweeps done: if
    `check` ends one, the values are those before it.
    """
    for done in range(sweeps):
        before = stack.values()
        try:
            sweep(estimate(stack.dataset()), stack, stream, check)
        except OutOfTime:
            stack.restore(before)
            return done
    return sweeps


def sweep(network: Network, stack: Stack, stream: Stream, check: Check = lambda: None) -> None:
    """Draw every missing value of a stack once (the E-step, by sampling).

    The network has a node for each variable of the stack, in their order, and no probability of
    zero.
    """
    place = {node: i for i, node in enumerate(network.nodes)}
    families = [_Family(network, node, place) for node in network.nodes]
    for v, rows in enumerate(stack.gaps):
        if rows.size:
            check()
            own, children = families[v], [one for one in families if v in one.parents]
            columns = _Part(stack.copies, rows)
            if own.levels[-1]:
                stack.put(v, _states(v, [own, *children], columns, stream, check))
            else:
                stack.put(v, _numbers(v, own, children, columns, stream))


class _Family:
    """A node and its parents, as indices of columns, and its CPD."""

    def __init__(self, network: Network, node: str, place: dict[str, int]) -> None:
        members = (*network.parents[node], node)
        self.model: Local = network.local(node)
        self.members = [place[member] for member in members]
        self.levels = [len(network.states[member]) for member in members]

    @property
    def parents(self) -> list[int]:
        return self.members[:-1]

    def has_shifts(self, v: int) -> bool:
        """Return whether each state of a parent shifts the mean by the same in all rows."""
        model = self.model
        if not isinstance(model, Linear) or v not in self.parents or not model.deviation:
            return False
        return model.coefficients.size == main_effects(self.levels[:-1], model.degree)

    def inputs(self, columns: _Part) -> Inputs:
        """Return what the CPD needs of the parents in each row."""
        given = [columns[member] for member in self.parents]
        return self.model.inputs(given, self.levels[:-1], columns.rows)

    def log_probability(self, columns: _Part, v: int, value: Values) -> NDArray[np.float64]:
        """Return ln p(node | parents) in each row, with another value of one member."""
        taken = [value if member == v else columns[member] for member in self.members]
        inputs = self.model.inputs(taken[:-1], self.levels[:-1], columns.rows)
        return self.model.log_probability(inputs, taken[-1])


class _Part:
    """Some rows of all columns, selected on access."""

    def __init__(self, columns: list[Values], rows: NDArray[np.intp]) -> None:
        self._columns, self._places = columns, rows
        self.rows = len(rows)

    def block(self, start: int, end: int) -> _Part:
        """Return some of the rows."""
        return _Part(self._columns, self._places[start:end])

    def __getitem__(self, v: int) -> Values:
        taken: Values = self._columns[v][self._places]
        return taken


def _states(
    v: int, families: list[_Family], columns: _Part, stream: Stream, check: Check
) -> NDArray[np.int32]:
    """Draw a discrete variable, by blocks of rows."""
    states = families[0].levels[-1]
    uniforms = stream.uniforms(columns.rows)
    codes = np.empty(columns.rows, dtype=np.int32)
    size = max(1, _CELLS // states)
    for start in range(0, columns.rows, size):
        part = columns.block(start, start + size)
        logs = np.zeros((part.rows, states))
        for family in families:
            check()
            if isinstance(family.model, Tabular):
                logs += _looked_up(family, v, part)
            elif isinstance(family.model, Logistic) and family.members[-1] == v:
                logs += family.model.log_distribution(family.inputs(part))
            elif states > MANY and family.has_shifts(v):
                logs += _shifted(family, v, part)
            else:
                for state in range(states):
                    check()
                    value = np.full(part.rows, state, dtype=np.int32)
                    logs[:, state] += family.log_probability(part, v, value)
        cumulative = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
        drawn = uniforms[start : start + size] * cumulative[:, -1]
        reached = drawn[:, np.newaxis] >= cumulative[:, :-1]
        codes[start : start + size] = reached.sum(axis=1, dtype=np.int32)
    return codes


def _shifted(family: _Family, v: int, columns: _Part) -> NDArray[np.float64]:
    """Return the log-density of a linear child for every state of a parent; (rows, states)."""
    model, place = family.model, family.parents.index(v)
    assert isinstance(model, Linear), "only means are shifted"
    states = regressor_places(family.levels[:-1], model.degree)[place]
    shifts = np.concatenate([[0.0], model.coefficients[states]])
    first = np.zeros(columns.rows, dtype=np.int32)
    given = [first if member == v else columns[member] for member in family.parents]
    rest = columns[family.members[-1]] - model.mean(
        model.inputs(given, family.levels[:-1], columns.rows)
    )
    apart = (rest[:, np.newaxis] - shifts) / model.deviation
    result: NDArray[np.float64] = -0.5 * apart**2  # but for a constant
    return result


def _looked_up(family: _Family, v: int, columns: _Part) -> NDArray[np.float64]:
    """Look up the table of a family for every state of one member; shape (rows, states)."""
    assert isinstance(family.model, Tabular), "only tables are looked up"
    axis, table = family.members.index(v), family.model.log_table()
    cell = np.zeros(columns.rows, dtype=np.intp)
    for member, states in zip(family.members, family.levels, strict=True):
        if member != v:
            cell *= states
            cell += columns[member]
    found: NDArray[np.float64] = np.moveaxis(table, axis, -1).reshape(-1, table.shape[axis])[cell]
    return found


def _numbers(
    v: int, own: _Family, children: list[_Family], columns: _Part, stream: Stream
) -> NDArray[np.float64]:
    """Draw a continuous variable.

    A linear child with residual variance s² and coefficient b gives y a normal likelihood with mean
    (rest of the child)/b and variance s²/b². The product of normal densities is normal: precisions
    add, and weight the means.
    """
    model = own.model
    assert isinstance(model, Linear), "a continuous node is linear"
    mean = model.mean(own.inputs(columns))
    if model.deviation == 0:
        return mean
    precision = model.deviation**-2
    shift = mean * precision
    before = columns[v]
    others = []
    for child in children:
        if not isinstance(child.model, Linear) or child.model.degree > 1:
            others.append(child)
            continue
        slope = _slope(child, v)
        if slope and child.model.deviation:
            fitted = child.model.mean(child.inputs(columns))
            rest = columns[child.members[-1]] - fitted + slope * before
            precision += (slope / child.model.deviation) ** 2
            shift = shift + rest * slope / child.model.deviation**2
    uniforms = np.maximum(stream.uniforms(columns.rows), LEAST_UNIFORM)
    drawn: NDArray[np.float64] = shift / precision + quantiles(uniforms) / np.sqrt(precision)
    if not others:
        return drawn
    gain = sum(
        child.log_probability(columns, v, drawn) - child.log_probability(columns, v, before)
        for child in others
    )
    accepted = np.log(np.maximum(stream.uniforms(columns.rows), LEAST_UNIFORM)) < gain
    return np.where(accepted, drawn, before)


def _slope(child: _Family, v: int) -> float:
    """Return the coefficient of a continuous parent of a linear node."""
    assert isinstance(child.model, Linear), "only linear nodes have slopes"
    place = regressor_places(child.levels[:-1])[child.parents.index(v)]
    return float(child.model.coefficients[place][0])
