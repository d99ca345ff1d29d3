"""Figure 1: the scores of all runs on ALL, sorted, for seven values of k."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kes.paper.document import Section, table
from kes.paper.runner import Cell, Outcome
from kes.paper.samples import Sample
from kes.paper.style import COLOURS, DASHES, panels
from kes.paper.table1 import LN10

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KS = (0.0, 0.005, 0.02, 0.1, 0.4, 0.8, 1.0)
CLOSE_UP = (0.4, 0.8, 1.0)


class Figure1:
    """Sorted scores on ALL; on the right a close-up of the greedy ones."""

    key = "figure1"
    title = "Figure 1"

    def cells(self, runs: int) -> list[Cell]:
        """Return the runs needed."""
        return [Cell(Sample("all"), k, runs) for k in KS]

    def section(self, outcomes: Mapping[Cell, Outcome]) -> Section:
        """Draw the figure, and give quantiles of what it shows."""
        marks = (0, 25, 50, 75, 100)
        quantiles = {
            cell.k: np.percentile(outcome.scores / LN10, marks)
            for cell, outcome in outcomes.items()
        }
        rows = [
            [f"{cell.k:g}", *(f"{q:.0f}" for q in quantiles[cell.k]), outcome.above]
            for cell, outcome in outcomes.items()
        ]
        header = ["k", "worst run", "quarter", "median", "three quarters", "best run", "above GES"]
        text = table(header, rows) + "\n\nBIC of the runs in log10 units."
        values = {f"k={k:g}": [float(q) for q in quantile] for k, quantile in quantiles.items()}
        scores = {cell.k: np.sort(outcome.scores / LN10) for cell, outcome in outcomes.items()}
        return Section(self.key, self.title, text, values, {"figure1": partial(_draw, scores)})


def _draw(scores: dict[float, np.ndarray]) -> Figure:
    figure, (left, right) = panels(2)
    for k in KS:
        _line(left, k, scores[k])
        if k in CLOSE_UP:
            _line(right, k, scores[k])
    left.set_title("all values of k")
    right.set_title("close-up")
    # The worst few runs with k=0.4 would squeeze everything else.
    low = np.percentile(scores[0.4], 2)
    high = max(float(scores[k][-1]) for k in CLOSE_UP)
    right.set_ylim(low, high + 0.05 * (high - low))
    for axes in (left, right):
        axes.set_xlabel("run, in ascending order of score")
        axes.set_ylabel("BIC (log$_{10}$ units)")
        axes.set_xlim(1, len(scores[1.0]))
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=len(KS))
    return figure


def _line(axes: Axes, k: float, scores: np.ndarray) -> None:
    index = KS.index(k)
    name = {0.0: "k = 0 (SES)", 1.0: "k = 1 (GES)"}.get(k, f"k = {k:g}")
    places = np.arange(1, len(scores) + 1)
    axes.plot(places, scores, color=COLOURS[index], linestyle=DASHES[index], label=name)
