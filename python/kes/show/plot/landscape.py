"""The map of the optima: place by distance, size by hits, colour by score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kes.analysis.landscape import Landscape
from kes.drawing import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kes.results.optima import Optima

_LARGEST = 1400.0
"""Size of a dot in which all runs ended: one scale for all pictures."""
_SMALLEST = 14.0


def plot_landscape(optima: Optima, ax: Axes | None = None) -> Axes:
    """Draw the map; see `Optima.plot_landscape`."""
    ax = style.axes(ax, (7.5, 5.5))
    found = Landscape.of(optima)
    hits = np.array([optimum.hits for optimum in found.optima])
    scores = np.array([optimum.score for optimum in found.optima])
    behind = np.argsort(-hits, kind="stable")  # small ones in front of large ones
    # A few very bad optima would make all others look alike.
    lowest = float(np.quantile(scores, 0.05))
    dots = ax.scatter(
        found.points[behind, 0],
        found.points[behind, 1],
        s=np.maximum(hits / len(optima.runs) * _LARGEST, _SMALLEST)[behind],
        c=scores[behind],
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
    _finish(ax, len(found.optima) < len(optima))
    return ax


def _finish(ax: Axes, is_part: bool) -> None:
    style.plain(ax)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("distance in edges (SHD), projected")
    title = "Optima by distance; size: hits"
    ax.set_title(f"{title} (the best only)" if is_part else title, loc="left")
    ax.legend(frameon=False, loc="best")
