"""Possible effects of a variable: where the optima agree, and where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kes.drawing import style
from kes.results.summary import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kes.analysis.effects import Effects


def plot_effects(effects: Effects, ax: Axes | None = None) -> Axes:
    """Draw the effects over how good their optima are; see `Optima.plot_effects`."""
    ax = style.axes(ax, (7.5, 4.5))
    rows = [row for row in effects if row["effect"] is not None]
    classes: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        classes.setdefault(row["optimum"], []).append(row)
    if effects.resamples:
        lows, highs = [row["low"] for row in rows], [row["high"] for row in rows]
        heights = [row["below"] for row in rows]
        ax.hlines(heights, lows, highs, color=style.MUTED, linewidth=0.8, zorder=1)
    for members in classes.values():
        values = [row["effect"] for row in members]
        ax.hlines(members[0]["below"], min(values), max(values), color=style.BLUE, linewidth=3)
    for place, members in enumerate(classes.values()):
        ax.scatter(
            [row["effect"] for row in members],
            [row["below"] for row in members],
            s=42 if place == 0 else 24,
            color=style.ORANGE if place == 0 else style.BLUE,
            edgecolors=style.PAPER,
            linewidths=0.6,
            zorder=4 if place == 0 else 3,
            label=_label(place, len(classes)),
        )
    ax.axvline(0.0, color=style.INK, linewidth=0.8, linestyle=(0, (5, 3)), zorder=1.5)
    _finish(ax, effects, len(rows), len(classes))
    return ax


def _label(place: int, optima: int) -> str | None:
    """Name the best optimum, and the first of the others for all of them."""
    if place == 0:
        return "best optimum, each set of parents"
    return f"{counted(optima - 1, 'other optimum', 'other optima')}" if place == 1 else None


def _finish(ax: Axes, effects: Effects, rows: int, optima: int) -> None:
    style.plain(ax)
    ax.grid(axis="x", color=style.FAINT, linewidth=0.8)
    ax.margins(x=0.08)
    lowest = max(effects["below"], default=0.0)
    ax.set_ylim(1.06 * lowest + 0.4, -0.06 * lowest - 0.4)  # the best on top
    ax.set_ylabel("nats below the best")
    ax.set_xlabel(f"change of {effects.change}")
    how = "; thin lines: 95 % of resamples" if effects.resamples else ""
    ax.set_title(
        f"{counted(rows, 'possible effect')} in {counted(optima, 'optimum', 'optima')}{how}",
        loc="left",
    )
    ax.legend(frameon=False, fontsize="small", loc="best")
