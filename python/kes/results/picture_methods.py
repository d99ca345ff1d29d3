"""Methods of `Optima` that draw and report."""

# The class that has these methods is that of this package.
# mypy: disable-error-code="misc"

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict, Unpack, cast

from kes.data.dataset import Data, Weights
from kes.declare import checked_options
from kes.validation import integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kes.analysis.certificate import Certificate
    from kes.analysis.effect_table import Effects
    from kes.analysis.stability import Stability
    from kes.files import PathLike
    from kes.results.optima import Optima
    from kes.show.notebook import Inline
    from kes.table import Table


class ReportOptions(TypedDict, total=False):
    """Options of `Optima.report` and `Optima.show`."""

    data: Data | None
    weights: Weights
    missing: str | None
    stability: Stability | None
    evidence: Table | bool | None
    effects: Effects | Sequence[Effects]
    certificate: Certificate | None
    title: str | None
    file: PathLike | None


REPORT_DEFAULTS = cast(
    ReportOptions, dict.fromkeys(ReportOptions.__annotations__) | {"effects": ()}
)


class PictureMethods:
    """Methods of `Optima` that draw pictures and write reports."""

    @checked_options()
    def plot(self: Optima, ax: Axes | None = None, *, evidence: Table | None = None) -> Axes:
        """Draw the best network, as ``kes plot`` does.

        Needs the extra ``plot``, as all pictures do; draws into `ax` or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; by default a new figure.
        evidence : Table or None
            Result of `evidence`, for the widths of the edges. By default it is computed if this
            result still has its data (not after loading); without them, the widths show the search
            support.
        """
        if evidence is None and self.problem is not None:
            evidence = self.evidence()
        return self.best.mpdag.plot(self.edges() if evidence is None else evidence, ax=ax)

    def plot_scores(self: Optima, ax: Axes | None = None) -> Axes:
        """Draw the scores of all runs, best first, with a line at the score of GES."""
        from kes.show.plot import plot_scores

        return plot_scores(self, ax)

    def plot_coverage(self: Optima, ax: Sequence[Axes] | None = None) -> tuple[Axes, Axes]:
        """Draw the number of models and the best score found, by number of runs.

        Draws two pictures into the pair `ax` or into a new figure: the accumulation of models and
        score levels, and the best score so far; see `Coverage`.
        """
        from kes.show.plot import plot_coverage

        return plot_coverage(self, ax)

    def plot_landscape(self: Optima, ax: Axes | None = None) -> Axes:
        """Draw a map of the optima on which similar models are close together.

        Distances approximate the structural Hamming distances between the models (classical
        multidimensional scaling). The larger a dot, the more runs ended there; the brighter, the
        higher its score. Shows at most the 1000 best optima.
        """
        from kes.show.plot import plot_landscape

        return plot_landscape(self, ax)

    @checked_options()
    def plot_effects(self: Optima, effects: Effects, ax: Axes | None = None) -> Axes:
        """Draw the result of `effects`: a dot for each effect, at the height of its optimum.

        The line through the dots of an optimum is the range within its class; thin lines are the
        ranges of resampling.
        """
        from kes.show.plot import plot_effects

        return plot_effects(effects, ax)

    @checked_options(REPORT_DEFAULTS)
    def report(self: Optima, path: PathLike, **options: Unpack[ReportOptions]) -> None:
        """Write a report: one HTML file that opens in any browser, offline.

        It shows, in this order: the data; the best network, or any other; how certain its edges
        are; answers to queries; the optima, the runs and their coverage; and how to reproduce the
        result. Needs the extra ``report``.

        Parameters
        ----------
        path
            The file to write; an existing one is replaced.
        data, weights, missing
            As in `Optima.trace`, to show the variables and the probabilities of the best optima,
            and to answer queries. The page does not contain the cases themselves.
        stability : Stability or None
            Result of `kes.stability`, to show resampling support.
        evidence : Table, bool or None
            Result of `evidence`, to show it with each edge. By default it is computed for the
            edges of the best optimum, limited to a few seconds of work, and left out if there are
            too many variables; True computes it for all edges, False leaves it out.
        effects : Effects or sequence of them
            Result of `effects`, to show with its variables.
        certificate : Certificate or None
            Result of `kes.certify`, to bound the distance of the best score from the optimum.
        title : str or None
            Heading of the page.
        file : path or None
            The result file, for the commands shown on the page.
        """
        from kes.show.report import write

        write(self, path, options)

    @checked_options(REPORT_DEFAULTS)
    def show(self: Optima, *, height: int = 720, **options: Unpack[ReportOptions]) -> Inline:
        """Return the report for display in a notebook, in a frame of its own.

        Options are those of `report`, and `height`, the height of the frame in pixels.
        """
        from kes.show.notebook import Inline
        from kes.show.report import report_text

        return Inline(report_text(self, options), integer("height", height, minimum=100))

    def _repr_html_(self: Optima) -> str:
        from kes.show.notebook import optima_html

        return optima_html(self)
