"""All that a search does: runs, what improves on them, and a proof, within one budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from kes.data.dataset import Dataset
from kes.progress import Progress, reporting
from kes.search.budget import Improve, Prove, chosen, effort_of
from kes.search.execution import Execution, SearchInterrupted
from kes.search.improve import improve_runs
from kes.search.problem import Problem
from kes.search.proof import allowance, prove_best
from kes.search.record import Record
from kes.search.runs import Watch, do_runs
from kes.search.structural_em import MOST_ROUNDS


def search(
    problem: Problem,
    wanted: int,
    execution: Execution,
    *,
    improve: Improve,
    prove: Prove = False,
    base: Record | None = None,
    watchers: Sequence[Watch] = (),
    after_runs: Callable[[Record], object] | None = None,
) -> Record:
    """Do what is lacking of so many runs, improve on all of them, and prove the best score.

    Parameters
    ----------
    improve : bool, int or str
        How much to do after the runs, as in `kes.learn`; or "auto": as much as pays.
    prove : bool or "auto"
        Whether to prove that no network scores higher, as in `kes.learn`.
    base : Record or None
        What earlier searches of this problem found, to be continued. If it has all the runs, is
        improved by as much and proven, it is returned as it is.
    watchers : sequence of callables
        Called with the collector after each batch of runs.
    after_runs : callable or None
        Called with the record before the runs are improved on.

    Raises
    ------
    SearchInterrupted
        On Ctrl-C.
    KesError
        If a budget is far too short for a single run.
    """
    started = time.monotonic()
    execution = replace(execution, limits=replace(execution.limits, improve=improve))
    record = do_runs(problem, wanted, execution, base=base, watchers=watchers)
    is_new = base is None or record.runs != base.runs
    if is_new and after_runs is not None and improve is not False:
        after_runs(record)

    def rest() -> Execution:
        return replace(execution.since(started), client=None)

    proving = allowance(problem, prove) is not None
    effort = None
    if is_new or not _is_improved(record, improve):
        # With a proof, more would be in vain.
        effort = chosen(len(record.runs)) if improve == "auto" and proving else None
        record = improve_runs(problem, record, improve, rest(), effort=effort)
    elif improve is not False and not record.improving.complete:
        record = _marked(record, complete=True)  # it may have been stopped at the very end
    complete = record.improving.complete
    if proving and (is_new or not _is_proven(record, prove)):
        waiting = record if effort is None else _marked(record, complete=False)
        record = prove_best(problem, waiting, prove, rest())
        if record.proof is not None and record.proof.proven:
            record = _marked(record, complete=complete)
        elif improve == "auto":
            better = improve_runs(problem, record, improve, rest())
            record = replace(better, prove=record.prove, proof=record.proof)
    return record


def prepared(problem: Problem, execution: Execution, started: float) -> Execution:
    """Get the table ready, and return how to do the rest, with what is left of the budget.

    Filling gaps takes no more than half of a budget, but does one round.

    Parameters
    ----------
    started : float
        When the budget began, by the monotonic clock.

    Raises
    ------
    SearchInterrupted
        On Ctrl-C.
    """
    began, budget = time.monotonic(), execution.limits.budget
    half = math.inf if budget is None else budget / 2

    def going_on(rounds: int) -> bool:
        spent = time.monotonic() - began
        report(Progress(rounds, MOST_ROUNDS, None, 0, spent, None, unit="rounds"))
        return spent < half

    try:
        if not isinstance(problem.table, Dataset):
            with reporting(execution.progress) as report:
                problem.fill(execution.threads, going_on)
        _ = problem.core  # which takes its time, too
    except KeyboardInterrupt:
        raise SearchInterrupted(None) from None
    return execution.since(started)


def _marked(record: Record, *, complete: bool) -> Record:
    """Return a record that says whether it is improved by as much as is asked for."""
    return replace(record, improving=replace(record.improving, complete=complete))


def _is_improved(record: Record, improve: Improve) -> bool:
    """Tell whether a record is improved by as much as is asked for, or more."""
    improving, effort = record.improving, effort_of(improve, len(record.runs))
    if effort is None:
        return True
    if effort.tasks is not None and effort.settling is None:
        return improving.own >= effort.tasks
    return improving.complete and improving.asked == improve


def _is_proven(record: Record, prove: Prove) -> bool:
    """Tell whether a record is proven, or as much was tried as is asked for, or more."""
    return record.proof is not None and (record.proof.proven or record.prove in (prove, True))
