"""Posterior predictive check of the best network: where it differs most from the data.

Cases are drawn from the fitted network and compared with the table: each variable alone, and each
pair (`kes.show.report.pair_check`). A normal distribution cannot reproduce a column that is mostly
zero, and no score shows that. Exogenous variables keep the values of the rows: a network does not
say how they are related.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from kes.data.column import Continuous, Discrete
from kes.data.dataset import Dataset
from kes.data.random_stream import Purpose, Stream
from kes.network.fitting import Fitted
from kes.show.report.families import FittedNetworks
from kes.show.report.numerals import grouped, limit
from kes.show.report.pair_check import (
    FALSE_ALARMS,
    LEAST,
    Misfit,
    Numbers,
    WeightedCases,
    compares_all,
    name_html,
    pair_misfits,
    shares_text,
)

if TYPE_CHECKING:
    from kes.results.optima import Optima

_DRAWS = 10_000
"""Cases to draw: shares of them have a standard error of at most half a percent."""

_MOST_CELLS = 2**25
"""Values to draw, so that a network of many variables takes megabytes, and not gigabytes."""

TITLE = "Does the network reproduce the data?"
"""Heading of this section of the report."""

FAR = 0.05
"""Least reported misfit of the share of a state: tables have none except by sampling."""

_MOST = 8
"""Number of misfits that are reported."""

_NAMED = 3
"""Variables with misfits that the top of the page names."""


@dataclass(frozen=True)
class Check:
    """The largest misfits, largest first, and what was compared.

    Attributes
    ----------
    misfits : sequence of Misfit
        The misfits to report.
    draws : int
        Number of drawn cases that the table was compared with.
    all_pairs : bool
        Whether pairs that the network does not connect were compared, too.
    not_normal : sequence of str
        Continuous variables among them that the network models as normal, which they are not.
    by_ranks : bool
        Whether the search was by ranks already.
    imputed : mapping
        For each variable with missing values that were imputed, their number; the largest first.
    """

    misfits: Sequence[Misfit]
    draws: int
    all_pairs: bool
    not_normal: Sequence[str]
    by_ranks: bool
    imputed: Mapping[str, int] = field(default_factory=dict)


def model_check(optima: Optima, fitted: FittedNetworks) -> Check | None:
    """Compare the best network with its table; None if it is too large."""
    table, parents = fitted.table, fitted.parents(optima.best)
    if fitted.has_large(parents):
        return None
    drawn = _drawn(fitted.network(parents), table, optima.settings.exogenous)
    data, cases = WeightedCases(table), WeightedCases(drawn)
    settings = optima.settings
    is_scored = settings.transform == "ranks" or settings.basis is not None
    # Normal scores are normal by definition, and their values mean nothing to people.
    single = [*_single(table, drawn, data, is_transformed=is_scored)]
    pairs = pair_misfits(table.names, optima.best.graph.skeleton, data, cases)
    found = sorted([*single, *pairs], key=lambda misfit: -misfit.size)[:_MOST]
    numbers = {
        name
        for name, column in zip(table.names, table.columns, strict=True)
        if isinstance(column, Continuous)
    }
    not_normal = [one.names[0] for one in found if len(one.names) == 1 and one.names[0] in numbers]
    by_ranks = settings.measure.uses_ranks(optima.kind)
    all_pairs = compares_all(len(table.names), data, cases)
    return Check(found, drawn.rows, all_pairs, not_normal, by_ranks, _imputed(optima))


def _imputed(optima: Optima) -> dict[str, int]:
    """Return the number of imputed values of each variable that has any, the largest first."""
    completion = optima.record.completion
    cells = [] if completion is None else zip(optima.names, completion.cells, strict=True)
    return dict(sorted(((name, n) for name, n in cells if n), key=lambda pair: -pair[1]))


def _drawn(network: Fitted, table: Dataset, exogenous: Sequence[str]) -> Dataset:
    """Draw cases; exogenous variables take their values from rows, in proportion to weights."""
    draws = min(_DRAWS, _MOST_CELLS // len(table.names))
    seed = Stream(0, Purpose.MODEL_CHECK).seed()
    if not exogenous:
        return network.sample(draws, seed=seed)
    total = np.cumsum(np.ones(table.rows) if table.weights is None else table.weights)
    rows = np.searchsorted(total, (np.arange(draws) + 0.5) / draws * total[-1])
    columns = dict(zip(table.names, table.columns, strict=True))
    given = Dataset.of([*exogenous], [columns[name].take(rows) for name in exogenous])
    return network.sample_given(given, seed=seed)


def check_text(check: Check | None) -> str:
    """Return the outcome as HTML."""
    if check is None:
        return "<p>Not checked: the network is too large.</p>"
    imputed = _imputed_text(check.imputed)
    pairs = "all pairs, connected or not" if check.all_pairs else "connected pairs"
    drawn = grouped(f"{check.draws:,}")
    if not check.misfits:
        return (
            f"<p>Yes, for single variables and {pairs}: in {drawn} cases drawn from it, no share "
            f"of a state differs by {FAR:.0%} or more, and no correlation or other share by "
            f"{LEAST:.0%} or more.</p>{imputed}"
        )
    items = "".join(f"<li>{misfit.words}</li>" for misfit in check.misfits)
    return (
        f"<p>Not everywhere. Largest differences of {drawn} drawn cases, for single variables and "
        f"{pairs}:</p><ul>{items}</ul>{imputed}{_advice(check.not_normal, by_ranks=check.by_ranks)}"
    )


def _imputed_text(imputed: Mapping[str, int]) -> str:
    """Return what counts as data without having been observed, as HTML.

    They are drawn from the model, so where they are many, they make the table like the network.
    """
    if not imputed:
        return ""
    shown = [f"{grouped(f'{n:,}')} of {name_html(name)}" for name, n in imputed.items()]
    rest = " and others" if len(shown) > _NAMED else ""
    return f"<p>Imputed values count as data here: {', '.join(shown[:_NAMED])}{rest}.</p>"


def _advice(names: Sequence[str], *, by_ranks: bool) -> str:
    """Return the advice for all columns that are not normal.

    A search by ranks asks nothing of the shape of a column; only the numbers of a network do.
    """
    if not names:
        return ""
    shown = ", ".join(map(name_html, names))
    cuts = escape(quote(",".join(f"{name}=3" for name in names)))
    verb = "is" if len(names) == 1 else "are"
    start = f"<p>{shown} {verb} modelled as normal around a mean, but {verb} not. "
    if by_ranks:
        return (
            f"{start}The edges do not depend on it, as the search is by ranks; for probabilities "
            f'that are right, try</p><pre tabindex="0"><code>--discretize {cuts}</code></pre>'
        )
    ways = f"--discretize {cuts}\n--transform ranks"
    return f'{start}Try one of</p><pre tabindex="0"><code>{ways}</code></pre>'


def check_pointer(check: Check | None) -> str:
    """Return a sentence for the top of the page if there are misfits, as HTML."""
    if check is None or not check.misfits:
        return ""
    names = list(dict.fromkeys(name for misfit in check.misfits for name in misfit.names))
    shown = ", ".join(map(name_html, names[:_NAMED])) + " and others" * (len(names) > _NAMED)
    return (
        f"<p>The network does not reproduce the data for {shown}: "
        f'<a href="#reproduction">{TITLE}</a></p>'
    )


# --- one variable --------------------------------------------------------------------------------


def _single(
    table: Dataset, drawn: Dataset, cases: WeightedCases, *, is_transformed: bool
) -> Iterator[Misfit]:
    # The Kolmogorov-Smirnov distance that one of all variables exceeds by chance [Smirnov 1948].
    level = math.log(2 * len(table.names) / FALSE_ALARMS) / 2
    by_chance = math.sqrt(level * (1 / cases.effective + 1 / drawn.rows))
    for name, own, other in zip(table.names, table.columns, drawn.columns, strict=True):
        if isinstance(own, Continuous) and isinstance(other, Continuous):
            if is_transformed:
                continue
            misfit = _distance(name, own.values, cases.weights, other.values)
            least = max(LEAST, by_chance)
        elif isinstance(own, Discrete) and isinstance(other, Discrete):
            one, two = table.state_shares(name), drawn.state_shares(name)
            state = int(np.argmax(np.abs(one - two)))
            what = f"{name_html(name)} = {escape(str(own.states[state]))}"
            size, words = float(abs(one[state] - two[state])), shares_text(one[state], two[state])
            misfit, least = Misfit((name,), size, f"{what}: {words}"), FAR
        else:
            continue
        if misfit.size >= least:
            yield misfit


def _distance(name: str, values: Numbers, weights: Numbers, drawn: Numbers) -> Misfit:
    """Compare two distributions by their Kolmogorov-Smirnov distance."""
    order = np.argsort(values, kind="stable")
    at = np.unique(values)
    below = np.concatenate([[0.0], np.cumsum(weights[order])])
    ours = below[np.searchsorted(values[order], at, "right")]
    theirs = np.searchsorted(np.sort(drawn), at, "right") / len(drawn)
    far = int(np.argmax(np.abs(ours - theirs)))
    following = float(at[far + 1]) if far + 1 < len(at) else math.inf
    most = limit(float(at[far]), following)
    words = f"{name_html(name)} at most {most}: {shares_text(ours[far], theirs[far])}"
    return Misfit((name,), float(abs(ours[far] - theirs[far])), words)
