"""Collects runs as they end, and decides when to stop.

Threads and clusters finish runs in any order. The collector puts them back into run order. For
`patience` and for the result only the part without holes counts, runs 0 to p-1. So a search that
is stopped early gives exactly the result of a search for p runs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from kes._core import __version__
from kes.budget import Budget
from kes.graph.core_graph import CoreGraph
from kes.search.driver import NewModels, OnRuns
from kes.search.record import Model, Record


class Collector:
    """The runs finished so far; a receiver of batches from the core or from a cluster.

    It extends the record `base`, whose runs are kept whatever the budget; `runs` of the budget
    include them. Watchers are called after each batch: progress display, checkpoints.
    """

    def __init__(
        self,
        base: Record,
        budget: Budget,
        *,
        watchers: Sequence[Callable[[Collector], None]] = (),
        started: float | None = None,  # on the monotonic clock; now by default
    ) -> None:
        self.base, self.budget = base, budget
        self.wanted = max(budget.runs or 0, len(base.runs))
        self._started = time.monotonic() if started is None else started
        self._watchers = watchers
        self._models: list[Model] = []
        self._levels: list[float] = []
        self._numbers: dict[CoreGraph, int] = {}
        for model in base.models:
            self._number(model)
        self._ends: dict[int, int] = dict(enumerate(base.runs)) | dict(base.ahead)
        self._prefix = 0
        self._best_level, self._best_run = -math.inf, -1
        self.latest = 0.0  # seconds from the start to the latest batch of runs
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
        """Number of runs finished without a hole: those that a record holds."""
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
        """Whether all runs are done or the budget is spent."""
        if self._prefix >= self.wanted:
            return True
        spent, own = self.seconds, max(1, self.done - len(self.base.runs))
        return self.budget.ends_runs(min(self.done, self._prefix), spent / own, spent)

    def pending(self) -> Iterator[int]:
        """Iterate over the runs still to be done, in order; there may be millions."""
        return (run for run in range(self._prefix, self.wanted) if run not in self._ends)

    def receiver(self) -> OnRuns:
        """Return a callback for one call of the core, which numbers models on its own."""
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
        """Return the runs without holes as a record; with `ahead`, also those beyond a hole.

        If there are new runs, models of earlier improvement stay until it is repeated.
        """
        if len(self._ends) == len(self.base.runs) + len(self.base.ahead):
            return self.base if ahead else self.base.finished()
        beyond = sorted(r for r in self._ends if self._prefix <= r < self.wanted) if ahead else []
        order: dict[int, int] = {}
        ends = [
            order.setdefault(self._ends[run], len(order)) for run in [*range(self._prefix), *beyond]
        ]
        record = replace(
            self.base.unimproved(self.budget.improve),
            models=tuple(self._models[number] for number in order),
            runs=tuple(ends[: self._prefix]),
            ahead=tuple(zip(beyond, ends[self._prefix :], strict=True)),
            version=__version__,
        )
        return record.keeping_tasks(self.base)

    def _number(self, model: Model) -> int:
        number = self._numbers.setdefault(model.graph, len(self._models))
        if number == len(self._models):
            self._models.append(model)
            self._levels.append(self.base.level(model.score))
        return number

    def _advance(self) -> None:
        """Extend the part without holes, at most to where patience ends."""
        kept, patience = len(self.base.runs), self.budget.patience or math.inf
        while self._prefix < self.wanted and self._prefix in self._ends:
            level = self._levels[self._ends[self._prefix]]
            if level > self._best_level or self._best_run < 0:
                self._best_level, self._best_run = level, self._prefix
            self._prefix += 1
            waited = self._prefix - 1 - self._best_run
            if self._prefix >= kept and waited >= patience:
                self.wanted = self._prefix
