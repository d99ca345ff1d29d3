"""The best score there is, or how much higher it can be: a certificate for what a search found.

Up to about 25 variables the global optimum is found by dynamic programming over sets of variables;
with more of them its score is bounded, and often met, by a linear programme
(`kes.exact.bound`). Both need all families that can be part of a best network. A parent set is
left out only if a bound of the criterion proves that a subset scores at least as much, so the
result holds for all networks, with any number of parents, unless `max_parents` is given.

Whatever runs out, there is a bound: where time or memory do not suffice for all families, that of
the families known and of what the others can score at most.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

from kes import _core
from kes.analysis.certificate import Certificate, CertifyProgress, Expense, about
from kes.analysis.incumbents import Rivals, score_of
from kes.data.dataset import Data, Dataset
from kes.data.incomplete import Incomplete
from kes.declare import checked_options
from kes.errors import KesError, option
from kes.exact.bound import Bounded, Means, Network, upper_bound
from kes.graph import EssentialGraph
from kes.native import core_errors
from kes.options import ScoringOptions
from kes.results.optima import Optima
from kes.search.budget import Size
from kes.search.execution import threads
from kes.search.problem import Problem
from kes.search.proof import PER_SET, set_seconds, with_proof
from kes.search.record import Model, Proof
from kes.settings import Settings
from kes.validation import duration, megabytes

if TYPE_CHECKING:
    from kes._core import Families
    from kes.analysis.incumbents import Known

_MEMORY_MB = 2048
_CACHE_MB = 64
_K = 0.4  # of the search for a network to start from
_BUDGET = 600.0
_FAMILIES = 2 / 3  # most of the budget to spend on families if a network is yet to be searched for
_SEARCH = 0.5  # most of what is then left to spend on that, if a bound can be lowered afterwards
_EVERY = 5.0  # seconds between lines of progress
_PER_STEP, _PER_PAIR = 2e-9, 1e-9  # seconds, measured
_QUICK_MB = 64  # 23 variables: done in a second or two, so worth a try again and again


@checked_options(ScoringOptions)
def certify(
    data: Data,
    *,
    optima: Known = None,
    n_jobs: int | None = None,
    memory_mb: int = _MEMORY_MB,
    budget: float | str = _BUDGET,
    progress: bool | Callable[[CertifyProgress], object] | None = None,
    **options: Unpack[ScoringOptions],
) -> Certificate:
    """Find the highest score of all networks, or bound it, and say how far others are below.

    Parameters
    ----------
    data
        As in `kes.learn`.
    optima : Optima, Optimum, EssentialGraph or None
        What to compare. Their best network also helps where the optimum is bounded only; without
        any, a search finds one, within the budget.
    n_jobs : int or None
        Threads; None or -1 for all usable cores. Does not change the result.
    memory_mb : int
        Memory to use, approximately. 25 variables that depend on each other need 256 MB, and each
        one more twice as much.
    budget : float or str
        Stop after this time: seconds, or a text such as "30s", "10m". The bound reached until then
        is valid.
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
    estimate : what it may need, before it starts.

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
    reporter = _Reporter(progress, limit)
    if isinstance(optima, Optima):
        options["random_state"] = optima.seed
    problem = _problem(data, options)
    if isinstance(optima, Optima):  # its gaps are filled as they were
        problem.earlier = optima.record.completion
    problem.fill(threads(n_jobs), lambda _: True)
    rivals = Rivals(problem, optima)
    work = _Work(problem, threads(n_jobs), memory, reporter)
    expense = _estimate(problem.dataset, problem.settings)
    if problem.dataset.kind != "discrete" and expense.sets * PER_SET > limit:
        raise _unbounded(expense)
    reporter(str(expense))
    families = work.find_families(1.0 if rivals else _FAMILIES)
    if math.isinf(families.upper_bound([])):
        raise _unbounded(expense)
    solved = work.solve(families, memory)
    if solved is not None:
        found = Bounded(solved[1], True, solved[0], "dynamic programming over all subsets")
    elif families.lacking is not None:
        found = _partly_known(work, rivals, families)
    else:
        found = _bounded(work, rivals, families)
    return _certificate(work, rivals, families, found)


