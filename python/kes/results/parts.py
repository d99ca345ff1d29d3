"""What can be asked of parts of the models: how sure edges are, and what effects follow.

As `kes.results.questions`, the face of what is computed elsewhere.
"""

# The class that has these methods is that of this package.
# mypy: disable-error-code="misc"

from __future__ import annotations

from typing import TYPE_CHECKING

from kes.data.column import State
from kes.data.dataset import Data, Weights
from kes.errors import checked_options
from kes.progress import Show
from kes.search.execution import threads
from kes.validation import duration, integer, number

if TYPE_CHECKING:
    from kes.analysis.effects import Effects
    from kes.analysis.stability import Stability
    from kes.analysis.support import ConsensusGraph
    from kes.results.optima import Optima
    from kes.table import Table


class PartQuestions:
    """What can be asked of edges and other parts of all optima together."""

    # --- what they have in common ---

    def edges(
        self: Optima, stability: Stability | None = None, evidence: Table | None = None
    ) -> Table:
        """Return how well each edge is supported, by three measures that mean different things.

        Parameters
        ----------
        stability : Stability or None
            What `kes.stability` found for the same variables, to show its support as well.
        evidence : Table or None
            What `evidence` found, to show it as well.

        Returns
        -------
        Table
            A row for each pair `x`, `y` that some model joins, best supported first:

            - ``search_support``: share of the runs that ended in a model with this edge. It
              describes the search, not the data.
            - ``relative_weight``: share of all optima with this edge, each counting exp(score),
              whatever found it. It is not a posterior, as models that were not found do not
              count; with many cases the best optimum usually has all of the weight.
            - ``resampling_support``: share of the resampled tables whose best optimum has it.

            and the same for each direction as a compelled one: ``search_x_to_y``,
            ``search_y_to_x``, ``weight_x_to_y`` and so on. In the rest of the edge's support its
            direction is open. With knowledge, a direction counts that all networks of the class
            have which obey it, and ``search_by_knowledge`` and so on say how much of that is due
            to the knowledge, not to the class alone.
        """
        from kes.analysis.support import edge_table, ensembles

        return edge_table(self.names, ensembles(self, stability), evidence)

    def v_structures(self: Optima, stability: Stability | None = None) -> Table:
        """Return how well each v-structure ``x -> collider <- y`` is supported; see `edges`."""
        from kes.analysis.support import ensembles, v_structure_table

        return v_structure_table(self.names, ensembles(self, stability))

    def markov_blankets(
        self: Optima, node: str | None = None, stability: Stability | None = None
    ) -> Table:
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

    @checked_options()
    def consensus(
        self: Optima,
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

    # --- what follows from all of them ---

    @checked_options()
    def evidence(
        self: Optima,
        of: str = "edges",
        *,
        tasks: int | None = None,
        budget: float | str | None = None,
        n_jobs: int | None = None,
        progress: bool | Show | None = None,
        data: Data | None = None,
        weights: Weights = None,
        missing: str | None = None,
    ) -> Table:
        """Return how sure each edge is, in nats: the best model with it against that without it.

        The models are those at hand and, for each side, the best that a search of that side finds:
        from the best optimum, changed as little as needed, it climbs, and improves on where that
        ends. Small tables are searched exhaustively instead.

        Parameters
        ----------
        of : {"edges", "v_structures", "ancestors"}
            What to ask for: edges and their directions, v-structures, or whether one variable is
            an ancestor of the other. No search can be made for the latter: it rests on the models
            that those for edges find.
        tasks : int or None
            How much to improve on each side, 30 tasks by default. With 0 it only climbs.
        budget : float, str or None
            Stop after this time, between two edges; the others rest on the models found until
            then.
        n_jobs : int or None
            Threads; None or -1 for all usable cores. Does not change the result.
        progress : bool, callable or None
            As in `kes.learn`, counting questions.
        data, weights, missing
            As in `Optima.trace`; needed only after loading or unpickling.

        Returns
        -------
        Table
            A row for each edge that some model has, the surest first, between `x` and `y`:

            - ``evidence``: by how much ``best_with``, the score of the best model with the edge,
              exceeds ``best_without``; negative if the best model of all lacks it. None where
              there was no time to find out.
            - ``direction``: by how much the best model with x -> y exceeds that with y -> x; 0 if
              the data cannot tell. None where what is known rules one of them out.
            - ``how``: "exact" if both models are the best of all such, "estimate" if they are the
              best that were found, "not searched" if there was no time to look for better ones.

        Notes
        -----
        An edge on which all runs agree may be worth little, and one that few of them have may be
        worth much: search support says how the search went, evidence what the criterion says.
        With BIC and many cases, e to the power of the evidence is very roughly the posterior odds
        of the best model with against the best without; it is no posterior of the edge.
        """
        from kes.analysis.evidence.evidence import TASKS, evidence

        return evidence(
            self,
            self.ready(data, weights, missing),
            of,
            tasks=TASKS if tasks is None else integer("tasks", tasks, minimum=0),
            seconds=None if budget is None else duration("budget", budget),
            threads=threads(n_jobs),
            progress=progress,
        )

    @checked_options()
    def effects(
        self: Optima,
        x: str,
        y: str,
        *,
        states: tuple[State, State] | None = None,
        outcome: State | None = None,
        within: float = 10.0,
        resamples: int = 0,
        data: Data | None = None,
        weights: Weights = None,
        missing: str | None = None,
    ) -> Effects:
        """Return the effects of one variable on another that good optima allow for.

        What the table says is true only if what its `note` says is: above all, that no common
        cause is left out. No data show that.

        Parameters
        ----------
        x, y : str
            The cause, which is set from outside, and what it may have an effect on.
        states : pair or None
            The two states of `x` to compare, first the one that is left; by default its first and
            its last. A continuous cause has none: its effect is that of a unit more.
        outcome : state or None
            The state of `y` whose probability changes, by default its last. Of a continuous one
            the mean changes.
        within : float
            Look at optima that are at most so many nats below the best.
        resamples : int
            If not 0, estimate the same effects on so many tables drawn with replacement. With
            ``missing="em"``, the gaps of each are filled anew.
        data, weights, missing
            As in `Optima.trace`; needed only after loading or unpickling.

        Returns
        -------
        Effects
            A table with a row for each `optimum` and each set of `parents` that `x` can have in
            it; how many nats the optimum is `below` the best; whether a directed path `reaches`
            from x to y; and the `effect`, which is 0 if none does. With resamples, between `low`
            and `high` are 95 % of them. On discrete tables also the share of cases `unseen`,
            among whose parents one of the two states of `x` never occurs, so that the answer is a
            guess there, and the distribution of `y` when `x` is set to each state:
            ``P(b|do(a))``. ``.summary()`` has the ranges.

        Notes
        -----
        Estimates are those of adjustment for the parents of the cause: see
        `kes.analysis.adjustment`. The parents are the locally valid sets of each class, as in IDA
        [Maathuis 2009]. Hits of runs play no part.
        """
        from kes.analysis.effects import effects

        return effects(
            self,
            self.ready(data, weights, missing),
            x,
            y,
            states=states,
            outcome=outcome,
            within=number("within", within, minimum=0.0),
            resamples=integer("resamples", resamples, minimum=0),
        )
