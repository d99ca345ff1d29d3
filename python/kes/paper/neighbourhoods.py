"""The exact boundary and the sampled one of the paper's section 4.1, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kes.paper.document import Section, table
from kes.paper.runner import Cell, Outcome
from kes.paper.samples import DATABASES, Sample
from kes.paper.style import COLOURS, panels
from kes.paper.table1 import KS, LN10

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPARED = ("alarm", "coil")
WAYS = ("exact", "sampled")
_FEWER = 10  # sampled runs with k=1 take a thousand times as long: do a tenth of them

Key = tuple[str, float, str]


class Neighbourhoods:
    """Final scores, ends short of a local optimum, and cost, of both ways."""

    key = "sampled"
    title = "Exact and sampled neighbourhoods"

    def cells(self, runs: int) -> list[Cell]:
        """Return the runs needed."""
        return [
            Cell(
                Sample(database),
                k,
                max(1, runs // _FEWER) if (way, k) == ("sampled", 1.0) else runs,
                neighbourhood=way,
            )
            for database in COMPARED
            for way in WAYS
            for k in KS
        ]

    def section(self, outcomes: Mapping[Cell, Outcome]) -> Section:
        """Write and draw the comparison."""
        found = {
            (cell.sample.database, cell.k, cell.neighbourhood): outcome
            for cell, outcome in outcomes.items()
        }
        databases = [name for name in COMPARED if (name, KS[0], "exact") in found]
        rows = [_row(found, name, k, way) for name in databases for k in KS for way in WAYS]
        header = ["Data", "k", "boundary", "runs", "best", "median", "above exact GES", "models"]
        text = table([*header, "stopped short", "ms per run", "ratio"], rows, left=3)
        text += (
            "\n\nScores in log10 units. 'Stopped short': runs that end where the exact boundary "
            "still has an improvement. Cost: processor time per run, counting included; ratio to "
            "the exact boundary."
        )
        values = {
            f"{name} k={k:g} {way}": outcome.values() for (name, k, way), outcome in found.items()
        }
        draw = partial(_draw, found, databases)
        return Section(self.key, self.title, text, values, {"neighbourhoods": draw})


def _row(found: dict[Key, Outcome], name: str, k: float, way: str) -> list[object]:
    outcome, exact = found[name, k, way], found[name, k, "exact"]
    cost, base = (each.cost.cpu / max(1, each.cost.runs) for each in (outcome, exact))
    runs = len(outcome.scores)
    return [
        DATABASES[name] if (k, way) == (KS[0], WAYS[0]) else "",
        f"{k:g}" if way == WAYS[0] else "",
        way,
        runs,
        f"{outcome.best / LN10:.1f}",
        f"{np.median(outcome.scores) / LN10:.1f}",
        f"{100 * np.mean(outcome.scores > exact.ges + 1e-6):.1f} %",
        outcome.models,
        f"{outcome.short}",
        f"{1000 * cost:.2f}",
        f"{cost / base:.0f}" if way != "exact" else "",
    ]


def _draw(found: dict[Key, Outcome], databases: list[str]) -> Figure:
    figure, axes = panels(len(databases), height=2.7)
    for panel, name in zip(axes, databases, strict=True):
        for k, colour in zip(KS, COLOURS, strict=False):
            for way, dash in zip(WAYS, ("-", (0, (4, 1.5))), strict=True):
                scores = np.sort(found[name, k, way].scores / LN10)
                share = np.arange(1, len(scores) + 1) / len(scores) * 100
                panel.plot(share, scores, color=colour, linestyle=dash, label=f"k = {k:g}, {way}")
        panel.set_title(DATABASES[name])
        panel.set_xlabel("runs, in ascending order of score (%)")
        panel.set_ylabel("BIC (log$_{10}$ units)")
        panel.set_xlim(0, 100)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(KS))
    return figure
