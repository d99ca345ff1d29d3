"""How much to do: what a user asks for, and what is chosen where that is left to us."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kes.errors import KesError
from kes.settings import seconds, whole

Improve: TypeAlias = bool | int | str
"""How much to improve on runs: not at all, as much as is chosen, so many tasks, or so long."""

TASKS_PER_RUN = 10
MOST_TASKS = 1000
"""Tasks for each run, and in all, where it is left to us: see docs/quality.md."""

_MANY_VARIABLES = 100


@dataclass(frozen=True)
class Effort:
    """How much to do for an improvement: at most so many tasks, at most so many seconds."""

    tasks: int | None = None
    seconds: float | None = None

    @classmethod
    def checked(cls, budget: object, tasks: object, *, runs: int) -> Effort:
        """Make it of what a user wrote, or say what is wrong with it."""
        if budget is None and tasks is None:
            return chosen(runs)
        return cls(
            tasks=None if tasks is None else whole("tasks", tasks, least=1),
            seconds=None if budget is None else seconds("budget", budget),
        )

    def expected(self, run_seconds: float) -> float:
        """Return how long it may take; a task takes about as long as a run."""
        limits = [] if self.tasks is None else [self.tasks * run_seconds]
        return min([*limits, *([] if self.seconds is None else [self.seconds])])


def chosen(runs: int) -> Effort:
    """Return how much is worth doing after so many runs."""
    return Effort(tasks=min(TASKS_PER_RUN * runs, MOST_TASKS))


def check_improve(value: object) -> Improve:
    """Return what a user wrote for `improve`, or say what is wrong with it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        seconds("improve", value)
        return value
    try:
        return whole("improve", value, least=1)
    except KesError:
        raise KesError(
            "improve must be True, False, a number of tasks of at least 1, or a time as text such "
            f"as '10s', not {value!r}"
        ) from None


def effort_of(improve: Improve, runs: int) -> Effort | None:
    """Return what an amount means after so many runs; None for nothing."""
    if isinstance(improve, bool):
        return chosen(runs) if improve else None
    if isinstance(improve, str):
        return Effort(seconds=seconds("improve", improve))
    return Effort(tasks=improve)


def of_round(variables: int) -> tuple[int, int]:
    """Return the runs and tasks for a model from which gaps of a table are filled, and no more."""
    return (10, 100) if variables <= _MANY_VARIABLES else (2, 20)
