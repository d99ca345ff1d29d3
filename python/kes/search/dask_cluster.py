"""Runs on many machines, with Dask distributed.

A worker thread gets chunks of run numbers and returns where the runs ended; all threads of a worker
share one cache. The data are a task, too: the scheduler can repeat it when the worker that held
them dies, which scattered data do not survive. Workers read data files themselves; the data are
sent only if one of them cannot.

kes must be installed, in the same version, on the scheduler and on all workers. A stopped search
cancels what is queued; chunks that workers have begun end by themselves. A worker that does not
answer holds up nothing but its own chunks, which others get once Dask gives it up.
"""

# Dask distributed is typed in part only.
# mypy: disable-error-code="no-untyped-call, type-arg"

from __future__ import annotations

import math
import os
import pickle
import queue
import socket
import threading
import time
import uuid
import warnings
import zlib
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from kes import _core
from kes.data.column import State
from kes.data.dataset import Dataset
from kes.data.encoder import read_data
from kes.data.schema import ReadOptions, Schema
from kes.errors import KesError, not_installed
from kes.search.problem import Problem

if TYPE_CHECKING:
    from distributed import Client, Future

    from kes.search.collector import Collector
    from kes.search.driver import NewModels
    from kes.settings import Settings

_CHUNK_SECONDS = 15.0  # long compared with the overhead of a task, short for a waiting user
_LEAST_SECONDS = 0.2
_GROWTH = 4.0  # runs get faster as the cache fills: approach the right size in steps
_IN_QUEUE = 2  # chunks for each thread: one at work, one waiting
_RETRIES = 3  # after the scheduler's own, which are distributed.scheduler.allowed-failures
_TICK = 0.1
_CONNECT_SECONDS = 20.0
_ANSWER_SECONDS = 1.0  # for the scheduler to say how many threads there are


def connect(address: str) -> Client:
    """Connect to the scheduler at an address such as tcp://host:8786, and wait for a worker."""
    try:
        from distributed import Client
    except ImportError:
        raise not_installed("distributed") from None
    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise KesError(
            f"no Dask scheduler answers at {address}: {error}; start one with: dask scheduler",
            option="client",
        ) from error
    try:
        client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
    except TimeoutError:
        client.close()
        raise KesError(
            f"the Dask cluster at {address} has no workers; start one with: dask worker {address}",
            option="client",
        ) from None
    return client


def search(client: Client, problem: Problem, collector: Collector) -> None:
    """Do the pending runs of a collector on a cluster."""
    todo, left = collector.pending(), collector.wanted - collector.done
    flight = Flight(client, problem)
    pace = Pace(collector.budget.seconds)
    tick = collector.receiver()
    try:
        threads = 1
        while not collector.stopped:
            threads = _threads(client) or threads
            while len(flight) < _IN_QUEUE * threads:
                runs = list(islice(todo, pace.chunk(max(left, 1), threads)))
                if not runs:
                    break
                left -= len(runs)
                flight.send(runs)
            done = flight.next()
            if done is None:
                tick([], [], [])
            else:
                pace.learn(len(done.runs), done.seconds)
                collector.receiver()(done.runs, done.models, done.new_models)
    finally:
        flight.cancel()


def _threads(client: Client) -> int | None:
    """Return the number of threads of all workers; None if the scheduler does not answer."""
    try:
        return max(1, sum(client.nthreads(callback_timeout=_ANSWER_SECONDS).values()))
    except TimeoutError:
        return None
    except OSError as error:  # raised by Dask when the scheduler has died
        raise Lost from error


class Lost(KesError):
    """The connection to the cluster is lost."""

    def __init__(self) -> None:
        super().__init__("the connection to the Dask cluster is lost; start it again")


