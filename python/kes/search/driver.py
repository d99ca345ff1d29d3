"""The only caller of the core's `search` and `improve`.

Learning, structural EM, the search for an incumbent, evidence and the workers of a cluster all do
runs and tasks through a `Driver`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kes import _core
from kes.budget import Budget
from kes.graph.core_graph import CoreGraph, CoreKnowledge, RawGraph
from kes.native import core_errors
from kes.settings import CoreOptions

NewModels: TypeAlias = list[tuple[RawGraph, float, bool]]
OnRuns: TypeAlias = Callable[[list[int], list[int], NewModels], bool]
"""Called with runs, the numbers of the models they ended in, and the models that are new."""

NewOffspring: TypeAlias = list[_core.Improved]
OnTasks: TypeAlias = Callable[[NewOffspring, int], bool]
"""Called with new models and the number of tasks done."""

Scored: TypeAlias = tuple[CoreGraph, float]

_NO_LIMIT = 2**62


@dataclass(frozen=True)
class Driver:
    """Does runs and improvement tasks on this machine.

    Attributes
    ----------
    core : _core.Problem
        The data and the criterion.
    names : sequence of str
        The variables, for errors.
    options : CoreOptions
        The settings of the search.
    threads : int
        Number of threads; does not change what is found.
    """

    core: _core.Problem
    names: Sequence[str]
    options: CoreOptions
    threads: int

    def greedy(self) -> Driver:
        """Return a driver of GES."""
        return replace(self, options={**self.options, "k": 1.0})

    def with_knowledge(self, knowledge: CoreKnowledge) -> Driver:
        """Return a driver of searches under other knowledge."""
        return replace(self, options={**self.options, "knowledge": knowledge})

    def starting_at(self, start: CoreGraph | None) -> Driver:
        """Return a driver of runs that start at a model; None for the default start."""
        return replace(self, options={**self.options, "start": start})

    def do_runs(self, runs: Iterable[int], on_runs: OnRuns) -> None:
        """Do runs; stop when the callback returns False."""
        with core_errors(self.names):
            self.core.search(list(runs), on_runs, n_jobs=self.threads, **self.options)

    def do_tasks(
        self, graphs: list[CoreGraph], on_tasks: OnTasks, *, tasks: int | None, seed: int
    ) -> None:
        """Do improvement tasks on a pool of models; stop when the callback returns False."""
        with core_errors(self.names):
            self.core.improve(
                graphs,
                on_tasks,
                tasks=_NO_LIMIT if tasks is None else tasks,
                seed=seed,
                max_parents=self.options["max_parents"],
                n_jobs=self.threads,
                knowledge=self.options["knowledge"],
            )

    def search(
        self,
        budget: Budget,
        keep_going: Callable[[], bool] = lambda: True,
        *,
        pool: Sequence[Scored] = (),
    ) -> list[Scored]:
        """Do runs, then tasks on the models they ended in; return all models.

        Parameters
        ----------
        budget : Budget
            Its `runs` and `tasks`.
        keep_going : callable
            Called about ten times a second; once it returns False, the search ends.
        pool : sequence of (graph, score)
            Models to improve on besides, ahead of those of the runs.

        Returns
        -------
        list of (graph, score)
            The pool, the ends of the runs by first run, then what the tasks found.
        """
        found = [*pool]
        stopped = False

        def goes_on() -> bool:
            nonlocal stopped
            stopped = stopped or not keep_going()
            return not stopped

        if budget.runs:
            found += self._ends(range(budget.runs), goes_on)

        def on_tasks(new: NewOffspring, _: int) -> bool:
            improved.extend((CoreGraph.of(graph), score) for graph, score, *_ in new)
            return goes_on()

        improved: list[Scored] = []
        if budget.tasks and not stopped:
            graphs = [graph for graph, _ in found]
            self.do_tasks(graphs, on_tasks, tasks=budget.tasks, seed=self.options["seed"])
        return found + improved

    def _ends(self, runs: range, goes_on: Callable[[], bool]) -> list[Scored]:
        """Return the models that runs end in, by first run: threads finish them in any order."""
        models: list[Scored] = []
        ends: dict[int, int] = {}

        def on_runs(done: list[int], ended: list[int], new: NewModels) -> bool:
            models.extend((CoreGraph.of(graph), score) for graph, score, _ in new)
            ends.update(zip(done, ended, strict=True))
            return goes_on()

        self.do_runs(runs, on_runs)
        return [models[place] for place in dict.fromkeys(ends[run] for run in sorted(ends))]
