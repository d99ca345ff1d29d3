"""Higher scores than any single run: the optima recombined, refined and perturbed.

The work is divided into tasks, each on one or two models of a pool, which at first holds the optima
of the runs and GES:

- *recombine* two models: the best network whose parts come from one or the other, climbed from;
- *refine* a model: turn its edges, or delete one, climb without it, and climb again;
- *perturb* a model: take out a few edges at random, climb, and recombine with where it came from;
- *order* the variables of a large model anew, given good parent sets for each of them.

The best model is recombined with the others until that finds nothing more, then the best are
refined, then the best is perturbed; whenever a higher score turns up, all over again with that.
With many variables the best is ordered first (unless something is known of the network), and with
many edges refined only when perturbing finds nothing more. The mathematics is in the core
(``improve/``).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from kes._core import __version__
from kes.graph.core_graph import RawGraph
from kes.native import core_errors
from kes.progress import Progress, Reporter, reporting
from kes.search.budget import Effort, Improve, effort_of
from kes.search.execution import Execution, SearchInterrupted
from kes.search.problem import Problem
from kes.search.record import Improving, Model, Offspring, Record

KEPT = 20
"""How many of the best models of an improvement are kept, with their ancestors."""

_NO_LIMIT = 2**62

_Found: TypeAlias = list[tuple[RawGraph, float, str, list[int], int]]


def improve_runs(
    problem: Problem,
    record: Record,
    asked: Improve,
    execution: Execution,
    *,
    effort: Effort | None = None,
) -> Record:
    """Do what `learn` does after its runs: improve on them and GES, whatever else there is.

    Parameters
    ----------
    effort : Effort or None
        How much to do now, if it is not all that is asked for.

    Raises
    ------
    SearchInterrupted
        On Ctrl-C.
    """
    effort = effort or effort_of(asked, len(record.runs))
    if effort is None:
        return record
    if effort.settling is not None:
        effort = effort.within(problem.size)
    gatherer = _Gatherer(problem, record.unimproved(asked), effort, execution.limits.budget)

    def result(*, complete: bool) -> Record:
        improving = Improving(asked, complete, own=gatherer.done)
        new = replace(gatherer.record(), improving=improving).keeping(record)
        more = record.improving.own > gatherer.done  # which found all this, and more
        waiting = not complete and record.improving.outdated > 0  # for what is done in full
        if more or (waiting and record.highest >= new.highest):
            improving = replace(record.improving, asked=asked, complete=complete)
            return replace(record, improving=improving)
        return new

    try:
        gatherer.work(execution)
    except KeyboardInterrupt:
        raise SearchInterrupted(result(complete=False)) from None
    return result(complete=not gatherer.cut)


def improve(problem: Problem, record: Record, effort: Effort, execution: Execution) -> Record:
    """Improve on all models there are, with tasks numbered on from those done.

    Raises
    ------
    SearchInterrupted
        On Ctrl-C.
    """
    gatherer = _Gatherer(problem, record, effort)

    def result() -> Record:
        if not gatherer.done:
            return record
        calls = (*record.improving.calls, gatherer.done)
        return replace(gatherer.record(), improving=replace(record.improving, calls=calls))

    try:
        gatherer.work(execution)
    except KeyboardInterrupt:
        raise SearchInterrupted(result()) from None
    return result()


class _Gatherer:
    """Has the core do tasks, takes what it finds, and tells it when the time is over.

    Parameters
    ----------
    left : float or None
        Seconds that are left of a budget.

    Attributes
    ----------
    done : int
        Number of tasks done.
    cut : bool
        Whether the budget was over before the effort was spent.
    """

    def __init__(
        self, problem: Problem, record: Record, effort: Effort, left: float | None = None
    ) -> None:
        self._problem = problem
        self._record = record
        self._effort = effort
        self._left = left
        self._started = time.monotonic()
        self._best = max(model.score for model in record.pool)
        self._wanted = effort.settling or effort.tasks
        self._offspring: list[Offspring] = []
        self.done = 0
        self.cut = False

    def work(self, execution: Execution) -> None:
        """Do the tasks."""
        if self._is_over():
            return
        settings = self._problem.settings
        with reporting(execution.progress) as report, core_errors():
            self._problem.core.improve(
                [model.graph for model in self._record.pool],
                lambda found, done: self._take(found, done, report),
                tasks=self._effort.tasks or _NO_LIMIT,
                seed=_seed(settings.seed, self._record.improving.tasks),
                max_parents=settings.max_parents,
                n_jobs=execution.threads,
                knowledge=self._problem.knowledge,
            )
            report(self._progress(), final=True)
            self._check(execution.threads)

    def record(self) -> Record:
        """Return the record with the best models and every rise of the best score.

        They come with all their ancestors.
        """
        base, kept = self._record, self._kept()
        first = len(base.pool)
        new = {place: first + number for number, place in enumerate(kept)}
        return replace(
            base,
            offspring=(
                *base.offspring,
                *(self._numbered(self._offspring[place - first], new) for place in kept),
            ),
            version=__version__,
        )

    def _kept(self) -> list[int]:
        """Return the places of what is kept, as if all there is had joined the pool."""
        base = self._record
        everything = replace(base, offspring=(*base.offspring, *self._offspring))
        first = len(base.pool)
        best = everything.ancestors([*_best(everything, first), *everything.rises()])
        return sorted(place for place in best if place >= first)

    def _numbered(self, child: Offspring, new: dict[int, int]) -> Offspring:
        return replace(
            child,
            parents=tuple(new.get(parent, parent) for parent in child.parents),
            task=self._record.improving.tasks + (child.task or 0),
        )

    def _check(self, threads: int) -> None:
        """Look at the boundaries of what is kept afresh, whatever the climbs there say.

        If that is interrupted it is left at what they say: the tasks will be done again.
        """
        problem, first = self._problem, len(self._record.pool)
        children = [self._offspring[place - first] for place in self._kept()]
        local = problem.core.local_optima(
            [child.model.graph for child in children],
            problem.settings.max_parents,
            problem.knowledge,
            n_jobs=threads,
        )
        for place, child, is_local in zip(self._kept(), children, local, strict=True):
            model = replace(child.model, is_local_optimum=is_local)
            self._offspring[place - first] = replace(child, model=model)

    def _take(self, found: _Found, done: int, report: Reporter) -> bool:
        """Take what is new, and say whether to go on."""
        for graph, score, how, parents, task in found:
            if self._is_enough(task):  # and more was done before the core could be told
                break
            model = Model.from_core(graph, score, is_local_optimum=True)  # checked if it is kept
            self._offspring.append(Offspring(model, how, tuple(parents), task))
            self._settle(score, task)
            self._best = max(self._best, score)
        self.done = min(done, self._wanted or done)
        report(self._progress())
        return not (self._is_enough(done) or self._is_over())

    def _settle(self, score: float, task: int) -> None:
        """With a higher score, do half as much again as it took to find it."""
        level, most = self._record.level, self._effort.tasks or _NO_LIMIT
        if self._effort.settling is not None and level(score) > level(self._best):
            self._wanted = min(max(self._wanted or 0, (3 * (task + 1) + 1) // 2), most)

    def _is_enough(self, done: int) -> bool:
        return self._wanted is not None and done >= self._wanted

    def _is_over(self) -> bool:
        spent, own = time.monotonic() - self._started, self._effort.seconds
        if own is not None and spent >= own:
            return True
        self.cut = self._left is not None and spent >= self._left
        return self.cut

    def _progress(self) -> Progress:
        """Return how far it is. Where only time counts, the tasks that will have been done."""
        spent, limit = time.monotonic() - self._started, self._effort.seconds
        shares = [self.done / self._wanted] if self._wanted else []
        shares += [spent / limit] if limit else []
        share = min(1.0, max(shares))
        return Progress(
            done=self.done,
            wanted=self._wanted or max(self.done, round(self.done / max(share, 1e-9))),
            best=self._best,
            optima=len(self._record.pool) + len(self._offspring),
            seconds=spent,
            left=spent * (1 - share) / share if share > 0 else None,
            unit="tasks",
        )


def _best(record: Record, first: int) -> Sequence[int]:
    """Return the places of the best models from a place on; of equal levels the earlier."""
    places = range(first, len(record.pool))
    return sorted(places, key=lambda place: -record.level(record.pool[place].score))[:KEPT]


def _seed(seed: int, done: int) -> int:
    """Return the seed of tasks that follow others: the core numbers those of a call from 0."""
    if not done:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed} {done}".encode()).digest()[:8], "little")
