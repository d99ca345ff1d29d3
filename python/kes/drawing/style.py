"""Colours that colour-blind readers can tell apart, and plain axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kes.errors import not_installed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#1f2933"
MUTED = "#7b8794"
FAINT = "#e4e7eb"
PAPER = "#ffffff"
# From the palette of Okabe and Ito (2008).
BLUE = "#0072b2"
ORANGE = "#d55e00"
GREEN = "#009e73"
BOX = ("#eef4f9", BLUE)
GIVEN_BOX = (FAINT, MUTED)
"""Fill and outline of modelled and of exogenous nodes."""
SCALE = "viridis"
"""Colour map from low to high; monotone in greyscale, too."""


def pyplot() -> Any:  # noqa: ANN401 - a module
    """Import matplotlib's pyplot; the error says how to install it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise not_installed("matplotlib") from None
    return plt


def axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the given axes, or new ones in a figure of this size in inches."""
    if ax is not None:
        return ax
    new: Axes = pyplot().subplots(figsize=size, layout="constrained")[1]
    return new


def integer_ticks(ax: Axes) -> None:
    """Put ticks of the x axis at integers only."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def plain(ax: Axes) -> None:
    """Remove lines that carry no information."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(MUTED)
    ax.tick_params(colors=MUTED, labelcolor=INK)
    ax.grid(axis="y", color=FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.ticklabel_format(axis="y", useOffset=False, style="plain")
