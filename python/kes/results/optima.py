"""The result of a search: the models it found, best first, and how it found them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from kes.budget import Budget, improve_budget
from kes.data.dataset import Data, Weights
from kes.declare import checked_options
from kes.errors import ClusterLost, Interrupted, KesError
from kes.files import PathLike
from kes.results import storage, summary
from kes.results.methods import Methods
from kes.results.optimum import Optimum
from kes.results.provenance import Lineage, Provenance
from kes.search.driver import Execution, SearchInterrupted, SearchLost
from kes.search.improve import improve
from kes.search.pipeline import search
from kes.search.problem import Problem
from kes.search.record import Proof, Record
from kes.table import Table
from kes.validation import integer

if TYPE_CHECKING:
    from distributed import Client

    from kes.progress import Progress


class Optima(Provenance, Methods, Sequence[Optimum]):
    """The models that a search found, best first.

    A sequence of `Optimum`: all models in which runs ended, the model of GES, the best models found
    by improvement with their ancestors, and the optimal model if a proof found it. They are ordered
    by score level; within a level, those of runs come first, by first run, then the others in the
    order in which they were found. Made by `kes.learn` and `kes.load`.

    If a search was stopped before its first run had ended, there is only the model of GES, and no
    runs.

    Attributes
    ----------
    record : Record
        The result as plain data.
    problem : Problem or None
        The data and the settings, for further computation; None after loading or unpickling.
    seconds : float or None
        Duration of the search, or of its last extension; None after loading. Not part of the
        result or its file.

    Examples
    --------
    >>> import kes
    >>> optima = kes.learn(kes.datasets.alarm(rows=500), runs=5, random_state=1)
    >>> sum(optimum.hits for optimum in optima)
    5
    >>> bool(optima.best.score >= optima.best_run.score == max(optima.run_scores))
    True
    """

    def __init__(
        self, record: Record, *, problem: Problem | None = None, seconds: float | None = None
    ) -> None:
        self.record = record
        self.problem = problem
        self.seconds = seconds

    @classmethod
    def found_by(
        cls, problem: Problem, work: Callable[[], Record], *, started: float | None = None
    ) -> Optima:
        """Run a search and return its result; `Interrupted` and `ClusterLost` carry that so far."""
        started = time.monotonic() if started is None else started

        def result(record: Record) -> Optima:
            return cls(record, problem=problem, seconds=time.monotonic() - started)

        def found(record: Record | None) -> Optima | None:
            return None if record is None else result(record.finished())

        try:
            return result(work())
        except SearchInterrupted as stop:
            raise Interrupted(found(stop.record)) from None
        except SearchLost as lost:
            raise ClusterLost(
                f"{lost}; the result so far is in the attribute 'optima', and its extend resumes",
                found(lost.record),
            ) from lost

    # --- the models ---

    @property
    def best(self) -> Optimum:
        """The model with the highest score of all."""
        return self[0]

    @cached_property
    def of_runs(self) -> tuple[Optimum, ...]:
        """The models in which runs ended, best first."""
        return tuple(optimum for optimum in self if optimum.hits)

    @property
    def best_run(self) -> Optimum:
        """The best model in which a run ended."""
        if not self.of_runs:
            raise KesError(
                "no run has ended yet: there is only the model of GES; extend the result"
            )
        return self.of_runs[0]

    @cached_property
    def ges(self) -> Optimum:
        """The model of greedy equivalence search: run 0 with k=1 and otherwise equal settings."""
        return next(optimum for optimum in self if optimum.edges == self.record.ges.graph)

    def __len__(self) -> int:
        return len(self._optima)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Optimum: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Optimum, ...]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Optimum | tuple[Optimum, ...]:
        return self._optima[index]

    def __iter__(self) -> Iterator[Optimum]:
        return iter(self._optima)

    # --- the runs ---

    @property
    def runs(self) -> NDArray[np.int64]:
        """Run numbers: 0, 1, 2, ..."""
        return np.arange(len(self.record.runs))

    @cached_property
    def run_optima(self) -> NDArray[np.int64]:
        """For each run, the index of the optimum in which it ended."""
        index = self._lineage.index
        return _frozen(np.array([index[place] for place in self.record.runs], dtype=np.int64))

    @cached_property
    def run_scores(self) -> NDArray[np.float64]:
        """For each run, the score of the optimum in which it ended."""
        scores = np.array([optimum.score for optimum in self], dtype=np.float64)
        return _frozen(scores[self.run_optima])

    @cached_property
    def levels(self) -> int:
        """Number of distinct scores of runs; scores that differ only by rounding count once."""
        return len({self.record.level(model.score) for model in self.record.models})

    @checked_options()
    def trace(
        self,
        run: int,
        data: Data | None = None,
        *,
        weights: Weights = None,
        missing: str | None = None,
    ) -> Table:
        """Replay a run, step by step.

        Parameters
        ----------
        run : int
            Number of the run.
        data, weights, missing
            As given to `kes.learn`; needed only after loading or unpickling. By default, missing
            values and a column of weights are treated as in the search.

        Returns
        -------
        Table
            A row for each step: its number, the kind ("insert" or "delete"), the variables `x`
            and `y` of the operator and its set `given`, the score gain `delta`, the number of
            neighbours that were `better` than the current model, and the `rank` of the chosen
            one among them, from 1 for the best.
        """
        number = integer("run", run, minimum=0)
        if number >= len(self.record.runs):
            last = len(self.runs) - 1
            known = f"the runs are 0 to {last}" if last >= 0 else "none has ended"
            raise KesError(f"there is no run {number}: {known}", option="run")
        steps, end = self.ready(data, weights, missing).trace(number)
        if end != self.record.models[self.record.runs[number]].graph:
            raise KesError(
                f"run {number} now ends in a different model: the result was made by another "
                "version of kes; learn again"
            )
        return Table(steps)

    # --- improvement ---

    @property
    def tasks(self) -> int:
        """Number of improvement tasks done."""
        return self.record.improving.tasks

    @property
    def gain(self) -> float:
        """Difference between the best score and that of the best run; of GES if there is none."""
        before = self.best_run if self.of_runs else self.ges
        return self.best.score - before.score

    def history(self) -> Table:
        """Return every increase of the best score by improvement.

        A row for the best of the runs and GES, then one for each task that found a higher score:
        the index of the `optimum`, the number of the `task`, `score` and `origin`.
        """
        return self._lineage.history()

    def ancestry(self, index: SupportsIndex = 0) -> Table:
        """Return the ancestors of an optimum, back to the runs.

        A row for each ancestor, oldest first, and for the model itself, as in `history`.
        """
        return self._lineage.ancestry(self._lineage.order[index])

    # --- proof ---

    @property
    def proof(self) -> Proof | None:
        """The proof of the best score: `proven`, `upper_bound`, `method`.

        None if `kes.learn` did not attempt one. It covers all networks that respect `max_parents`
        and the knowledge, if given.
        """
        return self.record.proof

    @property
    def proven(self) -> bool:
        """Whether it is proven that no network scores higher than the best one here."""
        return self.record.proof is not None and self.record.proof.proven

    # --- continuing ---

    @checked_options()
    def extend(
        self,
        runs: int,
        data: Data | None = None,
        *,
        weights: Weights = None,
        missing: str | None = None,
        n_jobs: int | None = None,
        budget: float | str | None = None,
        patience: int | None = None,
        progress: bool | Callable[[Progress], object] | None = None,
        client: Client | None = None,
    ) -> Optima:
        """Do more runs with the same settings, and improve on all of them as `kes.learn` did.

        The new result is the same as if all runs had been requested at once, with the same amount
        of improvement; after ``runs=None``, the amount chosen then. Models found by `improve` are
        kept. If a proof was requested, it is attempted again; an existing proof is never lost. If
        a budget is too short to reach the best score again, its model is kept, too. This result
        does not change.

        Parameters
        ----------
        runs : int
            Number of additional runs.
        data, weights, missing
            As in `trace`; needed only after loading or unpickling.
        n_jobs, budget, patience, progress, client
            As in `kes.learn`. Patience counts all runs from the first; existing ones are always
            kept.

        Raises
        ------
        KesError
            If data are needed, or differ from those of this result.
        Interrupted
            On Ctrl-C, with the result so far as ``.optima``.
        """
        wanted = len(self.record.runs) + integer("runs", runs, minimum=1)
        record = self.record
        allowed = Budget.parse(
            runs=wanted,
            improve=record.improving.asked,
            prove=record.prove,
            budget=budget,
            patience=patience,
        )
        execution = Execution.parse(n_jobs=n_jobs, progress=progress, client=client)
        problem = self.ready(data, weights, missing)
        return Optima.found_by(problem, lambda: search(problem, allowed, execution, base=record))

    @checked_options()
    def improve(
        self,
        budget: float | str | None = None,
        *,
        tasks: int | None = None,
        n_jobs: int | None = None,
        progress: bool | Callable[[Progress], object] | None = None,
        data: Data | None = None,
        weights: Weights = None,
        missing: str | None = None,
    ) -> Optima:
        """Search for higher scores by recombining and refining all models.

        The runs and the statistics about them do not change. The search uses the criterion and
        `max_parents` of the runs, and always the exact neighbourhood.

        Parameters
        ----------
        budget : float, str or None
            Stop after this time: seconds, or a text such as "10s" or "5m".
        tasks : int or None
            Stop after this number of tasks. A task recombines two models, refines or perturbs one,
            or reorders its variables, and climbs from there. By default, unless there is a budget,
            the number that `kes.learn` chooses: ten for each run but at most 1000.
        n_jobs : int or None
            Threads; None or -1 for all usable cores. Does not change the result.
        progress : None, True or callable
            True shows a bar. A callable gets a `kes.Progress` at most ten times a second.
        data, weights, missing
            As in `trace`; needed only after loading or unpickling.

        Returns
        -------
        Optima
            A new result with more models; this one does not change. The numbering of the tasks
            continues, with the seed of this result. Stopped by `budget` after p tasks, it is the
            same as with ``tasks=p``. Raises the errors of `extend`.

        Examples
        --------
        >>> import kes
        >>> optima = kes.learn(kes.datasets.alarm(rows=500), k=0.4, runs=20)
        >>> optima.improve("2s").best.score >= optima.best.score
        True
        """
        allowed = improve_budget(budget, tasks, runs=len(self.record.runs))
        execution = Execution.parse(n_jobs=n_jobs, progress=progress)
        problem = self.ready(data, weights, missing)
        return Optima.found_by(problem, lambda: improve(problem, self.record, allowed, execution))

    def ready(self, data: Data | None, weights: Weights, missing: str | None) -> Problem:
        """Return the problem: with the data given, or by default with those of the search."""
        if data is not None:
            return Problem.again(self.record, data, weights=weights, missing=missing)
        if self.problem is None:
            raise KesError(
                "a loaded result does not contain the data: pass the data it was learned from, "
                "as in extend(runs, data=...) or explain(data=...)",
                option="data",
            )
        return self.problem

    # --- files, comparison, display ---

    def save(self, path: PathLike) -> None:
        """Write the result to a file, atomically; gzipped if its name ends in .gz.

        Equal results give equal files, byte for byte. The file does not contain the
        data; if values were missing, it contains those that were imputed, unless
        ``keep_imputed=False``.
        """
        storage.write(self.record, path)

    def __eq__(self, other: object) -> bool:
        return self.record == other.record if isinstance(other, Optima) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the data and the cache of the core, to keep pickles small.
        return type(self), (self.record,)

    def __repr__(self) -> str:
        return summary.text(self)

    # --- within ---

    @cached_property
    def _lineage(self) -> Lineage:
        return Lineage(self.record)

    @cached_property
    def _optima(self) -> tuple[Optimum, ...]:
        return tuple(Optimum(self._lineage, place) for place in self._lineage.order)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
