"""Budgets: bounds on the work of a search, and the defaults chosen by the size of a table.

Defaults bound amounts of work and not time, so that the same call gives the same result anywhere.
They come from estimated processor seconds, measured in docs/performance.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from kes._core import MAX_VARIABLES
from kes.data.column import State, kind_of
from kes.options import check_improve, check_prove
from kes.validation import duration, integer

Prove: TypeAlias = bool | Literal["auto"]
"""Whether to prove the best score: never, always, or if it is probably cheap."""

TASKS_PER_RUN = 10
MAX_TASKS = 1000
"""Default number of improvement tasks per run, and in total; see docs/quality.md."""

PER_SET, _PER_ROW, _PER_CUBE = 2e-6, 4e-9, 2e-11
"""Measured processor seconds to count a set of variables: per set, per row of the table, and per
cube of the number of numeric columns (on average, half of them are factorised)."""

_RUNS_PER_TASK = 10
"""A task takes up to as long as this many runs: it climbs several times, with a colder cache."""

_MANY_VARIABLES = 100
_MAX_SETTLING = 20_000
_MAX_RUNS, _MIN_RUNS = 100, 4
_SHORT, _LONG = 10.0, 60.0  # seconds on two cores with up to 100, and with 1000 variables
_USED = 1.4  # processor seconds in each of them: two cores are not busy all the time
_SHARE_OF_RUNS, _SHARE_OF_TASKS = 0.15, 0.25  # tasks get this share whatever the runs take
_WIDE_SHARE_OF_RUNS, _WIDE_MIN_RUNS = 0.4, 1
_PER_WIDE_PAIR, _PER_WIDE_CASE, _PER_WIDE_TASK = 1.2e-7, 2e-9, 1e-4
"""Measured processor seconds on very wide tables: of a run, per pair of continuous columns, and per
pair and case of others; of a task, per column."""
_PER_WIDE_COLUMN, _SHARE_OF_COLUMNS = 3.5e-3, 0.5
"""Processor seconds to read a column of these, to compare it with the others and to show its edges,
and their largest share of all. 7 129 columns took 2e-3 each; the rest is a margin."""
SHARE_OF_CHOICE = 0.25
"""Share of a budget for the choice of a criterion, or between lines and curves."""
_LEAST_SECONDS = 1.0
"""Seconds that GES and the first run may take, however short the budget."""


@dataclass(frozen=True)
class Size:
    """The size of a table, as far as it decides running times.

    `rows` estimates the number of distinct rows of a discrete table, from the numbers of cases and
    of state combinations. `columns` is the number of numeric columns that another table is embedded
    in; it has 0 rows, as only moments are computed.
    """

    variables: int
    rows: float
    columns: int = 0

    @classmethod
    def of(
        cls,
        states: Sequence[Sequence[State]],
        cases: float,
        *,
        by_rows: bool = False,
        degree: int = 1,
    ) -> Size:
        """Return the size of a table with these states; a continuous column has none.

        A continuous column stands for as many numeric ones as the `degree` of its curves. With
        `by_rows`, a criterion looks at the rows of continuous columns again for every set.
        """
        if kind_of(states) != "discrete":
            columns = sum(max(1, len(own) - 1) if own else degree for own in states)
            return cls(len(states), cases if by_rows else 0.0, columns)
        combinations = math.prod(max(1, len(own)) for own in states)
        return cls(len(states), float(min(cases, combinations)))

    @property
    def is_wide(self) -> bool:
        """Whether the core searches among lists of variables instead of sets of bits."""
        return self.variables > MAX_VARIABLES

    @property
    def run_seconds(self) -> float:
        """Estimated processor seconds of a run."""
        if self.is_wide:
            return (_PER_WIDE_PAIR + _PER_WIDE_CASE * self.rows) * self.variables**2
        if self.columns:
            return 7.5e-9 * self.variables**2 * self.columns
        return 7e-8 * self.variables**2 * math.sqrt(self.variables) * (1 + self.rows / 20_000)

    @property
    def task_seconds(self) -> float:
        """Estimated processor seconds of an improvement task."""
        if self.is_wide:
            return _PER_WIDE_TASK * self.variables
        if self.columns:
            return 5e-4 + 1e-7 * self.variables * self.columns
        return 3.5e-7 * self.variables**2 * (1 + self.rows / 10_000)

    @property
    def set_seconds(self) -> float:
        """Estimated processor seconds to count a set of variables."""
        return PER_SET + _PER_ROW * self.rows + _PER_CUBE * self.columns**3

    @property
    def runs(self) -> int:
        """Default number of runs."""
        share, least = _SHARE_OF_RUNS, _MIN_RUNS
        if self.is_wide:
            share, least = _WIDE_SHARE_OF_RUNS, _WIDE_MIN_RUNS
        return int(min(max(self.seconds * share / self.run_seconds, least), _MAX_RUNS))

    @property
    def tasks(self) -> int:
        """Largest default number of improvement tasks."""
        # Seconds to look for parent sets; on discrete tables they are part of the tasks.
        is_large = self.variables >= _MANY_VARIABLES and not self.is_wide
        ordering = 1.5e-5 * self.variables * self.columns if is_large else 0.0
        before = (1 + self.runs) * self.run_seconds + ordering
        left = max(self.seconds - before, self.seconds * _SHARE_OF_TASKS)
        return max(1, int(left / self.task_seconds))

    @property
    def seconds(self) -> float:
        """Processor seconds of a search with default amounts."""
        share = (self.variables - _MANY_VARIABLES) / (1000 - _MANY_VARIABLES)
        whole = _USED * (_SHORT + (_LONG - _SHORT) * min(max(share, 0.0), 1.0))
        around = _PER_WIDE_COLUMN * self.variables if self.is_wide else 0.0
        return whole - min(around, _SHARE_OF_COLUMNS * whole)


@dataclass(frozen=True)
class Improve:
    """The option `improve`, parsed.

    `option` is its value, as result files keep it: False for nothing, True for ten tasks per run
    but no more than 1000, "auto" for as many as pay, a number of tasks, or a duration. `seconds` is
    the duration, if it is one.
    """

    option: bool | int | str = False
    seconds: float | None = None

    @classmethod
    def parse(cls, value: object) -> Improve:
        """Validate user input."""
        if isinstance(value, Improve):
            return value
        option = check_improve("improve", value)
        is_duration = isinstance(option, str) and option != "auto"
        return cls(option, duration("improve", option) if is_duration else None)

    def __bool__(self) -> bool:
        return self.option is not False

    @property
    def is_auto(self) -> bool:
        """Whether to go on as long as it pays."""
        return self.option == "auto"

    def budget(self, runs: int) -> Budget | None:
        """Return the budget after a number of runs; None for no improvement."""
        if isinstance(self.option, bool):
            return default_tasks(runs) if self.option else None
        if self.is_auto:
            return Budget(tasks=_MAX_SETTLING, settling=MAX_TASKS)
        if self.seconds is not None:
            return Budget(seconds=self.seconds)
        return Budget(tasks=int(self.option))


@dataclass(frozen=True)
class Budget:
    """Upper bounds on the work of a search; None is no bound."""

    runs: int | None = None  # None: chosen by the size of the table
    patience: int | None = None  # consecutive runs without a better score level
    seconds: float | None = None
    improve: Improve = Improve()  # the runs leave time for it, at most half
    prove: Prove = False
    tasks: int | None = None
    settling: int | None = None  # after these, stop when the last third found no higher score
    sets: int | None = None  # sets of variables to count for a proof
    families: int | None = None  # in the linear programme
    rounds: int | None = None  # of cuts, or of branch and bound
    iterations: int | None = None  # of the simplex algorithm in each round
    nodes: int | None = None  # of each branch and bound
    counting_mb: int | None = None  # memory for families
    solving_mb: int | None = None  # memory for dynamic programming

    @classmethod
    def parse(
        cls,
        *,
        runs: object = None,
        improve: object = False,
        prove: object = False,
        budget: object = None,
        patience: object = None,
    ) -> Budget:
        """Validate user input."""
        return cls(
            runs=None if runs is None else integer("runs", runs, minimum=1),
            patience=None if patience is None else integer("patience", patience, minimum=1),
            seconds=None if budget is None else duration("budget", budget),
            improve=Improve.parse(improve),
            prove=check_prove("prove", prove),
        )

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Budget:
        """Return the budget that options of `kes.learn` set."""
        names = ("runs", "improve", "prove", "budget", "patience")
        return cls.parse(**{name: options[name] for name in names if name in options})

    def for_size(self, size: Size) -> Budget:
        """Choose what the user left open; a given number of runs asks for no more than that."""
        if self.runs is not None:
            return replace(self, prove=False if self.prove == "auto" else self.prove)
        improve = Improve("auto") if self.improve.option is True else self.improve
        return replace(self, runs=size.runs, improve=improve)

    def processor_seconds(self, size: Size) -> float:
        """Estimate what the runs and tasks take on a table of this size."""
        runs = size.runs if self.runs is None else self.runs
        later = self.improve.budget(runs)
        if later is not None and later.settling is not None:
            later = later.settled_within(size)
        tasks = 0 if later is None else later.tasks or 0
        return (1 + runs) * size.run_seconds + tasks * size.task_seconds  # one run is GES

    def since(self, started: float) -> Budget:
        """Return the rest of a budget that began at this time of the monotonic clock."""
        if self.seconds is None:
            return self
        return replace(self, seconds=self.seconds - (time.monotonic() - started))

    @property
    def deadline(self) -> float:
        """End on the monotonic clock if it begins now."""
        return math.inf if self.seconds is None else time.monotonic() + self.seconds

    @property
    def most_seconds(self) -> float:
        """Seconds that the search may take."""
        return math.inf if self.seconds is None else max(self.seconds, _LEAST_SECONDS)

    def ends_runs(self, runs: int, run_seconds: float, spent: float) -> bool:
        """Tell whether to end the runs, leaving time for improvement.

        If not a single one has ended, improvement gets half of the time: it starts from GES.
        """
        if self.seconds is None:
            return False
        if not runs:
            return spent >= self.most_seconds / (2 if self.improve else 1)
        later = self.improve.budget(runs)
        reserve = 0.0 if later is None else later.expected_seconds(run_seconds)
        return spent + min(reserve, self.seconds / 2) >= self.seconds

    def expected_seconds(self, run_seconds: float) -> float:
        """Estimate how long the tasks take from how long the runs took."""
        of_tasks = math.inf if self.tasks is None else self.tasks * _RUNS_PER_TASK * run_seconds
        return min(of_tasks, math.inf if self.seconds is None else self.seconds)

    def settled_within(self, size: Size) -> Budget:
        """Limit the tasks to what a table of this size allows."""
        tasks = min(self.tasks or size.tasks, size.tasks)
        settling = min(self.settling or tasks, max(1, 2 * tasks // 3))
        return replace(self, tasks=tasks, settling=settling)


UNLIMITED = Budget()


def default_tasks(runs: int) -> Budget:
    """Return the default number of tasks after a number of runs."""
    return Budget(tasks=min(TASKS_PER_RUN * max(runs, 1), MAX_TASKS))


def improve_budget(budget: object, tasks: object, *, runs: int) -> Budget:
    """Validate the options of `Optima.improve`."""
    if budget is None and tasks is None:
        return default_tasks(runs)
    return Budget(
        tasks=None if tasks is None else integer("tasks", tasks, minimum=1),
        seconds=None if budget is None else duration("budget", budget),
    )


def short_search(variables: int) -> Budget:
    """Return the runs and tasks of one of many searches: a round of EM, a member of an average."""
    return Budget(runs=10, tasks=100) if variables <= _MANY_VARIABLES else Budget(runs=2, tasks=20)
