"""Resources of a search, which do not change what it finds: threads, display, cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kes.errors import KesError
from kes.native import cores
from kes.progress import Progress
from kes.search import dask_cluster
from kes.validation import callback, integer

if TYPE_CHECKING:
    from kes.search.record import Record

_THREADS_PER_CORE = 4  # more only cost memory, and the system limits their number


@dataclass(frozen=True)
class Execution:
    """Resources of a search.

    Attributes
    ----------
    threads : int
        Threads on this machine.
    progress : None, bool or callable
        As in `kes.learn`.
    client : distributed.Client or None
        The cluster that does the runs, if not this machine.
    """

    threads: int
    progress: bool | Callable[[Progress], object] | None = None
    client: Any = None

    @classmethod
    def parse(
        cls, *, n_jobs: object = None, progress: object = None, client: object = None
    ) -> Execution:
        """Validate user input."""
        if client is not None:
            dask_cluster.check_client(client)
        return cls(threads(n_jobs), callback("progress", progress), client)

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Execution:
        """Return the resources that options of `kes.learn` set."""
        names = ("n_jobs", "progress", "client")
        return cls.parse(**{name: options[name] for name in names if name in options})


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search, with the record of what was found; None before a run has ended.

    The record may hold runs that are ahead of others.
    """

    def __init__(self, record: Record | None) -> None:
        super().__init__()
        self.record = record


class SearchLost(KesError):
    """The connection to the cluster is lost; `record` is as in `SearchInterrupted`."""

    def __init__(self, message: str, record: Record | None) -> None:
        super().__init__(message)
        self.record = record


def threads(n_jobs: object) -> int:
    """Return the number of threads for `n_jobs`: by default one for each usable core."""
    if n_jobs is None or n_jobs == -1:
        return cores()
    return min(integer("n_jobs", n_jobs, minimum=1), _THREADS_PER_CORE * cores())
