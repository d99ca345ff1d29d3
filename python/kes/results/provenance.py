"""The origin of a result: its data and settings, and the order and ancestry of its models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from kes.data.column import Kind, State, TableKind, kind_of
from kes.files import stem
from kes.search.choice import CriterionChoice
from kes.search.evaluation import Evaluation
from kes.search.record import Record
from kes.settings import Settings
from kes.table import Table

if TYPE_CHECKING:
    from kes.data.discretizer import Discretizer
from kes.data.notes import excluded_pairs


class Provenance:
    """Properties of `Optima` about its data and settings."""

    record: Record

    @property
    def settings(self) -> Settings:
        """The settings of the search."""
        return self.record.settings

    @property
    def seed(self) -> int:
        """The seed of the random streams, drawn if `random_state` was None."""
        return self.record.settings.seed

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.record.names

    @property
    def states(self) -> dict[str, tuple[State, ...]]:
        """States of each variable, in order; () for continuous ones."""
        return dict(zip(self.record.names, self.record.states, strict=True))

    @property
    def kinds(self) -> dict[str, Kind]:
        """Kind of each variable: "discrete" or "continuous"."""
        return {
            name: "discrete" if states else "continuous" for name, states in self.states.items()
        }

    @property
    def kind(self) -> TableKind:
        """Kind of the table: that of all variables that vary, or "mixed"."""
        return kind_of(self.record.states)

    @property
    def evaluation(self) -> Evaluation | None:
        """The quality of predictions of the target in held-out cases; None without a target.

        Its attributes are `target`, `cases`, `measures` and `calibration`.
        """
        return self.record.evaluation

    @property
    def choice(self) -> CriterionChoice | None:
        """The criteria tried; None unless the criterion was "auto".

        ``choice.table()`` shows it, and ``choice.estimation`` has the options for `Optimum.fit`.
        """
        return self.record.choice

    @property
    def target(self) -> str | None:
        """The variable to predict, if there is one."""
        return None if self.record.evaluation is None else self.record.evaluation.target

    @property
    def cases(self) -> float:
        """Number of cases in the data; the sum of the weights if there are any."""
        return self.record.cases

    @property
    def stem(self) -> str | None:
        """Stem of file names for these data: that of the table, if it came from a file."""
        reading = self.record.reading
        if reading.example is not None:
            return "alarm"
        return None if reading.source is None else stem(reading.source)

    @property
    def discretizer(self) -> Discretizer | None:
        """The discretizer to apply to new data; None if no column was discretized."""
        return self.record.reading.discretizer

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the data, such as constant columns."""
        return self.record.notes

    @property
    def excluded(self) -> dict[tuple[str, str], str]:
        """Pairs of variables that no model connects, and why.

        There are none in discrete tables. The second of a pair may be determined by the first, or
        an edge may have too many parameters for the cases.
        """
        return excluded_pairs(self.record.names, self.record.excluded)


class Lineage:
    """The models of a record, by their places in its pool."""

    def __init__(self, record: Record) -> None:
        self.record = record

    @cached_property
    def order(self) -> list[int]:
        """All places, best score level first; within a level as in the pool: runs, GES, tasks."""
        levels = [self.record.level(model.score) for model in self.record.pool]
        return sorted(range(len(levels)), key=lambda place: -levels[place])

    @cached_property
    def hits(self) -> Counter[int]:
        """For each place, the number of runs that ended there."""
        return Counter(self.record.runs)

    def is_proven(self, place: int) -> bool:
        """Return whether no network scores higher than the model at a place."""
        proof = self.record.proof
        if proof is None or not proof.proven:
            return False
        level, best = (
            self.record.level(self.record.pool[one].score) for one in (place, self.order[0])
        )
        return level >= best

    @cached_property
    def index(self) -> dict[int, int]:
        """For each place, its index in the order."""
        return {place: index for index, place in enumerate(self.order)}

    def origin(self, place: int) -> str:
        """Return the origin of a model, such as "recombined from run 3 and run 41"."""
        child = self.record.child(place)
        if child is None or child.task is None:
            return self._name(place)
        return f"{child.how} from {' and '.join(map(self._name, child.parents))}"

    def history(self) -> Table:
        """Return the best of the runs and GES, and every improvement; see `Optima.history`."""
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
        """Return the short name of a model, such as "run 17", "GES", "task 210" or "exact"."""
        child, run = self.record.child(place), self.record.first_runs.get(place)
        if child is not None:
            return child.how if child.task is None else f"task {child.task}"
        if run is not None:
            return f"run {run}"
        return "unfinished GES" if self.record.unfinished else "GES"
