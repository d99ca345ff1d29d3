"""Posterior probabilities of edges, directions and models, by summing over all networks.

With the criterion BDeu or BGe, exp(score) is the marginal likelihood of a network. Under a prior
that is uniform over DAGs, or a product over edges, the sums over all networks with an arc, and with
a directed path, are found for all pairs at once, exactly [Tian & He 2009]: see the core's module
`posterior`. With up to five variables all networks are listed, under either prior. Where the sum is
too large, Markov chains over models estimate it; they also give what the sum does not:
v-structures, Markov blankets, and the models.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from kes import _core
from kes.analysis.certificate import about, duration_in_words
from kes.analysis.chains import ChainWork, Scored
from kes.analysis.probabilities import ModelProbability, StructurePosterior, Structures
from kes.analysis.sampled_posterior import planned, sampled
from kes.budget import Budget, Size
from kes.data.dataset import Data
from kes.declare import checked_options, chosen_from
from kes.errors import Interrupted, KesError, option
from kes.graph import EssentialGraph
from kes.native import core_errors
from kes.options import POSTERIOR_MEMORY, PosteriorOptions, PosteriorWork, ScoringOptions
from kes.progress import Progress, Reporter, reporting, time_left
from kes.search.driver import Execution, SearchInterrupted, threads
from kes.search.pipeline import prepare
from kes.search.problem import Problem
from kes.validation import duration

_MARGINAL = ("bdeu", "bge")
"""Criteria that are marginal likelihoods."""

_CACHE_MB = 64
_PER_SET = 3e-8
"""Processor seconds for a set and the square of the number of variables; a rough estimate."""
_UNTHINKABLE = 900
"""Variables above which the estimate no longer grows: it would exceed the largest float."""


class PosteriorInterrupted(Interrupted):
    """Ctrl-C during `posterior`.

    Attributes
    ----------
    posterior : StructurePosterior or None
        What chains had found; None if they had not got anywhere, and for an exact sum.
    """

    def __init__(self, posterior: StructurePosterior | None) -> None:
        super().__init__()
        self.posterior = posterior

    def __str__(self) -> str:
        if self.posterior is None:
            return "interrupted before anything was found"
        return "interrupted; what the chains found is in the attribute 'posterior'"


@checked_options(PosteriorOptions, criterion="bdeu", memory_mb=POSTERIOR_MEMORY)
def posterior(data: Data, **options: Unpack[PosteriorOptions]) -> StructurePosterior:
    """Compute posterior probabilities of edges, directions and ancestors.

    The result is a sum over all networks, not over those that a search found. It is exact up to
    about 24 variables, where memory allows; beyond, Markov chains estimate it.

    Parameters
    ----------
    data
        As in `kes.learn`.
    memory_mb : int
        Memory to use, approximately. 20 variables need 166 MB, and each further one about twice
        as much.
    budget : float, str or None
        Stop after this time: seconds, or text such as "30s", "10m". The sum is given up; chains
        keep what they have found.
    criterion : str
        "bdeu" for discrete and "bge" for continuous tables: these are marginal likelihoods, and
        give probabilities. Others give weights exp(score), under their own name.

    Returns
    -------
    StructurePosterior

    Raises
    ------
    KesError
        If the data or an option cannot be used, or memory or time do not suffice; the message says
        what to do.

    See Also
    --------
    estimate : the time and memory it needs, before it starts.

    Examples
    --------
    >>> import kes
    >>> data = kes.datasets.alarm(rows=500).select(["HR", "HRBP", "HREKG", "HISTORY"])
    >>> post = kes.posterior(data)
    >>> post.status, post.edge("HR", "HRBP") > 0.999, post.edge("HISTORY", "HR") < 0.1
    ('exact', True, True)
    """
    started = time.monotonic()
    problem = Problem.of(data, {**options, "k": 1.0, "cache_mb": _CACHE_MB})
    work: PosteriorWork = chosen_from(PosteriorWork, options)
    try:
        problem = prepare(problem, Execution.of(options), Budget.of({"budget": work["budget"]}))
    except SearchInterrupted:
        raise PosteriorInterrupted(None) from None
    return posterior_of(problem, started=started, **work)


@checked_options(PosteriorWork, memory_mb=POSTERIOR_MEMORY)
def posterior_of(
    problem: Problem,
    *,
    started: float | None = None,
    optima: Sequence[Scored] = (),
    **work: Unpack[PosteriorWork],
) -> StructurePosterior:
    """Compute the probabilities for a given problem; see `posterior`."""
    started = time.monotonic() if started is None else started
    prior, method, rounds = work["prior"], work["method"], work["rounds"]
    memory, n_jobs = work["memory_mb"], threads(work["n_jobs"])
    limit = math.inf if work["budget"] is None else duration("budget", work["budget"])
    names, cost = problem.dataset.names, estimate_of(problem)
    few = cost.variables <= _core.MAX_ENUMERATED
    fits = cost.variables <= _core.MAX_EXACT and cost.bytes <= memory * 2**20
    if problem.settings.basis is not None:
        raise KesError(
            "the score of curves is a pseudo-likelihood, from which no probabilities of networks "
            f"follow: leave {option('basis')} out",
            option="basis",
        )
    if method == "auto":
        method = "exact" if few or (fits and prior == "dags") else "chains"
    described = partial(_described, problem, prior, started)
    with core_errors(names), reporting(work["progress"]) as report:
        clock = _WorkProgress(started + limit, report)
        if method == "chains":
            length = planned(len(names))[1] if rounds is None else rounds
            file = None if work["resume"] is None else Path(work["resume"])
            chains = ChainWork(n_jobs, clock.counting(length, "rounds"), file)
            try:
                return described(sampled(problem, prior, rounds, chains, optima))
            except KeyboardInterrupt as stop:
                found = getattr(stop, "found", None)
                raise PosteriorInterrupted(found and described(found)) from None
        if few:
            return described(_enumerated(problem, prior))
        if prior == "classes":
            raise KesError(
                f"with more than {_core.MAX_ENUMERATED} columns that vary, the exact sum is over "
                f"DAGs: use {option('prior', 'dags')} or {option('method', 'chains')}",
                option="prior",
            )
        if not fits:
            raise _too_large(cost, memory)
        sets = _core.EXACT_PASSES << cost.variables
        try:
            summed = _summed(problem, memory, n_jobs, clock.counting(sets, "sets", cost.share))
        except KeyboardInterrupt:
            raise PosteriorInterrupted(None) from None
    sample = partial(
        posterior_of, problem, optima=optima, method="chains", prior=prior, n_jobs=n_jobs
    )
    return described({**summed, "sample": sample})


def _described(
    problem: Problem, prior: str, started: float, found: Mapping[str, Any]
) -> StructurePosterior:
    """Return the result with what it is about."""
    measure = problem.settings.measure
    return StructurePosterior(
        names=tuple(problem.dataset.names),
        prior=prior,
        quantity="probability" if measure.name in _MARGINAL else f"{measure.name.upper()} weight",
        criterion=measure.name + ("" if measure.ess is None else f" (ess {measure.ess:g})"),
        seconds=time.monotonic() - started,
        problem=problem,
        **found,
    )


def _enumerated(problem: Problem, prior: str) -> Mapping[str, Any]:
    """List all networks."""
    names = problem.dataset.names
    all_dags = problem.core.enumerate(prior, problem.settings.max_parents, problem.knowledge)
    models = tuple(
        ModelProbability(EssentialGraph.from_core(tuple(names), graph), share)
        for graph, share in all_dags.classes
    )
    v_structures = {
        (names[a], names[c], names[b]): share for (a, c, b), share in all_dags.v_structures
    }
    blankets = _matrix(all_dags.blankets, len(names))
    same = sum(model.probability**2 for model in models)
    return {
        "status": "exact",
        "dropped": 0.0,
        "rounding": len(models) * np.finfo(float).eps,
        "log_sum": all_dags.log_sum,
        "method": f"all {len(models):,} classes, one by one",
        "arcs": _matrix(all_dags.arcs, len(names)),
        "paths": _matrix(all_dags.ancestors, len(names)),
        "structures": Structures(v_structures, blankets, models, 1 / same),
    }


def _summed(
    problem: Problem, memory_mb: int, n_jobs: int, report: Callable[[int], bool]
) -> Mapping[str, Any]:
    """Sum over all networks without listing them."""
    n = len(problem.dataset.names)
    exact = problem.core.posterior(
        report,
        max_parents=problem.settings.max_parents,
        n_jobs=n_jobs,
        memory_mb=memory_mb,
        knowledge=problem.knowledge,
    )
    if exact is None:
        raise KesError(
            "the sum over all networks was not finished in time: raise "
            f"{option('budget')}, or use {option('method', 'chains')}",
            option="budget",
        )
    return {
        "status": "exact",
        "dropped": exact.dropped,
        "rounding": max(exact.rounding, exact.mismatch),
        "log_sum": exact.log_sum,
        "method": "the sum over all networks",
        "arcs": _matrix(exact.arcs, n),
        "paths": _matrix(exact.ancestors, n),
    }


def _matrix(values: list[float], n: int) -> NDArray[np.float64]:
    return np.array(values).reshape(n, n)


def _too_large(cost: PosteriorCost, memory_mb: int) -> KesError:
    enough = f"raise {option('memory_mb', math.ceil(cost.bytes / 2**20))}, or "
    possible = cost.variables <= _core.MAX_EXACT
    return KesError(
        f"the sum over all networks of {cost.variables} variables needs "
        f"{cost.bytes / 2**20:,.0f} MB, more than the {memory_mb:,} MB allowed: "
        f"{enough if possible else ''}use {option('method', 'chains')}",
        option="memory_mb",
    )


class PosteriorCost:
    """Estimated cost of exact probabilities.

    Attributes
    ----------
    variables : int
        Variables that are not constant.
    bytes : float
        Memory.
    seconds : float
        Processor time, roughly. It varies with the data by a factor of ten: the more certain the
        edges, the faster.
    """

    def __init__(self, variables: int, set_seconds: float) -> None:
        self.variables = variables
        self.bytes = _core.posterior_bytes(variables)
        per_set = set_seconds + _PER_SET * variables**2
        self.seconds = 2.0 ** min(variables, _UNTHINKABLE) * per_set
        self._counting = set_seconds / per_set  # the share of the first pass

    @property
    def method_of_models(self) -> str:
        """The method for what follows from whole models, which the sum does not give."""
        return "exact" if self.variables <= _core.MAX_ENUMERATED else "chains"

    def share(self, done: int) -> float:
        """Return the share of the time until this many sets are done, in all passes together."""
        sets = 1 << self.variables
        rest = (done - sets) / ((_core.EXACT_PASSES - 1) * sets)
        return self._counting * min(done / sets, 1.0) + (1 - self._counting) * max(rest, 0.0)

    def __str__(self) -> str:
        if self.variables > _core.MAX_EXACT:
            return f"{self.variables} variables that vary: too many for a sum over all networks"
        return (
            f"{self.variables} variables that vary: the sum over all networks takes "
            f"{about(self.bytes / 2**20)} MB and {duration_in_words(self.seconds)} of processor "
            "time, roughly"
        )


@checked_options(ScoringOptions, criterion="bdeu")
def estimate(data: Data, **options: Unpack[ScoringOptions]) -> PosteriorCost:
    """Estimate the time and memory of `posterior` for these data, without counting anything."""
    return estimate_of(Problem.of(data, {**options, "k": 1.0, "cache_mb": _CACHE_MB}))


def estimate_of(problem: Problem) -> PosteriorCost:
    """Estimate the time and memory of `posterior_of`."""
    size = Size.of(problem.dataset.states, problem.dataset.rows)
    return PosteriorCost(len(problem.core.varying), size.set_seconds)


class _WorkProgress:
    """Shows the progress of some work, and decides whether to continue."""

    def __init__(self, deadline: float, report: Reporter) -> None:
        self._deadline, self._report = deadline, report
        self._started = time.monotonic()

    def counting(
        self, wanted: int, unit: str, share: Callable[[int], float] | None = None
    ) -> Callable[[int], bool]:
        """Return a callback that takes the amount of work done.

        `share` tells which share of the time that takes, if amounts do not take equally long. The
        time to the end is estimated anew whenever more is done.
        """
        part = share or (lambda done: done / wanted)
        last, end = -1, math.nan
        first = before = 0.0

        def keep_going(done: int) -> bool:
            nonlocal last, end, first, before
            now = time.monotonic()
            if last < 0:
                last = done
            if done == last and math.isnan(end):  # what chains prepare, or have from a file
                first, before = now, part(done)
            elif done > last:
                rest = time_left(now - first, part(done) - before, 1.0 - before)
                last, end = done, now + (rest or 0.0)
            left = None if math.isnan(end) else max(end - now, 0.0)
            self._report(Progress(done, wanted, None, 0, now - self._started, left, unit))
            return now < self._deadline

        return keep_going
