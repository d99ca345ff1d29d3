"""All models whose score is close to the highest one, proven complete.

Every network within some nats of the best has only families that no subset of their parents beats
by more than that [Liao 2019]. With these families, dynamic programming over sets of variables gives
the exact maximum score of any part of a network, so that a depth-first search visits only the
networks wanted: see the core's module `exact/credible`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Unpack, overload

from kes.budget import Budget
from kes.data.dataset import Data
from kes.declare import checked_options, chosen_from
from kes.errors import KesError, option
from kes.graph import EssentialGraph
from kes.native import core_errors
from kes.options import CRITERION, CredibleOptions, CredibleWork
from kes.progress import Progress, reporting
from kes.results.optima import Optima
from kes.results.summary import counted
from kes.search.driver import Execution, threads
from kes.search.pipeline import prepare
from kes.search.problem import Problem
from kes.table import Table, tabulated
from kes.validation import duration

_CACHE_MB = 64
_DISTANCES = (1.0, 3.0, 10.0, 20.0)
_SHOWN = 10
_INCOMPLETE = "not complete: counted from the best of these models"


@dataclass(frozen=True)
class CredibleModel:
    """A model close to the best.

    Attributes
    ----------
    graph : EssentialGraph
        The model.
    score : float
        Its score.
    is_local_optimum : bool
        Whether no admissible neighbour scores higher.
    hits : int or None
        Number of runs that ended in it; None if no result was compared.
    """

    graph: EssentialGraph
    score: float
    is_local_optimum: bool
    hits: int | None = None


@dataclass(frozen=True, eq=False)
class Credible(Sequence[CredibleModel]):
    """All models within some distance of the highest score, best first.

    Attributes
    ----------
    within : float
        The distance, in nats.
    complete : bool
        Whether these are all such models, which is then proven. Otherwise there are more than
        these, and the best may not be among them.
    seconds : float
        Running time.
    """

    within: float
    complete: bool
    models: tuple[CredibleModel, ...] = field(repr=False)
    seconds: float

    def __len__(self) -> int:
        return len(self.models)

    @overload
    def __getitem__(self, index: int) -> CredibleModel: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[CredibleModel]: ...
    def __getitem__(self, index: int | slice) -> CredibleModel | Sequence[CredibleModel]:
        """Return a model by its rank, 0 for the best."""
        return self.models[index]

    @property
    def local_optima(self) -> list[CredibleModel]:
        """The models that are local optima, best first."""
        return [model for model in self.models if model.is_local_optimum]

    def counts(self) -> Table:
        """Count models and local optima by distance from the best score.

        Returns
        -------
        Table
            A row for each distance `within`, in nats: the number of `models`, of `local_optima`
            among them and, if a result was compared, how many of these its runs `found`. If the
            models are not `complete`, the distance is from the best of them.
        """
        distances = [*(d for d in _DISTANCES if d < self.within), self.within]
        best = max((model.score for model in self.models), default=0.0)
        compared = any(model.hits is not None for model in self.models)
        rows = []
        for distance in distances:
            near = [model for model in self.models if model.score >= best - distance]
            local = [model for model in near if model.is_local_optimum]
            found = [sum(bool(model.hits) for model in local)] if compared else []
            rows.append((distance, len(near), len(local), *found))
        names = ("within", "models", "local_optima", *(["found"] if compared else []))
        return tabulated(names, rows, note="" if self.complete else _INCOMPLETE)

    def table(self) -> Table:
        """Return a row for each model: `score`, `distance` from the best, edges, local optimum."""
        best = max((model.score for model in self.models), default=0.0)
        return tabulated(
            ("score", "distance", "edges", "is_local_optimum", "hits"),
            (
                (m.score, best - m.score, len(m.graph.skeleton), m.is_local_optimum, m.hits)
                for m in self.models
            ),
        )

    @property
    def title(self) -> str:
        """Say how many models there are, and whether that is proven."""
        number, near = counted(len(self), "model"), f"within {self.within:g} nats of the highest"
        if self.complete:
            return f"All {number} {near} score (proven complete)"
        return f"More than {number} {near} score (not complete: the best may be missing)"

    def __repr__(self) -> str:
        shown = Table({n: c[:_SHOWN] for n, c in self.table().to_dict().items()})
        return "\n".join([self.title, repr(self.counts()), repr(shown)])


@checked_options(CredibleOptions)
def credible(
    data: Data, *, optima: Optima | None = None, **options: Unpack[CredibleOptions]
) -> Credible:
    """Find all models whose score is close to the highest one, and which are local optima.

    Parameters
    ----------
    data
        As in `kes.learn`.
    optima : Optima or None
        A result of `kes.learn` with the same data and criterion, to count which models its runs
        found.
    memory_mb : int
        Memory to use, approximately. 25 variables that depend on each other need 256 MB, and each
        further one doubles that.

    Returns
    -------
    Credible
        The models, best first. If `Credible.complete`, it is proven that no others exist.

    Raises
    ------
    KesError
        If the data or an option cannot be used, or memory or time do not suffice to find any
        model; the message says what to do.

    Examples
    --------
    >>> import kes
    >>> models = kes.credible(kes.datasets.example1(), within=2.0)
    >>> models.complete, models[0].is_local_optimum
    (True, True)
    """
    problem = Problem.of(data, {**options, "k": 1.0, "cache_mb": _CACHE_MB})
    work: CredibleWork = chosen_from(CredibleWork, options)
    problem = prepare(problem, Execution.of(options), Budget.of({"budget": work["budget"]}))
    return credible_of(problem, optima=optima, **work)


@checked_options(CredibleWork)
def credible_of(
    problem: Problem, *, optima: Optima | None = None, **work: Unpack[CredibleWork]
) -> Credible:
    """Find the models for a given problem; see `credible`."""
    started = time.monotonic()
    distance, n_jobs = work["within"], threads(work["n_jobs"])
    limit = math.inf if work["budget"] is None else duration("budget", work["budget"])
    names, settings = tuple(problem.dataset.names), problem.settings
    hits = None if optima is None else _hits(problem, optima)
    with core_errors(names), reporting(work["progress"]) as report:

        def keep_going(done: int) -> bool:
            spent = time.monotonic() - started
            report(Progress(done, 0, None, 0, spent, None, "sets"))
            return spent < limit

        found = problem.core.credible(
            keep_going,
            within=distance,
            most=work["most"],
            max_parents=settings.max_parents,
            n_jobs=n_jobs,
            memory_mb=work["memory_mb"],
            knowledge=problem.knowledge,
        )
        if found is None:
            raise _unfinished(spent_all=time.monotonic() - started >= limit)
        models, complete = found
        graphs = [graph for graph, _ in models]
        local = problem.core.local_optima(
            graphs, settings.max_parents, problem.knowledge, n_jobs=n_jobs
        )
    found_models = []
    for (graph, score), is_local in zip(models, local, strict=True):
        essential = EssentialGraph.from_core(names, graph)
        runs = None if hits is None else hits.get(essential, 0)
        found_models.append(CredibleModel(essential, score, is_local, runs))
    return Credible(distance, complete, tuple(found_models), time.monotonic() - started)


def _hits(problem: Problem, optima: Optima) -> dict[EssentialGraph, int]:
    """Return the hits of each model in a result with the same data and criterion."""
    if not isinstance(optima, Optima):
        raise KesError(
            f"optima must be the result of kes.learn, not {type(optima).__name__}", option="optima"
        )
    mine, theirs = problem.settings, optima.settings
    for name in (*CRITERION, "edge_prior", "max_parents", "knowledge"):
        if getattr(mine, name) != getattr(theirs, name):
            raise KesError(
                f"the optima were found with another {name}: {getattr(theirs, name)}, not "
                f"{getattr(mine, name)}; use optima.credible()",
                option="optima",
            )
    problem.check(optima.record)
    return {optimum.graph: optimum.hits for optimum in optima}


def _unfinished(*, spent_all: bool) -> KesError:
    if spent_all:
        return KesError(
            f"no model was found in time: raise {option('budget')}, or lower {option('within')}",
            option="budget",
        )
    return KesError(
        f"the families that matter need more memory than allowed: raise {option('memory_mb')}, "
        f"lower {option('within')}, or allow few parents with {option('max_parents', 3)}",
        option="memory_mb",
    )