def joined(optima: Optima, certificate: Certificate) -> Optima:
    """Return optima with what a certificate for them says, and with its network if it is better.

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


def _unbounded(expense: Expense) -> KesError:
    """Say why nothing can be proven: continuous variables have no perfect score to start from."""
    return KesError(
        f"with continuous columns no score is too high to be ruled out, so all sets of parents "
        f"must be looked at, and those of {expense.variables} variables are too many: about "
        f"{about(expense.sets)}; allow few parents with {option('max_parents', 3)}, leave columns "
        f"out, or raise {option('budget')} or {option('memory_mb')}"
    )


@checked_options(ScoringOptions)
def estimate(data: Data, **options: Unpack[ScoringOptions]) -> Expense:
    """Say what `certify` may need for these data, without counting anything.

    For BIC and AIC, one more parent cannot pay once its penalty exceeds N ln r: that limits the
    number of parents whatever the data say. With continuous columns nothing does; the seconds are
    then those of a table in which everything depends on everything.
    """
    problem = _problem(data, options)
    table = problem.table  # nobody wants to wait until its gaps are filled
    dataset = table.dataset if isinstance(table, Incomplete) else table
    return _estimate(dataset, problem.settings)


def _estimate(dataset: Dataset, settings: Settings) -> Expense:
    arities = sorted(r for r in dataset.cardinalities if r != 1)
    n = len(arities)
    most = min(_most_parents(dataset, settings, arities), max(n - 1, 0))
    if settings.max_parents is not None:
        most = min(most, settings.max_parents)
    sets = _as_float(sum(math.comb(n, size) for size in range(most + 2)))
    counting = sets * set_seconds(Size.of(dataset.states, dataset.rows))
    solving = 2.0**n * n * _PER_STEP if n <= _core.MAX_COMPONENT else 0.0
    comparing = 0.0
    if dataset.kind != "discrete":
        # Where everything depends on everything, no set of parents is ruled out, and each is
        # compared with all of its subsets.
        families = _as_float(sum(math.comb(n - 1, size) for size in range(most + 1)))
        comparing = n * families * families * _PER_PAIR
    return Expense(variables=n, sets=sets, bytes=8 << n, seconds=counting + solving + comparing)


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _most_parents(dataset: Dataset, settings: Settings, arities: Sequence[int]) -> int:
    """Return how many parents can pay at most, whatever the data say."""
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


def _problem(data: Data, options: ScoringOptions) -> Problem:
    return Problem.of(data, {**options, "k": _K, "cache_mb": _CACHE_MB})


class _Reporter:
    """Tells how far it is, and when the time is over."""

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
        """Return when so much of the time that is left will be over."""
        now = time.monotonic()
        return now + share * (self.deadline - now)

    def counting(self, stage: str, deadline: float) -> Callable[[int], bool]:
        """Return a callback for the core, which ends the work when the time is over."""

        def on_progress(done: int) -> bool:
            self(stage, done)
            return time.monotonic() < deadline

        return on_progress


def _lines() -> Callable[[CertifyProgress], object]:
    last = ("", 0.0)

    def show(progress: CertifyProgress) -> None:
        nonlocal last
        if progress.stage != last[0] or progress.seconds - last[1] >= _EVERY:
            last = (progress.stage, progress.seconds)
            print(progress, file=sys.stderr, flush=True)

    return show


@dataclass(frozen=True)
class _Work:
    """The parts that the core does."""

    problem: Problem
    threads: int
    memory_mb: int
    reporter: _Reporter

    def find_families(self, share: float) -> Families:
        """Return all families that matter, as far as a share of the time suffices."""
        with core_errors():
            return self.problem.core.families(
                self.reporter.counting("counting sets", self.reporter.after(share)),
                max_parents=self.problem.settings.max_parents,
                n_jobs=self.threads,
                memory_mb=self.memory_mb,
                knowledge=self.problem.knowledge,
            )

    def search(self, rivals: Rivals, share: float) -> None:
        """Search for a network if there is none, for a share of the time that is left."""
        self.reporter("searching for a network")
        rivals.search(self.threads, self.reporter.after(share))

    def solve(self, families: Families, memory_mb: int) -> tuple[Network, float] | None:
        """Return the best network made of the families, unless that needs too much."""
        return families.optimum(
            self.reporter.counting("solving subsets", self.reporter.deadline),
            n_jobs=self.threads,
            memory_mb=min(memory_mb, self.memory_mb),
        )


def _partly_known(work: _Work, rivals: Rivals, families: Families) -> Bounded:
    """Take every variable by itself: without all families, no more is known."""
    work.search(rivals, 1.0)
    scarce = option({"time": "budget", "memory": "memory_mb"}[families.lacking or "time"])
    method = f"what each variable can score at most; {scarce} was too small to find all families"
    return Bounded(families.upper_bound([]), False, None, method)


def _bounded(work: _Work, rivals: Rivals, families: Families) -> Bounded:
    """Find out as much as possible where not all variables can be solved together."""
    work.search(rivals, _SEARCH)
    core, reporter = work.problem.core, work.reporter
    means = Means(
        known=rivals.best[0],
        tolerance=core.tolerance,
        solve=lambda fewer: work.solve(fewer, _QUICK_MB),
        deadline=reporter.deadline,
        report=lambda bound: reporter("lowering the bound", upper_bound=bound),
    )
    found = upper_bound(families, means)
    if found.arcs is not None and means.met(core.score(found.arcs)):
        return replace(found, arcs=None)  # it is no better than the one known before
    return found


def _certificate(work: _Work, rivals: Rivals, families: Families, found: Bounded) -> Certificate:
    problem, names = work.problem, work.problem.dataset.names
    if found.arcs is None:
        score, graph = rivals.best
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
        seconds=work.reporter.seconds,
        counted=families.counted,
        families=sum(families.sizes),
        ties=rivals.ties(graph, score),
        criterion=problem.settings.criterion,
        ess=problem.settings.ess,
        max_parents=problem.settings.max_parents,
        knowledge=problem.settings.knowledge,
        compared=rivals.table(top),
    )
