"""How many models and which best score the runs have found, as their number grew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kes.analysis.coverage import Coverage
from kes.drawing import style
from kes.errors import KesError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kes.results.optima import Optima


def plot_coverage(optima: Optima, ax: Sequence[Axes] | None = None) -> tuple[Axes, Axes]:
    """Draw the accumulation and the best score; see `Optima.plot_coverage`."""
    if ax is None:
        _, ax = style.pyplot().subplots(1, 2, figsize=(10, 4), layout="constrained")
    try:
        left, right = ax
    except (TypeError, ValueError):
        raise KesError("plot_coverage draws two pictures: give a pair of axes as ax") from None
    coverage = Coverage(optima)
    _accumulation(coverage, left)
    _best_so_far(coverage, optima.ges.score, right)
    return left, right


def _accumulation(coverage: Coverage, ax: Axes) -> None:
    curve = coverage.accumulation()
    ax.plot(curve["runs"], curve["models"], color=style.BLUE, label="models")
    ax.plot(curve["runs"], curve["levels"], color=style.INK, linestyle=":", label="score levels")
    mass = coverage.unseen_mass
    ax.set_title(
        f"{mass.value:.1%} of further runs would end in a new model\n"
        f"(95 % interval {mass.low:.1%} to {mass.high:.1%})",
        loc="left",
        fontsize="medium",
    )
    ax.set_xlabel("runs")
    ax.set_ylabel("found, on average")
    ax.set_ylim(bottom=0)
    _finish(ax)


def _best_so_far(coverage: Coverage, ges: float, ax: Axes) -> None:
    curve = coverage.best_so_far()
    ax.step(
        curve["runs"],
        curve["observed"],
        where="post",
        color=style.BLUE,
        label="these runs, in order",
    )
    ax.plot(
        curve["runs"],
        curve["expected"],
        color=style.INK,
        linestyle=":",
        label="average over all orders",
    )
    ax.axhline(ges, color=style.ORANGE, linestyle=(0, (5, 3)), label="GES")
    ax.set_title(
        f"Best score hit by {coverage.best_hits} of {coverage.runs} runs;\n"
        "a better one may exist all the same",
        loc="left",
        fontsize="medium",
    )
    ax.set_xlabel("runs")
    ax.set_ylabel("best score so far")
    _finish(ax)


def _finish(ax: Axes) -> None:
    style.plain(ax)
    style.whole_numbers(ax)
    ax.legend(frameon=False, loc="lower right")