class Pace:
    """Chooses the size of chunks from how long the latest took."""

    def __init__(self, budget: float | None) -> None:
        # Chunks that run when the budget ends are lost, so a short budget needs short chunks.
        self._goal = _CHUNK_SECONDS if budget is None else min(_CHUNK_SECONDS, budget / 10)
        self._size = 1.0
        self._run_seconds = math.inf

    def learn(self, runs: int, seconds: float) -> None:
        """Learn from a chunk that has ended."""
        self._run_seconds = max(seconds / runs, 1e-6)
        self._size = min(self._goal / self._run_seconds, _GROWTH * max(runs, self._size))

    def chunk(self, runs: int, threads: int) -> int:
        """Return the size of the next chunk; all threads get a share of the runs left."""
        share = math.ceil(runs / (_IN_QUEUE * threads))
        least = _LEAST_SECONDS / self._run_seconds  # below it, overhead dominates
        return max(1, min(runs, int(min(self._size, max(share, least)))))


class Flight:
    """The chunks that were sent, and those that came back."""

    def __init__(self, client: Client, problem: Problem) -> None:
        self._client, self._problem = client, problem
        self._place = Place.of(problem)
        self._packed = Parcel.of(problem, self._place).packed()
        self._name = f"kes-{uuid.uuid4().hex}"
        self._data: Future | None = None
        self._chunks: dict[Future, tuple[list[int], int]] = {}
        self._back: queue.SimpleQueue[tuple[Future, Done | Exception]] = queue.SimpleQueue()
        self._sent = 0

    def __len__(self) -> int:
        return len(self._chunks)

    def send(self, runs: list[int], *, losses: int = 0) -> None:
        """Queue a chunk of runs, perhaps again after losses."""
        self._sent += 1
        future = self._client.submit(
            do_runs, self._parcel(), runs, key=f"{self._name}-runs-{self._sent}"
        )
        self._chunks[future] = runs, losses
        # In a thread, as a worker that is frozen never hands over what it has finished.
        threading.Thread(target=self._wait_for, args=[future], daemon=True).start()

    def next(self) -> Done | None:
        """Return a finished chunk, or None if none came back within a tick."""
        try:
            future, result = self._back.get(timeout=_TICK)
        except queue.Empty:
            return None
        runs, losses = self._chunks.pop(future)
        match result:
            case Done():
                return result
            case DataUnavailable():
                self._ship(result)
                self.send(runs, losses=losses)
            case KesError():
                raise result
            case _:
                self._send_again(runs, losses, result)
        return None

    def cancel(self) -> None:
        """Cancel what is still queued."""
        futures = [*self._chunks, *([] if self._data is None else [self._data])]
        with suppress(OSError):  # the scheduler may have died
            self._client.cancel(futures)
        self._chunks.clear()

    def _wait_for(self, future: Future) -> None:
        """Queue the result of a chunk, or why there is none, as soon as it is here."""
        try:
            self._back.put((future, future.result()))
        except Exception as error:
            self._back.put((future, error))

    def _parcel(self) -> Future:
        """Return the task that makes the data; a new one if the cluster has lost it."""
        if self._data is None or self._data.status in ("cancelled", "lost", "error"):
            with warnings.catch_warnings():
                # Dask recommends to scatter large data; see the top of this module.
                warnings.filterwarnings("ignore", message="Sending large graph")
                self._data = self._client.submit(
                    unpack, self._packed, key=f"{self._name}-data-{self._sent}"
                )
        return self._data

    def _ship(self, error: DataUnavailable) -> None:
        """Send the data, once for all workers."""
        if self._place is not None:
            warnings.warn(f"{error}; sending the data to the workers", stacklevel=2)
            self._place, self._data = None, None
            self._packed = Parcel.of(self._problem, None).packed()

    def _send_again(self, runs: list[int], losses: int, error: Exception) -> None:
        from distributed import KilledWorker

        if self._client.status != "running":
            raise Lost from error
        if not isinstance(error, KilledWorker | CancelledError):
            raise KesError(
                f"a Dask worker failed in runs {runs[0]} to {runs[-1]}: "
                f"{type(error).__name__}: {error}",
                option="client",
            ) from error
        if losses == _RETRIES:
            raise KesError(
                f"Dask workers died repeatedly in runs {runs[0]} to {runs[-1]}, perhaps out of "
                "memory: give them more, or lower cache_mb",
                option="cache_mb",
            ) from error
        self.send(runs, losses=losses + 1)


