"""Methods of `Optima` and `Optimum` that analyse, draw and report.

Analyses, certificates and pictures are made from results and lie above them. The methods here and
in the other modules of this package called ``methods`` are the only code that imports upwards,
when they are called.
"""

# The classes that have these methods are those of this package.
# mypy: disable-error-code="misc"

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from kes.data.dataset import Data, Weights
from kes.declare import checked_options
from kes.errors import KesError
from kes.network.fitting import Fitted, fit_as
from kes.options import FIT_DEFAULTS, FitOptions, Prior, RunOptions
from kes.results.picture_methods import PictureMethods
from kes.results.structure_methods import StructureMethods
from kes.results.support_methods import SupportMethods
from kes.search.driver import threads
from kes.search.problem import Problem
from kes.validation import callback, integer

if TYPE_CHECKING:
    from kes.analysis.compare import Comparison, GesStanding
    from kes.analysis.coverage import Coverage
    from kes.analysis.explain import Stop
    from kes.analysis.ground_truth import Truth
    from kes.progress import Progress
    from kes.results.optima import Optima
    from kes.results.optimum import Optimum
    from kes.table import Table


class Methods(SupportMethods, StructureMethods, PictureMethods):
    """All methods of `Optima` that import upwards; those here compare, explain and validate."""

    # --- comparisons ---

    def coverage(self: Optima) -> Coverage:
        """Estimate how much of the landscape the runs have seen."""
        from kes.analysis.coverage import Coverage

        return Coverage(self)

    @checked_options()
    def compare(
        self: Optima,
        other: Optima | Optimum | Truth,
        *,
        data: Data | None = None,
        other_data: Data | None = None,
        permutations: int = 0,
        n_jobs: int | None = None,
        progress: bool | Callable[[Progress], object] | None = None,
    ) -> Comparison:
        """Compare the best optimum with another model, edge by edge.

        Parameters
        ----------
        other
            Another result, represented by its best optimum; an optimum; or a graph, a network,
            the arcs of a DAG, or the path of a file with one.
        data, other_data
            The data of this result and of the other one; needed only after loading or unpickling,
            and only for the evidence.
        permutations : int
            Divide all cases at random into two groups of these sizes that many times, and give
            each differing edge a p-value. Needs two results with the same settings, of tables
            without weights and missing values.
        n_jobs, progress
            As in `kes.learn`.

        Returns
        -------
        Comparison
            Includes the difference of the scores on the data of this result where it is known: if
            `other` is a result with the same data and criterion, if its graph is one of these
            optima, or if this result still has its data (not after loading). For two results of
            different data, such as two groups of cases, it includes how sure each differing edge
            is in both.
        """
        from kes.analysis.compare import compare_optima
        from kes.results.optima import Optima

        here = self
        if data is not None:
            here = Optima(self.record, problem=self.ready(data, None, None))
        if other_data is not None:
            if not isinstance(other, Optima):
                raise KesError("other_data is for another result", option="other_data")
            other = Optima(other.record, problem=other.ready(other_data, None, None))
        return compare_optima(
            here,
            other,
            permutations=integer("permutations", permutations, minimum=0),
            threads=threads(n_jobs),
            progress=callback("progress", progress),
        )

    def distances(self: Optima) -> NDArray[np.int64]:
        """Return the structural Hamming distances between all optima, as a square matrix.

        With knowledge, distances are between the MPDAGs: see `Optimum.mpdag`.
        """
        from kes.analysis.compare import shd_matrix

        return shd_matrix([optimum.mpdag for optimum in self])

    def ges_standing(self: Optima) -> GesStanding:
        """Compare greedy equivalence search with the runs."""
        from kes.analysis.compare import ges_standing

        return ges_standing(self)

    def truth(self: Optima, truth: Truth) -> Table:
        """Compare every optimum with the true graph.

        Parameters
        ----------
        truth
            The true graph, a network, the arcs of a DAG, or the path of a file with one.

        Returns
        -------
        Table
            A row for each optimum, best first: `score` and `hits`, the structural Hamming
            distance `shd`, the number of `extra`, `missing` and `misdirected` adjacencies, and
            `precision`, `recall` and `f1` of the adjacencies. With knowledge, both graphs are
            compared under it, unless the true graph violates it; the table's note says so.
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
        """Explain why a search stops at an optimum, and what each edge contributes.

        Parameters
        ----------
        optimum : int
            Index of the optimum.
        data, weights, missing
            As in `Optima.trace`; needed only after loading or unpickling.
        """
        from kes.analysis.explain import explain_stop

        number = integer("optimum", optimum, minimum=0)
        if number >= len(self):
            raise KesError(
                f"there is no optimum {number}: the optima are 0 to {len(self) - 1}",
                option="optimum",
            )
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
        """Compare the best optima by their likelihood on held-out data.

        Parameters
        ----------
        test
            Cases that were not used by the search, with the same columns.
        data
            The data of the search, from which the networks are estimated; needed only after
            loading or unpickling (with weights, as a `kes.Dataset`).
        prior, ess
            As in `kes.fit`.
        top : int
            Number of optima to compare.
        weights, missing
            Weights of `test`, and how to treat its missing values; by default as in the search.
            The data of the search are always read as they were then.

        Returns
        -------
        Table
            A row for each optimum: its `score` and `hits`, the `log_likelihood` of the test data,
            the same `per_case`, the `difference` per case from the first optimum with its
            `standard_error`, and the number of `impossible` cases, which have probability zero. A
            difference of less than two standard errors is not significant.
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


