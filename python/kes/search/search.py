"""All that a search does: runs, and then what improves on them, within one budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from kes.search.amounts import Improve, effort_of
from kes.search.execution import Execution
from kes.search.improve import improve_runs
from kes.search.problem import Problem
from kes.search.record import Record
from kes.search.runs import Watch, do_runs


def search(
    problem: Problem,
    wanted: int,
    execution: Execution,
    *,
    improve: Improve,
    base: Record | None = None,
    watchers: Sequence[Watch] = (),
    after_runs: Callable[[Record], object] | None = None,
) -> Record:
    """Do what is lacking of so many runs, and improve on all of them.

    Parameters
    ----------
    improve : bool, int or str
        How much to do after the runs, as in `kes.learn`.
    base : Record or None
        What earlier searches of this problem found, to be continued. If it has all the runs and
        is improved by as much, it is returned as it is.
    watchers : sequence of callables
        Called with the collector after each batch of runs.
    after_runs : callable or None
        Called with the record before the runs are improved on.

    Raises
    ------
    SearchInterrupted
        On Ctrl-C.
    """
    started = time.monotonic()
    limits = replace(execution.limits, improve=improve)
    runs = replace(execution, limits=limits)
    record = do_runs(problem, wanted, runs, base=base, watchers=watchers)
    if base is not None and record.runs == base.runs:
        if _is_done(record, improve):
            return record
    elif after_runs is not None and improve is not False:
        after_runs(record)
    left = limits.budget and limits.budget - (time.monotonic() - started)
    rest = replace(execution, limits=replace(limits, budget=left), client=None)
    return improve_runs(problem, record, improve, rest)


def _is_done(record: Record, improve: Improve) -> bool:
    """Tell whether a record is improved by as much as is asked for."""
    improving, effort = record.improving, effort_of(improve, len(record.runs))
    if effort is None:
        return True
    is_same = improving.asked == improve if effort.tasks is None else improving.own == effort.tasks
    return improving.complete and is_same
