"""Methods of `Optima` about structure: probabilities, evidence, noise and effects.

As `kes.results.methods`, they import the analyses when they are called.
"""

# The class that has these methods is that of this package.
# mypy: disable-error-code="misc"

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from kes.data.column import State
from kes.data.dataset import Data, Weights
from kes.declare import checked_options
from kes.options import (
    POSTERIOR_MEMORY,
    SHUFFLES,
    AverageWork,
    CredibleWork,
    EffectWork,
    PosteriorWork,
)
from kes.progress import Show
from kes.search.driver import Execution, threads
from kes.validation import duration, integer

if TYPE_CHECKING:
    from kes.analysis.credible import Credible
    from kes.analysis.effect_table import Effects
    from kes.analysis.noise import Noise
    from kes.analysis.probabilities import StructurePosterior
    from kes.network.average import AveragedNetwork
    from kes.results.optima import Optima
    from kes.table import Table


class StructureMethods:
    """Methods of `Optima` on the certainty of edges, v-structures and effects."""

    @checked_options(PosteriorWork, memory_mb=POSTERIOR_MEMORY)
    def posterior(
        self: Optima,
        data: Data | None = None,
        *,
        weights: Weights = None,
        missing: str | None = None,
        **work: Unpack[PosteriorWork],
    ) -> StructurePosterior:
        """Return probabilities of edges and directions, by a sum over all networks.

        The criterion, the knowledge and the limit on parents are those of the search. With
        criteria other than bdeu and bge, the numbers are weights exp(score) under their own name.
        Chains start at the optima.

        Parameters
        ----------
        data, weights, missing
            As in `Optima.trace`; needed only after loading or unpickling.
        """
        from kes.analysis.posterior import posterior_of

        return posterior_of(
            self.ready(data, weights, missing),
            optima=[(optimum.graph.to_core(self.names), optimum.score) for optimum in self],
            **work,
        )

    @checked_options(AverageWork)
    def ensemble(
        self: Optima,
        data: Data | None = None,
        *,
        criterion: str | None = None,
        weights: Weights = None,
        missing: str | None = None,
        **work: Unpack[AverageWork],
    ) -> AveragedNetwork:
        """Average many networks, which predicts new cases better than the best optimum.

        The knowledge, the limit on parents, the price of edges, the seed and how the data are read
        are those of the search, and missing values are not imputed again. Members are learned anew:
        see `kes.ensemble`.

        Parameters
        ----------
        data, weights, missing
            As in `Optima.trace`; needed only after loading or unpickling.
        criterion : str or None
            The criterion of all members. By default they take turns.
        """
        from kes.analysis.averaging import average_of, recipe_of

        problem = self.ready(data, weights, missing)
        return average_of(problem, recipe_of(problem, criterion, work), work)

    @checked_options(CredibleWork)
    def credible(
        self: Optima,
        data: Data | None = None,
        *,
        weights: Weights = None,
        missing: str | None = None,
        **work: Unpack[CredibleWork],
    ) -> Credible:
        """Find all models close to the highest score, and count those that the runs found.

        Parameters
        ----------
        data, weights, missing
            As in `Optima.trace`; needed only after loading or unpickling.
        """
        from kes.analysis.credible import credible_of

        return credible_of(self.ready(data, weights, missing), optima=self, **work)

    @checked_options()
    def evidence(
        self: Optima,
        of: str = "edges",
        *,
        tasks: int | None = None,
        budget: float | str | None = None,
        n_jobs: int | None = None,
        progress: bool | Show | None = None,
        posterior: StructurePosterior | bool | None = None,
        data: Data | None = None,
        weights: Weights = None,
        missing: str | None = None,
    ) -> Table:
        """Return the evidence for each edge, in nats: the best model with it against without it.

        Both are the best among the optima and the results of a search constrained to have, or to
        lack, the edge, from the best optimum on. Small tables are searched exhaustively instead.

        Parameters
        ----------
        of : {"edges", "v_structures", "ancestors"}
            What to compute it for: edges and their directions, v-structures, or whether one
            variable is an ancestor of another. Ancestors cannot be constrained: their evidence
            rests on the models found for edges.
        tasks : int or None
            Number of improvement tasks of each constrained search; 0 only climbs. By default,
            edges get a few seconds of work, chosen by the size of the problem: up to 30 tasks for
            each pair that some optimum connects, in large problems only for the edges of the best
            optimum, or none. ``kes learn``, ``kes edges`` and the report show the same numbers.
        budget : float, str or None
            Stop after this time, between two edges; the others rest on the models found until
            then.
        n_jobs : int or None
            Threads; None or -1 for all usable cores. Does not change the result.
        progress : bool, callable or None
            As in `kes.learn`, counting edges.
        posterior : StructurePosterior, bool or None
            Probabilities to show beside evidence: the result of `posterior`, or True to compute it.
            By default, exact ones if these take about a second, up to about 14 variables.
        data, weights, missing
            As in `Optima.trace`; needed only after loading or unpickling.

        Returns
        -------
        Table
            A row for each edge between `x` and `y` that some model has, or that would cost the
            best model less than 3 nats, strongest first:

            - ``probability``: that of the edge, where it is exact or settled; the note says under
              which criterion and prior. With criteria other than bdeu and bge it is a weight.
            - ``evidence``: ``best_with``, the score of the best model with the edge, minus
              ``best_without``; negative if the best model lacks it.
            - ``certainty``: "sure", "likely", "doubtful", or "required" by knowledge; see
              `kes.analysis.certainty`.
            - ``direction``: score of the best model with x -> y minus that with y -> x; 0 if the
              data cannot tell. None if knowledge excludes one of them.
            - ``disputed``: other criteria whose best network lacks the direction; see
              `kes.analysis.certainty` for when it is clear.
            - ``how``: "exact" if both models are proven optimal, "estimate" if they are the best
              that were found, "upper bound" or "lower bound" if nothing was searched.
            - ``instead``: edges that the best model without the edge has, and the best with it
              lacks, if they are of `x` or `y`: they take its place.

        Notes
        -----
        Search support describes the search, evidence the criterion: they may differ much.
        Evidence compares two models; `posterior` sums over all.
        """
        from kes.analysis.evidence import evidence
        from kes.analysis.evidence_work import Work, default_work

        problem = self.ready(data, weights, missing)
        work = default_work(self, problem) if of == "edges" else Work()
        if tasks is not None:
            work = Work(integer("tasks", tasks, minimum=0))
        return evidence(
            self,
            problem,
            of,
            work=work,
            seconds=None if budget is None else duration("budget", budget),
            threads=threads(n_jobs),
            progress=progress,
            posterior=posterior,
        )

    @checked_options()
    def noise(
        self: Optima,
        shuffles: int = SHUFFLES,
        *,
        runs: int | None = None,
        n_jobs: int | None = None,
        progress: bool | Show | None = None,
        data: Data | None = None,
        weights: Weights = None,
        missing: str | None = None,
    ) -> Noise:
        """Repeat the search on tables with shuffled columns, to see what noise would give.

        In a table with independently shuffled columns every edge is false. Each column keeps its
        values, missing values stay where they are, and weights count as numbers of cases.

        Parameters
        ----------
        shuffles : int
            Number of shuffled tables.
        runs : int or None
            Number of runs on each table, with ten improvement tasks for each; by default as many
            runs and tasks as in the search itself.
        n_jobs : int or None
            Threads; None or -1 for all usable cores. Does not change the result.
        progress : bool, callable or None
            As in `kes.learn`, counting the runs on all tables.
        data, weights, missing
            As in `Optima.trace`; needed only after loading or unpickling.

        Returns
        -------
        Noise
            Has `edges` and `shuffled_edges`, their numbers; `highest`, the highest evidence for a
            false edge; and `levels()`, the estimated number of false edges among ours at each
            level of evidence.

        Raises
        ------
        NoiseInterrupted
            On Ctrl-C, with the finished tables as ``.noise``.

        Examples
        --------
        >>> import kes
        >>> optima = kes.learn(kes.datasets.alarm(rows=500), runs=5)
        >>> noise = optima.noise(shuffles=5, runs=2)
        >>> max(noise.shuffled_edges) < noise.edges
        True
        """
        from kes.analysis.noise import noise

        return noise(
            self,
            self.ready(data, weights, missing),
            shuffles=integer("shuffles", shuffles, minimum=1),
            runs=None if runs is None else integer("runs", runs, minimum=1),
            execution=Execution.parse(n_jobs=n_jobs, progress=progress),
        )

    @checked_options(EffectWork)
    def effects(
        self: Optima,
        x: str,
        y: str,
        *,
        states: tuple[State, State] | None = None,
        outcome: State | None = None,
        posterior: StructurePosterior | None = None,
        data: Data | None = None,
        weights: Weights = None,
        missing: str | None = None,
        **options: Unpack[EffectWork],
    ) -> Effects:
        """Return the causal effects of x on y that the best optima are compatible with.

        They are valid only under the assumptions in the `note`, above all that no common cause is
        left out, which no data can confirm.

        Parameters
        ----------
        x, y : str
            The cause, which is intervened on, and the outcome.
        states : pair or None
            The two states of `x` to compare, from and to; by default its first and its last. A
            continuous cause has none: its effect is that of one unit more.
        outcome : state or None
            State of `y` whose probability changes, by default its last; of numbers, the mean.
        posterior : StructurePosterior or None
            Result of `posterior`: use its models, optima or not, each row with a `weight`;
            ``.mean`` is the average. Then `within` has no effect.
        data, weights, missing
            As in `Optima.trace`; needed only after loading or unpickling.

        Returns
        -------
        Effects
            A table with a row for each `optimum` and each parent set (`parents`) that `x` can have
            in it: how many nats the optimum is `below` the best, whether a directed path `reaches`
            from x to y, and the `effect`, 0 if none does. With resamples, 95 % of them lie between
            `low` and `high`. On discrete tables also the share of cases `unseen`, for whose parent
            configuration one of the two states of `x` never occurs, so that the estimate rests on
            the prior there, and the distribution of `y` when `x` is set to each state:
            ``P(b|do(a))``. ``.summary()`` has the ranges.

        Notes
        -----
        By adjustment for the locally valid parent sets of the cause, as in IDA [Maathuis 2009].
        """
        from kes.analysis.effects import effects

        return effects(
            self,
            self.ready(data, weights, missing),
            x,
            y,
            states=states,
            outcome=outcome,
            posterior=posterior,
            **options,
        )
