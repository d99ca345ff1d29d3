"""What improving found: the best models known, and what each of them was made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.search.record import Improvement, Offspring, Record
from kes.table import Table

if TYPE_CHECKING:
    from kes.results.storage import PathLike

REPORTED = 20
"""How many of the best models are reported, and kept in files with their ancestors."""


class Lineage:
    """The models of a record and what was made of them, by place: runs, then GES, then offspring.

    Attributes
    ----------
    first : int
        Place of the first offspring.
    """

    def __init__(self, record: Record, offspring: Sequence[Offspring]) -> None:
        self._record = record
        self._offspring = offspring
        self.models = [*record.models, record.ges, *(child.model for child in offspring)]
        self.first = len(record.models) + 1
        self._first_run: dict[int, int] = {}
        for run, number in enumerate(record.runs):
            self._first_run.setdefault(number, run)

    def child(self, place: int) -> Offspring | None:
        """Return the offspring at a place; None for what was there before."""
        return self._offspring[place - self.first] if place >= self.first else None

    def first_run(self, place: int) -> int | None:
        """Return the first run that ended in the model; None if none did."""
        return self._first_run.get(place)

    def name(self, place: int) -> str:
        """Return what a model is called: "run 17", "GES" or "task 210"."""
        child = self.child(place)
        if child is not None:
            return f"task {child.task}"
        run = self.first_run(place)
        return "GES" if run is None else f"run {run}"

    def provenance(self, place: int) -> str:
        """Return how a model came about, such as "recombined from run 3 and run 41"."""
        child = self.child(place)
        if child is None:
            return self.name(place)
        return f"{child.how} from {' and '.join(map(self.name, child.parents))}"

    def ancestors(self, places: Iterable[int]) -> set[int]:
        """Return the places with those of all that the models there were made of."""
        found: set[int] = set()
        waiting = list(places)
        while waiting:
            place = waiting.pop()
            child = self.child(place)
            if place not in found and child is not None:
                waiting.extend(child.parents)
            found.add(place)
        return found

    def ranking(self) -> list[int]:
        """Return all places, each model once, best first; of equal levels the earlier."""
        ges = self.first - 1
        known = any(model.edges == self.models[ges].edges for model in self.models[:ges])
        places = [place for place in range(len(self.models)) if place != ges or not known]
        return sorted(places, key=lambda place: -self._level(place))

    def rises(self) -> list[int]:
        """Return the places of the offspring that scored higher than all before them."""
        best = max(map(self._level, range(self.first)))
        found = []
        for place in range(self.first, len(self.models)):
            if self._level(place) > best:
                best = self._level(place)
                found.append(place)
        return found

    def _level(self, place: int) -> float:
        return self._record.level(self.models[place].score)


@dataclass(frozen=True)
class ImprovedOptimum(Optimum):
    """A model that improving started from, or found.

    It is an `Optimum`; one that no run ended in has no `hits` and no `first_run`.

    Attributes
    ----------
    provenance : str
        Where it comes from: "run 17", "GES", "recombined from run 3 and run 41", "refined from
        task 210", "perturbed from task 12". A model that was found is called by the number of its
        task; `Improved.ancestry` goes back to the runs.
    """

    provenance: str = field(kw_only=True)


class Improved(Sequence[ImprovedOptimum]):
    """The best models known after improving, best first; at most 20.

    Made by `Optima.improve`, or read from a file as `Optima.improved`.

    Attributes
    ----------
    optima : Optima
        The result of the runs alone, as it was.
    seconds : float or None
        How long it took; None after loading.

    Examples
    --------
    >>> import kes
    >>> optima = kes.learn(kes.datasets.alarm(rows=500), k=0.4, runs=20)
    >>> improved = optima.improve(tasks=200)
    >>> improved.best.score >= optima.best.score
    True
    """

    def __init__(
        self,
        optima: Optima,
        improvement: Improvement,
        *,
        seconds: float | None = None,
        times: Sequence[float] = (),
    ) -> None:
        self.optima = optima
        self.seconds = seconds
        self._improvement = improvement
        self._times = times

    # --- what was found ---

    @property
    def best(self) -> ImprovedOptimum:
        """The model with the highest score."""
        return self[0]

    @property
    def gain(self) -> float:
        """How far the best score is above that of the best run."""
        return self.best.score - self.optima.best.score

    @cached_property
    def history(self) -> Table:
        """Every rise of the best score.

        A row for the best of what was there at first, then one for each task that found a higher
        score: number of the `task`, `seconds` since the start (not known after loading), `score`,
        and `how` the model came about.
        """
        lineage = self._lineage
        start = next(place for place in lineage.ranking() if place < lineage.first)
        places = [start, *lineage.rises()]
        return Table(
            {
                "task": [child and child.task for child in map(lineage.child, places)],
                "seconds": [self._seconds(place) for place in places],
                "score": [lineage.models[place].score for place in places],
                "how": [lineage.provenance(place) for place in places],
            }
        )

    def ancestry(self, index: SupportsIndex = 0) -> Table:
        """Return what a model was made of, back to the runs.

        Parameters
        ----------
        index : int
            Which model, by its place here.

        Returns
        -------
        Table
            A row for each ancestor, oldest first, and for the model itself: its `name` ("run 17",
            "GES", "task 210"), its `score`, and `how` it came about.
        """
        lineage = self._lineage
        places = sorted(lineage.ancestors([self._places[index]]))
        return Table(
            {
                "name": [lineage.name(place) for place in places],
                "score": [lineage.models[place].score for place in places],
                "how": [lineage.provenance(place) for place in places],
            }
        )

    # --- how ---

    @property
    def tasks(self) -> int:
        """Number of tasks done. That many tasks with the same seed give the same result."""
        return self._improvement.tasks

    @property
    def seed(self) -> int:
        """Seed of the random streams of the tasks; drawn if `random_state` was None."""
        return self._improvement.seed

    # --- files, comparison, display ---

    def save(self, path: PathLike) -> None:
        """Write the result of the runs and this to a file: see `Optima.save`.

        `kes.load` gives the runs as always; their attribute `improved` is this.
        """
        self.kept.save(path)

    @cached_property
    def kept(self) -> Optima:
        """The result of the runs, with this as its `improved`."""
        record = replace(self.optima._record, improvement=self._improvement)
        times = self.optima.seconds, self.seconds
        seconds = None if None in times else sum(filter(None, times))
        return Optima(record, study=self.optima._study, seconds=seconds)

    def __len__(self) -> int:
        return len(self._models)

    @overload
    def __getitem__(self, index: SupportsIndex) -> ImprovedOptimum: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ImprovedOptimum, ...]: ...
    def __getitem__(
        self, index: SupportsIndex | slice
    ) -> ImprovedOptimum | tuple[ImprovedOptimum, ...]:
        return self._models[index]

    def __iter__(self) -> Iterator[ImprovedOptimum]:
        return iter(self._models)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Improved):
            return NotImplemented
        return self.optima == other.optima and self._improvement == other._improvement

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Improved, (self.optima, self._improvement)

    def __repr__(self) -> str:
        return repr(self.kept)

    def _repr_html_(self) -> str:
        return self.kept._repr_html_()

    # --- within ---

    @cached_property
    def _lineage(self) -> Lineage:
        return Lineage(self.optima._record, self._improvement.offspring)

    @cached_property
    def _places(self) -> list[int]:
        return self._lineage.ranking()[:REPORTED]

    @cached_property
    def _models(self) -> tuple[ImprovedOptimum, ...]:
        return tuple(map(self._optimum, self._places))

    def _optimum(self, place: int) -> ImprovedOptimum:
        model, run = self._lineage.models[place], self._lineage.first_run(place)
        return ImprovedOptimum(
            score=model.score,
            hits=self.optima._record.runs.count(place) if run is not None else 0,
            first_run=run,
            is_local_optimum=model.is_local_optimum,
            _names=self.optima.names,
            _edges=model.edges,
            provenance=self._lineage.provenance(place),
        )

    def _seconds(self, place: int) -> float | None:
        if self.seconds is None:
            return None
        first = self._lineage.first
        return self._times[place - first] if place >= first else 0.0
