"""The best score there is, or how much higher it can be: a certificate for what a search found.

Up to about 25 variables the global optimum is found by dynamic programming over sets of variables;
with more of them its score is bounded, and often met, by a linear programme (`kes.bound`). Both
need all families that can be part of a best network. A parent set is left out only if a bound of
the criterion proves that a subset scores at least as much, so the result holds for all networks,
with any number of parents, unless `max_parents` is given.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from kes import _core
from kes.certificate import Certificate, CertifyProgress, Estimate
from kes.data.core import core_errors, level
from kes.data.dataset import Data, Dataset, Weights
from kes.data.encoding import encode
from kes.errors import KesError
from kes.graph import EssentialGraph
from kes.learning import _threads
from kes.search.problem import Study
from kes.settings import Settings, megabytes, seconds
from kes.table import Table

if TYPE_CHECKING:
    from kes._core import Families
    from kes.bound import Network
    from kes.results.improved import Improved
    from kes.results.optima import Optima
    from kes.results.optimum import Optimum

    Known: TypeAlias = Optima | Improved | Optimum | EssentialGraph | None

_MEMORY_MB = 2048
_CACHE_MB = 64
_TIME_LIMIT = 600.0
_RUNS = 100  # of the search for a network to start a bound from
_EVERY = 5.0  # seconds between lines of progress
_PER_SET, _PER_ROW, _PER_STEP = 2e-6, 4e-9, 2e-9  # seconds, measured
_QUICK_MB = 64  # 23 variables: done in a second or two, so worth a try again and again


def certify(
    data: Data,
    *,
    criterion: str = "bic",
    ess: float = 1.0,
    max_parents: int | None = None,
    optima: Known = None,
    weights: Weights = None,
    missing: str = "error",
    n_jobs: int | None = None,
    memory_mb: int = _MEMORY_MB,
    time_limit: float | str = _TIME_LIMIT,
    progress: bool | Callable[[CertifyProgress], object] | None = None,
) -> Certificate:
    """Find the highest score of all networks, or bound it, and say how far others are below.

    Parameters
    ----------
    data, criterion, ess, weights, missing
        As in `kes.learn`.
    max_parents : int or None
        Look only at networks in which no variable has more parents; None: at all networks.
    optima : Optima, Improved, Optimum, EssentialGraph or None
        What to compare. Their best network also helps where the optimum is bounded only; without
        any, a short search finds one.
    n_jobs : int or None
        Threads; None or -1 for all usable cores. Does not change the result.
    memory_mb : int
        Memory to use, approximately. 25 variables that depend on each other need 256 MB, and each
        one more twice as much.
    time_limit : float or str
        Stop lowering a bound after so long; the bound reached until then is valid. Seconds, or a
        text such as "10m".
    progress : None, True or callable
        True writes lines to standard error. A callable gets a `CertifyProgress` about ten times a
        second.

    Returns
    -------
    Certificate

    Raises
    ------
    KesError
        If the data or an option cannot be used, or the families need more memory or time than
        allowed; the message says what to do.

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
    limit = seconds("time_limit", time_limit)
    settings = _settings(criterion, ess, max_parents)
    study = Study(encode(data, weights=weights, missing=missing), settings, _CACHE_MB)
    reporter = _Reporter(progress, limit)
    rivals = _Rivals(study, optima)
    work = _Work(study, _threads(n_jobs), memory, reporter)
    reporter(str(_estimate(study.dataset, settings)))
    families = work.find_families()
    solved = work.solve(families, memory)
    if solved is None:
        found = _bounded(work, rivals, families)
    else:
        found = _Found(solved[0], None, "dynamic programming over all subsets")
    return _certificate(work, rivals, families, found)


def estimate(
    data: Data,
    *,
    criterion: str = "bic",
    ess: float = 1.0,
    max_parents: int | None = None,
    weights: Weights = None,
    missing: str = "error",
) -> Estimate:
    """Say what `certify` may need for these data, without counting anything.

    For BIC and AIC, one more parent cannot pay once its penalty exceeds N ln r: that limits the
    number of parents whatever the data say.
    """
    settings = _settings(criterion, ess, max_parents)
    return _estimate(encode(data, weights=weights, missing=missing), settings)


