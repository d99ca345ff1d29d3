"""Improve on the runs: recombine, refine and perturb their optima.

The work is divided into tasks, each on one or two models of a pool, which at first holds the optima
of the runs and GES:

- *recombine* two models: climb from the best network whose parts come from one or the other;
- *refine* a model: turn its edges, or delete one, climb without it, and climb again;
- *perturb* a model: remove a few random edges, climb, and recombine with the original;
- *order* the variables of a large model anew, given good parent sets for each of them.

The best model is recombined with the others until that finds nothing more, then the best are
refined, then the best is perturbed; a higher score starts all over again. With many variables the
best is ordered first (unless there is background knowledge), and with many edges refined only when
perturbing finds nothing more. The mathematics is in the core (``improve/``).
"""

import hashlib
import time
from dataclasses import replace

from kes._core import __version__
from kes.budget import Budget, Improve
from kes.native import core_errors
from kes.progress import Progress, Reporter, reporting
from kes.search.driver import Execution, NewOffspring, SearchInterrupted
from kes.search.problem import Problem
from kes.search.record import Batch, Improving, Model, Offspring, Record

KEPT = 20
"""Number of the best models that are kept, with their ancestors."""


def improve_runs(
    problem: Problem,
    record: Record,
    asked: Improve,
    execution: Execution,
    *,
    budget: Budget | None = None,
    seconds: float | None = None,
) -> Record:
    """Improve on the runs and GES, as `learn` does after its runs, ignoring other models.

    `budget` is the work to do now, by default all that was requested; `seconds` is the time left
    for the whole search.
    """
    budget = budget or asked.budget(len(record.runs))
    if budget is None:
        return record
    if budget.settling is not None:
        budget = budget.settled_within(problem.size)
    session = _Session(problem, record.unimproved(asked), budget, seconds)

    def result(*, complete: bool) -> Record:
        improving = Improving(asked, complete).followed_by(Batch(session.done, "learn"))
        new = replace(session.record(), improving=improving).keeping(record)
        did_more = record.improving.own > session.done  # and found all this, and more
        waits = not complete and record.improving.outdated > 0  # until all tasks are repeated
        if did_more or (waits and record.highest >= new.highest):
            improving = replace(record.improving, asked=asked, complete=complete)
            return replace(record, improving=improving)
        return new

    try:
        session.work(execution)
    except KeyboardInterrupt:
        raise SearchInterrupted(result(complete=False)) from None
    return result(complete=not session.cut)


def improve(problem: Problem, record: Record, budget: Budget, execution: Execution) -> Record:
    """Improve on all models of a record; tasks are numbered on from those done."""
    session = _Session(problem, record, budget)

    def result() -> Record:
        if not session.done:
            return record
        improving = record.improving.followed_by(Batch(session.done, "improve"))
        return replace(session.record(), improving=improving)

    try:
        session.work(execution)
    except KeyboardInterrupt:
        raise SearchInterrupted(result()) from None
    return result()


class _Session:
    """One call of the driver: collects what its tasks find, and decides when to stop."""

    def __init__(
        self, problem: Problem, record: Record, budget: Budget, seconds: float | None = None
    ) -> None:
        self._problem, self._record, self._budget = problem, record, budget
        self._seconds = seconds  # left for the whole search
        self._started = time.monotonic()
        self._best = max(model.score for model in record.pool)
        self._wanted = budget.settling or budget.tasks
        self._offspring: list[Offspring] = []
        self.done = 0  # tasks
        self.cut = False  # whether the time was up before the tasks were done

    def work(self, execution: Execution) -> None:
        """Do the tasks."""
        if self._is_over():
            return
        with reporting(execution.progress) as report:
            self._problem.driver(execution.threads).do_tasks(
                [model.graph for model in self._record.pool],
                lambda found, done: self._take(found, done, report),
                tasks=self._budget.tasks,
                seed=_seed(self._problem.settings.seed, self._record.improving.tasks),
            )
            report(self._progress(), final=True)
            self._check(execution.threads)

    def record(self) -> Record:
        """Return the record with the best models, every rise of the best score, and ancestors."""
        base, kept = self._record, self._kept()
        first = len(base.pool)
        new = {place: first + number for number, place in enumerate(kept)}
        children = [
            replace(
                child,
                parents=tuple(new.get(parent, parent) for parent in child.parents),
                task=base.improving.tasks + (child.task or 0),
            )
            for child in (self._offspring[place - first] for place in kept)
        ]
        return replace(base, offspring=(*base.offspring, *children), version=__version__)

    def _kept(self) -> list[int]:
        """Return the places of kept models, counted as if all had joined the pool."""
        base = self._record
        everything = replace(base, offspring=(*base.offspring, *self._offspring))
        first, pool = len(base.pool), everything.pool
        places = range(first, len(pool))  # of equal levels, the earlier is better
        best = sorted(places, key=lambda place: -base.level(pool[place].score))[:KEPT]
        kept = everything.ancestors([*best, *everything.rises()])
        return sorted(place for place in kept if place >= first)

    def _check(self, threads: int) -> None:
        """Check from scratch which of the kept models are local optima.

        After Ctrl-C the claims of the climbs stay: the tasks will be repeated.
        """
        problem, first = self._problem, len(self._record.pool)
        kept = self._kept()
        children = [self._offspring[place - first] for place in kept]
        with core_errors(problem.dataset.names):
            local = problem.core.local_optima(
                [child.model.graph for child in children],
                problem.settings.max_parents,
                problem.knowledge,
                n_jobs=threads,
            )
        for place, child, is_local in zip(kept, children, local, strict=True):
            model = replace(child.model, is_local_optimum=is_local)
            self._offspring[place - first] = replace(child, model=model)

    def _take(self, found: NewOffspring, done: int, report: Reporter) -> bool:
        """Collect new models; return whether to go on."""
        for graph, score, how, parents, task in found:
            if self._is_enough(task):  # the core has done more before it could be stopped
                break
            model = Model.from_core(graph, score, is_local_optimum=True)  # checked if it is kept
            self._offspring.append(Offspring(model, how, tuple(parents), task))
            self._settle(score, task)
            self._best = max(self._best, score)
        self.done = min(done, self._wanted or done)
        report(self._progress())
        return not (self._is_enough(done) or self._is_over())

    def _settle(self, score: float, task: int) -> None:
        """After a higher score, do half as many tasks again as it took to find it."""
        level = self._record.level
        if self._budget.settling is not None and level(score) > level(self._best):
            wanted = max(self._wanted or 0, (3 * (task + 1) + 1) // 2)
            self._wanted = min(wanted, self._budget.tasks or wanted)

    def _is_enough(self, done: int) -> bool:
        return self._wanted is not None and done >= self._wanted

    def _is_over(self) -> bool:
        spent, own = time.monotonic() - self._started, self._budget.seconds
        if own is not None and spent >= own:
            return True
        self.cut = self._seconds is not None and spent >= self._seconds
        return self.cut

    def _progress(self) -> Progress:
        """Return the progress; if only time is limited, with the expected number of tasks."""
        spent, limit = time.monotonic() - self._started, self._budget.seconds
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


def _seed(seed: int, done: int) -> int:
    """Return the seed of tasks that follow others: each call of the core numbers them from 0."""
    if not done:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed} {done}".encode()).digest()[:8], "little")
