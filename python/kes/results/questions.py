"""What can be asked of a result: the face of what is computed elsewhere.

Analyses, certificates and pictures are made of results, so they are above them. These methods are
the one place that reaches upwards, and only when they are called.
"""

# The classes that have these methods are those of this package.
# mypy: disable-error-code="misc"

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from kes.data.dataset import Data, Weights
from kes.errors import KesError, checked_options
from kes.network.fitting import FIT_DEFAULTS, FitOptions, Fitted, Prior, fit_as
from kes.options import SearchOptions
from kes.results.parts import PartQuestions
from kes.results.reporting import REPORT_DEFAULTS, ReportOptions
from kes.search.problem import Problem
from kes.validation import integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kes.analysis.compare import Comparison, GesStanding
    from kes.analysis.coverage import Coverage
    from kes.analysis.effects import Effects
    from kes.analysis.explain import Stop
    from kes.analysis.ground_truth import Truth
    from kes.files import PathLike
    from kes.results.optima import Optima
    from kes.results.optimum import Optimum
    from kes.show.notebook import Inline
    from kes.table import Table


class Questions(PartQuestions):
    """What can be asked of all optima together."""

    # --- how they compare ---

    def coverage(self: Optima) -> Coverage:
        """Estimate how much of the landscape the runs have seen."""
        from kes.analysis.coverage import Coverage

        return Coverage(self)

    def compare(self: Optima, other: Optima | Optimum | Truth) -> Comparison:
        """Say in which edges another model differs from the best optimum of all.

        Parameters
        ----------
        other
            Another result, of which the best optimum is taken; an optimum; or a graph, a network,
            the arcs of a DAG, or the path of a file of one.

        Returns
        -------
        Comparison
            With the difference of the scores, on the data of this result, where it is known:
            `other` is a result with the same data and criterion, or its graph is one of these
            optima, or the data are at hand (they are not after loading).
        """
        from kes.analysis.compare import compare_optima

        return compare_optima(self, other)

    def distances(self: Optima) -> NDArray[np.int64]:
        """Return the structural Hamming distance between each two optima, as a square matrix.

        With knowledge, between what they are under it: `Optimum.mpdag`.
        """
        from kes.analysis.compare import shd_matrix

        return shd_matrix([optimum.mpdag for optimum in self])

    def ges_standing(self: Optima) -> GesStanding:
        """Say where greedy equivalence search stands among the runs."""
        from kes.analysis.compare import ges_standing

        return ges_standing(self)

    def truth(self: Optima, truth: Truth) -> Table:
        """Compare every optimum with the true graph.

        Parameters
        ----------
        truth
            The true graph, a network, the arcs of a DAG, or the path of a file of one.

        Returns
        -------
        Table
            A row for each optimum, best first: `score` and `hits`, the structural Hamming
            distance `shd`, adjacencies that are `extra`, `missing` or `misdirected`, and
            `precision`, `recall` and `f1` of the adjacencies. With knowledge, both are compared as
            they are under it, unless the truth does not obey it; the table's note says so.
        """
        from kes.analysis.compare import truth_table

        return truth_table(self, truth)

    @checked_options()
    def explain(
        self: Optima,
        optimum: int = 0,
        data: Data | None = None,
        *,
        weights: Weights = None,
        missing: str | None = None,
    ) -> Stop:
        """Say why a search stops at an optimum, and what each edge is worth.

        Parameters
        ----------
        optimum : int
            Which of the optima.
        data, weights, missing
            As in `Optima.trace`; needed only after loading or unpickling.
        """
        from kes.analysis.explain import explain_stop

        number = integer("optimum", optimum, minimum=0)
        if number >= len(self):
            raise KesError(f"there is no optimum {number}: the optima are 0 to {len(self) - 1}")
        return explain_stop(self[number], self.ready(data, weights, missing))

    @checked_options()
    def validate(
        self: Optima,
        test: Data,
        data: Data | None = None,
        *,
        prior: Prior = "bdeu",
        ess: float = 1.0,
        top: int = 10,
        weights: Weights = None,
        missing: str | None = None,
    ) -> Table:
        """Compare the best optima by how probable they hold cases they have not seen.

        Parameters
        ----------
        test
            Cases that had no part in the search, with the same columns.
        data
            The data of the search, on which the tables are estimated; needed only after loading
            or unpickling (with weights, as a `kes.Dataset`).
        prior, ess
            How to estimate the tables; see `kes.fit`.
        top : int
            How many of the optima.
        weights, missing
            Weights of `test`, and what to do with values that are missing there; by default what
            was done for the search. The data of the search are always read as they were then.

        Returns
        -------
        Table
            A row for each optimum: its `score` and `hits`, the `log_likelihood` of the test data,
            the same `per_case`, the `difference` per case to the first optimum with its
            `standard_error`, and the number of `impossible` cases. A difference of less than two
            standard errors says nothing.
        """
        from kes.analysis.held_out import validate

        return validate(
            self,
            self.ready(data, None, None).dataset,
            test,
            prior=prior,
            ess=ess,
            top=top,
            weights=weights,
            missing=missing or self.record.reading.missing,
        )

    # --- pictures ---

    def plot(self: Optima, ax: Axes | None = None) -> Axes:
        """Draw the scores of all runs, best first, with a line where GES stands.

        Needs the extra ``plot``, as all pictures do, and draws into `ax` or into a new figure.
        """
        from kes.show.plot.scores import plot_scores

        return plot_scores(self, ax)

    def plot_coverage(self: Optima, ax: Sequence[Axes] | None = None) -> tuple[Axes, Axes]:
        """Draw how many models, and which best score, a growing number of runs has found.

        There are two pictures, in the pair `ax` or in a new figure: the accumulation of models and
        score levels, and the best score so far; see `Coverage`.
        """
        from kes.show.plot.coverage import plot_coverage

        return plot_coverage(self, ax)

    def plot_landscape(self: Optima, ax: Axes | None = None) -> Axes:
        """Draw a map of the optima: similar models close together.

        The distances in the plane are, as far as a plane allows, the structural Hamming distances
        between the models (classical multidimensional scaling). The larger a dot, the more runs
        ended there; the brighter, the higher its score. At most the 1000 best optima are shown.
        """
        from kes.show.plot.landscape import plot_landscape

        return plot_landscape(self, ax)

    @checked_options()
    def plot_effects(self: Optima, effects: Effects, ax: Axes | None = None) -> Axes:
        """Draw what `effects` returned: a dot for each effect, at the height of its optimum.

        The line through the dots of an optimum is the range within its class; thin lines are those
        of resampling.
        """
        from kes.show.plot.effects import plot_effects

        return plot_effects(effects, ax)

    @checked_options(REPORT_DEFAULTS)
    def report(self: Optima, path: PathLike, **options: Unpack[ReportOptions]) -> None:
        """Write all of it into one HTML file that opens in any browser, without a network.

        In this order: what the data are; the best network, or any other; what is sure about it
        and what is not; answers about a variable, given what is known of others; the optima, the
        runs and what they have seen; and what is needed to repeat the search. Needs the extra
        ``report``.

        Parameters
        ----------
        path
            The file to write; an existing one is replaced.
        data, weights, missing
            As in `Optima.trace`, to show the variables and the probabilities of the best optima,
            and to answer questions. Cases themselves do not go into the page.
        stability : Stability or None
            What `kes.stability` found, to show its support as well.
        evidence : Table, bool or None
            What `evidence` found, to show it with each edge. By default it is found for the edges
            of the best optimum, by as much work as takes a few seconds, unless there are too many
            variables for that; True finds it for all edges, however long that takes, and False
            leaves it out.
        effects : Effects or sequence of them
            What `effects` found, to show it with the variables that are acted on.
        certificate : Certificate or None
            What `kes.certify` found, to say how far the best score is from the highest there is.
        title : str or None
            Heading of the page.
        file : path or None
            The file that holds the result, for the commands that the page gives.
        """
        from kes.show.report import write

        write(self, path, options)

    @checked_options(REPORT_DEFAULTS)
    def show(self: Optima, *, height: int = 720, **options: Unpack[ReportOptions]) -> Inline:
        """Return the report as notebooks show it: inside their page, in a frame of its own.

        Options are those of `report`, and `height`, that of the frame in pixels.
        """
        from kes.show.notebook import Inline
        from kes.show.report import report_text

        return Inline(report_text(self, options), integer("height", height, minimum=100))

    def _repr_html_(self: Optima) -> str:
        from kes.show.notebook import optima_html

        return optima_html(self)


