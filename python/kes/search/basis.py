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

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kes.budget import Budget
from kes.data.column import Continuous
from kes.data.dataset import AnyTable, Dataset, Incomplete
from kes.data.normal_scores import Ranks
from kes.data.resampling import Stream
from kes.errors import KesError
from kes.graph import EssentialGraph
from kes.native import core_problem, cores
from kes.network.fitting import Estimates, families, fitting_dag
from kes.search.driver import Driver
from kes.settings import Settings

CURVES = (3, 4)
"""Degrees to choose from, besides straight lines."""

LEAST_CASES = 100
"""With fewer cases, halves are too small to tell."""

_MOST_CASES = 10_000  # that are looked at
_BRANCH = 1  # of the seed's random streams
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


def choose_basis(
    table: AnyTable,
    settings: Callable[[int | None], Settings],
    keep_going: Callable[[], bool] = lambda: True,
) -> Choice:
    """Choose the degree for a table; `settings` returns those of a search with a degree.

    Once `keep_going` returns False, straight lines are chosen.
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
                _held_out(train, test, settings(basis).on(train.kind), keep_going)
                for train, test in (halves, halves[::-1])
            )
        except _OutOfTimeError:
            return Choice(None, "as the budget was too short to compare them with curves")
        except KesError:
            if basis is None:
                raise
    best = max(sums, key=sums.__getitem__)  # the first of ties: straight lines
    held_out = float(sum(half.cases for half in halves))
    curve = max((basis for basis in sums if basis is not None), key=sums.__getitem__, default=None)
    if curve is None:
        return Choice(None, "as curves cannot be compared on these columns")
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
    drawn = np.argsort(Stream(seed, _BRANCH).integers(cases.rows), kind="stable")[:_MOST_CASES]
    first, second = (
        cases.take(rows, None if cases.weights is None else cases.weights[rows])
        for rows in (order[drawn[::2]], order[drawn[1::2]])
    )
    return first, second


def _held_out(
    train: Dataset, test: Dataset, settings: Settings, keep_going: Callable[[], bool]
) -> float:
    """Return the log-likelihood of some cases under the model that is found in others."""
    additions = settings.additions(train.names)
    core = core_problem(train, settings.measure, _CACHE_MB, additions)
    driver = Driver(core, train.names, settings.for_core(train.names), cores())
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
