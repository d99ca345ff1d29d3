"""A model in which runs of a search ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from kes.data.dataset import Data, Weights
from kes.graph import EssentialGraph
from kes.search.record import Edges

if TYPE_CHECKING:
    from kes.analysis.compare import Comparison
    from kes.analysis.explain import Stop
    from kes.analysis.truth import Truth
    from kes.network import BayesianNetwork
    from kes.network.fitting import Arcs, Prior


@dataclass(frozen=True)
class Optimum:
    """A model in which runs ended.

    Attributes
    ----------
    score : float
        The criterion, in natural logarithms; higher is better.
    hits : int
        Number of runs that ended here.
    first_run : int or None
        The first of them; None if there is none, which only `Optima.ges` can show.
    is_local_optimum : bool
        Whether no admissible neighbour scores higher, checked from scratch. A search in two
        phases or with a sampled neighbourhood may stop elsewhere.
    """

    score: float
    hits: int
    first_run: int | None
    is_local_optimum: bool
    _names: tuple[str, ...] = field(repr=False)
    _edges: tuple[Edges, Edges] = field(repr=False)

    @cached_property
    def graph(self) -> EssentialGraph:
        """The model as an essential graph."""
        return EssentialGraph.from_core(self._names, self._edges)

    def fit(
        self,
        data: Data,
        *,
        prior: Prior = None,
        ess: float = 1.0,
        prefer: Arcs = (),
        weights: Weights = None,
        missing: str = "error",
    ) -> BayesianNetwork:
        """Estimate a Bayesian network with this structure; see `kes.fit`."""
        from kes.network import fit

        return fit(
            self.graph,
            data,
            prior=prior,
            ess=ess,
            prefer=prefer,
            weights=weights,
            missing=missing,
        )

    def compare(self, other: Optimum | Truth) -> Comparison:
        """Say in which edges another model differs.

        Parameters
        ----------
        other
            An optimum, or a graph, a network, the arcs of a DAG, or the path of a file of one.

        Returns
        -------
        Comparison
            With the difference of the scores if `other` is an optimum. It means something only if
            both were learned from the same data by the same criterion.
        """
        from kes.analysis.compare import compare_optimum

        return compare_optimum(self, other)

    def explain(
        self,
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
            As given to `kes.learn`.

        Raises
        ------
        KesError
            If this optimum has another score on these data by this criterion.

        See Also
        --------
        Optima.explain : the same without repeating data and settings.
        """
        from kes.analysis.explain import explain_stop
        from kes.data.encoding import encode

        table = encode(data, weights=weights, missing=missing)
        return explain_stop(self, table, criterion=criterion, ess=ess, max_parents=max_parents)
