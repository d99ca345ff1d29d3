"""Methods of `Optima` about support: the parts that its models share."""

# The class that has these methods is that of this package.
# mypy: disable-error-code="misc"

from __future__ import annotations

from typing import TYPE_CHECKING

from kes.declare import checked_options

if TYPE_CHECKING:
    from kes.analysis.stability import Stability
    from kes.analysis.support import ConsensusGraph
    from kes.results.optima import Optima
    from kes.table import Table


class SupportMethods:
    """Methods of `Optima` about support: edges, v-structures, Markov blankets, consensus."""

    def edges(
        self: Optima, stability: Stability | None = None, evidence: Table | None = None
    ) -> Table:
        """Return the support of each edge, by three measures with different meanings.

        Parameters
        ----------
        stability : Stability or None
            Result of `kes.stability` for the same variables, to add resampling support.
        evidence : Table or None
            Result of `evidence`, to add its columns.

        Returns
        -------
        Table
            A row for each pair `x`, `y` that some model connects, best supported first:

            - ``search_support``: share of the runs that ended in a model with this edge. It
              describes the search, not the data.
            - ``relative_weight``: share of all optima with this edge, each weighted by exp(score),
              whatever found it. It is not a posterior, as models that were not found do not
              count; with many cases the best optimum usually has all of the weight.
            - ``resampling_support``: share of the resampled tables whose best optimum has it.

            The same for each direction as a compelled one: ``search_x_to_y``, ``search_y_to_x``,
            ``weight_x_to_y`` and so on. In the rest of the edge's support its direction is
            reversible. With knowledge, a direction counts if all networks of the class that satisfy
            the knowledge have it; ``search_by_knowledge`` and so on are the share of it that is due
            to the knowledge, not to the class alone.

            If there are pairs that no model connects, because one variable determines the other or
            their states are too many for the cases, they have rows, too, and ``excluded`` says why.
        """
        from kes.analysis.support import edge_table, ensembles

        return edge_table(self.names, ensembles(self, stability), evidence, self.excluded)

    def v_structures(self: Optima, stability: Stability | None = None) -> Table:
        """Return the support of each v-structure ``x -> collider <- y``; see `edges`."""
        from kes.analysis.support import ensembles, v_structure_table

        return v_structure_table(self.names, ensembles(self, stability))

    def markov_blankets(
        self: Optima, node: str | None = None, stability: Stability | None = None
    ) -> Table:
        """Return the support of each `member` of the Markov blanket of a `node`.

        Parameters
        ----------
        node : str or None
            A variable, or None for all of them.
        stability : Stability or None
            As in `edges`, which explains the columns.
        """
        from kes.analysis.support import blanket_table, ensembles

        return blanket_table(self.names, ensembles(self, stability), node)

    @checked_options()
    def consensus(
        self: Optima,
        threshold: float | None = None,
        support: str = "search",
        stability: Stability | None = None,
        evidence: Table | None = None,
    ) -> ConsensusGraph:
        """Return the graph of all well supported edges.

        Parameters
        ----------
        threshold : float or None
            Least support of an edge, 0.5 by default. It gets a direction if that has at least this
            support as a compelled one, and more than the opposite direction. With evidence, the
            least evidence in nats, 3 by default; the direction has to be clear.
        support : {"search", "weight", "resampling"}
            Which support to use: see `edges`.
        stability : Stability or None
            Needed for resampling support.
        evidence : Table or None
            Result of `evidence`, to use instead of a support. It describes the data; search support
            describes the search.

        Returns
        -------
        ConsensusGraph
            In general not an essential graph.
        """
        from kes.analysis.support import chosen, consensus, ensembles, evidence_consensus

        if evidence is not None:
            return evidence_consensus(self.names, evidence, threshold)
        return consensus(self.names, chosen(ensembles(self, stability), support), threshold)

    def contexts(self: Optima) -> Table:
        """Return which variables the exogenous ones touch: contexts, interventions, earlier values.

        Returns
        -------
        Table
            A row for each arc from an exogenous variable that the best network or most runs have:

            - ``context``, ``touches``: the exogenous and the modelled variable;
            - ``in_best``: whether the best network has the arc;
            - ``runs``: the share of the runs whose optimum has it;
            - ``targets``: "known" if the context may touch its targets only, else "any".

            Its note names the directions between modelled variables that follow from exogenous
            ones; ``optima.best.mpdag.by_exogenous`` is the set of them.

        Raises
        ------
        KesError
            If there are no exogenous variables.
        """
        from kes.analysis.contexts import contexts

        return contexts(self)