def _estimate(dataset: Dataset, settings: Settings) -> Estimate:
    arities = sorted(r for r in dataset.cardinalities if r > 1)
    n = len(arities)
    most = min(_most_parents(dataset, settings, arities), max(n - 1, 0))
    if settings.max_parents is not None:
        most = min(most, settings.max_parents)
    sets = float(sum(math.comb(n, size) for size in range(most + 2)))
    counting = sets * (_PER_SET + _PER_ROW * dataset.rows)
    solving = 2.0**n * n * _PER_STEP if n <= _core.MAX_COMPONENT else 0.0
    return Estimate(variables=n, sets=sets, bytes=8 << n, seconds=counting + solving)


def _most_parents(dataset: Dataset, settings: Settings, arities: Sequence[int]) -> int:
    """Return how many parents can pay at most, whatever the data say."""
    cases = dataset.rows if dataset.weights is None else float(dataset.weights.sum())
    if settings.criterion == "bdeu" or not arities:
        return len(arities)
    penalty = 0.5 * math.log(cases) if settings.criterion == "bic" else 1.0
    # Rule 1 of bounds.rs with the smallest arities: parents of r states each multiply the cells.
    cells, parents = 1.0, 1
    for arity in arities:
        if penalty * cells * (arities[0] - 1) ** 2 >= cases * math.log(arities[-1]):
            break
        cells *= arity
        parents += 1
    return parents - 1


def _settings(criterion: str, ess: float, max_parents: int | None) -> Settings:
    return Settings.checked(
        k=0.4,
        criterion=criterion,
        ess=ess,
        random_state=0,
        max_parents=max_parents,
        two_phase=False,
        neighbourhood="exact",
    )


@dataclass(frozen=True)
class _Found:
    """A network, and a bound on the score of all others; None if there is no better one."""

    arcs: Network
    upper_bound: float | None
    method: str


class _OutOfTime(Exception):
    """The time limit was reached in native work."""


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

    def counting(self, stage: str) -> Callable[[int], None]:
        """Return a callback for the core, which ends the work when the time is over."""

        def on_progress(done: int) -> None:
            self(stage, done)
            if time.monotonic() > self.deadline:
                raise _OutOfTime

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
    """The two parts that the core does."""

    study: Study
    threads: int
    memory_mb: int
    reporter: _Reporter

    def find_families(self) -> Families:
        limit = self.study.settings.max_parents
        less = "max_parents=3" if limit is None or limit > 3 else f"max_parents={max(limit - 1, 0)}"
        try:
            with core_errors():
                return self.study.problem.families(
                    self.reporter.counting("counting sets"),
                    max_parents=limit,
                    n_jobs=self.threads,
                    memory_mb=self.memory_mb,
                )
        except MemoryError:
            reason = f"more memory than memory_mb={self.memory_mb}"
        except _OutOfTime:
            reason = "more time than the time limit"
        raise KesError(
            f"the families of these {len(self.study.dataset.names)} variables need {reason}; "
            f"allow more, use fewer variables, or ask only about networks with few parents, "
            f"such as {less}"
        )

    def solve(self, families: Families, memory_mb: int) -> tuple[Network, float] | None:
        """Return the best network made of the families, unless that needs too much."""
        try:
            return families.optimum(
                self.reporter.counting("solving subsets"),
                n_jobs=self.threads,
                memory_mb=min(memory_mb, self.memory_mb),
            )
        except (MemoryError, _OutOfTime):
            return None


