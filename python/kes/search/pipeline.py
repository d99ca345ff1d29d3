"""A whole search: runs here or on a cluster, improvement, and a proof, within one budget."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeAlias

from kes.budget import Budget, default_tasks
from kes.data.dataset import Dataset
from kes.errors import KesError
from kes.graph.core_graph import RawGraph
from kes.network.gibbs import OutOfTime
from kes.progress import Progress, reporting
from kes.search import dask_cluster
from kes.search.collector import Collector
from kes.search.driver import Execution, NewModels, SearchInterrupted, SearchLost
from kes.search.improve import improve_runs
from kes.search.problem import Problem
from kes.search.proof import proof_budget, prove_best
from kes.search.record import Model, Record
from kes.search.structural_em import MAX_ROUNDS

Watch: TypeAlias = Callable[[Collector], None]

_AT_ONCE = 100_000  # runs in one call of the core: a list of millions would be large


def prepare(problem: Problem, execution: Execution, budget: Budget) -> Problem:
    """Impute missing values and hand the table over to the core.

    Imputation takes at most half of the budget, and its first round at most all.
    """
    began = time.monotonic()
    half = math.inf if budget.seconds is None else budget.seconds / 2

    def keep_going(rounds: int) -> bool:
        spent = time.monotonic() - began
        report(Progress(rounds, MAX_ROUNDS, None, 0, spent, None, unit="rounds"))
        return spent < (half if rounds else budget.most_seconds)

    try:
        if not isinstance(problem.table, Dataset):
            with reporting(execution.progress) as report:
                problem = problem.completed(execution.threads, keep_going)
        _ = problem.core  # made here, so that Ctrl-C is handled
    except KeyboardInterrupt:
        raise SearchInterrupted(None) from None
    except OutOfTime:
        raise _too_short(budget, "impute the missing values once") from None
    return problem


def search(
    problem: Problem,
    budget: Budget,
    execution: Execution,
    *,
    base: Record | None = None,
    watchers: Sequence[Watch] = (),
    after_runs: Callable[[Record], object] | None = None,
) -> Record:
    """Do the runs, improve on them, and prove the best score.

    Parameters
    ----------
    budget : Budget
        All work to do, including that behind `base`; `runs` must be given.
    base : Record or None
        The record of earlier searches of this problem, to be continued. If it already has all runs,
        improvement and proof, it is returned unchanged.
    watchers : sequence of callables
        Called with the collector after each batch of runs.
    after_runs : callable or None
        Called with the record before the runs are improved on.

    Raises
    ------
    SearchInterrupted, SearchLost
        On Ctrl-C, or if the connection to the cluster is lost.
    """
    started = time.monotonic()
    record = do_runs(problem, budget, execution, base=base, watchers=watchers)
    is_new = base is None or record.runs != base.runs
    try:
        if is_new and after_runs is not None and budget.improve:
            after_runs(record)
        return _after_runs(problem, record, budget, execution, started=started, is_new=is_new)
    except SearchInterrupted:
        raise
    except KeyboardInterrupt:  # between two steps
        raise SearchInterrupted(record) from None


def _after_runs(
    problem: Problem,
    record: Record,
    budget: Budget,
    execution: Execution,
    *,
    started: float,
    is_new: bool,
) -> Record:
    """Improve on the runs, and prove the best score."""
    improve, prove = budget.improve, budget.prove

    def improved(record: Record, tasks: Budget | None = None) -> Record:
        left = budget.since(started).seconds
        return improve_runs(problem, record, improve, execution, budget=tasks, seconds=left)

    proving = proof_budget(problem, prove) is not None
    tasks = None
    if is_new or not _is_improved(record, budget):
        # If the best model is proven, more tasks would find nothing.
        tasks = default_tasks(len(record.runs)) if improve.is_auto and proving else None
        record = improved(record, tasks)
    elif improve and not record.improving.complete:
        record = _marked(record, complete=True)  # it may have been stopped at the very end
    complete = record.improving.complete
    if proving and (is_new or not _is_proven(record, budget)):
        waiting = record if tasks is None else _marked(record, complete=False)
        record = prove_best(problem, waiting, prove, execution, budget.since(started).seconds)
        if record.proof is not None and record.proof.proven:
            record = _marked(record, complete=complete)
        elif improve.is_auto:
            record = replace(improved(record), prove=record.prove, proof=record.proof)
    return record


def _marked(record: Record, *, complete: bool) -> Record:
    """Return the record with its improvement marked as complete or not."""
    return replace(record, improving=replace(record.improving, complete=complete))


def _is_improved(record: Record, budget: Budget) -> bool:
    """Return whether a record has had all the improvement that was requested."""
    improving, tasks = record.improving, budget.improve.budget(len(record.runs))
    if tasks is None:
        return True
    if tasks.tasks is not None and tasks.settling is None:
        return improving.own >= tasks.tasks
    return improving.complete and improving.asked == budget.improve


def _is_proven(record: Record, budget: Budget) -> bool:
    """Return whether a record is proven, or the requested attempt was made."""
    return record.proof is not None and (
        record.proof.proven or record.prove in (budget.prove, True)
    )


# --- runs ----------------------------------------------------------------------------------------


def do_runs(
    problem: Problem,
    budget: Budget,
    execution: Execution,
    *,
    base: Record | None = None,
    watchers: Sequence[Watch] = (),
) -> Record:
    """Do runs until there are as many as wanted, or the budget is spent; see `search`."""
    started = time.monotonic()
    collector: Collector | None = None
    steps_of_runs = 0
    with reporting(execution.progress) as report:

        def on_steps(steps: int, _: object) -> None:
            nonlocal steps_of_runs
            steps_of_runs = steps

        def keep_going(steps: int) -> bool:
            spent = time.monotonic() - started
            report(Progress(steps, 0, None, 0, spent, None, unit="steps"))
            return spent < budget.most_seconds

        try:
            if base is None or base.unfinished:
                base = _greedy(problem, execution.threads, keep_going)
            if base is None:
                raise _too_short(budget, "compare all pairs of columns")
            if base.unfinished:
                return base
            collector = Collector(
                base,
                budget,
                watchers=[
                    lambda now: report(replace(_progress(now), steps=steps_of_runs)),
                    *watchers,
                ],
                started=started,
            )
            if execution.client is not None and not collector.stopped:
                dask_cluster.search(execution.client, problem, collector)
            while execution.client is None and not collector.stopped:
                runs = islice(collector.pending(), _AT_ONCE)
                problem.driver(execution.threads).do_runs(runs, collector.receiver(), on_steps)
            record = collector.record()
            end = replace(
                _progress(collector),
                done=len(record.runs),
                best=max((model.score for model in record.models), default=None),
                optima=len(record.models),
                left=0.0,
                steps=steps_of_runs,
            )
            report(end, final=True)
        except SearchInterrupted:
            raise
        except KeyboardInterrupt:
            found = base if collector is None else collector.record(ahead=True)
            raise SearchInterrupted(found) from None
        except dask_cluster.Lost as lost:
            found = base if collector is None else collector.record(ahead=True)
            raise SearchLost(str(lost), found) from lost
    return record


def _greedy(problem: Problem, threads: int, keep_going: Callable[[int], bool]) -> Record | None:
    """Do GES, and return a record without other runs.

    If GES is stopped, the record holds the model that it had reached; None if it had not moved.
    """
    found: list[Model] = []
    reached: list[Model] = []
    steps = 0

    def on_steps(done: int, unfinished: tuple[RawGraph, float] | None) -> None:
        nonlocal steps
        steps = done
        if unfinished is not None:
            reached[:] = [Model.from_core(*unfinished, is_local_optimum=False)]

    def on_runs(_: list[int], __: list[int], new_models: NewModels) -> bool:
        found.extend(Model.from_core(*model) for model in new_models)
        return keep_going(steps)

    def record() -> Record | None:
        if found:
            return problem.blank(found[0])
        return problem.blank(reached[0], steps=steps) if reached else None

    try:
        problem.driver(threads).greedy().do_runs([0], on_runs, on_steps)
    except KeyboardInterrupt:
        raise SearchInterrupted(record()) from None
    return record()


def _too_short(budget: Budget, work: str) -> KesError:
    return KesError(
        f"the budget is too short for these data: the {budget.most_seconds:.0f} s left are not "
        f"enough to {work}; give more time, or fewer columns",
        option="budget",
    )


def _progress(collector: Collector) -> Progress:
    """Return the progress; the time left is extrapolated from the latest batch of runs."""
    earlier, spent = len(collector.base.runs), collector.seconds
    totals = [] if collector.budget.seconds is None else [collector.budget.seconds]
    if (done := collector.done - earlier) > 0:
        totals.append(collector.latest * (collector.wanted - earlier) / done)
    return Progress(
        done=collector.done,
        wanted=collector.wanted,
        best=collector.best_score,
        optima=collector.distinct,
        seconds=spent,
        left=max(0.0, min(totals) - spent) if totals else None,
    )