class OptimumMethods:
    """Methods of `Optimum` that fit, compare and explain."""

    def _repr_html_(self: Optimum) -> str:
        from kes.show.notebook import optimum_html

        return optimum_html(self)

    @checked_options(FitOptions, fill=False)
    def fit(self: Optimum, data: Data | None = None, **options: Unpack[FitOptions]) -> Fitted:
        """Estimate a network with this structure; see `kes.fit`, which has the same options.

        By default, raw data are read, cut, transformed and completed as in the search, and columns
        that it did not use are ignored. Missing values of the data of the search are not imputed
        again if the result keeps them. If the search used knowledge, the arcs satisfy it.
        """
        if data is None:
            raise KesError(
                "an optimum does not contain the data: pass the data it was learned from, as in "
                "fit(data)",
                option="data",
            )
        if options.keys() <= {"prior", "ess", "prefer"}:
            data = self.completed(data)
        same, reading = self.as_read(data)
        return fit_as(self.mpdag, data, {**FIT_DEFAULTS, **same, **options}, reading)

    def to_dowhy(self: Optimum, x: str, y: str) -> list[dict[str, Any]]:
        """Return the arguments of `dowhy.CausalModel`, except the data, for the effect of x on y.

        Needs networkx.

        Parameters
        ----------
        x, y : str
            Treatment and outcome.

        Returns
        -------
        list of dict
            For each parent set that `x` can have in this class, in the order of
            `Optima.effects`, keyword arguments with such a network (``graph``, a
            `networkx.DiGraph`): ``dowhy.CausalModel(data=frame, **arguments)``.
        """
        from kes.analysis.effects import to_dowhy

        return to_dowhy(self, x, y)

    def compare(self: Optimum, other: Optimum | Truth) -> Comparison:
        """Compare with another model, edge by edge.

        Parameters
        ----------
        other
            An optimum, or a graph, a network, the arcs of a DAG, or the path of a file with one.

        Returns
        -------
        Comparison
            Includes the difference of the scores if `other` is an optimum that was learned from the
            same data by the same criterion.
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
        """Explain why a search stops here, and what each edge contributes.

        Parameters
        ----------
        data, criterion, ess, max_parents, weights, missing
            As given to `kes.learn`; `Optima.explain` does the same without repeating them.
        """
        from kes.analysis.explain import explain_stop

        options: RunOptions = {"criterion": criterion, "ess": ess, "max_parents": max_parents}
        options |= {"knowledge": self.knowledge, "weights": weights, "missing": missing}
        same, _ = self.as_read(data)
        options |= {"kinds": same.get("kinds"), "discretize": same["discretize"]}
        options |= {"transform": self.transform, "basis": self.basis}
        options |= {"edge_prior": self.edge_prior, "dates": self.reading.dates}
        options |= {"completions": self.reading.completions}
        options |= {"interventions": self.reading.interventions}
        problem = Problem.of(data, options | {"k": 1.0})
        return explain_stop(self, problem.over(self.names))
