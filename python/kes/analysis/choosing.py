"""Choose the criterion that predicts best, by cross-validation.

No criterion is best on every table: BDeu predicts new cases of one better than BIC, and of another
far worse. Each candidate learns structure and parameters from some of the cases by a short search,
and the others judge it. The choice is itself uncertain, so the differences have standard errors.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from kes.analysis.short_searches import by_criterion, suits_aic
from kes.budget import Budget
from kes.data.dataset import AnyTable, Data, Incomplete
from kes.data.random_stream import Purpose, Stream
from kes.data.resampling import Cases
from kes.declare import Option, checked_options, chosen_from
from kes.errors import KesError, option
from kes.graph.mpdag import Mpdag
from kes.network.fitting import fit
from kes.network.gibbs import OutOfTime
from kes.network.new_rows import Unseen
from kes.options import FitOptions, Prior, ScoringOptions, WorkOptions
from kes.progress import Progress, reporting
from kes.search.choice import CriterionChoice, Trial
from kes.search.driver import threads
from kes.search.edge_price import edge_price
from kes.search.problem import Problem
from kes.search.structural_em import best_of
from kes.settings import Settings
from kes.validation import integer

Floats = NDArray[np.float64]

CANDIDATES: Mapping[str, tuple[tuple[str, float | None], ...]] = {
    "discrete": (("bic", None), ("aic", None), ("bdeu", 1.0), ("bdeu", 10.0), ("qnml", None)),
    "continuous": (("bic", None), ("aic", None), ("bge", None)),
    "mixed": (("bic", None), ("aic", None)),
}
"""The criteria that are tried, with their equivalent sample sizes, by kind of table."""

PRIORS: tuple[tuple[Prior, float | None], ...] = (("bdeu", 1.0), ("bdeu", 5.0), (0.25, None))
"""Priors of parameters that are tried; in networks of continuous variables they have no effect."""

FOLDS = 5


class ChooseWork(WorkOptions, total=False):
    """The rule of a choice."""

    folds: Annotated[
        int,
        Option(
            default=FOLDS,
            group="runs",
            doc="Parts into which the cases are split; each is predicted from the others.",
            check=lambda name, value: integer(name, value, minimum=2),
        ),
    ]


class ChooseOptions(ScoringOptions, ChooseWork, total=False):
    """Options of `kes.choose`."""


@checked_options(ChooseOptions, without=("criterion", "ess"))
def choose(data: Data, **options: Unpack[ChooseOptions]) -> CriterionChoice:
    """Choose criterion, price of edges and parameter prior by cross-validated likelihood.

    Parameters
    ----------
    data
        As in `kes.learn`; `weights` must be integers. Cut points and states are those of the whole
        table.
    edge_prior : float, "auto", "ebic" or None
        The price to try besides none.

    Returns
    -------
    CriterionChoice
        Its `options` are those for `kes.learn`, its `estimation` those for `kes.fit`, and its
        `table` shows what was tried, BIC first. If `budget` ends before everything is tried, the
        choice is among what was; the first may take a second in any case.

    Raises
    ------
    KesError
        If the data or an option cannot be used, there are too few cases, or `budget` is too short
        for a single criterion.

    See Also
    --------
    kes.learn : ``criterion="auto"`` chooses in this way, and keeps the choice in the result.

    Examples
    --------
    >>> import kes
    >>> choice = kes.choose(kes.datasets.alarm(rows=300), folds=2)
    >>> sorted(choice.options)
    ['criterion', 'edge_prior', 'ess']
    """
    work: ChooseWork = chosen_from(ChooseWork, options)
    problem = Problem.of(data, {**options, "cache_mb": work["memory_mb"]})
    return choice_for(problem, options["edge_prior"], work)


def choice_for(
    problem: Problem,
    edge_prior: Any,  # noqa: ANN401
    work: ChooseWork,
    share: float = 1.0,
) -> CriterionChoice:
    """Choose among all candidates for a table.

    `share` is the part of the budget after which no further candidate is tried. The first one may
    use it all.
    """
    cases = Cases(problem.table)
    if cases.number < 2 * work["folds"]:
        raise KesError(
            f"{cases.number} cases are too few to choose by {work['folds']} folds: each needs at "
            "least 2 cases",
            option="folds",
        )
    parts = cases.folds(work["folds"], Stream(problem.settings.seed, Purpose.CHOICE))
    folds = [_Fold(problem, train, test) for train, test in parts]
    started = time.monotonic()
    budget = Budget.of({"budget": work["budget"]})
    at_first = started + budget.most_seconds
    later = math.inf if budget.seconds is None else started + budget.seconds * share
    found: list[tuple[Trial, Floats]] = []
    candidates = list(_settings(problem, edge_prior))
    weights = np.concatenate([fold.weights for fold in folds])
    searches = len(candidates) * len(folds)
    with reporting(work["progress"]) as report:
        for number, settings in enumerate(candidates):
            last = later if found else at_first
            before = number * len(folds)

            def keep_going(judged: int, last: float = last, before: int = before) -> bool:
                report(Progress.at_a_pace(before + judged, searches, started, "searches"))
                return time.monotonic() < last

            each = _judged(folds, settings, work, keep_going)
            if each is None:
                break
            for prior, own in _priors(problem.table.kind):
                logs = np.concatenate([logs[prior, own] for logs in each])
                mean = float(weights @ logs) / float(weights.sum())
                name, ess, price = settings.criterion, settings.ess, settings.edge_prior
                found.append((Trial(name, ess, price, prior, own, mean), logs))
    if not found:
        raise KesError(
            f"not a single criterion was tried in time: raise {option('budget')}, or choose "
            f"{option('criterion')} yourself",
            option="budget",
        )
    return CriterionChoice(_ranked(found, weights), work["folds"], float(weights.sum()))


def _settings(problem: Problem, edge_prior: Any) -> Iterator[Settings]:  # noqa: ANN401
    """Yield the settings to try: each criterion, with and without a price of edges."""
    table = problem.table.dataset if isinstance(problem.table, Incomplete) else problem.table
    for name, ess in CANDIDATES[table.kind]:
        if name == "aic" and not suits_aic(table):
            continue
        own = by_criterion(problem.settings, table.kind, name, ess)
        price = edge_price(edge_prior, "auto", table.varying, table.cases, own.measure)
        for each in dict.fromkeys((price, 0.0)):
            yield replace(own, edge_prior=each)


def _priors(kind: str) -> tuple[tuple[Prior, float | None], ...]:
    return PRIORS[:1] if kind == "continuous" else PRIORS


def _judged(
    folds: Sequence["_Fold"],
    settings: Settings,
    work: ChooseWork,
    keep_going: Callable[[int], bool],
) -> list[dict[tuple[Prior, float | None], Floats]] | None:
    """Evaluate a candidate in each fold; None if there is no time for all of them.

    `keep_going` takes the number of folds that are done.
    """
    each: list[dict[tuple[Prior, float | None], Floats]] = []
    for fold in folds:
        if not keep_going(len(each)):
            return None
        one = fold.judged(settings, work, lambda: keep_going(len(each)))
        if one is None:
            return None
        each.append(one)
    return each


@dataclass(frozen=True)
class _Fold:
    """A part of the cases, and the others, from which it is predicted."""

    problem: Problem
    train: AnyTable
    test: AnyTable

    @property
    def weights(self) -> Floats:
        return np.ones(self.test.rows) if self.test.weights is None else self.test.weights

    def judged(
        self, settings: Settings, work: ChooseWork, keep_going: Callable[[], bool]
    ) -> dict[tuple[Prior, float | None], Floats] | None:
        """Return ln P of each test case, by prior of parameters; None if it was stopped.

        All candidates are fitted with the curves and the transform of the problem.
        """
        memory, n_jobs = work["memory_mb"], threads(work["n_jobs"])
        part = Problem(self.train, settings, memory, self.problem.reading)
        try:
            table = part.completed(n_jobs, lambda _: keep_going()).dataset
        except OutOfTime:
            return None
        found = best_of(table, settings, cache_mb=memory, threads=n_jobs, keep_going=keep_going)
        if found is None:
            return None
        graph = found if settings.knowledge is None else Mpdag(found, settings.knowledge)
        own = self.problem.settings
        unseen: Unseen = "missing" if isinstance(self.test, Incomplete) else "error"
        logs = {}
        for prior, ess in _priors(self.train.kind):
            how: FitOptions = {"prior": prior, "ess": ess or 1.0}
            how |= {"transform": own.transform, "basis": own.basis}
            network = fit(graph, table, **how)
            logs[prior, ess] = network.log_likelihood(self.test, per_row=True, unseen=unseen)
        return logs


def _ranked(found: list[tuple[Trial, Floats]], weights: Floats) -> tuple[Trial, ...]:
    """Sort candidates, and compare each with the best by the cases."""
    ordered = sorted(found, key=lambda one: -one[0].per_case)  # ties: the first one tried
    standard, total = ordered[0][1], float(weights.sum())
    ranked = []
    for candidate, logs in ordered:
        apart = logs - standard
        mean = float(weights @ apart) / total
        error = math.sqrt(float(weights @ (apart - mean) ** 2) / (total - 1) / total)
        ranked.append(replace(candidate, difference=mean, standard_error=error))
    return tuple(ranked)
