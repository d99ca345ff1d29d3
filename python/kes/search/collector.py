"""Gathers the ends of runs as they come, and decides when enough is enough.

Threads and clusters finish runs in any order. The collector puts them back into run order and
looks only at the part without gaps, runs 0 to p-1, when it judges `patience` and when it
hands over the result. So a search that is stopped early gives exactly what a search that had
asked for p runs gives.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kes._core import __version__
from kes.graph.core_graph import CoreGraph, RawGraph
from kes.search.budget import Improve, effort_of
from kes.search.record import Model, Record

_LEAST = 30.0
"""Seconds for the first run, however short the budget: a table is seldom so large."""

NewModels: TypeAlias = list[tuple[RawGraph, float, bool]]
OnBatch: TypeAlias = Callable[[list[int], list[int], NewModels], bool]


@dataclass(frozen=True)
class Limits:
    """When to stop before all runs are done.

    Attributes
    ----------
    budget : float or None
        Seconds. The first run may take longer, together with GES: see `first`.
    patience : int or None
        Stop after this many runs in a row, in run order, without a better score level.
    improve : bool, int or str
        How much is to be done after the runs, for which a part of the budget is left: what that
        will probably take, but no more than half.
    """

    budget: float | None = None
    patience: int | None = None
    improve: Improve = False

    @property
    def first(self) -> float:
        """Seconds that GES and the first run may take: twice the budget, or half a minute."""
        return math.inf if self.budget is None else max(2 * self.budget, _LEAST)

    def over(self, runs: int, run_seconds: float, spent: float) -> bool:
        """Tell whether it is time to end the runs, of which there are so many."""
        if self.budget is None:
            return False
        effort = effort_of(self.improve, runs)
        later = 0.0 if effort is None else effort.expected(run_seconds)
        return spent + min(later, self.budget / 2) >= self.budget


class Collector:
    """The runs finished so far; a receiver of batches from the core or from a cluster.

    Parameters
    ----------
    base : Record
        What earlier searches found. Its runs are kept whatever the limits say.
    wanted : int
        Number of runs to have in the end, those of `base` included.
    watchers : sequence of callables
        Called with the collector after each batch: progress display, checkpoints.
    started : float or None
        When the search began, by the monotonic clock; now by default.

    Attributes
    ----------
    latest : float
        Seconds from the start to the latest batch of runs.
    """

    def __init__(
        self,
        base: Record,
        wanted: int,
        *,
        limits: Limits | None = None,
        watchers: Sequence[Callable[[Collector], None]] = (),
        started: float | None = None,
    ) -> None:
        self.base = base
        self.limits = limits or Limits()
        self.wanted = max(wanted, len(base.runs))
        self._started = time.monotonic() if started is None else started
        self._watchers = watchers
        self._models: list[Model] = list(base.models)
        self._numbers: dict[CoreGraph, int] = {
            model.graph: i for i, model in enumerate(base.models)
        }
        self._levels = [base.level(model.score) for model in base.models]
        self._ends: dict[int, int] = dict(enumerate(base.runs)) | dict(base.ahead)
        self._prefix = 0
        self._best_level: float | None = None
        self._best_run = -1
        self.latest = 0.0
        self._advance()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    @property
    def done(self) -> int:
        """Number of runs finished, whether or not earlier ones still run."""
        return min(len(self._ends), self.wanted)

    @property
    def ready(self) -> int:
        """Number of runs finished without a gap: those that a record would hold."""
        return self._prefix

    @property
    def distinct(self) -> int:
        """Number of distinct models found."""
        return len(self._models)

    @property
    def best_score(self) -> float | None:
        """Highest score found."""
        return max((model.score for model in self._models), default=None)

    @property
    def stopped(self) -> bool:
        """Whether there is nothing more to do: all runs done, or a limit reached."""
        if self._prefix >= self.wanted:
            return True
        spent, own = self.seconds, max(1, self.done - len(self.base.runs))
        if self._prefix == 0:
            return spent >= self.limits.first
        return self.limits.over(self.done, spent / own, spent)

    def pending(self) -> Iterator[int]:
        """Return the runs that are still to be done, in order; there may be millions."""
        return (run for run in range(self._prefix, self.wanted) if run not in self._ends)

    def receiver(self) -> OnBatch:
        """Return a callback for one call of the core's search, which numbers models by itself."""
        numbers: list[int] = []

        def on_batch(runs: list[int], models: list[int], new_models: NewModels) -> bool:
            numbers.extend(self._number(Model.from_core(*model)) for model in new_models)
            for run, model in zip(runs, models, strict=True):
                self._ends[run] = numbers[model]
            if runs:
                self.latest = self.seconds
            self._advance()
            for watch in self._watchers:
                watch(self)
            return not self.stopped

        return on_batch

    def record(self, *, ahead: bool = False) -> Record:
        """Return the runs without gaps as a record; with `ahead`, also those beyond a gap.

        With runs that are new, what improving made of fewer is there until it is done again.
        """
        if len(self._ends) == len(self.base.runs) + len(self.base.ahead):
            return self.base if ahead else self.base.finished()
        beyond = sorted(r for r in self._ends if self._prefix <= r < self.wanted) if ahead else []
        order: dict[int, int] = {}
        ends = [
            order.setdefault(self._ends[run], len(order)) for run in [*range(self._prefix), *beyond]
        ]
        record = replace(
            self.base.unimproved(self.limits.improve),
            models=tuple(self._models[number] for number in order),
            runs=tuple(ends[: self._prefix]),
            ahead=tuple(zip(beyond, ends[self._prefix :], strict=True)),
            version=__version__,
        )
        return record.keeping_tasks(self.base)

    def _number(self, model: Model) -> int:
        number = self._numbers.get(model.graph)
        if number is None:
            number = len(self._models)
            self._models.append(model)
            self._levels.append(self.base.level(model.score))
            self._numbers[model.graph] = number
        return number

    def _advance(self) -> None:
        """Move on over the runs that have ended without a gap, at most to where patience ends."""
        kept, patience = len(self.base.runs), self.limits.patience or math.inf
        while self._prefix < self.wanted and self._prefix in self._ends:
            level = self._levels[self._ends[self._prefix]]
            if self._best_level is None or level > self._best_level:
                self._best_level, self._best_run = level, self._prefix
            self._prefix += 1
            waited = self._prefix - 1 - self._best_run
            if self._prefix >= kept and waited >= patience:
                self.wanted = self._prefix
