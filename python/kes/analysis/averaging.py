"""Learn an averaged network, which predicts new cases better than a single one.

Which edges a search finds depends on the cases that happen to be in the table, and on the
criterion. An average does not choose. Each member is learned from the same table with other weights
of its rows, drawn by the Bayesian bootstrap [Rubin 1981], and members take turns with the criteria.
Then each is fitted to the table itself: only structures vary. Ordinary bootstrap tables would lose
a third of the cases and double others, and their networks have too many edges.

A member is one DAG of the class that was found, drawn at random, so that effects vary with the
directions that the data leave open. (In mixed tables an open edge between a discrete and a
continuous variable points to the latter, for which more queries have exact answers.)
"""

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from kes.analysis.short_searches import by_criterion, suits_aic
from kes.budget import Budget
from kes.data.dataset import AnyTable, Data, Dataset, Incomplete
from kes.data.normal_scores import Ranks
from kes.data.random_stream import Purpose, Stream
from kes.data.resampling import BayesianBootstrap
from kes.declare import checked_options, chosen_from, defaults
from kes.errors import Interrupted, KesError, option
from kes.graph import EssentialGraph
from kes.graph.mpdag import Mpdag
from kes.network.average import AveragedNetwork
from kes.network.fitting import Estimates, Fitted, Model, families, fitting_dag, with_exogenous
from kes.network.gibbs import OutOfTime
from kes.options import AverageWork, EdgePrior, EnsembleOptions, Prior
from kes.progress import Progress, reporting
from kes.search.driver import threads
from kes.search.edge_price import edge_price
from kes.search.problem import Problem
from kes.search.structural_em import best_of
from kes.settings import Settings

MEMBER_CRITERIA: Mapping[str, tuple[str, ...]] = {
    "discrete": ("bic", "bdeu", "aic"),
    "continuous": ("bic", "bge", "aic"),
    "mixed": ("bic", "aic"),
}
"""The criteria that members take in turn, by kind of table; see docs/howto/average.md."""

ESS = 5.0
"""Equivalent sample size with which members are fitted."""

AVERAGE_WORK: AverageWork = defaults(AverageWork)  # type: ignore[assignment]


class EnsembleInterrupted(Interrupted):
    """Ctrl-C during `kes.ensemble`.

    Attributes
    ----------
    ensemble : AveragedNetwork or None
        The average of the finished members; None if there are none.
    """

    def __init__(self, ensemble: AveragedNetwork | None = None) -> None:
        super().__init__()
        self.ensemble = ensemble

    def __str__(self) -> str:
        if self.ensemble is None:
            return "interrupted before the first member was learned"
        return "interrupted; the attribute 'ensemble' has the finished members"


@dataclass(frozen=True)
class Recipe:
    """The learning of members: criteria in turn, options of fitting, and `edge_prior`."""

    criteria: tuple[str, ...]
    ess: float
    edge_prior: EdgePrior
    prior: Prior
    fit_ess: float

    @classmethod
    def of(cls, table: AnyTable, options: Mapping[str, Any]) -> "Recipe":
        """Return the recipe for a table, with the options that are not None."""
        ess, dataset = options["ess"], table.dataset if isinstance(table, Incomplete) else table
        own = MEMBER_CRITERIA[table.kind]
        if not suits_aic(dataset):
            own = own[:-1]
        return cls(
            criteria=(options["criterion"],) if options["criterion"] else own,
            ess=1.0 if ess is None else ess,
            edge_prior=options["edge_prior"],
            prior=options["prior"] or "bdeu",
            fit_ess=ESS if ess is None else ess,
        )

    def settings(self, problem: Problem, number: int) -> Settings:
        """Return the settings with which a member is learned."""
        criterion, table = self.criteria[number % len(self.criteria)], problem.dataset
        ess = self.ess if criterion == "bdeu" else None
        own = by_criterion(problem.settings, table.kind, criterion, ess)
        measure = own.measure.of_cheapest_edges(table.kind)
        price = edge_price(self.edge_prior, "auto", table.varying, table.cases, measure)
        seed = Stream(problem.settings.seed, Purpose.MEMBERS, number).seed()
        return replace(own, edge_prior=price, seed=seed)


@checked_options(EnsembleOptions)
def ensemble(data: Data, **options: Unpack[EnsembleOptions]) -> AveragedNetwork:
    """Learn an averaged network, which predicts new cases better than a single one.

    Each member is learned by a short search from the table with random weights of its rows, and
    fitted to the table itself. The result is the same on any number of threads, and for rows and
    columns in any order.

    Parameters
    ----------
    data
        As in `kes.learn`. Missing values are imputed once (``missing="em"``), and members weight
        the imputations of a case differently.

    Returns
    -------
    AveragedNetwork
        If `budget` ends before all members are learned, those learned by then. The first may take
        a second in any case.

    Raises
    ------
    KesError
        If the data or an option cannot be used, or `budget` is too short for a single member.
    EnsembleInterrupted
        On Ctrl-C; its ``.ensemble`` averages the finished members.

    Examples
    --------
    >>> import kes
    >>> average = kes.ensemble(kes.datasets.alarm(rows=300), members=3)
    >>> average
    AveragedNetwork(3 members, 37 nodes, 46.3 arcs on average)
    """
    work: AverageWork = chosen_from(AverageWork, options)
    how = {**options, "cache_mb": work["memory_mb"]}
    searched = {name: value for name, value in how.items() if value is not None}
    problem = Problem.of(data, searched)
    return average_of(problem, Recipe.of(problem.table, options), work)


