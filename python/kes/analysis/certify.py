"""Certify: find the highest score of all networks, or bound it.

Up to about 25 variables the global optimum is found by dynamic programming over sets of variables;
with more, a linear programme bounds its score, and often meets it (`kes.exact`). Both need all
families that can be part of a best network. A parent set is left out only if a bound of the
criterion proves that a subset scores at least as much, so the result holds for all networks, with
any number of parents, unless `max_parents` is given.

If time or memory do not suffice for all families, the families found and the largest possible
scores of the others still give a bound.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from kes import _core
from kes.analysis.certificate import Certificate, CertifyCost, CertifyProgress, about
from kes.analysis.incumbents import Incumbents, score_of
from kes.budget import PER_SET, Budget, Size
from kes.data.dataset import Data, Dataset
from kes.data.incomplete import Incomplete
from kes.declare import checked_options
from kes.errors import KesError, option
from kes.exact.bound import Bounded
from kes.exact.prover import Prover
from kes.graph import EssentialGraph
from kes.options import ScoringOptions
from kes.results.optima import Optima
from kes.search.execution import threads
from kes.search.problem import Problem
from kes.search.proof import with_proof
from kes.search.record import Model, Proof
from kes.settings import Settings
from kes.validation import duration, megabytes

if TYPE_CHECKING:
    from kes._core import Families
    from kes.analysis.incumbents import Comparable

_MEMORY_MB = 2048
_CACHE_MB = 64
_K = 0.4  # of the search for an incumbent
_BUDGET = 600.0
_FAMILIES = 2 / 3  # largest share of the budget for families if there is no incumbent yet
_SEARCH = 0.5  # largest share of the rest for the incumbent, if the bound can be lowered afterwards
_EVERY = 5.0  # seconds between lines of progress
_PER_STEP, _PER_PAIR = 2e-9, 1e-9  # seconds, measured


@checked_options(ScoringOptions)
def certify(
    data: Data,
    *,
    optima: Comparable = None,
    n_jobs: int | None = None,
    memory_mb: int = _MEMORY_MB,
    budget: float | str = _BUDGET,
    progress: bool | Callable[[CertifyProgress], object] | None = None,
    **options: Unpack[ScoringOptions],
) -> Certificate:
    """Find the highest score of all networks, or bound it, and compare results with it.

    Parameters
    ----------
    data
        As in `kes.learn`.
    optima : Optima, Optimum, EssentialGraph or None
        What to compare. Their best network is also the incumbent where the score is bounded;
        without one, a short search finds it, within the budget.
    n_jobs : int or None
        Threads; None or -1 for all usable cores. Does not change the result.
    memory_mb : int
        Memory to use, approximately. 25 variables that depend on each other need 256 MB, and each
        further one doubles that.
    budget : float or str
        Stop after this time: seconds, or a text such as "30s", "10m". The bound reached by then is
        valid.
    progress : None, True or callable
        True writes lines to standard error. A callable gets a `CertifyProgress` about ten times a
        second.

    Returns
    -------
    Certificate

    Raises
    ------
    KesError
        If the data or an option cannot be used; the message says what to do.

    See Also
    --------
    estimate : the work it may need, before it starts.

    Examples
    --------
    >>> import kes
    >>> data = kes.datasets.example1()
    >>> optima = kes.learn(data, runs=20)
    >>> certificate = kes.certify(data, optima=optima)
    >>> certificate.proven, bool(certificate.score >= optima.best.score)
    (True, True)
    """
    memory = megabytes("memory_mb", memory_mb)
    limit = duration("budget", budget)
    clock = _Reporter(progress, limit)
    problem = _problem(data, options, optima).completed(threads(n_jobs))
    incumbents = Incumbents(problem, optima)
    cost = _estimate(problem.dataset, problem.settings)
    if problem.dataset.kind != "discrete" and cost.sets * PER_SET > limit:
        raise _unbounded(cost)
    clock(str(cost))
    prover = Prover(
        problem.core,
        problem.dataset.names,
        problem.settings.max_parents,
        problem.knowledge,
        threads(n_jobs),
        Budget(counting_mb=memory, solving_mb=memory),
        clock.deadline,
        clock,
    )
    families = prover.families(clock.after(1.0 if incumbents else _FAMILIES))
    if math.isinf(families.upper_bound([])):
        raise _unbounded(cost)
    found = prover.by_subsets(families)
    if found is None:
        clock("searching for a network")
        share = _SEARCH if families.lacking is None else 1.0
        incumbents.search(prover.threads, clock.after(share))
        if families.lacking is None:
            found = _bounded(prover, families, incumbents.best[0])
        else:
            found = _partial(families)
    return _certificate(problem, incumbents, families, found, clock.seconds)


def joined(optima: Optima, certificate: Certificate) -> Optima:
    """Return optima with the proof of a certificate, and with its network if it is better.

    It is then like a result of ``kes.learn(..., prove=True)``: the network has the origin "exact".
    """
    proof = Proof(
        proven=certificate.proven,
        upper_bound=certificate.upper_bound,
        method=certificate.method,
        counted=certificate.counted,
        families=certificate.families,
    )
    edges = certificate.graph.to_core(optima.names)
    model = Model.from_core(edges, certificate.score, is_local_optimum=True)
    record = with_proof(replace(optima.record, prove=True), proof, model)
    return Optima(record, problem=optima.problem)


def _unbounded(cost: CertifyCost) -> KesError:
    """Error for continuous tables: their scores have no upper limit to prune parent sets by."""
    return KesError(
        f"with continuous columns all sets of parents must be counted, and those of "
        f"{cost.variables} variables are too many: about {about(cost.sets)}; allow few parents "
        f"with {option('max_parents', 3)}, leave columns out, or raise {option('budget')} or "
        f"{option('memory_mb')}",
        option="max_parents",
    )


@checked_options(ScoringOptions)
def estimate(data: Data, **options: Unpack[ScoringOptions]) -> CertifyCost:
    """Estimate the work of `certify` for these data, without counting anything.

    For BIC and AIC, one more parent cannot pay once its penalty exceeds N ln r: that limits the
    number of parents for any data. With continuous columns nothing does; the seconds are then
    those of a table in which everything depends on everything.
    """
    problem = _problem(data, options)
    table = problem.table  # imputing missing values would take too long
    dataset = table.dataset if isinstance(table, Incomplete) else table
    return _estimate(dataset, problem.settings)


def _estimate(dataset: Dataset, settings: Settings) -> CertifyCost:
    arities = sorted(r for r in dataset.cardinalities if r != 1)
    n = len(arities)
    most = min(_most_parents(dataset, settings, arities), max(n - 1, 0))
    if settings.max_parents is not None:
        most = min(most, settings.max_parents)
    sets = _as_float(sum(math.comb(n, size) for size in range(most + 2)))
    counting = sets * Size.of(dataset.states, dataset.rows).set_seconds
    solving = 2.0**n * n * _PER_STEP if n <= _core.MAX_COMPONENT else 0.0
    comparing = 0.0
    if dataset.kind != "discrete":
        # Where everything depends on everything, no set of parents is ruled out, and each is
        # compared with all of its subsets.
        families = _as_float(sum(math.comb(n - 1, size) for size in range(most + 1)))
        comparing = n * families * families * _PER_PAIR
    return CertifyCost(variables=n, sets=sets, bytes=8 << n, seconds=counting + solving + comparing)


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _most_parents(dataset: Dataset, settings: Settings, arities: Sequence[int]) -> int:
    """Return the largest number of parents that can pay, for any data."""
    cases = dataset.rows if dataset.weights is None else float(dataset.weights.sum())
    penalty = settings.measure.price(cases)
    if penalty is None or not arities or dataset.kind != "discrete":
        return len(arities)
    # Rule 1 of bounds.rs with the smallest arities: parents of r states each multiply the cells.
    cells, parents = 1.0, 1
    for arity in arities:
        if penalty * cells * (arities[0] - 1) ** 2 >= cases * math.log(arities[-1]):
            break
        cells *= arity
        parents += 1
    return parents - 1


def _problem(data: Data, options: ScoringOptions, compared: Comparable = None) -> Problem:
    """Make the problem; missing values are imputed as in the result to compare, if there is one."""
    own = {**options, "k": _K, "cache_mb": _CACHE_MB}
    if not isinstance(compared, Optima):
        return Problem.of(data, own)
    seed, earlier = compared.seed, compared.record.completion
    return Problem.of(data, {**own, "random_state": seed}, earlier=earlier)


class _Reporter:
    """Shows the progress, and keeps the time."""

    def __init__(
        self, progress: bool | Callable[[CertifyProgress], object] | None, limit: float
    ) -> None:
        self._show = _lines() if progress is True else progress or None
        self._started = time.monotonic()
        self.deadline = self._started + limit

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def __call__(self, stage: str, done: int = 0, upper_bound: float | None = None) -> None:
        if self._show is not None:
            self._show(CertifyProgress(stage, done, upper_bound, self.seconds))

    def after(self, share: float) -> float:
        """Return the time when this share of the rest will be over."""
        now = time.monotonic()
        return now + share * (self.deadline - now)


def _lines() -> Callable[[CertifyProgress], object]:
    last = ("", 0.0)

    def show(progress: CertifyProgress) -> None:
        nonlocal last
        if progress.stage != last[0] or progress.seconds - last[1] >= _EVERY:
            last = (progress.stage, progress.seconds)
            print(progress, file=sys.stderr, flush=True)

    return show


def _bounded(prover: Prover, families: Families, incumbent: float) -> Bounded:
    """Bound the score by the linear programme; keep its network only if it is better."""
    found = prover.by_programme(families, incumbent)
    core = prover.core
    if found.arcs is not None and core.score(found.arcs) <= incumbent + core.tolerance:
        return replace(found, arcs=None)
    return found


def _partial(families: Families) -> Bounded:
    """Bound every variable by itself: without all families, no more is known."""
    scarce = option({"time": "budget", "memory": "memory_mb"}[families.lacking or "time"])
    method = f"what each variable can score at most; {scarce} was too small to find all families"
    return Bounded(families.upper_bound([]), False, None, method)


def _certificate(
    problem: Problem, incumbents: Incumbents, families: Families, found: Bounded, seconds: float
) -> Certificate:
    names, settings = problem.dataset.names, problem.settings
    if found.arcs is None:
        score, graph = incumbents.best
    else:
        graph = EssentialGraph.from_dag(names, [(names[a], names[b]) for a, b in found.arcs])
        score = score_of(problem, graph)
    top = score if found.exact else max(found.upper_bound, score)
    return Certificate(
        score=score,
        graph=graph,
        upper_bound=top,
        proven=found.exact,
        method=found.method,
        seconds=seconds,
        counted=families.counted,
        families=sum(families.sizes),
        ties=incumbents.ties(graph, score),
        criterion=settings.criterion,
        ess=settings.ess,
        max_parents=settings.max_parents,
        knowledge=settings.knowledge,
        compared=incumbents.table(top),
    )
