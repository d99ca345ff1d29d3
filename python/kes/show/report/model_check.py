"""Posterior predictive check of the best network: where it differs most from the data.

Cases are drawn from the fitted network and compared with the table: each variable alone, and each
adjacent pair. A normal distribution cannot reproduce a column that is mostly zero, and no score
shows that.
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
from kes.show.report.families import FittedNetworks, has_large

if TYPE_CHECKING:
    from kes.results.optima import Optima

_DRAWS = 10_000
"""Cases to draw: shares of them have a standard error of at most half a percent."""

TITLE = "Does the network reproduce the data?"
"""Heading of this section of the report."""

FAR = 0.05
"""Least reported misfit of the share of a state: tables have none except by sampling."""

_LEAST = 0.1
"""Least reported misfit otherwise: short columns of numbers differ as much by chance."""

_MOST = 8
"""Number of misfits that are reported."""

_NAMED = 3
"""Variables with misfits that the top of the page names."""

_Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Misfit:
    """A difference between the network and the data, for one or two variables."""

    names: tuple[str, ...]
    size: float  # the largest difference of shares, or of correlations
    words: str  # a description as HTML


def misfits(optima: Optima, fitted: FittedNetworks) -> list[Misfit] | None:
    """Return the largest misfits, largest first; None if the network cannot be checked."""
    table = fitted.table
    if optima.settings.transform is not None or has_large(optima.best, table):
        return None
    drawn = fitted.network(optima.best).sample(_DRAWS)
    pairs = [sorted(pair, key=table.names.index) for pair in optima.best.graph.skeleton]
    found = [*_single(table, drawn), *_joined(table, drawn, sorted(pairs))]
    return sorted(found, key=lambda misfit: -misfit.size)[:_MOST]


def misfit_text(found: list[Misfit] | None) -> str:
    """Return the misfits as HTML."""
    if found is None:
        return "<p>Not checked: the network is too large, or its data are transformed.</p>"
    if not found:
        return (
            f"<p>Yes, for single variables and connected pairs: in {_DRAWS} cases drawn from it, "
            f"no share of a state differs by {FAR:.0%} or more, and no correlation or other share "
            f"by {_LEAST:.0%} or more.</p>"
        )
    items = "".join(f"<li>{misfit.words}</li>" for misfit in found)
    return f"<p>Not everywhere. Largest differences of {_DRAWS} drawn cases:</p><ul>{items}</ul>"


def misfit_pointer(found: list[Misfit] | None) -> str:
    """Return a sentence for the top of the page if there are misfits, as HTML."""
    if not found:
        return ""
    names = list(dict.fromkeys(name for misfit in found for name in misfit.names))
    shown = ", ".join(map(_name, names[:_NAMED])) + " and others" * (len(names) > _NAMED)
    return (
        f"<p>The network does not reproduce the data for {shown}: "
        f'<a href="#reproduction">{TITLE}</a></p>'
    )


# --- one variable --------------------------------------------------------------------------------


def _single(table: Dataset, drawn: Dataset) -> Iterator[Misfit]:
    weights = _weights(table)
    for name, own, other in zip(table.names, table.columns, drawn.columns, strict=True):
        if isinstance(own, Continuous) and isinstance(other, Continuous):
            misfit, least = _distance(name, own.values, weights, other.values), _LEAST
        elif isinstance(own, Discrete) and isinstance(other, Discrete):
            one, two = table.state_shares(name), drawn.state_shares(name)
            state = int(np.argmax(np.abs(one - two)))
            what = f"{_name(name)} = {escape(str(own.states[state]))}"
            size, words = float(abs(one[state] - two[state])), _shares(one[state], two[state])
            misfit, least = Misfit((name,), size, f"{what}: {words}"), FAR
        else:
            continue
        if misfit.size >= least:
            yield misfit


def _distance(name: str, values: _Numbers, weights: _Numbers, drawn: _Numbers) -> Misfit:
    """Compare two distributions by their Kolmogorov-Smirnov distance."""
    order = np.argsort(values, kind="stable")
    at = np.unique(values)
    below = np.concatenate([[0.0], np.cumsum(weights[order])])
    ours = below[np.searchsorted(values[order], at, "right")]
    theirs = np.searchsorted(np.sort(drawn), at, "right") / len(drawn)
    far = int(np.argmax(np.abs(ours - theirs)))
    mark = f"{_name(name)} at most {at[far]:.4g}"
    words = (
        f"{mark}: {_shares(ours[far], theirs[far])}. The network models it as normal around a "
        f"mean, which it is not: try <code>--discretize {escape(quote(name + '=3'))}</code> or "
        "<code>--transform ranks</code>."
    )
    return Misfit((name,), float(abs(ours[far] - theirs[far])), words)


# --- two variables -------------------------------------------------------------------------------


def _joined(table: Dataset, drawn: Dataset, pairs: list[list[str]]) -> Iterator[Misfit]:
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
            case Continuous() as x, Continuous() as y, Continuous() as u, Continuous() as v:
                ours, theirs = _correlation(x, y, weights), _correlation(u, v, even)
                what = f"Correlation of {_name(a)} and {_name(b)}"
                words = f"{what}: {ours:.2f} in the data, {theirs:.2f} in the network"
            case _:
                continue
        if abs(ours - theirs) >= _LEAST:
            yield Misfit((a, b), abs(ours - theirs), words)


def _cells(a: Discrete, b: Discrete, weights: _Numbers) -> _Numbers:
    shape = (len(a.states), len(b.states))
    flat = a.codes.astype(np.intp) * shape[1] + b.codes
    return np.bincount(flat, weights, shape[0] * shape[1]).astype(np.float64).reshape(shape)


def _correlation(a: Continuous, b: Continuous, weights: _Numbers) -> float:
    x, y = (column.values - weights @ column.values for column in (a, b))
    spread = np.sqrt((weights @ x**2) * (weights @ y**2))
    return float(weights @ (x * y) / spread) if spread > 0 else 0.0


def _weights(table: Dataset) -> _Numbers:
    """Return the share of each row in all cases."""
    own = np.ones(table.rows) if table.weights is None else table.weights
    shares: _Numbers = own / own.sum()
    return shares


def _name(name: str) -> str:
    return f"<bdi>{escape(name)}</bdi>"


def _shares(data: float, network: float) -> str:
    return f"{data:.0%} of the data, {network:.0%} in the network"