# --- at the workers ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Done:
    """The result of a chunk of runs, as the core gives it, and the seconds it took."""

    runs: list[int]
    models: list[int]
    new_models: NewModels
    seconds: float


class DataUnavailable(KesError):
    """The data file is not available to a worker."""


@dataclass(frozen=True)
class Place:
    """A data file for workers to read, and what they must find there."""

    path: str
    names: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    reading: ReadOptions
    fingerprint: str

    @classmethod
    def of(cls, problem: Problem) -> Place | None:
        """Return the file of a problem; None if no file holds exactly its data."""
        reading, dataset = problem.reading, problem.dataset
        source = reading.source
        if source is None or problem.completion is not None or reading.weights is True:
            return None
        path = os.path.abspath(source)
        if not os.path.exists(path):  # the data of a loaded result may be elsewhere
            return None
        return cls(path, dataset.names, dataset.states, reading, problem.fingerprint)

    def problem(self, settings: Settings, cache_mb: int) -> Problem:
        """Read the data here."""
        where = f"the Dask worker on {socket.gethostname()}"
        try:
            table = read_data(self.path, self.reading, schema=Schema(self.names, self.states))
        except KesError as error:
            raise DataUnavailable(f"{where} cannot read the data: {error}") from None
        problem = Problem(table, settings, cache_mb)
        if problem.fingerprint != self.fingerprint:
            raise DataUnavailable(f"{where} finds other data in {self.path!r}")
        return problem


class Parcel:
    """A problem for a worker, which keeps it in memory with the cache of its threads."""

    def __init__(
        self, data: Dataset | Place, settings: Settings, cache_mb: int, version: str
    ) -> None:
        self._content = (data, settings, cache_mb, version)
        self._lock = threading.Lock()
        self._problem: Problem | None = None

    @classmethod
    def of(cls, problem: Problem, place: Place | None) -> Parcel:
        """Pack a problem; its data are sent along unless workers read them at a place."""
        data = problem.dataset if place is None else place
        return cls(data, problem.settings, problem.cache_mb, _core.__version__)

    def __reduce__(self) -> tuple[Any, ...]:
        return unpack, (self.packed(),)

    def packed(self) -> bytes:
        """Return the parcel as bytes; codes are small numbers, which compress well."""
        return zlib.compress(pickle.dumps(self._content), level=1)

    def problem(self) -> Problem:
        """Return the problem, the same for all threads of this process."""
        with self._lock:
            if self._problem is None:
                data, settings, cache_mb, version = self._content
                if version != _core.__version__:
                    raise KesError(
                        f"a worker has kes {_core.__version__}, but you have {version}: "
                        "install the same version everywhere",
                        option="client",
                    )
                if isinstance(data, Place):
                    problem = data.problem(settings, cache_mb)
                else:
                    problem = Problem(data, settings, cache_mb)
                problem.core  # noqa: B018 - made here, under the lock, so that there is only one
                self._problem = problem
            return self._problem


def unpack(packed: bytes) -> Parcel:
    """Unpack a parcel."""
    return Parcel(*pickle.loads(zlib.decompress(packed)))


def do_runs(parcel: Parcel, runs: list[int]) -> Done:
    """Do a chunk of runs, on one thread."""
    started = time.monotonic()
    done = Done([], [], [], 0.0)

    def on_runs(runs: list[int], models: list[int], new_models: NewModels) -> bool:
        done.runs.extend(runs)
        done.models.extend(models)
        done.new_models.extend(new_models)
        return True

    parcel.problem().driver(1).do_runs(runs, on_runs)
    return replace(done, seconds=time.monotonic() - started)
