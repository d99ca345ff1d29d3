"""How much to do: what a user asks for, and what is chosen where that is left to us."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kes.data.column import State, kind_of
from kes.validation import duration, integer

Improve: TypeAlias = bool | int | str
"""How much to improve on runs: not at all, as much as is chosen, so many tasks, or so long.

What is chosen goes with the number of runs (True), or with what still improves ("auto").
"""

Prove: TypeAlias = bool | Literal["auto"]
"""Whether to prove the best score: never, in any case, or if it is probably cheap."""

TASKS_PER_RUN = 10
MOST_TASKS = 1000
"""Tasks for each run, and in all, where it is left to us: see docs/quality.md."""

_RUNS_PER_TASK = 10
"""A task takes up to so many times as long as a run: it climbs more than once, and in less known
places."""

_MANY_VARIABLES = 100

_MOST_SETTLING = 20_000
"""Tasks at most where it is what still improves that decides."""

_MOST_RUNS, _FEWEST_RUNS = 100, 4
_SHORT, _LONG = 10.0, 60.0  # seconds on two cores with up to 100, and with 1000 variables
_USED = 1.4  # processor seconds in each of them: two cores are not busy all the time
_SHARE_OF_RUNS, _SHARE_OF_TASKS = 0.15, 0.25  # the latter at least, whatever the runs take


@dataclass(frozen=True)
class Size:
    """How large a table is, as far as it matters for how long things take.

    Attributes
    ----------
    rows : float
        Rows to be counted. Equal ones are counted once, and nobody knows how many differ: at most
        as many as there are cases, or combinations of states. Of continuous columns only moments
        are looked at, and it is 0.
    columns : int
        Columns of numbers that the variables of a continuous or mixed table become; 0 if it is
        discrete.
    """

    variables: int
    rows: float
    columns: int = 0

    @classmethod
    def of(cls, states: Sequence[Sequence[State]], cases: float) -> Size:
        """Return the size of a table with these states, none for continuous columns."""
        if kind_of(states) != "discrete":
            return cls(len(states), 0.0, sum(max(1, len(own) - 1) for own in states))
        combinations = math.prod(max(1, len(own)) for own in states)
        return cls(len(states), float(min(cases, combinations)))


@dataclass(frozen=True)
class Amounts:
    """All that a search is to do."""

    runs: int
    improve: Improve
    prove: Prove

    @classmethod
    def chosen(cls, runs: int | None, improve: Improve, prove: Prove, size: Size) -> Amounts:
        """Choose what a user has left to us: a number of runs that is given means "no more"."""
        if runs is not None:
            return cls(runs, improve, False if prove == "auto" else prove)
        return cls(chosen_runs(size), "auto" if improve is True else improve, prove)


@dataclass(frozen=True)
class Effort:
    """How much to do for an improvement: at most so many tasks, at most so many seconds.

    Attributes
    ----------
    settling : int or None
        After at least so many tasks, stop where the last third of all has found no higher score.
    """

    tasks: int | None = None
    seconds: float | None = None
    settling: int | None = None

    @classmethod
    def checked(cls, budget: object, tasks: object, *, runs: int) -> Effort:
        """Make it of what a user wrote, or say what is wrong with it."""
        if budget is None and tasks is None:
            return chosen(runs)
        return cls(
            tasks=None if tasks is None else integer("tasks", tasks, minimum=1),
            seconds=None if budget is None else duration("budget", budget),
        )

    def within(self, size: Size) -> Effort:
        """Return as much of it as a table of this size allows for."""
        before = (1 + chosen_runs(size)) * _run_seconds(size) + _order_seconds(size)
        seconds = max(_seconds(size) - before, _seconds(size) * _SHARE_OF_TASKS)
        most = max(1, int(seconds / _task_seconds(size)))
        tasks = min(self.tasks or most, most)
        return Effort(tasks, self.seconds, min(self.settling or tasks, max(1, 2 * tasks // 3)))

    def expected(self, run_seconds: float) -> float:
        """Return how long it may take, going by how long the runs took."""
        limits = [] if self.tasks is None else [self.tasks * _RUNS_PER_TASK * run_seconds]
        return min([*limits, *([] if self.seconds is None else [self.seconds])])


def chosen(runs: int) -> Effort:
    """Return how much is worth doing after so many runs."""
    return Effort(tasks=min(TASKS_PER_RUN * runs, MOST_TASKS))


def chosen_runs(size: Size) -> int:
    """Return how many runs are worth doing on a table of this size."""
    most = _seconds(size) * _SHARE_OF_RUNS / _run_seconds(size)
    return int(min(max(most, _FEWEST_RUNS), _MOST_RUNS))


def _seconds(size: Size) -> float:
    """Return the processor seconds that a search may take if nobody says how much to do."""
    share = (size.variables - _MANY_VARIABLES) / (1000 - _MANY_VARIABLES)
    return _USED * (_SHORT + (_LONG - _SHORT) * min(max(share, 0.0), 1.0))


def _run_seconds(size: Size) -> float:
    """Return the processor seconds that a run takes, roughly: see docs/performance.md."""
    if size.columns:
        return 7.5e-9 * size.variables**2 * size.columns
    return 7e-8 * size.variables**2 * math.sqrt(size.variables) * (1 + size.rows / 20_000)


def _task_seconds(size: Size) -> float:
    """Return the processor seconds that a task takes, roughly: see docs/performance.md."""
    if size.columns:
        return 5e-4 + 1e-7 * size.variables * size.columns
    return 3.5e-7 * size.variables**2 * (1 + size.rows / 10_000)


def _order_seconds(size: Size) -> float:
    """Return what looking for parent sets takes; on discrete tables it is in that of tasks."""
    if size.variables < _MANY_VARIABLES:
        return 0.0
    return 1.5e-5 * size.variables * size.columns


def effort_of(improve: Improve, runs: int) -> Effort | None:
    """Return what an amount means after so many runs; None for nothing."""
    if isinstance(improve, bool):
        return chosen(runs) if improve else None
    if improve == "auto":
        return Effort(tasks=_MOST_SETTLING, settling=MOST_TASKS)
    if isinstance(improve, str):
        return Effort(seconds=duration("improve", improve))
    return Effort(tasks=improve)


def of_round(variables: int) -> tuple[int, int]:
    """Return the runs and tasks for a model from which gaps of a table are filled, and no more."""
    return (10, 100) if variables <= _MANY_VARIABLES else (2, 20)
