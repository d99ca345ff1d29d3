"""What a result was made from: data and settings, as it remembers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kes.data.column import Kind, State, TableKind, kind_of
from kes.files import stem
from kes.search.record import Record
from kes.settings import Settings

if TYPE_CHECKING:
    from kes.data.discretizer import Discretizer


class Provenance:
    """Where the optima of a record come from."""

    record: Record

    @property
    def settings(self) -> Settings:
        """The settings of the search."""
        return self.record.settings

    @property
    def seed(self) -> int:
        """The seed of the random streams; drawn if `random_state` was None."""
        return self.record.settings.seed

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.record.names

    @property
    def states(self) -> dict[str, tuple[State, ...]]:
        """States of each variable, in order; () of continuous ones."""
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
    def cases(self) -> float:
        """Number of cases in the data; the sum of the weights if there are any."""
        return self.record.cases

    @property
    def stem(self) -> str | None:
        """How files about these data are named: as that of the table, if it has one."""
        reading = self.record.reading
        if reading.example is not None:
            return "alarm"
        return None if reading.source is None else stem(reading.source)

    @property
    def discretizer(self) -> Discretizer | None:
        """What cuts columns of new data as those of these were cut; None if none were."""
        return self.record.reading.discretizer

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the data, such as columns that are constant."""
        return self.record.notes
