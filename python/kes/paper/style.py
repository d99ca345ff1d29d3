"""How the figures look: column width of a paper, one colour and line style per k."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from kes.errors import not_installed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMN = 3.4
"""Width of a column, in inches."""

# Okabe and Ito's palette, which people who see few colours can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), "-")


def check_plotting() -> None:
    """Complain before the runs, not after, if figures cannot be drawn.

    Raises
    ------
    KesError
        If matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise not_installed("matplotlib") from None


def style() -> AbstractContextManager[None]:
    """Return the context in which figures are drawn and saved."""
    import matplotlib as mpl

    settings: dict[Any, Any] = {
        "font.size": 8,
        "axes.titlesize": 8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.6,
        "axes.formatter.useoffset": False,
        "lines.linewidth": 1.1,
        "legend.fontsize": 7,
        "legend.frameon": False,
        "legend.handlelength": 2.6,
        "legend.labelspacing": 0.3,
        "savefig.dpi": 300,
    }
    return mpl.rc_context(settings)


def panels(columns: int, height: float = 2.5) -> tuple[Figure, list[Axes]]:
    """Return a figure of so many panels side by side, each as wide as a column."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN * columns, height), layout="constrained")
    return figure, [figure.add_subplot(1, columns, place + 1) for place in range(columns)]
