"""Pictures of results by matplotlib (extra ``plot``): scores, coverage, landscape and effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kes.analysis.compare import Landscape
from kes.analysis.coverage import Coverage
from kes.drawing import style
from kes.errors import KesError
from kes.results.summary import Standing, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kes.analysis.effect_table import Effects
    from kes.results.optima import Optima

_LARGEST_DOT = 1400.0
"""Size of a dot in which all runs ended, on one scale for all maps."""
_SMALLEST_DOT = 14.0
_DASHES = (0, (5, 3))


# --- scores --------------------------------------------------------------------------------------


def plot_scores(optima: Optima, ax: Axes | None = None) -> Axes:
    """Draw the sorted scores of the runs; see `Optima.plot_scores`."""
    ax = style.axes(ax, (7, 4))
    scores = np.sort(optima.run_scores)[::-1]
    runs = np.arange(1, len(scores) + 1)
    ax.plot(runs, scores, color=style.BLUE, linewidth=1.2, zorder=2)
    ax.scatter(runs, scores, s=9, color=style.BLUE, zorder=3, label="runs")
    ges = optima.ges.score
    above = Standing.of(optima, ges).above
    name = f"GES ({above} of {counted(len(runs), 'run')} better)"
    ax.axhline(ges, color=style.ORANGE, linestyle=_DASHES, linewidth=1.4, label=name)
    ax.set_xlabel("runs, best first")
    ax.set_ylabel(f"{optima.settings.criterion.upper()} score (natural log)")
    ends = counted(len(optima.of_runs), "optimum", "optima")
    ax.set_title(f"{counted(len(runs), 'run')} ended in {ends}", loc="left")
    style.plain(ax)
    style.integer_ticks(ax)
    ax.legend(frameon=False)
    return ax


# --- coverage ------------------------------------------------------------------------------------


def plot_coverage(optima: Optima, ax: Sequence[Axes] | None = None) -> tuple[Axes, Axes]:
    """Draw the accumulation and the best score; see `Optima.plot_coverage`."""
    if ax is None:
        _, ax = style.pyplot().subplots(1, 2, figsize=(10, 4), layout="constrained")
    try:
        left, right = ax
    except (TypeError, ValueError):
        raise KesError(
            "plot_coverage draws two pictures: pass a pair of axes as ax", option="ax"
        ) from None
    coverage = Coverage(optima)
    _accumulation(coverage, left)
    _best_so_far(coverage, optima.ges.score, right)
    for axes in (left, right):
        axes.set_xlabel("runs")
        style.plain(axes)
        style.integer_ticks(axes)
        axes.legend(frameon=False, loc="lower right")
    return left, right


def _accumulation(coverage: Coverage, ax: Axes) -> None:
    curve = coverage.accumulation()
    ax.plot(curve["runs"], curve["models"], color=style.BLUE, label="models")
    ax.plot(curve["runs"], curve["levels"], color=style.INK, linestyle=":", label="score levels")
    mass = coverage.unseen_mass
    title = f"{mass.value:.1%} of further runs would end in a new model\n"
    title += f"(95 % interval {mass.low:.1%} to {mass.high:.1%})"
    ax.set_title(title, loc="left", fontsize="medium")
    ax.set_ylabel("found, on average")
    ax.set_ylim(bottom=0)


def _best_so_far(coverage: Coverage, ges: float, ax: Axes) -> None:
    curve = coverage.best_so_far()
    runs, order = curve["runs"], "these runs, in order"
    ax.step(runs, curve["observed"], where="post", color=style.BLUE, label=order)
    mean = "average over all orders"
    ax.plot(runs, curve["expected"], color=style.INK, linestyle=":", label=mean)
    ax.axhline(ges, color=style.ORANGE, linestyle=_DASHES, label="GES")
    title = f"Best score found by {coverage.best_hits} of {coverage.runs} runs;\n"
    ax.set_title(title + "a better one may still exist", loc="left", fontsize="medium")
    ax.set_ylabel("best score so far")


# --- landscape -----------------------------------------------------------------------------------


def plot_landscape(optima: Optima, ax: Axes | None = None) -> Axes:
    """Draw the map of the optima; see `Optima.plot_landscape`."""
    ax = style.axes(ax, (7.5, 5.5))
    found = Landscape.of(optima)
    hits = np.array([optimum.hits for optimum in found.optima])
    scores = np.array([optimum.score for optimum in found.optima])
    order = np.argsort(-hits, kind="stable")  # small dots in front of large ones
    # A few very bad optima would make all others look alike.
    lowest = float(np.quantile(scores, 0.05))
    dots = ax.scatter(
        found.points[order, 0],
        found.points[order, 1],
        s=np.maximum(hits / max(1, len(optima.runs)) * _LARGEST_DOT, _SMALLEST_DOT)[order],
        c=scores[order],
        cmap=style.SCALE,
        vmin=lowest,
        edgecolors=style.PAPER,
        linewidths=0.6,
    )
    for index, marker, size, name in ((0, "*", 15, "best"), (found.ges, "D", 9, "GES")):
        ax.plot(
            *found.points[index],
            marker,
            markersize=size,
            markerfacecolor=style.ORANGE,
            markeredgecolor=style.INK,
            linestyle="none",
            label=name,
        )
    bar = ax.figure.colorbar(dots, ax=ax, extend="min" if scores.min() < lowest else "neither")
    bar.set_label(f"{optima.settings.criterion.upper()} score")
    bar.ax.ticklabel_format(useOffset=False, style="plain")
    bar.outline.set_visible(False)
    style.plain(ax)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("distance in edges (SHD), projected")
    part = " (the best only)" if len(found.optima) < len(optima) else ""
    ax.set_title(f"Optima by distance; size: hits{part}", loc="left")
    ax.legend(frameon=False, loc="best")
    return ax


# --- effects -------------------------------------------------------------------------------------


def plot_effects(effects: Effects, ax: Axes | None = None) -> Axes:
    """Draw effects by the score of their optima; see `Optima.plot_effects`."""
    ax = style.axes(ax, (7.5, 4.5))
    rows = [row for row in effects if row["effect"] is not None]
    classes: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        classes.setdefault(row["optimum"], []).append(row)
    if effects.resamples:
        lows, highs = [row["low"] for row in rows], [row["high"] for row in rows]
        heights = [row["below"] for row in rows]
        ax.hlines(heights, lows, highs, color=style.MUTED, linewidth=0.8, zorder=1)
    others = counted(len(classes) - 1, "other optimum", "other optima")
    labels = ("best optimum, each parent set", others)
    for place, members in enumerate(classes.values()):
        values = [row["effect"] for row in members]
        ax.hlines(members[0]["below"], min(values), max(values), color=style.BLUE, linewidth=3)
        ax.scatter(
            values,
            [row["below"] for row in members],
            s=42 if place == 0 else 24,
            color=style.ORANGE if place == 0 else style.BLUE,
            edgecolors=style.PAPER,
            linewidths=0.6,
            zorder=4 if place == 0 else 3,
            label=labels[place] if place < len(labels) else None,
        )
    ax.axvline(0.0, color=style.INK, linewidth=0.8, linestyle=_DASHES, zorder=1.5)
    style.plain(ax)
    ax.grid(axis="x", color=style.FAINT, linewidth=0.8)
    ax.margins(x=0.08)
    lowest = max(effects["below"], default=0.0)
    ax.set_ylim(1.06 * lowest + 0.4, -0.06 * lowest - 0.4)  # the best on top
    ax.set_ylabel("nats below the best")
    ax.set_xlabel(f"change of {effects.change}")
    found = f"{counted(len(rows), 'possible effect')} in "
    found += counted(len(classes), "optimum", "optima")
    ax.set_title(found + "; thin lines: 95 % of resamples" * bool(effects.resamples), loc="left")
    ax.legend(frameon=False, fontsize="small", loc="best")
    return ax
