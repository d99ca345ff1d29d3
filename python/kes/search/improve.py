"""Higher scores than any single run: the optima recombined, refined and perturbed.

The work is divided into tasks, each on one or two models of a pool, which at first holds the optima
of the runs and GES:

- *recombine* two models: the best network whose parts come from one or the other, climbed from;
- *refine* a model: turn its edges, or delete one, climb without it, and climb again;
- *perturb* a model: take out a few edges at random, climb, and recombine with where it came from.

The best model is recombined with the others until that finds nothing more, then the best are
refined, then the best is perturbed; whenever a higher score turns up, all over again with that. The
mathematics is in the core (``recombine.rs``, ``refine.rs``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from kes.data.core import core_errors
from kes.errors import Interrupted
from kes.progress import Progress, Reporter, reporting
from kes.results.improved import REPORTED, Improved, Lineage
from kes.results.optima import Optima
from kes.search.problem import Study
from kes.search.record import Improvement, Model, Offspring, Record
from kes.settings import CoreGraph, check_seed, seconds, whole

TASKS_PER_RUN = 10
MOST_TASKS = 1000
"""Tasks for each run, and in all, unless a number or a time is asked for: see docs/quality.md."""

_NO_LIMIT = 2**62
_Found: TypeAlias = list[tuple[CoreGraph, float, str, list[int], int]]


class ImprovementInterrupted(Interrupted):
    """Ctrl-C during `Optima.improve`.

    Attributes
    ----------
    improved : Improved
        What the finished tasks found.
    """

    def __init__(self, improved: Improved) -> None:
        super().__init__(improved.optima)
        self.improved = improved

    def __str__(self) -> str:
        return "interrupted; what the finished tasks found is in the attribute 'improved'"


@dataclass(frozen=True)
class Effort:
    """How much to do, and how.

    Attributes
    ----------
    tasks : int or None
        Most tasks; None if only the time counts.
    seconds : float or None
        Most time.
    """

    tasks: int | None
    seconds: float | None
    seed: int

    @classmethod
    def checked(cls, budget: object, tasks: object, random_state: object, *, runs: int) -> Effort:
        """Make it of what a user wrote, or say what is wrong with it."""
        if budget is None and tasks is None:
            tasks = min(TASKS_PER_RUN * runs, MOST_TASKS)
        return cls(
            tasks=None if tasks is None else whole("tasks", tasks, least=1),
            seconds=None if budget is None else seconds("budget", budget),
            seed=check_seed(random_state),
        )


def improve(
    optima: Optima,
    study: Study,
    effort: Effort,
    *,
    threads: int,
    progress: bool | Callable[[Progress], object] | None,
) -> Improved:
    """Work on the optima until the effort is spent; see `Optima.improve`."""
    record = optima._record
    with reporting(progress) as report:
        gatherer = _Gatherer(record, effort, report)
        try:
            with core_errors():
                study.problem.improve(
                    gatherer.given(),
                    gatherer,
                    tasks=effort.tasks or _NO_LIMIT,
                    seed=effort.seed,
                    max_parents=study.settings.max_parents,
                    n_jobs=threads,
                )
        except KeyboardInterrupt:
            raise ImprovementInterrupted(gatherer.result(optima, study)) from None
        report(gatherer.state(), final=True)
    return gatherer.result(optima, study)


class _Gatherer:
    """Takes what the core finds, and tells it when the time is over."""

    def __init__(self, record: Record, effort: Effort, report: Reporter) -> None:
        self._record = record
        self._effort = effort
        self._report = report
        self._started = time.monotonic()
        self._ges_is_new = all(model.edges != record.ges.edges for model in record.models)
        self._best = max(model.score for model in (*record.models, record.ges))
        self._offspring: list[Offspring] = []
        self._times: list[float] = []
        self._done = 0

    def given(self) -> list[CoreGraph]:
        """Return what to work on, each model once."""
        models = [*self._record.models, *([self._record.ges] if self._ges_is_new else [])]
        return [(list(model.directed), list(model.undirected)) for model in models]

    def __call__(self, found: _Found, done: int) -> bool:
        """Take what is new, and say whether to go on."""
        spent = time.monotonic() - self._started
        for graph, score, how, parents, task in found:
            model = Model.from_core(graph, score, is_local_optimum=True)  # checked if it is kept
            places = tuple(map(self._place, parents))
            self._offspring.append(Offspring(model, how, places, task))
            self._times.append(spent)
            self._best = max(self._best, score)
        self._done = done
        self._report(self.state())
        return self._effort.seconds is None or spent < self._effort.seconds

    def _place(self, place: int) -> int:
        """Turn a place as the core counts into one as a record does, where GES always has one."""
        return place if place < len(self._record.models) or self._ges_is_new else place + 1

    def state(self) -> Progress:
        """Return how far it is. Where only time counts, the tasks that will have been done."""
        spent, limit = time.monotonic() - self._started, self._effort.seconds
        shares = [self._done / self._effort.tasks] if self._effort.tasks else []
        shares += [spent / limit] if limit else []
        share = min(1.0, max(shares))
        return Progress(
            done=self._done,
            wanted=self._effort.tasks or max(self._done, round(self._done / max(share, 1e-9))),
            best=self._best,
            optima=len(self._record.models) + len(self._offspring),
            seconds=spent,
            left=spent * (1 - share) / share if share > 0 else None,
            unit="tasks",
        )

    def result(self, optima: Optima, study: Study) -> Improved:
        """Return the best models and every rise of the best score, with all their ancestors."""
        spent = time.monotonic() - self._started
        lineage = Lineage(self._record, self._offspring)
        wanted = lineage.ancestors([*lineage.ranking()[:REPORTED], *lineage.rises()])
        kept = [place for place in sorted(wanted) if place >= lineage.first]
        new = {place: lineage.first + number for number, place in enumerate(kept)}
        children = [self._offspring[place - lineage.first] for place in kept]
        improvement = Improvement(
            seed=self._effort.seed,
            tasks=self._done,
            offspring=tuple(
                replace(
                    child,
                    model=_certified(child.model, study),
                    parents=tuple(new.get(parent, parent) for parent in child.parents),
                )
                for child in children
            ),
        )
        times = tuple(self._times[place - lineage.first] for place in kept)
        return Improved(optima, improvement, seconds=spent, times=times)


def _certified(model: Model, study: Study) -> Model:
    """Return the model with what a look at its whole boundary says of it."""
    graph = (list(model.directed), list(model.undirected))
    is_local_optimum = study.problem.is_local_optimum(graph, study.settings.max_parents)
    return replace(model, is_local_optimum=is_local_optimum)
