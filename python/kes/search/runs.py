"""Runs, here or on a cluster, until there are as many as wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeAlias

from kes.errors import KesError
from kes.progress import Progress, reporting
from kes.search import dask_cluster
from kes.search.collector import Collector, Limits
from kes.search.execution import Execution, SearchInterrupted, SearchLost
from kes.search.problem import Problem
from kes.search.record import Record

Watch: TypeAlias = Callable[[Collector], None]

_AT_ONCE = 100_000  # runs that the core is asked for: a list of millions would be large


def do_runs(
    problem: Problem,
    wanted: int,
    execution: Execution,
    *,
    base: Record | None = None,
    watchers: Sequence[Watch] = (),
) -> Record:
    """Do runs until there are as many as wanted, or until a limit is reached.

    Parameters
    ----------
    base : Record or None
        What earlier searches of this problem found, to be continued.
    watchers : sequence of callables
        Called with the collector after each batch of runs.

    Raises
    ------
    SearchInterrupted
        On Ctrl-C.
    KesError
        If a budget, and what the first run is allowed beyond it, is over before that has ended.
    SearchLost
        If the cluster is.
    """
    started, limits = time.monotonic(), execution.limits
    collector: Collector | None = None
    with reporting(execution.progress) as report:
        try:
            if base is None:

                def going_on() -> bool:
                    now = _none(wanted, started)
                    report(now)
                    return now.seconds < limits.first

                base = problem.blank(going_on, execution.threads)
            if base is None:
                raise _too_short(limits)
            collector = Collector(
                base,
                wanted,
                limits=limits,
                watchers=[lambda now: report(_progress(now)), *watchers],
                started=started,
            )
            _finish(problem, collector, execution)
        except KeyboardInterrupt:
            raise SearchInterrupted(_found(collector)) from None
        except dask_cluster.Lost as lost:
            raise SearchLost(str(lost), _found(collector)) from lost
        if not collector.ready:
            raise _too_short(limits)
        record = collector.record()
        report(_end(record, collector), final=True)
    return record


def _found(collector: Collector | None) -> Record | None:
    """Return what there is, also beyond gaps; None before a run has ended."""
    return collector.record(ahead=True) if collector is not None and collector.done else None


def _finish(problem: Problem, collector: Collector, execution: Execution) -> None:
    """Do the pending runs, wherever."""
    if execution.client is None:
        while not collector.stopped:
            runs = list(islice(collector.pending(), _AT_ONCE))
            problem.search(runs, collector.receiver(), n_jobs=execution.threads)
    elif not collector.stopped:
        dask_cluster.search(execution.client, problem, collector)


def _too_short(limits: Limits) -> KesError:
    return KesError(
        f"the budget is too short for these data: no run has ended within {limits.first:.0f} s; "
        "give more time, or fewer columns"
    )


# --- how far it is -------------------------------------------------------------------------------


def _none(wanted: int, started: float) -> Progress:
    """Return the progress before the first run."""
    return Progress(0, wanted, None, 0, time.monotonic() - started, None)


def _progress(collector: Collector) -> Progress:
    return Progress(
        done=collector.done,
        wanted=collector.wanted,
        best=collector.best_score,
        optima=collector.distinct,
        seconds=collector.seconds,
        left=_time_left(collector),
    )


def _end(record: Record, collector: Collector) -> Progress:
    """Return the progress at the end: what the record holds, and no more."""
    return Progress(
        done=len(record.runs),
        wanted=collector.wanted,
        best=max(model.score for model in record.models),
        optima=len(record.models),
        seconds=collector.seconds,
        left=0.0,
    )


def _time_left(collector: Collector) -> float | None:
    """Estimate from the pace until the latest batch of runs, and cut off by the budget."""
    done, spent = collector.done - len(collector.base.runs), collector.seconds
    estimates = []
    if done > 0:
        all_in_all = collector.latest * (collector.wanted - len(collector.base.runs)) / done
        estimates.append(all_in_all - spent)
    if collector.limits.budget is not None:
        estimates.append(collector.limits.budget - spent)
    return max(0.0, min(estimates)) if estimates else None
