"""Whether the best network, as it is fitted, gives back the data: where the two differ most.

Cases are drawn from the network and compared with the table, variable by variable, and for
variables that are joined two by two. A normal distribution cannot look like a column that is mostly
zero, and no score says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from shlex import quote
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Continuous, Discrete
from kes.data.dataset import Dataset
from kes.network.fitting import fit
from kes.show.report.families import has_large

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.search.problem import Problem

_DRAWS = 10_000
"""Cases that are drawn: shares of them are right to half a percent."""

TITLE = "Does the network reproduce the data?"
"""What the part of the report is called."""

FAR = 0.05
"""Gap of the share of a state from which on it is told: tables have none but by the draws."""

_LEAST = 0.1
"""Other gaps are told from this on: short columns of numbers differ as much by chance."""

_MOST = 8
"""Gaps that are told."""

_NAMED = 3
"""Variables with gaps that the top of the page names."""

_Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Gap:
    """How far the network and the data are apart about some variables.

    Attributes
    ----------
    names : tuple of str
        One or two variables.
    size : float
        Largest difference of shares, or of correlations.
    words : str
        What differs, as HTML.
    """

    names: tuple[str, ...]
    size: float
    words: str


def gaps(optima: Optima, problem: Problem) -> list[Gap] | None:
    """Return the largest gaps, largest first; None if they cannot be found out."""
    table = problem.dataset
    if optima.settings.transform is not None or has_large(optima.best, table):
        return None
    drawn = fit(optima.best.mpdag, table).sample(_DRAWS)
    pairs = [sorted(pair, key=table.names.index) for pair in optima.best.graph.skeleton]
    found = [*_single(table, drawn), *_joined(table, drawn, sorted(pairs))]
    return sorted(found, key=lambda gap: -gap.size)[:_MOST]


def gaps_words(found: list[Gap] | None) -> str:
    """Return the gaps as HTML."""
    if found is None:
        return "<p>It was not looked at: draws from this network cannot be compared simply.</p>"
    if not found:
        return (
            f"<p>Yes, as far as single variables and pairs that are joined go: in {_DRAWS} cases "
            f"drawn from it no share of a state is {FAR:.0%} or more off, and no correlation "
            f"and no other share {_LEAST:.0%}.</p>"
        )
    items = "".join(f"<li>{gap.words}</li>" for gap in found)
    return f"<p>Not everywhere. The largest gaps, from cases drawn from it:</p><ul>{items}</ul>"


def gaps_pointer(found: list[Gap] | None) -> str:
    """Return a sentence for the top of the page if there are gaps, as HTML."""
    if not found:
        return ""
    names = list(dict.fromkeys(name for gap in found for name in gap.names))
    shown = ", ".join(map(_name, names[:_NAMED])) + " and others" * (len(names) > _NAMED)
    return (
        f"<p>What the network says of {shown} differs from the data: "
        f'<a href="#reproduction">{TITLE}</a></p>'
    )


# --- one variable --------------------------------------------------------------------------------


def _single(table: Dataset, drawn: Dataset) -> Iterator[Gap]:
    weights = _weights(table)
    for name, own, other in zip(table.names, table.columns, drawn.columns, strict=True):
        if isinstance(own, Continuous) and isinstance(other, Continuous):
            yield from _told(_distance(name, own.values, weights, other.values), _LEAST)
        elif isinstance(own, Discrete) and isinstance(other, Discrete):
            one, two = table.state_shares(name), drawn.state_shares(name)
            state = int(np.argmax(np.abs(one - two)))
            what = f"{_name(name)} = {escape(str(own.states[state]))}"
            size = float(abs(one[state] - two[state]))
            yield from _told(Gap((name,), size, f"{what}: {_shares(one[state], two[state])}"), FAR)


def _told(gap: Gap, least: float) -> list[Gap]:
    return [gap] if gap.size >= least else []


def _distance(name: str, values: _Numbers, weights: _Numbers, drawn: _Numbers) -> Gap:
    """Compare two distributions of numbers where they are farthest apart [Kolmogorov-Smirnov]."""
    order = np.argsort(values, kind="stable")
    at = np.unique(values)
    below = np.concatenate([[0.0], np.cumsum(weights[order])])
    ours = below[np.searchsorted(values[order], at, "right")]
    theirs = np.searchsorted(np.sort(drawn), at, "right") / len(drawn)
    far = int(np.argmax(np.abs(ours - theirs)))
    mark = f"{_name(name)} at most {at[far]:.4g}"
    words = (
        f"{mark}: {_shares(ours[far], theirs[far])}. The network takes it as a bell curve around a "
        f"mean, which it is not: <code>--discretize {escape(quote(name + '=3'))}</code> or "
        "<code>--transform ranks</code> may suit it better."
    )
    return Gap((name,), float(abs(ours[far] - theirs[far])), words)


# --- two variables -------------------------------------------------------------------------------


def _joined(table: Dataset, drawn: Dataset, pairs: list[list[str]]) -> Iterator[Gap]:
    weights, even = _weights(table), np.full(_DRAWS, 1 / _DRAWS)
    place = {name: i for i, name in enumerate(table.names)}
    for a, b in pairs:
        i, j = place[a], place[b]
        match table.columns[i], table.columns[j], drawn.columns[i], drawn.columns[j]:
            case Discrete() as x, Discrete() as y, Discrete() as u, Discrete() as v:
                one, two = _cells(x, y, weights), _cells(u, v, even)
                row, column = np.unravel_index(int(np.argmax(np.abs(one - two))), one.shape)
                ours, theirs = float(one[row, column]), float(two[row, column])
                first, second = escape(str(x.states[row])), escape(str(y.states[column]))
                what = f"{_name(a)} = {first} with {_name(b)} = {second}"
                words = f"{what}: {_shares(ours, theirs)}"
                yield from _told(Gap((a, b), abs(ours - theirs), words), _LEAST)
            case Continuous() as x, Continuous() as y, Continuous() as u, Continuous() as v:
                ours, theirs = _correlation(x, y, weights), _correlation(u, v, even)
                what = f"Correlation of {_name(a)} and {_name(b)}"
                words = f"{what}: {ours:.2f} in the data, {theirs:.2f} by the network"
                yield from _told(Gap((a, b), abs(ours - theirs), words), _LEAST)


def _cells(a: Discrete, b: Discrete, weights: _Numbers) -> _Numbers:
    shape = (len(a.states), len(b.states))
    flat = a.codes.astype(np.intp) * shape[1] + b.codes
    return np.bincount(flat, weights, shape[0] * shape[1]).astype(np.float64).reshape(shape)


def _correlation(a: Continuous, b: Continuous, weights: _Numbers) -> float:
    x, y = (column.values - weights @ column.values for column in (a, b))
    spread = np.sqrt((weights @ x**2) * (weights @ y**2))
    return float(weights @ (x * y) / spread) if spread > 0 else 0.0


def _weights(table: Dataset) -> _Numbers:
    """Return the share of all cases that each row stands for."""
    own = np.ones(table.rows) if table.weights is None else table.weights
    shares: _Numbers = own / own.sum()
    return shares


def _name(name: str) -> str:
    return f"<bdi>{escape(name)}</bdi>"


def _shares(data: float, network: float) -> str:
    return f"{data:.0%} of the data, {network:.0%} by the network"
