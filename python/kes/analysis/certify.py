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
from typing import TypeAlias, Unpack

from kes import _core
from kes._core import Families
from kes.analysis.certificate import YEAR, Certificate, CertifyCost, CertifyProgress, about
from kes.budget import PER_SET, Budget, Size
from kes.data.dataset import Data, Dataset, Incomplete
from kes.data.notes import excluded_pairs
from kes.declare import checked_options
from kes.errors import KesError, option
from kes.exact.prover import Bounded, Prover
from kes.graph import EssentialGraph
from kes.options import CERTIFY_BUDGET, CertifyOptions, ScoringOptions
from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.search.constraints import refuse_inadmissible
from kes.search.driver import threads
from kes.search.problem import Problem
from kes.search.proof import with_proof
from kes.search.record import Model, Proof
from kes.settings import Settings
from kes.table import Table, tabulated
from kes.validation import duration

Comparable: TypeAlias = Optima | Optimum | EssentialGraph | None

_CACHE_MB = 64
_SCOPE = ("criterion", "ess", "basis", "edge_prior", "max_parents", "knowledge")
"""Settings that a certificate depends on."""
_K, _INCUMBENT = 0.4, Budget(runs=100, tasks=1000)  # search for an incumbent
_FAMILIES = 2 / 3  # largest share of the budget for families if there is no incumbent yet
_SEARCH = 0.5  # largest share of the rest for the incumbent, if the bound can be lowered afterwards
_EVERY = 5.0  # seconds between lines of progress
_PER_STEP, _PER_PAIR = 2e-9, 1e-9  # seconds, measured