class OptimumQuestions:
    """What can be asked of a single optimum."""

    def _repr_html_(self: Optimum) -> str:
        from kes.show.notebook import optimum_html

        return optimum_html(self)

    @checked_options(FIT_DEFAULTS)
    def fit(self: Optimum, data: Data, **options: Unpack[FitOptions]) -> Fitted:
        """Estimate a network with this structure; see `kes.fit`, which has the same options.

        What is not said otherwise is done as it was for the search: raw data are read, cut,
        transformed and completed in the same way, and columns that it did not use are passed over.
        If the search was told knowledge, the arcs obey it.
        """
        same, reading = self.as_read(data)
        return fit_as(self.mpdag, data, {**FIT_DEFAULTS, **same, **options}, reading)

    def to_dowhy(self: Optimum, x: str, y: str) -> list[dict[str, Any]]:
        """Return what `dowhy.CausalModel` needs besides the data, for the effect of x on y.

        Needs networkx.

        Parameters
        ----------
        x, y : str
            Treatment and outcome.

        Returns
        -------
        list of dict
            For each set of parents that `x` can have in this class, in the order of
            `Optima.effects`, keyword arguments with a network (``graph``, a `networkx.DiGraph`)
            in which it has them: ``dowhy.CausalModel(data=frame, **arguments)``.
        """
        from kes.analysis.effects import to_dowhy

        return to_dowhy(self, x, y)

    def compare(self: Optimum, other: Optimum | Truth) -> Comparison:
        """Say in which edges another model differs.

        Parameters
        ----------
        other
            An optimum, or a graph, a network, the arcs of a DAG, or the path of a file of one.

        Returns
        -------
        Comparison
            With the difference of the scores if `other` is an optimum, which means something only
            if both were learned from the same data by the same criterion.
        """
        from kes.analysis.compare import compare_optimum

        return compare_optimum(self, other)

    @checked_options()
    def explain(
        self: Optimum,
        data: Data,
        *,
        criterion: str = "bic",
        ess: float = 1.0,
        max_parents: int | None = None,
        weights: Weights = None,
        missing: str = "error",
    ) -> Stop:
        """Say why a search stops here, and what each edge is worth.

        Parameters
        ----------
        data, criterion, ess, max_parents, weights, missing
            As given to `kes.learn`; `Optima.explain` does the same without repeating them.
        """
        from kes.analysis.explain import explain_stop

        options: SearchOptions = {"criterion": criterion, "ess": ess, "max_parents": max_parents}
        options |= {"knowledge": self.knowledge, "weights": weights, "missing": missing}
        same, _ = self.as_read(data)
        options |= {"kinds": same.get("kinds"), "discretize": same["discretize"]}
        options |= {"transform": self.transform}
        problem = Problem.of(data, 1.0, options)
        return explain_stop(self, problem.over(self.names))
