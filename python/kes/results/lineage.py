"""The order of the models of a record, and their ancestry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from kes.search.record import Record
from kes.table import Table


class Lineage:
    """The models of a record by their places in its pool."""

    def __init__(self, record: Record) -> None:
        self.record = record

    @cached_property
    def order(self) -> list[int]:
        """All places, best level first; on one level as in the pool: runs, GES, tasks."""
        levels = [self.record.level(model.score) for model in self.record.pool]
        return sorted(range(len(levels)), key=lambda place: -levels[place])

    @cached_property
    def hits(self) -> Counter[int]:
        """For each place, the number of runs that ended there."""
        return Counter(self.record.runs)

    def is_proven(self, place: int) -> bool:
        """Tell whether no network scores higher than the model at a place."""
        proof, level = self.record.proof, self.record.level
        return proof is not None and proof.proven and level(self._score(place)) >= self._top

    @cached_property
    def _top(self) -> float:
        return self.record.level(self._score(self.order[0]))

    def _score(self, place: int) -> float:
        return self.record.pool[place].score

    @cached_property
    def index(self) -> dict[int, int]:
        """For each place, its index in the order."""
        return {place: index for index, place in enumerate(self.order)}

    def origin(self, place: int) -> str:
        """Return how a model was found, such as "recombined from run 3 and run 41"."""
        child = self.record.child(place)
        if child is None or child.task is None:
            return self._name(place)
        return f"{child.how} from {' and '.join(map(self._name, child.parents))}"

    def history(self) -> Table:
        """Return the best of the runs and GES, and every rise; see `Optima.history`."""
        start = next(place for place in self.order if self.record.child(place) is None)
        return self._table([start, *self.record.rises()])

    def ancestry(self, place: int) -> Table:
        """Return a model and all its ancestors; see `Optima.ancestry`."""
        return self._table(sorted(self.record.ancestors([place])))

    def _table(self, places: Iterable[int]) -> Table:
        rows = [(place, self.record.child(place)) for place in places]
        return Table(
            {
                "optimum": [self.index[place] for place, _ in rows],
                "task": [None if child is None else child.task for _, child in rows],
                "score": [self.record.pool[place].score for place, _ in rows],
                "origin": [self.origin(place) for place, _ in rows],
            }
        )

    def _name(self, place: int) -> str:
        """Return the short name of a model: "run 17", "GES", "task 210" or "exact"."""
        child, run = self.record.child(place), self.record.first_runs.get(place)
        if child is not None:
            return child.how if child.task is None else f"task {child.task}"
        return "GES" if run is None else f"run {run}"
