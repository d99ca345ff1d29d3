"""Choose between straight lines and curves, for ``basis="auto"``.

    split the cases into two halves
    for each half, and for straight lines and each degree of curves:
        M = the model that GES finds in the other half
        fit M with curves to the other half, and sum ln p of the normal scores of this half
    take the degree with the highest sum

All models are fitted with the same curves, so the sums compare structures: a model with edges that
are not there, or without some that are, predicts new cases worse. The scores themselves could not
be compared, since those of curves are not likelihoods of the values.

Halves are drawn from the rows in sorted order, so the choice does not depend on the order of rows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kes.budget import SHARE_OF_CHOICE, Budget
from kes.data.column import Continuous
from kes.data.dataset import AnyTable, Dataset, Incomplete
from kes.data.normal_scores import Ranks
from kes.data.random_stream import Purpose, Stream
from kes.errors import KesError, option
from kes.graph import EssentialGraph
from kes.native import core_problem
from kes.network.fitting import Estimates, families, fitting_dag
from kes.options import LearnOptions
from kes.search.driver import Driver, threads
from kes.search.edge_price import price_for
from kes.settings import Settings
from kes.validation import duration

CURVES = (3, 4)
"""Degrees to choose from, besides straight lines."""

LEAST_CASES = 100
"""With fewer cases, halves are too small to tell."""

_MOST_CASES = 10_000  # that are looked at
_CACHE_MB = 64


@dataclass(frozen=True)
class Choice:
    """A degree, None for straight lines, and why it was chosen."""

    basis: int | None
    reason: str

    @property
    def note(self) -> str:
        """The choice in a line."""
        chosen = "straight lines" if self.basis is None else f"curves of degree {self.basis}"
        return f"basis: {chosen}, {self.reason}"


def with_basis(
    settings: Settings, table: AnyTable, options: LearnOptions
) -> tuple[Settings, AnyTable]:
    """Return the settings with the degree of curves, and the table with a note if it was chosen."""
    if settings.basis is None:
        return settings, table
    if settings.basis != "auto":
        if table.kind == "discrete":
            raise KesError(
                f"{option('basis')} is for tables with continuous columns, but all columns of this "
                "one are discrete: leave it out",
                option="basis",
            )
        return settings, table
    budget = options.get("budget")
    seconds = math.inf if budget is None else SHARE_OF_CHOICE * duration("budget", budget)
    deadline = time.monotonic() + seconds

    def settings_with(basis: int | None) -> Settings:
        own = replace(settings, basis=basis).on(table.kind)
        return replace(own, edge_prior=price_for(table, own, options))

    jobs = threads(options["n_jobs"])
    choice = choose_basis(table, settings_with, jobs, lambda: time.monotonic() < deadline)
    noted = (*table.notes, choice.note)
    return replace(settings, basis=choice.basis), table.with_notes(noted)


def choose_basis(
    table: AnyTable,
    settings: Callable[[int | None], Settings],
    jobs: int,
    keep_going: Callable[[], bool] = lambda: True,
) -> Choice:
    """Choose the degree for a table; `settings` returns those of a search with a degree.

    It works on `jobs` threads. Once `keep_going` returns False, straight lines are chosen.
    """
    cases = _complete_cases(table)
    if cases.kind == "discrete":
        return Choice(None, "as no column is continuous")
    if cases.rows < LEAST_CASES:
        return Choice(None, f"as fewer than {LEAST_CASES} complete cases cannot tell")
    halves = _halves(cases, settings(None).seed)
    sums: dict[int | None, float] = {}
    for basis in (None, *CURVES):
        try:
            sums[basis] = sum(
                _held_out(train, test, settings(basis).on(train.kind), jobs, keep_going)
                for train, test in (halves, halves[::-1])
            )
        except _OutOfTimeError:
            return Choice(None, "as the budget was too short to compare them with curves")
        except KesError:  # a half may be unusable where the whole table is not
            continue
    curve = max((basis for basis in sums if basis is not None), key=sums.__getitem__, default=None)
    if curve is None or None not in sums:
        return Choice(None, "as curves cannot be compared on these columns")
    best = max(sums, key=sums.__getitem__)  # the first of ties: straight lines
    held_out = float(sum(half.cases for half in halves))
    gain = (sums[curve] - sums[None]) / held_out
    return Choice(
        best,
        f"chosen on held-out cases: the network that curves find gives them {gain:+.3g} nats per "
        "case, compared with that of straight lines",
    )


def _complete_cases(table: AnyTable) -> Dataset:
    """Return the rows of positive weight without missing values."""
    dataset = table.dataset if isinstance(table, Incomplete) else table
    gaps = table.gaps if isinstance(table, Incomplete) else np.zeros((1, table.rows), np.bool_)
    weights = dataset.weights
    rows = np.flatnonzero(~gaps.any(axis=0) & (weights is None or weights > 0))
    return dataset.take(rows, None if weights is None else weights[rows])


def _halves(cases: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """Split the rows at random, whatever the order of rows and columns."""
    columns: dict[str, NDArray[np.float64]] = {
        name: (one.values if isinstance(one, Continuous) else one.codes).astype(np.float64)
        for name, one in zip(cases.names, cases.columns, strict=True)
    }
    weights = np.ones(cases.rows) if cases.weights is None else cases.weights
    order = np.lexsort((weights, *(columns[name] for name in sorted(columns))))
    keys = Stream(seed, Purpose.BASIS).integers(cases.rows)
    drawn = np.argsort(keys, kind="stable")[:_MOST_CASES]
    first, second = (
        cases.take(rows, None if cases.weights is None else cases.weights[rows])
        for rows in (order[drawn[::2]], order[drawn[1::2]])
    )
    return first, second


def _held_out(
    train: Dataset, test: Dataset, settings: Settings, jobs: int, keep_going: Callable[[], bool]
) -> float:
    """Return the log-likelihood of some cases under the model that is found in others.

    Columns may determine each other in these cases, though they do not in the whole table.
    """
    additions = settings.additions(train.names)
    core = core_problem(train, settings.measure, _CACHE_MB, additions, twins=True)
    driver = Driver(core, train.names, settings.for_core(train.names), jobs)
    found = driver.greedy().search(Budget(runs=1), keep_going)
    if not found or not keep_going():
        raise _OutOfTimeError
    model = EssentialGraph.from_core(train.names, found[0][0])
    degree, ranks = max(CURVES), Ranks.of(train)
    scores = ranks.apply(train)
    dag = fitting_dag(model, scores, degree)
    network = Estimates(families(train.names, dag), degree=degree)(scores)
    return network.log_likelihood(ranks.apply(test))


class _OutOfTimeError(Exception):
    """The budget is over."""
