"""The runs of a search and where they ended: the bare result, as it is kept in a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from kes.data.dataset import Data, State, Weights
from kes.errors import KesError
from kes.results.optimum import Optimum
from kes.search.record import Model, Record
from kes.settings import Settings, whole

if TYPE_CHECKING:
    from distributed import Client

    from kes.progress import Progress
    from kes.results.optima import Optima
    from kes.results.storage import PathLike
    from kes.search.problem import Study
    from kes.table import Table


class Runs(Sequence[Optimum]):
    """The runs of a search and the distinct models in which they ended, best first.

    A sequence of `Optimum`, ordered by score level and then by the first run that found each.

    Attributes
    ----------
    seconds : float or None
        How long the search took, or its last extension; None after loading. No part of the
        result, nor of the file.
    """

    def __init__(
        self, record: Record, *, study: Study | None = None, seconds: float | None = None
    ) -> None:
        self._record = record
        self._study = study
        self.seconds = seconds

    # --- the optima ---

    @property
    def best(self) -> Optimum:
        """The optimum with the highest score."""
        return self[0]

    @cached_property
    def ges(self) -> Optimum:
        """Where greedy equivalence search ends: run 0 with k=1 and all else as here."""
        model = self._record.ges
        hit = (optimum for optimum in self if optimum._edges == model.edges)
        return next(hit, None) or self._optimum(model, 0, None)

    @cached_property
    def levels(self) -> int:
        """Number of distinct score levels: scores that differ by rounding only count once."""
        return len({self._record.level(model.score) for model in self._record.models})

    def __len__(self) -> int:
        return len(self._record.models)

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
        return np.arange(len(self._record.runs))

    @cached_property
    def run_optima(self) -> NDArray[np.int64]:
        """For each run, the index of the optimum it ended in."""
        place = np.empty(len(self), dtype=np.int64)
        place[self._order] = np.arange(len(self))
        return _frozen(place[np.array(self._record.runs, dtype=np.int64)])

    @cached_property
    def run_scores(self) -> NDArray[np.float64]:
        """For each run, the score of the optimum it ended in."""
        scores = np.array([optimum.score for optimum in self], dtype=np.float64)
        return _frozen(scores[self.run_optima])

    def trace(
        self, run: int, data: Data | None = None, *, weights: Weights = None, missing: str = "error"
    ) -> Table:
        """Replay a run, step by step.

        Parameters
        ----------
        run : int
            Which of the runs.
        data, weights, missing
            As given to `kes.learn`; needed only after loading or unpickling.

        Returns
        -------
        Table
            A row for each step: its number, the kind ("insert" or "delete"), the variables `x`
            and `y` joined or separated given the variables `given`, the gain `delta`, the
            number of neighbours that were `better` than the model at this point, and the `rank`
            of the chosen one among them, 1 being the best.
        """
        from kes.table import Table

        number = whole("run", run, least=0)
        if number >= len(self._record.runs):
            raise KesError(f"there is no run {number}: the runs are 0 to {self.runs[-1]}")
        steps, end = self._ready(data, weights, missing).trace(number)
        if end != self._record.models[self._record.runs[number]].edges:
            raise KesError(
                f"run {number} now ends in another model than it did: the result was made by "
                "another version of kes; learn again"
            )
        return Table(steps)

    def extend(
        self,
        runs: int,
        data: Data | None = None,
        *,
        weights: Weights = None,
        missing: str = "error",
        n_jobs: int | None = None,
        budget: float | str | None = None,
        patience: int | None = None,
        progress: bool | Callable[[Progress], object] | None = None,
        client: Client | None = None,
    ) -> Optima:
        """Do more runs with the same settings.

        The result is the same as if all runs had been asked for at once.

        Parameters
        ----------
        runs : int
            Number of additional runs.
        data, weights, missing
            As given to `kes.learn`; needed only after loading or unpickling.
        n_jobs, budget, patience, progress, client
            As in `kes.learn`. Patience counts all runs from the first on; those that are here
            already are kept in any case.

        Returns
        -------
        Optima
            A new result; this one stays as it is.

        Raises
        ------
        KesError
            If data are needed, or are not those that this result was made from.
        """
        from kes.learning import Execution, search

        more = whole("runs", runs, least=1)
        execution = Execution.checked(n_jobs, budget, patience, progress, client)
        study = self._ready(data, weights, missing)
        return search(study, len(self._record.runs) + more, execution, base=self._record)

    # --- where they come from ---

    @property
    def settings(self) -> Settings:
        """The settings of the search."""
        return self._record.settings

    @property
    def seed(self) -> int:
        """The seed of the runs' random streams; drawn if `random_state` was None."""
        return self._record.settings.seed

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self._record.names

    @property
    def states(self) -> dict[str, tuple[State, ...]]:
        """States of each variable, in order."""
        return dict(zip(self._record.names, self._record.states, strict=True))

    @property
    def cases(self) -> float:
        """Number of cases in the data; the sum of the weights if there are any."""
        return self._record.cases

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the data, such as columns that are constant."""
        return self._record.notes

    # --- files, comparison, display ---

    def save(self, path: PathLike) -> None:
        """Write the result to a file, atomically; gzipped if its name ends in .gz.

        Equal results give equal files, byte for byte. The data are not in the file.
        """
        from kes.results.storage import write

        write(self._record, path)

    def __eq__(self, other: object) -> bool:
        return self._record == other._record if isinstance(other, Runs) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the data and the core's cache: a result is small wherever it goes.
        return type(self), (self._record,)

    # --- within ---

    @cached_property
    def _order(self) -> list[int]:
        """Numbers of the models, best level first; those of one level by first run, as stored."""
        models, level = self._record.models, self._record.level
        return sorted(range(len(models)), key=lambda number: -level(models[number].score))

    @cached_property
    def _optima(self) -> tuple[Optimum, ...]:
        hits = Counter(self._record.runs)
        firsts: dict[int, int] = {}
        for run, number in enumerate(self._record.runs):
            firsts.setdefault(number, run)
        models = self._record.models
        return tuple(self._optimum(models[i], hits[i], firsts[i]) for i in self._order)

    def _optimum(self, model: Model, hits: int, first_run: int | None) -> Optimum:
        return Optimum(
            model.score, hits, first_run, model.is_local_optimum, self._record.names, model.edges
        )

    def _ready(self, data: Data | None, weights: Weights, missing: str) -> Study:
        """Return the data with the settings, ready for runs."""
        from kes.search.problem import Study

        if data is None:
            if self._study is None:
                raise KesError(
                    "a loaded result does not hold the data: pass those it was learned from, "
                    "as in extend(runs, data=...) or explain(data=...)"
                )
            return self._study
        return Study.again(self._record, data, weights=weights, missing=missing)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