class _Rivals:
    """The networks to compare, with scores and names."""

    def __init__(self, study: Study, given: Known) -> None:
        from kes.results.improved import Improved
        from kes.results.optima import Optima
        from kes.results.optimum import Optimum

        self._study = study
        self.networks: list[tuple[str, float, EssentialGraph]] = []
        if isinstance(given, Optima) and given.improved is not None:
            given = given.improved
        if isinstance(given, Improved):
            self._check(given.optima)
            self._add("improved best", given.best.graph)
            given = given.optima
        if isinstance(given, Optima):
            self._check(given)
            self._add("GES", given.ges.graph)
            for optimum in given:
                self._add(f"run {optimum.first_run}", optimum.graph)
        elif isinstance(given, Optimum):
            self._add("given", given.graph)
        elif isinstance(given, EssentialGraph):
            self._add("given", given)
        elif given is not None:
            raise KesError(
                f"optima must be the result of kes.learn or of improve, an optimum, or a graph, "
                f"not {type(given).__name__}"
            )

    def _check(self, optima: Optima) -> None:
        mine, theirs = self._study.settings, optima.settings
        for name in ("criterion", "ess", "max_parents"):
            here, there = getattr(mine, name), getattr(theirs, name)
            if here != there:
                raise KesError(
                    f"the optima were found with {name} {there}, not {here}: pass {name}={there!r}"
                )
        self._study.check(optima._record)

    def _add(self, name: str, graph: EssentialGraph) -> None:
        if set(graph.nodes) != set(self._study.dataset.names):
            raise KesError(f"the graph of {name!r} has other nodes than the data have columns")
        self.networks.append((name, score_of(self._study, graph), graph))

    def add_search(self) -> None:
        """Search for a network, if there is none."""
        from kes.learning import Execution, search

        if not self.networks:
            optima = search(self._study, _RUNS, Execution.checked(None, None, None, None, None))
            self._add("", optima.improve().best.graph)

    @property
    def best(self) -> tuple[float, EssentialGraph]:
        _, score, graph = max(self.networks, key=lambda network: network[1])
        return score, graph

    def table(self, upper_bound: float) -> Table:
        named = [network for network in self.networks if network[0]]
        return Table(
            {
                "network": [name for name, _, _ in named],
                "score": [score for _, score, _ in named],
                "gap": [upper_bound - score for _, score, _ in named],
            }
        )

    def ties(self, graph: EssentialGraph, score: float) -> int:
        """Return the number of distinct models on the level of a score, including `graph`."""
        tolerance = self._study.problem.tolerance
        here = level(score, tolerance)
        tied = {other for _, theirs, other in self.networks if level(theirs, tolerance) == here}
        return len(tied | {graph})


def score_of(study: Study, graph: EssentialGraph) -> float:
    """Score of a model, as a search would compute it."""
    return study.problem.score(_arcs(study.dataset.names, graph.to_dag()))


def _arcs(names: Sequence[str], arcs: Iterable[tuple[str, str]]) -> Network:
    place = {name: i for i, name in enumerate(names)}
    return [(place[a], place[b]) for a, b in arcs]


def _bounded(work: _Work, rivals: _Rivals, families: Families) -> _Found:
    """Find out as much as possible where not all variables can be solved together."""
    from kes.bound import Means, upper_bound

    rivals.add_search()
    study, reporter = work.study, work.reporter
    known, graph = rivals.best
    means = Means(
        known=known,
        tolerance=study.problem.tolerance,
        solve=lambda fewer: work.solve(fewer, _QUICK_MB),
        deadline=reporter.deadline,
        report=lambda bound: reporter("lowering the bound", upper_bound=bound),
    )
    found = upper_bound(families, means)
    arcs = found.arcs
    if arcs is None or study.problem.score(arcs) <= known + means.tolerance:
        arcs = _arcs(study.dataset.names, graph.to_dag())
    return _Found(arcs, None if found.exact else found.upper_bound, found.method)


def _certificate(work: _Work, rivals: _Rivals, families: Families, found: _Found) -> Certificate:
    study, names = work.study, work.study.dataset.names
    graph = EssentialGraph.from_dag(names, [(names[a], names[b]) for a, b in found.arcs])
    score = score_of(study, graph)
    top = score if found.upper_bound is None else max(found.upper_bound, score)
    return Certificate(
        score=score,
        graph=graph,
        upper_bound=top,
        proven=found.upper_bound is None,
        method=found.method,
        seconds=work.reporter.seconds,
        counted=families.counted,
        families=sum(families.sizes),
        ties=rivals.ties(graph, score),
        criterion=study.settings.criterion,
        ess=study.settings.ess,
        max_parents=study.settings.max_parents,
        compared=rivals.table(top),
    )
