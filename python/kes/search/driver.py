"""The only caller of the core's `search` and `improve`, and the resources of a search.

Learning, structural EM, the search for an incumbent, evidence and the workers of a cluster all do
runs and tasks through a `Driver`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from kes import _core
from kes.budget import Budget
from kes.errors import KesError, not_installed
from kes.graph.core_graph import CoreGraph, CoreKnowledge, RawGraph
from kes.native import core_errors, cores
from kes.progress import Progress
from kes.settings import CoreOptions
from kes.validation import callback, integer

if TYPE_CHECKING:
    from kes.search.record import Record

NewModels: TypeAlias = list[tuple[RawGraph, float, bool]]
OnRuns: TypeAlias = Callable[[list[int], list[int], NewModels], bool]
"""Called with runs, the numbers of the models they ended in, and the models that are new."""

OnSteps: TypeAlias = Callable[[int, tuple[RawGraph, float] | None], object]
"""Called with the number of steps so far and, at the end of a search that was stopped, the model
and score that the earliest unfinished run had reached, if it has moved at all."""

NewOffspring: TypeAlias = list[_core.Improved]
OnTasks: TypeAlias = Callable[[NewOffspring, int], bool]
"""Called with new models and the number of tasks done."""

Scored: TypeAlias = tuple[CoreGraph, float]

_NO_LIMIT = 2**62
_THREADS_PER_CORE = 4  # more cost memory, and the system limits their number


@dataclass(frozen=True)
class Driver:
    """Does runs and improvement tasks on this machine; `names` are for errors."""

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

    def do_runs(
        self,
        runs: Iterable[int],
        on_runs: OnRuns,
        on_steps: OnSteps = lambda steps, unfinished: None,
    ) -> None:
        """Do runs; stop when the first callback returns False."""

        def on_batch(
            runs: list[int],
            models: list[int],
            new_models: NewModels,
            steps: int,
            unfinished: tuple[RawGraph, float] | None,
        ) -> bool:
            on_steps(steps, unfinished)
            return on_runs(runs, models, new_models)

        with core_errors(self.names):
            self.core.search(list(runs), on_batch, n_jobs=self.threads, **self.options)

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
        """Do `runs`, then `tasks` of the budget on the pool and the models the runs ended in.

        `keep_going` is called about ten times a second; once it returns False, the search ends.
        Return the pool, the ends of the runs by first run, then what the tasks found.
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


@dataclass(frozen=True)
class Execution:
    """Resources of a search, which do not change what it finds; as in `kes.learn`."""

    threads: int
    progress: bool | Callable[[Progress], object] | None = None
    client: Any = None

    @classmethod
    def parse(
        cls, *, n_jobs: object = None, progress: object = None, client: object = None
    ) -> Execution:
        """Validate user input."""
        if client is not None:
            _check_client(client)
        return cls(threads(n_jobs), callback("progress", progress), client)

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Execution:
        """Return the resources that options of `kes.learn` set."""
        names = ("n_jobs", "progress", "client")
        return cls.parse(**{name: options[name] for name in names if name in options})


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search, with the record of what was found; None before a run has ended.

    The record may hold runs that are ahead of others.
    """

    def __init__(self, record: Record | None) -> None:
        super().__init__()
        self.record = record


class SearchLost(KesError):
    """The connection to the cluster is lost; `record` is as in `SearchInterrupted`."""

    def __init__(self, message: str, record: Record | None) -> None:
        super().__init__(message)
        self.record = record


def threads(n_jobs: object) -> int:
    """Return the number of threads for `n_jobs`: by default one for each usable core."""
    if n_jobs is None or n_jobs == -1:
        return cores()
    return min(integer("n_jobs", n_jobs, minimum=1), _THREADS_PER_CORE * cores())


def _check_client(client: object) -> None:
    """Validate the option `client`."""
    try:
        from distributed import Client
    except ImportError:
        raise not_installed("distributed") from None
    if not isinstance(client, Client):
        raise KesError(
            f"client must be a distributed.Client, not {type(client).__name__}", option="client"
        )
    if client.asynchronous:
        raise KesError(
            "client must be a synchronous distributed.Client: omit asynchronous=True",
            option="client",
        )