@checked_options(CertifyOptions, budget=CERTIFY_BUDGET)
def certify(
    data: Data,
    *,
    optima: Comparable = None,
    progress: bool | Callable[[CertifyProgress], object] | None = None,
    **options: Unpack[CertifyOptions],
) -> Certificate:
    """Find the highest score of all networks, or bound it, and compare results with it.

    Parameters
    ----------
    data
        As in `kes.learn`.
    optima : Optima, Optimum, EssentialGraph or None
        What to compare. Their best network is also the incumbent where the score is bounded;
        without one, a short search finds it, within the budget.
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
    memory, limit = options["memory_mb"], duration("budget", options["budget"])
    clock = _ProofProgress(progress, limit)
    problem = _problem(data, options, optima).completed(threads(options["n_jobs"]))
    incumbents = Incumbents(problem, optima)
    cost = _estimate(problem.dataset, problem.settings)
    if not can_certify(problem, limit):
        raise _unbounded(cost)
    clock(str(cost))
    limits = Budget(counting_mb=memory, solving_mb=memory)
    prover = problem.prover(threads(options["n_jobs"]), limits, clock.deadline, clock)
    families = prover.families(clock.after(1.0 if incumbents else _FAMILIES))
    if math.isinf(families.upper_bound([])):
        raise _unbounded(cost)
    found = prover.by_subsets(families)
    if found is None:
        clock("searching for a network")
        share = _SEARCH if families.lacking is None else 1.0
        incumbents.search(prover.threads, clock.after(share))
        found = _bounded(prover, families, incumbents.best[0])
    return _certificate(problem, incumbents, families, found, clock.seconds)


def can_certify(problem: Problem, budget: float | str = CERTIFY_BUDGET) -> bool:
    """Return whether `certify` can bound the score; with continuous columns it counts all sets."""
    seconds = duration("budget", budget)
    cost = _estimate(problem.dataset, problem.settings)
    return problem.dataset.kind == "discrete" or cost.sets * PER_SET <= seconds


def joined(optima: Optima, certificate: Certificate) -> Optima:
    """Return optima with the proof of a certificate, and with its network if it is better.

    It is then like a result of ``kes.learn(..., prove=True)``: the network has the origin "exact".
    """
    shared = ("proven", "upper_bound", "method", "counted", "families")
    proof = Proof(**{name: getattr(certificate, name) for name in shared})
    edges = certificate.graph.to_core(optima.names)
    model = Model.from_core(edges, certificate.score, is_local_optimum=True)
    record = with_proof(replace(optima.record, prove=True), proof, model)
    return Optima(record, problem=optima.problem)


def _unbounded(cost: CertifyCost) -> KesError:
    """Error for continuous tables: their scores have no upper limit to prune parent sets by."""
    fewer = f"allow few parents with {option('max_parents', 3)}, "
    more = f"leave columns out, or raise {option('budget')} or {option('memory_mb')}"
    if cost.seconds > YEAR:
        more = "or leave columns out"
    return KesError(
        f"with continuous columns all sets of parents must be counted, and those of "
        f"{cost.variables} variables are too many: about {about(cost.sets)}; {fewer}{more}",
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
    sets = _subsets(n, most + 1)
    seconds = sets * Size.of(dataset.states, dataset.rows).set_seconds
    if n <= _core.MAX_COMPONENT:
        seconds += 2.0**n * n * _PER_STEP
    if dataset.kind != "discrete":
        # Where everything depends on everything, no set of parents is ruled out, and each is
        # compared with all of its subsets.
        families = _subsets(n - 1, most)
        seconds += n * families * families * _PER_PAIR
    return CertifyCost(variables=n, sets=sets, bytes=8 << n, seconds=seconds)


def _subsets(n: int, most: int) -> float:
    """Count the subsets of n elements that have up to `most`; infinity beyond what floats hold."""
    total = term = 1
    for size in range(min(n, most)):
        term = term * (n - size) // (size + 1)
        total += term
        if total > sys.float_info.max:
            return math.inf
    return float(total)


def _most_parents(dataset: Dataset, settings: Settings, arities: Sequence[int]) -> int:
    """Return the largest number of parents that can pay, for any data."""
    cases = dataset.rows if dataset.weights is None else float(dataset.weights.sum())
    penalty = settings.measure.price(cases)
    if penalty is None or not arities or dataset.kind != "discrete":
        return len(arities)
    # Rule 1 of bounds.rs with the smallest arities: parents of r states each multiply the cells.
    most = cases * math.log(arities[-1]) + _largest_weight(settings)
    cells, parents = 1.0, 1
    for arity in arities:
        if penalty * cells * (arities[0] - 1) ** 2 >= most:
            break
        cells *= arity
        parents += 1
    return parents - 1


def _largest_weight(settings: Settings) -> float:
    """Return the most that the prior over edges can add to the gain of one edge."""
    price, likely = settings.prior
    return max([-price, *(odds for *_, odds in likely)])


def _problem(data: Data, options: ScoringOptions, compared: Comparable = None) -> Problem:
    """Make the problem; missing values are imputed as in the result to compare, if there is one."""
    own = {**options, "k": _K, "cache_mb": _CACHE_MB}
    if not isinstance(compared, Optima):
        return Problem.of(data, own)
    seed, earlier = compared.seed, compared.record.completion
    return Problem.of(data, {**own, "random_state": seed}, earlier=earlier)


class _ProofProgress:
    """Shows the progress, and keeps the time."""

    def __init__(
        self, progress: bool | Callable[[CertifyProgress], object] | None, limit: float
    ) -> None:
        self._show = self._print if progress is True else progress or None
        self._printed = ("", 0.0)
        self._started = time.monotonic()
        self.deadline = self._started + limit

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def __call__(self, stage: str, done: int = 0, upper_bound: float | None = None) -> None:
        if self._show is not None:
            self._show(CertifyProgress(stage, done, upper_bound, self.seconds))

    def _print(self, progress: CertifyProgress) -> None:
        if progress.stage != self._printed[0] or progress.seconds - self._printed[1] >= _EVERY:
            self._printed = (progress.stage, progress.seconds)
            print(progress, file=sys.stderr, flush=True)

    def after(self, share: float) -> float:
        """Return the time when this share of the rest will be over."""
        now = time.monotonic()
        return now + share * (self.deadline - now)


def _bounded(prover: Prover, families: Families, incumbent: float) -> Bounded:
    """Bound the score by the linear programme; without all families, by each variable itself."""
    if families.lacking is not None:
        scarce = option({"time": "budget", "memory": "memory_mb"}[families.lacking])
        method = (
            f"what each variable can score at most; {scarce} was too small to find all families"
        )
        return Bounded(families.upper_bound([]), False, None, method)
    found, core = prover.by_programme(families, incumbent), prover.core
    if found.arcs is not None and core.score(found.arcs) <= incumbent + core.tolerance:
        return replace(found, arcs=None)  # not better
    return found


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
        **{name: getattr(settings, name) for name in _SCOPE},
        excluded=excluded_pairs(names, problem.core.excluded),
        compared=incumbents.table(top),
    )


class Incumbents:
    """The networks to compare, with scores and names."""

    def __init__(self, problem: Problem, given: Comparable) -> None:
        self._problem = problem
        self._networks: list[tuple[str, float, EssentialGraph]] = []
        if isinstance(given, Optima):
            self._check(given)
            for optimum in given:
                is_ges = optimum is given.ges and optimum.hits
                self._add(f"{optimum.origin}, GES" if is_ges else optimum.origin, optimum.graph)
        elif isinstance(given, Optimum | EssentialGraph):
            self._add("given", given.graph if isinstance(given, Optimum) else given)
        elif given is not None:
            raise KesError(
                f"optima must be the result of kes.learn, an optimum, or a graph, "
                f"not {type(given).__name__}",
                option="optima",
            )

    def _check(self, optima: Optima) -> None:
        mine, theirs = self._problem.settings, optima.settings
        for name in (*_SCOPE, "penalty", "transform"):
            here, there = getattr(mine, name), getattr(theirs, name)
            if here != there:
                given = there is not None
                advice = f"pass {option(name, there)}" if given else f"leave out {option(name)}"
                raise KesError(
                    f"the optima were found with {name} {there}, not {here}: {advice}", option=name
                )
        self._problem.check(optima.record)

    def _add(self, name: str, graph: EssentialGraph) -> None:
        if set(graph.nodes) != set(self._problem.dataset.names):
            raise KesError(
                f"the nodes of the graph {name!r} are not the columns of the data", option="optima"
            )
        if self._problem.settings.knowledge is not None:
            refuse_inadmissible(graph, self._problem.settings.knowledge, f"the graph {name!r}")
        self._networks.append((name, score_of(self._problem, graph), graph))

    def __bool__(self) -> bool:
        return bool(self._networks)

    def search(self, threads: int, deadline: float) -> None:
        """Search for a network, if there is none.

        If none is found before the deadline, on the clock `time.monotonic`, the network with only
        the required arcs serves.
        """
        if self._networks:
            return
        problem, names = self._problem, self._problem.dataset.names
        driver, keep_going = problem.driver(threads), lambda: time.monotonic() < deadline
        greedy = driver.greedy().search(Budget(runs=1), keep_going)  # the fastest way to a network
        found = driver.search(_INCUMBENT, keep_going, pool=greedy)
        if found:
            best, _ = max(found, key=lambda network: network[1])
            arcs = best.to_dag(len(names))
        else:
            arcs = problem.knowledge[1] if problem.knowledge else []
        self._add("", EssentialGraph.from_dag(names, [(names[a], names[b]) for a, b in arcs]))

    @property
    def best(self) -> tuple[float, EssentialGraph]:
        """Score and model of the best network."""
        _, score, graph = max(self._networks, key=lambda network: network[1])
        return score, graph

    def table(self, upper_bound: float) -> Table:
        """Return the networks to compare, with their gaps to a bound."""
        rows = [(name, score, upper_bound - score) for name, score, _ in self._networks if name]
        return tabulated(("network", "score", "gap"), rows)

    def ties(self, graph: EssentialGraph, score: float) -> int:
        """Return the number of distinct models on the level of a score, including `graph`."""
        core = self._problem.core
        levels = [(_core.level(s, core.tolerance), other) for _, s, other in self._networks]
        here = _core.level(score, core.tolerance)
        return len({graph, *(other for level, other in levels if level == here)})


def score_of(problem: Problem, graph: EssentialGraph) -> float:
    """Score a model as a search would; -inf if it connects collinear columns."""
    place = {name: i for i, name in enumerate(problem.dataset.names)}
    return problem.core.score([(place[a], place[b]) for a, b in graph.to_dag()])
