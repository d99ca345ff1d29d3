"""Table 1: how often runs end above and below GES; with BIC as printed, and with BDeu."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kes.paper.document import Section, table
from kes.paper.runner import DATABASES, Cell, Cost, Outcome, Sample

KS = (0.0, 0.4, 0.8, 1.0)
LN10 = math.log(10)
"""The paper's scores are logarithms to the base 10."""


@dataclass(frozen=True)
class Printed:
    """A row of the paper's Table 1; counts as (runs, distinct models)."""

    best: int
    above: tuple[int, int] | None = None
    below: tuple[int, int] | None = None


# Where no run is above or below, the paper prints a plain 0.
PRINTED = {
    "alarm": (
        Printed(-95207, (0, 0), (1000, 1000)),
        Printed(-94288, (0, 0), (918, 477)),
        Printed(-94288, (0, 0), (565, 69)),
        Printed(-94288),
    ),
    "trap": (
        Printed(-227932, (1000, 840), (0, 0)),
        Printed(-227955, (857, 343), (88, 3)),
        Printed(-227977, (275, 39), (276, 3)),
        Printed(-227999),
    ),
    "all": (
        Printed(-130154, (0, 0), (1000, 1000)),
        Printed(-126856, (222, 222), (774, 774)),
        Printed(-126873, (656, 606), (324, 316)),
        Printed(-127010),
    ),
    "aml": (
        Printed(-74503, (0, 0), (1000, 1000)),
        Printed(-73956, (32, 32), (968, 968)),
        Printed(-73952, (227, 131), (719, 524)),
        Printed(-73998),
    ),
    "coil": (
        Printed(-10964, (11, 11), (989, 983)),
        Printed(-10964, (114, 43), (879, 674)),
        Printed(-10967, (221, 19), (740, 126)),
        Printed(-10969),
    ),
}


@dataclass(frozen=True)
class Table1:
    """Five databases, four values of k, one criterion."""

    criterion: str

    @property
    def key(self) -> str:
        """Name on the command line."""
        return "table1" if self.criterion == "bic" else self.criterion

    @property
    def title(self) -> str:
        """Name for readers."""
        return "Table 1" if self.criterion == "bic" else "Table 1 with BDeu"

    def cells(self, runs: int) -> list[Cell]:
        """Return the runs needed."""
        return [
            Cell(Sample(database), k, runs, self.criterion) for database in DATABASES for k in KS
        ]

    def section(self, outcomes: Mapping[Cell, Outcome]) -> Section:
        """Write the table."""
        rows = [self._row(cell, outcome) for cell, outcome in outcomes.items()]
        header = ["Data", "k", "Best", ">GES", "<GES"]
        if self.criterion == "bic":
            header = ["Data", "k", "Best", "paper", ">GES", "paper", "<GES", "paper"]
        parts = [table(header, rows), _cost(outcomes.values())]
        values = {
            f"{cell.sample.database} k={cell.k:g}": outcome.values()
            | {"best log10": outcome.best / LN10, "ges log10": outcome.ges / LN10}
            for cell, outcome in outcomes.items()
        }
        return Section(self.key, self.title, "\n\n".join(parts), values)

    def _row(self, cell: Cell, outcome: Outcome) -> list[Any]:
        best = f"{outcome.best / LN10:.1f}"
        above = counted(outcome.above, outcome.models_above)
        below = counted(outcome.below, outcome.models_below)
        if cell.k == 1.0:
            above = below = "—"
        ours = [DATABASES[cell.sample.database] if cell.k == 0 else "", f"{cell.k:g}"]
        if self.criterion != "bic":
            return [*ours, best, above, below]
        printed = PRINTED[cell.sample.database][KS.index(cell.k)]
        pairs = [(best, printed.best), (above, _of(printed.above)), (below, _of(printed.below))]
        return [*ours, *(entry for pair in pairs for entry in pair)]


def counted(runs: int, models: int) -> str:
    """Return a number of runs, with the number of distinct models in parentheses."""
    return f"{runs} ({models})" if runs else "0"


def _of(printed: tuple[int, int] | None) -> str:
    return "—" if printed is None else counted(*printed)


def _cost(outcomes: Iterable[Outcome]) -> str:
    """Say what the runs took."""
    total = sum((outcome.cost for outcome in outcomes), Cost())
    return (
        f"Best in log10 units; in parentheses distinct models. "
        f"The {total.runs} runs took {total.wall:.0f} s ({total.cpu:.0f} s of processor time)."
    )
