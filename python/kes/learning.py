"""From a table to local optima: the search that everything else is about."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from kes.data.dataset import Data, Weights
from kes.data.encoding import encode
from kes.errors import Interrupted, KesError
from kes.progress import Progress, reporting
from kes.results.optima import Optima
from kes.search.collector import Collector, Limits
from kes.search.problem import DEFAULT_CACHE_MB, Study
from kes.search.record import Record
from kes.search.start import starting
from kes.settings import Sampled, Settings, megabytes, seconds, whole

if TYPE_CHECKING:
    from distributed import Client

    from kes.graph import EssentialGraph

_THREADS_PER_CORE = 4  # more only cost memory, and a system gives only so many
_AT_ONCE = 100_000  # runs that the core is asked for: a list of millions would be large


def learn(
    data: Data,
    *,
    k: float = 0.8,
    runs: int = 100,
    criterion: str = "bic",
    ess: float = 1.0,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    max_parents: int | None = None,
    two_phase: bool = False,
    neighbourhood: str | Sampled = "exact",
    weights: Weights = None,
    missing: str = "error",
    start: EssentialGraph | Sequence[tuple[str, str]] | None = None,
    cache_mb: int = DEFAULT_CACHE_MB,
    budget: float | str | None = None,
    patience: int | None = None,
    progress: bool | Callable[[Progress], object] | None = None,
    client: Client | None = None,
) -> Optima:
    """Learn Bayesian-network structure by k-greedy equivalence search, many times over.

    Each run starts from the empty model (or `start`) and moves, again and again, to the best of
    a random share `k` of the neighbours that score higher, until there is none. It ends in a
    local optimum. The result holds the distinct optima of all runs [Nielsen 2003].

    Run i depends on nothing but the data, the settings and `random_state`: not on the number of
    threads or machines, on the other runs, or on the order of the rows.

    Parameters
    ----------
    data
        Table of discrete variables: pandas, polars, pyarrow or numpy (columns x0, x1, ...), the
        path of a CSV or Parquet file, or a `kes.data.Dataset`.
    k : float
        Greediness, from 0 (SES: a random improvement) to 1 (GES: the best one).
    runs : int
        Number of runs.
    criterion : {"bic", "aic", "bdeu"}
        What to maximise; scores are natural logarithms.
    ess : float
        Equivalent sample size; only bdeu uses it.
    random_state : int or None
        Seed. None draws one; `Optima.seed` tells which.
    n_jobs : int or None
        Threads; None or -1 for all usable cores, and never more than four for each of them.
        Does not change the result.
    max_parents : int or None
        Largest number of parents of a variable in any DAG of a model.
    two_phase : bool
        Only additions as long as one improves, then only removals: the classical order of GES.
        A run may then end short of a local optimum (`Optimum.is_local_optimum`).
    neighbourhood : {"exact", "sampled"} or Sampled
        All neighbours, or draws of them as in section 4.1 of the paper.
    weights : str, array or None
        How often each row counts, as a column name or numbers: counts, or any non-negative
        reals such as probabilities times the number of cases.
    missing : {"error", "drop", "state"}
        What to do with missing values: refuse them, leave out the rows, or make "missing" a
        state of its own.
    start : EssentialGraph, list of arcs (parent, child), or None
        Where every run starts; by default at the model without edges.
    cache_mb : int
        Memory for counts that runs share. Does not change the result.
    budget : float, str or None
        Stop after this time: seconds, or a text such as "30s", "5m", "1h30m". At least one run
        is finished.
    patience : int or None
        Stop after this many runs in a row without a better score.
    progress : None, True or callable
        True shows a bar. A callable gets a `kes.Progress` at most ten times a second.
    client : distributed.Client or None
        Does the runs on a Dask cluster (needs the extra ``cluster``). Each thread of its workers
        does runs of its own, all threads of a worker share one cache, and `n_jobs` is not used.

    Returns
    -------
    Optima
        Stopped early (by `budget` or `patience`), it holds runs 0 to p-1 and is the same as if
        p runs had been asked for.

    Raises
    ------
    KesError
        If the data or an option cannot be used; the message says what to do.
    Interrupted
        On Ctrl-C, with what was found as ``.optima`` (None before the first run has ended).

    Examples
    --------
    >>> import kes
    >>> optima = kes.learn(kes.datasets.alarm(rows=1000), k=0.4, runs=20)
    >>> optima.best.score >= optima.ges.score
    True
    """
    wanted = whole("runs", runs, least=1)
    memory = megabytes("cache_mb", cache_mb)
    execution = Execution.checked(n_jobs, budget, patience, progress, client)
    settings = Settings.checked(
        k=k,
        criterion=criterion,
        ess=ess,
        random_state=random_state,
        max_parents=max_parents,
        two_phase=two_phase,
        neighbourhood=neighbourhood,
    )
    dataset = encode(data, weights=weights, missing=missing)
    study = Study(dataset, starting(settings, start, dataset.names), memory)
    return search(study, wanted, execution)


@dataclass(frozen=True)
class Execution:
    """How to do runs, which does not matter for how they end.

    Attributes
    ----------
    threads : int
        Threads on this machine.
    limits : Limits
        When to stop early.
    progress : None, bool or callable
        As in `learn`.
    client : distributed.Client or None
        The cluster, if not this machine.
    """

    threads: int
    limits: Limits
    progress: bool | Callable[[Progress], object] | None = None
    client: Any = None

    @classmethod
    def checked(
        cls, n_jobs: object, budget: object, patience: object, progress: object, client: object
    ) -> Execution:
        """Make it of what a user wrote, or say what is wrong with it."""
        limits = Limits(
            budget=None if budget is None else seconds("budget", budget),
            patience=None if patience is None else whole("patience", patience, least=1),
        )
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise KesError(
                f"progress must be None, True or a function of a kes.Progress, not {progress!r}"
            )
        if client is not None:
            from kes.search import cluster

            cluster.check_client(client)
        return cls(_threads(n_jobs), limits, progress, client)


def search(
    study: Study,
    wanted: int,
    execution: Execution,
    *,
    base: Record | None = None,
    watchers: Sequence[Callable[[Collector], None]] = (),
) -> Optima:
    """Do runs until there are as many as wanted, or until a limit is reached.

    Parameters
    ----------
    base : Record or None
        What earlier searches of this study found, to be continued.
    watchers : sequence of callables
        Called with the collector after each batch of runs.
    """
    started = time.monotonic()
    collector: Collector | None = None
    with reporting(execution.progress) as report:
        try:
            if base is None:
                base = study.blank(lambda: report(Progress.none(wanted, started)))
            elif wanted > len(base.runs):
                base = replace(base, improvement=None)  # it was made of fewer runs
            collector = Collector(
                base,
                wanted,
                limits=execution.limits,
                watchers=[lambda now: report(Progress.of(now)), *watchers],
                started=started,
            )
            _finish(study, collector, execution)
        except KeyboardInterrupt:
            raise Interrupted(_result(study, collector)) from None
        optima = _result(study, collector)
        assert optima is not None, "a search ends with at least one run"
        report(Progress.end(optima, collector), final=True)
    return optima


def _finish(study: Study, collector: Collector, execution: Execution) -> None:
    """Do the pending runs, wherever."""
    if execution.client is None:
        while not collector.stopped:
            runs = list(islice(collector.pending(), _AT_ONCE))
            study.search(runs, collector.receiver(), n_jobs=execution.threads)
    elif not collector.stopped:
        from kes.search import cluster

        cluster.search(execution.client, study, collector)


def _result(study: Study, collector: Collector | None) -> Optima | None:
    """Return what was found; None if no run has ended."""
    if collector is None or collector.ready == 0:
        return None
    return Optima(collector.record(), study=study, seconds=collector.seconds)


def _threads(n_jobs: object) -> int:
    """Return the number of threads that `n_jobs` asks for, or as many as make sense."""
    cores = _usable_cores()
    if n_jobs is None or n_jobs == -1:
        return cores
    return min(whole("n_jobs", n_jobs, least=1), _THREADS_PER_CORE * cores)


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
