"""How the work is done, which does not matter for what is found: threads, limits, displays."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kes.errors import KesError
from kes.progress import Progress
from kes.search import dask_cluster
from kes.search.collector import Limits
from kes.validation import callback, duration, integer

if TYPE_CHECKING:
    from kes.search.record import Record

_THREADS_PER_CORE = 4  # more only cost memory, and a system gives only so many


@dataclass(frozen=True)
class Execution:
    """How to do a search.

    Attributes
    ----------
    threads : int
        Threads on this machine.
    limits : Limits
        When to stop early.
    progress : None, bool or callable
        As in `kes.learn`.
    client : distributed.Client or None
        The cluster that does the runs, if not this machine.
    """

    threads: int
    limits: Limits
    progress: bool | Callable[[Progress], object] | None = None
    client: Any = None

    @classmethod
    def checked(
        cls,
        *,
        n_jobs: object = None,
        budget: object = None,
        patience: object = None,
        progress: object = None,
        client: object = None,
    ) -> Execution:
        """Make it of what a user wrote, or say what is wrong with it."""
        limits = Limits(
            budget=None if budget is None else duration("budget", budget),
            patience=None if patience is None else integer("patience", patience, minimum=1),
        )
        if client is not None:
            dask_cluster.check_client(client)
        return cls(threads(n_jobs), limits, callback("progress", progress), client)

    def since(self, started: float) -> Execution:
        """Return how to do the rest of what has begun at this time of the monotonic clock."""
        if self.limits.budget is None:
            return self
        left = self.limits.budget - (time.monotonic() - started)
        return replace(self, limits=replace(self.limits, budget=left))


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search, with the record of what was found; None before a run has ended.

    The record may have runs that are ahead of others.
    """

    def __init__(self, record: Record | None) -> None:
        super().__init__()
        self.record = record


class SearchLost(KesError):
    """The cluster is lost, with the record of what was found; None before a run has ended.

    The record may have runs that are ahead of others.
    """

    def __init__(self, message: str, record: Record | None) -> None:
        super().__init__(message)
        self.record = record


def threads(n_jobs: object) -> int:
    """Return the number of threads that `n_jobs` asks for, or as many as make sense."""
    cores = _usable_cores()
    if n_jobs is None or n_jobs == -1:
        return cores
    return min(integer("n_jobs", n_jobs, minimum=1), _THREADS_PER_CORE * cores)


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
