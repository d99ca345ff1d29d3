"""The sample-size study: how often KES beats GES on Alarm when there are few cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kes.paper.document import Section, table
from kes.paper.runner import Cell, Outcome
from kes.paper.samples import CASES, Sample
from kes.paper.style import COLOURS, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KS = (0.4, 0.8)
SIZES = {"bic": (200, 500, 1000, CASES), "bdeu": (100, 200, 500, 1000, CASES)}
NAMES = {"bic": "BIC", "bdeu": "BDeu, ess 1"}
DRAWS = 5

Shares = dict[tuple[str, int, float], list[float]]
"""Per cent of the runs above GES, one entry per draw, by criterion, size and k."""


class SampleSizes:
    """Several draws of Alarm for each size: one draw says little about the next."""

    key = "sample-size"
    title = "Sample size"

    def cells(self, runs: int) -> list[Cell]:
        """Return the runs needed."""
        return [
            Cell(Sample("alarm", rows, draw), k, runs, criterion)
            for criterion, sizes in SIZES.items()
            for rows in sizes
            for draw in range(DRAWS)
            for k in KS
        ]

    def section(self, outcomes: Mapping[Cell, Outcome]) -> Section:
        """Write and draw the shares."""
        shares: Shares = defaultdict(list)
        for cell, outcome in outcomes.items():
            share = 100 * outcome.above / len(outcome.scores)
            shares[cell.criterion, cell.sample.rows, cell.k].append(share)
        rows = [
            [
                NAMES[criterion],
                size,
                *(_shown(shares[criterion, size, k]) for k in KS),
            ]
            for criterion, sizes in SIZES.items()
            for size in sizes
        ]
        text = table(["Criterion", "Cases", *(f"k = {k:g}" for k in KS)], rows)
        text += (
            f"\n\nPer cent of the runs that end above GES: mean over {DRAWS} draws of Alarm "
            "(smallest - largest)."
        )
        values = {
            f"{criterion} {size} k={k:g}": share for (criterion, size, k), share in shares.items()
        }
        figures = {"sample-size": partial(_draw, dict(shares))}
        return Section(self.key, self.title, text, values, figures)


def _shown(shares: list[float]) -> str:
    return f"{np.mean(shares):.1f} ({min(shares):.1f} - {max(shares):.1f})"


def _draw(shares: Shares) -> Figure:
    figure, axes = panels(2)
    for panel, (criterion, sizes) in zip(axes, SIZES.items(), strict=True):
        for k, colour, marker, dash in zip(KS, COLOURS, "os", ("-", "--"), strict=False):
            points = [shares[criterion, size, k] for size in sizes]
            panel.plot(
                sizes,
                [np.mean(point) for point in points],
                color=colour,
                linestyle=dash,
                label=f"k = {k:g}, mean of the draws",
            )
            for size, point in zip(sizes, points, strict=True):
                panel.plot(
                    [size] * len(point),
                    point,
                    marker,
                    color=colour,
                    markersize=3,
                    alpha=0.55,
                    mew=0,
                )
        panel.set_xscale("log")
        panel.set_xticks(sizes, [f"{size:,}".replace(",", "\u2009") for size in sizes])
        panel.minorticks_off()
        panel.set_ylim(0)
        panel.set_title(NAMES[criterion])
        panel.set_xlabel("cases drawn from Alarm")
        panel.set_ylabel("runs above GES (%)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
