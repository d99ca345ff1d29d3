"""Compare pairs of variables in a table with cases drawn from a network.

Two discrete variables are compared by the shares of their combinations and by how often cases that
agree in one agree in the other, which also counts where states are many and each is rare. Two
continuous ones are compared by their correlation, and a state with a number by the mean of the
number in that state. Pairs that the network does not connect are compared as well: they may depend
on each other in a way that the criterion does not see. Of two continuous variables, one may depend
on how *extreme* the other is, as on a parabola; normal scores keep skewed columns from looking like
that.

Where many pairs are compared, some differ by chance. A pair that is not connected is reported only
if its difference is too large for that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import combinations
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Column, Continuous, Discrete
from kes.data.dataset import Dataset, informative
from kes.data.normal_scores import Scores
from kes.show.report.numerals import amount, decimals

Numbers: TypeAlias = NDArray[np.float64]

LEAST = 0.1
"""Least reported difference of shares and correlations."""

FALSE_ALARMS = 0.05
"""Probability of a false alarm among all variables, and among all pairs that are not connected."""

FEWEST = 5
"""Least number of cases in a state, so that no misfit rests on one or two cases."""

_ROUNDING = 1e-12  # of shares of pairs

_WORK = 100_000_000
"""Values to compare in all pairs, which takes a few seconds; of more, only connected pairs are."""


@dataclass(frozen=True)
class Misfit:
    """A difference between the network and the data, for one or two variables."""

    names: tuple[str, ...]
    size: float  # the largest difference of shares, or of correlations
    words: str  # a description as HTML


class WeightedCases:
    """Weighted cases, by column: those of a table, or drawn ones."""

    def __init__(self, table: Dataset) -> None:
        own = np.ones(table.rows) if table.weights is None else table.weights
        self.effective = informative(own)
        self.weights: Numbers = own / own.sum()
        self.columns: list[_Codes | _Values] = [
            _column(column, self.weights) for column in table.columns
        ]


def pair_misfits(
    names: Sequence[str], edges: Iterable[frozenset[str]], data: WeightedCases, drawn: WeightedCases
) -> Iterator[Misfit]:
    """Yield the pairs of variables that differ."""
    place = {name: i for i, name in enumerate(names)}
    joined = {(min(a, b), max(a, b)) for a, b in ((place[x], place[y]) for x, y in edges)}
    pairs = sorted(joined)
    if compares_all(len(names), data, drawn):
        pairs = [*combinations(range(len(names)), 2)]
    error = math.sqrt(1 / data.effective + 1 / drawn.effective)
    by_chance = -NormalDist().inv_cdf(FALSE_ALARMS / (2 * max(len(pairs), 1))) * error
    for i, j in pairs:
        is_joined = (i, j) in joined
        least = LEAST if is_joined else max(LEAST, by_chance)
        found = _compare(names, (i, j), data, drawn, is_joined=is_joined)
        if found is not None and found.size >= least:
            yield found


def compares_all(variables: int, data: WeightedCases, drawn: WeightedCases) -> bool:
    """Return whether all pairs are compared, or only those that are connected."""
    values = len(data.weights) + len(drawn.weights)
    return math.comb(variables, 2) * values <= _WORK


# --- columns -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Codes:
    """A discrete column."""

    codes: NDArray[np.intp]
    states: Sequence[object]
    weights: Numbers

    def means(self, values: Numbers) -> tuple[Numbers, Numbers]:
        """Return the share of each state, and the mean of some values in it."""
        size = len(self.states)
        shares = np.bincount(self.codes, self.weights, size).astype(np.float64)
        sums = np.bincount(self.codes, self.weights * values, size).astype(np.float64)
        return shares, np.divide(sums, shares, out=np.zeros_like(sums), where=shares > 0)


@dataclass(frozen=True)
class _Values:
    """A continuous column."""

    values: Numbers
    weights: Numbers

    @cached_property
    def plain(self) -> Numbers:
        """The values, standardised."""
        return _standardised(self.values, self.weights)

    @cached_property
    def scores(self) -> Numbers:
        """The normal scores of the values, standardised."""
        return _standardised(self._scores, self.weights)

    @cached_property
    def extreme(self) -> Numbers:
        """Distances of the values from the median, as standardised normal scores."""
        return _standardised(np.abs(self._scores), self.weights)

    @cached_property
    def _scores(self) -> Numbers:
        return Scores.of(self.values, self.weights).forward(self.values)


def _column(column: Column, weights: Numbers) -> _Codes | _Values:
    if isinstance(column, Discrete):
        return _Codes(column.codes.astype(np.intp), column.states, weights)
    assert isinstance(column, Continuous)
    return _Values(column.values, weights)


def _standardised(values: Numbers, weights: Numbers) -> Numbers:
    centred = values - weights @ values
    deviation = math.sqrt(weights @ centred**2)
    return centred / deviation if deviation > 0 else np.zeros_like(centred)


# --- comparisons ---------------------------------------------------------------------------------


def _compare(
    names: Sequence[str],
    pair: tuple[int, int],
    data: WeightedCases,
    drawn: WeightedCases,
    *,
    is_joined: bool,
) -> Misfit | None:
    """Return the largest difference of a pair."""
    i, j = pair
    match data.columns[i], data.columns[j], drawn.columns[i], drawn.columns[j]:
        case _Codes() as x, _Codes() as y, _Codes() as u, _Codes() as v:
            both = names[i], names[j]
            effective = data.effective, drawn.effective
            agreements = _agreements(both, (x, y), (u, v), effective)
            return max(_combinations(both, (x, y), (u, v)), *agreements, key=lambda one: one.size)
        case _Values() as x, _Values() as y, _Values() as u, _Values() as v:
            straight = _correlations((names[i], names[j]), (x, y), (u, v))
            if is_joined:
                return straight
            curves = _curves((names[i], names[j]), (x, y), (u, v))
            return max(straight, *curves, key=lambda one: one.size)
        case _Codes() as x, _Values() as y, _Codes() as u, _Values() as v:
            return _means((names[i], names[j]), (x, y), (u, v), data.effective)
        case _Values() as y, _Codes() as x, _Values() as v, _Codes() as u:
            return _means((names[j], names[i]), (x, y), (u, v), data.effective)
    return None


def _combinations(
    names: tuple[str, str], data: tuple[_Codes, _Codes], drawn: tuple[_Codes, _Codes]
) -> Misfit:
    one, two = _cells(*data), _cells(*drawn)
    row, column = np.unravel_index(int(np.argmax(np.abs(one - two))), one.shape)
    ours, theirs = float(one[row, column]), float(two[row, column])
    states = data[0].states[int(row)], data[1].states[int(column)]
    parts = [
        f"{name_html(name)} = {escape(str(state))}"
        for name, state in zip(names, states, strict=True)
    ]
    words = f"{' with '.join(parts)}: {shares_text(ours, theirs)}"
    return Misfit(names, abs(ours - theirs), words)


def _agreements(
    names: tuple[str, str],
    data: tuple[_Codes, _Codes],
    drawn: tuple[_Codes, _Codes],
    effective: tuple[float, float],
) -> Iterator[Misfit]:
    """Yield how often two cases that agree in one agree in the other, if enough cases agree."""
    for a, b in ((0, 1), (1, 0)):
        (pairs, ours), (_, theirs) = (
            _agreement(one[a], one[b], cases)
            for one, cases in zip((data, drawn), effective, strict=True)
        )
        gap = abs(ours - theirs) if pairs * effective[0] >= 2 else 0.0
        what = f"Cases with the same {name_html(names[a])} have the same {name_html(names[b])}"
        words = f"{what}: in {ours:.0%} of pairs in the data, {theirs:.0%} in the network"
        yield Misfit(names, gap, words)


def _agreement(a: _Codes, b: _Codes, effective: float) -> tuple[float, float]:
    """Return the share of pairs of cases that agree in a, and of these the share that does in b.

    Without bias: no case is a pair with itself.
    """
    together = float(np.sum(np.bincount(a.codes, a.weights, len(a.states)) ** 2)) - 1 / effective
    alike = float(np.sum(_cells(a, b) ** 2)) - 1 / effective
    return together, alike / together if together > _ROUNDING else 0.0


def _cells(a: _Codes, b: _Codes) -> Numbers:
    shape = (len(a.states), len(b.states))
    flat = a.codes * shape[1] + b.codes
    return np.bincount(flat, a.weights, shape[0] * shape[1]).astype(np.float64).reshape(shape)


def _correlations(
    names: tuple[str, str], data: tuple[_Values, _Values], drawn: tuple[_Values, _Values]
) -> Misfit:
    ours, theirs = (float(x.weights @ (x.plain * y.plain)) for x, y in (data, drawn))
    what = f"Correlation of {name_html(names[0])} and {name_html(names[1])}"
    return Misfit(names, abs(ours - theirs), f"{what}: {_two(ours, theirs)}")


def _curves(
    names: tuple[str, str], data: tuple[_Values, _Values], drawn: tuple[_Values, _Values]
) -> Iterator[Misfit]:
    """Yield whether one depends on how extreme the other is."""
    for a, b in ((0, 1), (1, 0)):
        ours, theirs = (
            float(one[a].weights @ (one[a].extreme * one[b].scores)) for one in (data, drawn)
        )
        what = f"Correlation of {name_html(names[b])} with how extreme {name_html(names[a])} is"
        words = f"{what}: {_two(ours, theirs)}"
        yield Misfit((names[a], names[b]), abs(ours - theirs), words)


def _means(
    names: tuple[str, str],
    data: tuple[_Codes, _Values],
    drawn: tuple[_Codes, _Values],
    effective: float,
) -> Misfit:
    """Compare the correlations of a number with being in each state; describe them by means."""
    found = [own[0].means(own[1].values) for own in (data, drawn)]
    sizes = [_biserial(*own[0].means(own[1].plain), len(own[0].states)) for own in (data, drawn)]
    gap = np.abs(sizes[0] - sizes[1])
    gap[found[0][0] * effective < FEWEST - 0.5] = 0.0
    state = int(np.argmax(gap))
    where = f"{name_html(names[0])} = {escape(str(data[0].states[state]))}"
    ours, theirs = (own[1][state] for own in found)
    words = (
        f"Mean of {name_html(names[1])} where {where}: {amount(float(ours))} in the data, "
        f"{amount(float(theirs))} in the network"
    )
    return Misfit(names, float(gap[state]), words)


def _biserial(shares: Numbers, means: Numbers, states: int) -> Numbers:
    """Return the correlation of a standardised number with being in each state."""
    inside = (shares > 0) & (shares < 1)
    odds = np.divide(shares, 1 - shares, out=np.zeros(states), where=inside)
    return means * np.sqrt(odds)


# --- words ---------------------------------------------------------------------------------------


def name_html(name: str) -> str:
    """Return the name of a variable as HTML."""
    return f"<bdi>{escape(name)}</bdi>"


def shares_text(data: float, network: float) -> str:
    """Return a share of the data beside that in the network."""
    return f"{data:.0%} of the data, {network:.0%} in the network"


def _two(data: float, network: float) -> str:
    return f"{decimals(data)} in the data, {decimals(network)} in the network"