def recipe_of(problem: Problem, criterion: str | None, work: AverageWork) -> Recipe:
    """Return the recipe for the data of a result, whose price of edges is kept."""
    settings, table = problem.settings, problem.dataset
    default = edge_price("auto", "auto", table.varying, table.cases, settings.measure)
    price = "auto" if settings.edge_prior == default else settings.edge_prior
    return Recipe.of(problem.table, {**work, "criterion": criterion, "edge_prior": price})


def average_of(problem: Problem, recipe: Recipe, work: AverageWork) -> AveragedNetwork:
    """Learn and fit the members of an average."""
    started, most = time.monotonic(), work["members"]
    budget = Budget.of({"budget": work["budget"]})
    deadline = math.inf if budget.seconds is None else started + budget.seconds
    at_first = started + budget.most_seconds
    members: list[Fitted] = []
    try:
        with reporting(work["progress"]) as report:

            def keep_going() -> bool:
                report(Progress.at_a_pace(len(members), most, started, "members"))
                return time.monotonic() < (deadline if members else at_first)

            def in_time(rounds: int) -> bool:
                return keep_going() and (not rounds or time.monotonic() < deadline)

            problem = problem.completed(threads(work["n_jobs"]), in_time)
            _ = problem.core  # refuses tables that cannot be searched
            fitter = _Fitter(problem, recipe.prior, recipe.fit_ess)
            for graph in _graphs(problem, recipe, work, keep_going):
                members.append(fitter(graph))
    except KeyboardInterrupt:
        raise EnsembleInterrupted(AveragedNetwork(members) if members else None) from None
    except OutOfTime:
        pass  # before missing values were imputed once
    if not members:
        raise KesError(
            f"not a single network was learned in time: raise {option('budget')}", option="budget"
        )
    return AveragedNetwork(members)


def _graphs(
    problem: Problem, recipe: Recipe, work: AverageWork, keep_going: Callable[[], bool]
) -> Iterator[list[tuple[str, str]]]:
    """Yield the arcs of the members, until the time is up."""
    table = problem.dataset
    rows = BayesianBootstrap(table)
    discrete = {
        name for name, kind in zip(table.names, table.kinds, strict=True) if kind == "discrete"
    }
    for number in range(work["members"]):
        settings = recipe.settings(problem, number)
        stream = Stream(settings.seed)
        found = best_of(
            rows.draw(stream),
            settings,
            cache_mb=work["memory_mb"],
            threads=threads(work["n_jobs"]),
            keep_going=keep_going,
            twins=True,  # of the weighted table; those of the table itself are refused before
        )
        if found is None:
            return
        yield _random_dag(found, discrete, settings, stream)


def _random_dag(
    graph: EssentialGraph, discrete: Collection[str], settings: Settings, stream: Stream
) -> list[tuple[str, str]]:
    """Return a DAG of a class that the knowledge admits, drawn at random.

    Which DAG of a class is the canonical one depends on the order of its nodes. Discrete ones come
    first: a discrete node with continuous parents has exact answers to fewer queries.
    """
    keys = dict(zip(sorted(graph.nodes), stream.integers(len(graph.nodes)), strict=True))
    order = sorted(graph.nodes, key=lambda node: (node not in discrete, keys[node]))
    dag = graph.to_core(order).to_dag(len(order), settings.known(order))
    return sorted((order[a], order[b]) for a, b in dag)


def average_of_models(
    problem: Problem, models: Sequence[EssentialGraph], weights: Sequence[float], ess: float
) -> AveragedNetwork:
    """Fit given models to the table and average them; all DAGs of a model give the same answers."""
    fitter, knowledge = _Fitter(problem, "bdeu", ess), problem.settings.knowledge
    known = [model if knowledge is None else Mpdag(model, knowledge) for model in models]
    return AveragedNetwork((fitter(list(model.to_dag())) for model in known), weights)


class _Fitter:
    """Fits members to the whole table; families that members share are estimated once."""

    def __init__(self, problem: Problem, prior: Prior, ess: float) -> None:
        self._table: Dataset = problem.dataset
        self._kept: dict[str, Any] = {
            "discretizer": problem.reading.discretizer,
            "transform": None,
            "notations": with_exogenous(self._table.notations, problem.settings.exogenous),
        }
        self._knowledge, self._degree = problem.settings.knowledge, problem.settings.measure.degree
        if problem.settings.transform == "ranks" or self._degree > 1:
            self._kept["transform"] = Ranks.of(self._table)
            self._table = self._kept["transform"].apply(self._table)
        self._last: dict[tuple[str, ...], Model] = {}
        self._how: dict[str, Any] = {"prior": prior, "ess": ess}

    def __call__(self, arcs: list[tuple[str, str]]) -> Fitted:
        """Estimate the network with these arcs."""
        names = self._table.names
        if self._degree > 1:  # curves fit well in one direction
            graph = EssentialGraph.from_dag(names, arcs)
            known = graph if self._knowledge is None else Mpdag(graph, self._knowledge)
            arcs = fitting_dag(known, self._table, self._degree)
        parents = families(names, arcs)
        estimates = Estimates(parents, last=self._last, degree=self._degree, **self._kept)
        return estimates(self._table, **self._how)
