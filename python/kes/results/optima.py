"""The result of a search: the local optima, and all that can be asked of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kes.data.dataset import Data, Weights
from kes.errors import KesError
from kes.results.optimum import Optimum
from kes.results.runs import Runs
from kes.settings import whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kes.analysis.compare import Comparison, GesStanding
    from kes.analysis.coverage import Coverage
    from kes.analysis.explain import Stop
    from kes.analysis.stability import Stability
    from kes.analysis.support import ConsensusGraph
    from kes.analysis.truth import Truth
    from kes.network.fitting import Prior
    from kes.progress import Progress
    from kes.results.improved import Improved
    from kes.results.storage import PathLike
    from kes.table import Table


class Optima(Runs):
    """The local optima that the runs of a search ended in, best first.

    A sequence of `Optimum`, ordered by score level and then by the first run that found each.
    Made by `kes.learn` and `kes.load`.

    Examples
    --------
    >>> import kes
    >>> optima = kes.learn(kes.datasets.alarm(rows=500), runs=5, random_state=1)
    >>> optima.best.hits + sum(other.hits for other in optima[1:])
    5
    >>> bool(optima.best.score == max(optima.run_scores))
    True
    """

    def improve(
        self,
        budget: float | str | None = None,
        *,
        tasks: int | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        progress: bool | Callable[[Progress], object] | None = None,
        data: Data | None = None,
        weights: Weights = None,
        missing: str = "error",
    ) -> Improved:
        """Look for higher scores than those of the runs, by recombining and refining the optima.

        This result stays as it is: what the runs say of the landscape is not touched. The search
        uses the criterion and `max_parents` of the runs, and always the exact neighbourhood.

        Parameters
        ----------
        budget : float, str or None
            Stop after this time: seconds, or a text such as "10s" or "5m".
        tasks : int or None
            Stop after so many tasks. A task recombines two models, refines one or perturbs one,
            and climbs from there. By default, unless there is a budget, ten for each run but no
            more than 1000.
        random_state : int or None
            Seed. The result depends on these optima, the seed and the number of tasks only; None
            draws a seed.
        n_jobs : int or None
            Threads; None or -1 for all usable cores. Does not change the result.
        progress : None, True or callable
            True shows a bar. A callable gets a `kes.Progress` at most ten times a second.
        data, weights, missing
            As given to `kes.learn`; needed only after loading or unpickling.

        Returns
        -------
        Improved
            Its best model scores at least as high as the best run and GES. Stopped by `budget`
            after p tasks, it is the same as with ``tasks=p``.

        Raises
        ------
        KesError
            If data are needed, or are not those that this result was made from.
        ImprovementInterrupted
            On Ctrl-C, with what was found as ``.improved``.

        Examples
        --------
        >>> import kes
        >>> optima = kes.learn(kes.datasets.alarm(rows=500), k=0.4, runs=20)
        >>> optima.improve("2s").best.score >= optima.best.score
        True
        """
        from kes.learning import Execution
        from kes.search.improve import Effort, improve

        effort = Effort.checked(budget, tasks, random_state, runs=len(self._record.runs))
        how = Execution.checked(n_jobs, None, None, progress, None)
        study = self._ready(data, weights, missing)
        return improve(self, study, effort, threads=how.threads, progress=how.progress)

    @cached_property
    def improved(self) -> Improved | None:
        """What `improve` found, if this result was read from a file that keeps it."""
        if self._record.improvement is None:
            return None
        from kes.results.improved import Improved

        pure = Optima(replace(self._record, improvement=None), study=self._study)
        return Improved(pure, self._record.improvement)

    # --- what they have in common ---

    def edges(self, stability: Stability | None = None) -> Table:
        """Return how well each edge is supported, by three measures that mean different things.

        Parameters
        ----------
        stability : Stability or None
            What `kes.stability` found for the same variables, to show its support as well.

        Returns
        -------
        Table
            A row for each pair `x`, `y` that some model joins, best supported first:

            - ``search_support``: share of the runs that ended in a model with this edge. It
              describes the search, not the data.
            - ``relative_weight``: share of the distinct optima with this edge, each counting
              exp(score). It is not a posterior, as models that were not found do not count; with
              many cases the best optimum usually has all of the weight.
            - ``resampling_support``: share of the resampled tables whose best optimum has it.

            and the same for each direction as a compelled one: ``search_x_to_y``,
            ``search_y_to_x``, ``weight_x_to_y`` and so on. In the rest of the edge's support its
            direction is open.
        """
        from kes.analysis.support import edge_table, ensembles

        return edge_table(self.names, ensembles(self, stability))

    def v_structures(self, stability: Stability | None = None) -> Table:
        """Return how well each v-structure ``x -> collider <- y`` is supported; see `edges`."""
        from kes.analysis.support import ensembles, v_structure_table

        return v_structure_table(self.names, ensembles(self, stability))

    def markov_blankets(self, node: str | None = None, stability: Stability | None = None) -> Table:
        """Return how well each `member` of the Markov blanket of a `node` is supported.

        Parameters
        ----------
        node : str or None
            One variable, or all of them one after the other.
        stability : Stability or None
            As in `edges`, which explains the columns.
        """
        from kes.analysis.support import blanket_table, ensembles

        return blanket_table(self.names, ensembles(self, stability), node)

    def consensus(
        self,
        threshold: float = 0.5,
        support: str = "search",
        stability: Stability | None = None,
    ) -> ConsensusGraph:
        """Draw the well supported edges together in one graph.

        Parameters
        ----------
        threshold : float
            Least support of an edge. It gets a direction if that has at least this support as a
            compelled one, and more than the opposite direction.
        support : {"search", "weight", "resampling"}
            Which support: see `edges`.
        stability : Stability or None
            Needed for resampling support.

        Returns
        -------
        ConsensusGraph
            Not an essential graph in general.
        """
        from kes.analysis.support import chosen, consensus, ensembles

        return consensus(self.names, chosen(ensembles(self, stability), support), threshold)

    # --- how they compare ---

    def coverage(self) -> Coverage:
        """Estimate how much of the landscape the runs have seen."""
        from kes.analysis.coverage import Coverage

        return Coverage(self)

    def compare(self, other: Optima | Optimum | Truth) -> Comparison:
        """Say in which edges another model differs from the best optimum.

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

    def distances(self) -> NDArray[np.int64]:
        """Return the structural Hamming distance between each two optima, as a square matrix."""
        from kes.analysis.compare import shd_matrix

        return shd_matrix([optimum.graph for optimum in self])

    def ges_standing(self) -> GesStanding:
        """Say where greedy equivalence search stands among the runs."""
        from kes.analysis.compare import ges_standing

        return ges_standing(self)

    def truth(self, truth: Truth) -> Table:
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
            `precision`, `recall` and `f1` of the adjacencies.
        """
        from kes.analysis.compare import truth_table

        return truth_table(self, truth)

    def explain(
        self,
        optimum: int = 0,
        data: Data | None = None,
        *,
        weights: Weights = None,
        missing: str = "error",
    ) -> Stop:
        """Say why a search stops at an optimum, and what each edge is worth.

        Parameters
        ----------
        optimum : int
            Which of the optima, by its place.
        data, weights, missing
            As given to `kes.learn`; needed only after loading or unpickling.
        """
        from kes.analysis.explain import explain_stop

        number = whole("optimum", optimum, least=0)
        if number >= len(self):
            raise KesError(f"there is no optimum {number}: the optima are 0 to {len(self) - 1}")
        settings = self.settings
        return explain_stop(
            self[number],
            self._ready(data, weights, missing).dataset,
            criterion=settings.criterion,
            ess=settings.ess,
            max_parents=settings.max_parents,
        )

    def validate(
        self,
        test: Data,
        data: Data | None = None,
        *,
        prior: Prior = "bdeu",
        ess: float = 1.0,
        top: int = 10,
        weights: Weights = None,
        missing: str = "error",
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
            How to estimate the tables; see `kes.fit`. Maximum likelihood ("ml") may hold cases
            for impossible.
        top : int
            How many of the optima.
        weights, missing
            Weights of `test`, and what to do with missing values.

        Returns
        -------
        Table
            A row for each optimum: its `score` and `hits`, the `log_likelihood` of the test data,
            the same `per_case`, the `difference` per case to the first optimum with its
            `standard_error`, and the number of `impossible` cases. A difference of less than two
            standard errors says nothing.
        """
        from kes.analysis.validation import validate

        return validate(
            self,
            self._ready(data, None, missing).dataset,
            test,
            prior=prior,
            ess=ess,
            top=top,
            weights=weights,
            missing=missing,
        )

    # --- pictures ---

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the scores of all runs, best first, with a line where GES stands.

        Needs the extra ``plot``, as all pictures do.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
        """
        from kes.show.plot.scores import plot_scores

        return plot_scores(self, ax)

    def plot_coverage(self, ax: Sequence[Axes] | None = None) -> tuple[Axes, Axes]:
        """Draw how many models, and which best score, a growing number of runs has found.

        Parameters
        ----------
        ax : pair of matplotlib Axes or None
            Where to draw the two pictures; by default a new figure.

        Returns
        -------
        pair of matplotlib Axes
            The accumulation of models and score levels, and the best score so far; see
            `Coverage`.
        """
        from kes.show.plot.coverage import plot_coverage

        return plot_coverage(self, ax)

    def plot_landscape(self, ax: Axes | None = None) -> Axes:
        """Draw a map of the optima: similar models close together.

        The distances in the plane are, as far as a plane allows, the structural Hamming distances
        between the models (classical multidimensional scaling). The larger a dot, the more runs
        ended there; the brighter, the higher its score. At most the 1000 best optima are shown.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
        """
        from kes.show.plot.landscape import plot_landscape

        return plot_landscape(self, ax)

    def report(
        self,
        path: PathLike,
        *,
        data: Data | None = None,
        weights: Weights = None,
        missing: str = "error",
        stability: Stability | None = None,
        title: str | None = None,
    ) -> None:
        """Write all of it into one HTML file that opens in any browser, without a network.

        It has the map of the optima, the coverage, a table of the optima, their networks with
        supports, Markov blankets and probabilities, the consensus, differences between optima,
        and what is needed to repeat the search. Needs the extra ``report``.

        Parameters
        ----------
        path
            The file to write; an existing one is replaced.
        data, weights, missing
            As given to `kes.learn`, to have the probability tables of the best optima in the
            report; needed only after loading or unpickling.
        stability : Stability or None
            What `kes.stability` found, to show its support as well.
        title : str or None
            Heading of the page.

        Raises
        ------
        KesError
            If the data are not those that this result was made from, or the file cannot be
            written.
        """
        from kes.show.report import write

        write(
            self,
            path,
            data=data,
            weights=weights,
            missing=missing,
            stability=stability,
            title=title,
        )

    # --- display ---

    def __repr__(self) -> str:
        from kes.results.summary import text

        return text(self)

    def _repr_html_(self) -> str:
        from kes.show.notebook import optima_html

        return optima_html(self)


def load(path: PathLike) -> Optima:
    """Read a result that `Optima.save` or ``kes learn --out`` wrote.

    Raises
    ------
    KesError
        If the file cannot be read, is damaged or is not a result file.
    """
    from kes.results.storage import read

    record = read(path).finished()
    if not record.runs:
        raise KesError(
            f"{path} holds no finished run yet; give the same kes learn command again to go on"
        )
    return Optima(record)
