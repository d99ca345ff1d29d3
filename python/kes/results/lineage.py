"""The order of the models of a record, and what each of them was made of."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from kes.search.record import Record
from kes.table import Table


class Lineage:
    """The models of a record by their places in its pool."""

    def __init__(self, record: Record) -> None:
        self._record = record

    @cached_property
    def order(self) -> list[int]:
        """All places, best level first; on one level as in the pool: runs, GES, tasks."""
        levels = [self._record.level(model.score) for model in self._record.pool]
        return sorted(range(len(levels)), key=lambda place: -levels[place])

    @cached_property
    def index(self) -> dict[int, int]:
        """For each place, its index in the order."""
        return {place: index for index, place in enumerate(self.order)}

    def origin(self, place: int) -> str:
        """Return how a model came about, such as "recombined from run 3 and run 41"."""
        child = self._record.child(place)
        if child is None or child.task is None:
            return self._name(place)
        return f"{child.how} from {' and '.join(map(self._name, child.parents))}"

    def history(self) -> Table:
        """Return the best of what was there at first, and every rise; see `Optima.history`."""
        start = next(place for place in self.order if self._record.child(place) is None)
        return self._table([start, *self._record.rises()])

    def ancestry(self, place: int) -> Table:
        """Return a model and all that it was made of; see `Optima.ancestry`."""
        return self._table(sorted(self._record.ancestors([place])))

    def _table(self, places: Iterable[int]) -> Table:
        rows = [(place, self._record.child(place)) for place in places]
        return Table(
            {
                "optimum": [self.index[place] for place, _ in rows],
                "task": [None if child is None else child.task for _, child in rows],
                "score": [self._record.pool[place].score for place, _ in rows],
                "origin": [self.origin(place) for place, _ in rows],
            }
        )

    def _name(self, place: int) -> str:
        """Return what origins call a model: "run 17", "GES", "task 210" or "exact"."""
        child, run = self._record.child(place), self._record.first_runs.get(place)
        if child is not None:
            return child.how if child.task is None else f"task {child.task}"
        return "GES" if run is None else f"run {run}"
