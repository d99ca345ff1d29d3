"""The scores of all runs, from best to worst, and where GES stands among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kes.drawing import style
from kes.results.summary import Standing, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kes.results.optima import Optima


def plot_scores(optima: Optima, ax: Axes | None = None) -> Axes:
    """Draw the sorted scores of the runs; see `Optima.plot`."""
    ax = style.axes(ax, (7, 4))
    scores = np.sort(optima.run_scores)[::-1]
    runs = np.arange(1, len(scores) + 1)
    ax.plot(runs, scores, color=style.BLUE, linewidth=1.2, zorder=2)
    ax.scatter(runs, scores, s=9, color=style.BLUE, zorder=3, label="runs")
    ges = optima.ges.score
    above = Standing.of(optima, ges).above
    ax.axhline(
        ges,
        color=style.ORANGE,
        linestyle=(0, (5, 3)),
        linewidth=1.4,
        label=f"GES ({above} of {counted(len(runs), 'run')} better)",
    )
    ax.set_xlabel("runs, best first")
    ax.set_ylabel(f"{optima.settings.criterion.upper()} score (natural log)")
    ends = counted(len(optima.of_runs), "optimum", "optima")
    ax.set_title(f"{counted(len(runs), 'run')} ended in {ends}", loc="left")
    style.plain(ax)
    style.whole_numbers(ax)
    ax.legend(frameon=False)
    return ax
