"""Markov chains over models: run them in batches of rounds, and continue them from a file.

Several chains start at different local optima, hop between them, and have a second walker at a
higher temperature: see the core's module `posterior/chain`. A batch depends on the models it begins
with, the seed and its number only, so that chains of any length begin with the same batches.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes import _core
from kes.budget import Budget
from kes.errors import KesError, option
from kes.files import load, write_file
from kes.graph.core_graph import CoreGraph
from kes.search.problem import Problem

Scored: TypeAlias = tuple[CoreGraph, float]
Triple: TypeAlias = tuple[int, int, int]

CHAINS = 4
BETAS = (1.0, 0.6)
BATCH = 20  # rounds of the shortest batch
_LONGEST = 5  # times as long
_BATCHES = 20  # at least, if batches are to be longer than the shortest
_SEARCH = Budget(runs=40, tasks=200)
_LISTED, _NEAR = 50, 20.0  # optima to hop between, and nats below the best
_SECONDS = 30.0  # between two writings of the file
_DAMAGED = (
    *(ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError),
    *(EOFError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error),
)
"""Exceptions of reading a damaged file; NotImplementedError is a RuntimeError."""

_MATRICES = ("edges", "arcs", "ancestors", "blankets")


@dataclass(frozen=True)
class ChainWork:
    """Resources and progress callback of chains: `report(rounds done)` says whether to go on."""

    threads: int
    report: Callable[[int], bool]
    file: Path | None = None


@dataclass(frozen=True, eq=False)
class ChainBatch:
    """The results of chains in some rounds.

    Attributes
    ----------
    shares : mapping
        By name ("edges", "arcs", "ancestors", "blankets"): a matrix of shares for each chain.
    v_structures, classes : sequence
        Of each chain: shares of v-structures, and in how many rounds it ended in each model.
    jumps : int
        Jumps of all chains.
    """

    shares: Mapping[str, NDArray[np.float64]]
    v_structures: tuple[dict[Triple, float], ...]
    classes: tuple[Counter[CoreGraph], ...]
    jumps: int

    @classmethod
    def of(cls, found: Sequence[_core.Chain], n: int) -> ChainBatch:
        """Convert the results of the core."""
        shares = {}
        for name in _MATRICES:
            values = np.array([getattr(chain, name) for chain in found], dtype=np.float64)
            shares[name] = values.reshape(len(found), -1, n, n).mean(axis=1)
        shares["edges"] = shares["edges"] + shares["edges"].transpose(0, 2, 1)
        return cls(
            shares,
            tuple(dict(chain.v_structures) for chain in found),
            tuple(Counter({CoreGraph.of(g): count for g, count in c.classes}) for c in found),
            sum(chain.jumps for chain in found),
        )

    def is_sound(self, n: int) -> bool:
        """Tell whether there is something of every chain, about n variables."""
        return (
            all(own.shape == (CHAINS, n, n) for own in self.shares.values())
            and all(np.isfinite(own).all() for own in self.shares.values())
            and len(self.v_structures) == len(self.classes) == CHAINS
            and isinstance(self.jumps, int)
        )


@dataclass(frozen=True, eq=False)
class ChainRecord:
    """The current state of chains.

    Attributes
    ----------
    key : str
        Identity of data, settings and lengths: chains with another key cannot go on from here.
    duration : float
        How long a round is, as the pilot has found.
    rounds : int
        Rounds of a batch.
    listed : sequence
        The models that chains hop between.
    state : sequence
        The models of the walkers of each chain.
    batches : sequence
        What was found, from the start.
    """

    key: str
    duration: float
    rounds: int
    listed: tuple[CoreGraph, ...]
    state: tuple[tuple[CoreGraph, ...], ...]
    batches: tuple[ChainBatch, ...] = field(default=(), repr=False)

    @property
    def done(self) -> int:
        """Rounds done by each chain."""
        return self.rounds * len(self.batches)

    # --- file ---

    def to_bytes(self) -> bytes:
        """Return the content of a file."""
        rest = [
            self.key,
            self.duration,
            self.rounds,
            self.listed,
            self.state,
            [
                (
                    [list(own.items()) for own in batch.v_structures],
                    [list(own.items()) for own in batch.classes],
                    batch.jumps,
                )
                for batch in self.batches
            ],
        ]
        arrays = {name: np.array([b.shares[name] for b in self.batches]) for name in _MATRICES}
        text = np.frombuffer(json.dumps(rest).encode(), dtype=np.uint8)
        content = io.BytesIO()
        np.savez_compressed(content, rest=text, **arrays)  # type: ignore[arg-type]
        return content.getvalue()

    @classmethod
    def parse(cls, n: int, content: bytes) -> ChainRecord:
        """Read the record in a file, which must be of n variables."""
        try:
            record = cls._parsed(content)
            is_sound = record._is_sound(n)
        except _DAMAGED:
            is_sound = False
        if not is_sound:
            raise KesError("this is no file of chains, or it is damaged; use another file")
        return record

    def _is_sound(self, n: int) -> bool:
        """Tell whether all parts have the sizes and values that chains can go on from."""
        graphs = [*self.listed, *(model for chain in self.state for model in chain)]
        graphs += [model for batch in self.batches for own in batch.classes for model in own]
        ends = {node for graph in graphs for edges in graph for edge in edges for node in edge}
        triples = [t for batch in self.batches for own in batch.v_structures for t in own]
        return (
            isinstance(self.key, str)
            and math.isfinite(self.duration)
            and self.duration > 0
            and isinstance(self.rounds, int)
            and self.rounds > 0
            and bool(self.listed)
            and [len(chain) for chain in self.state] == [len(BETAS)] * CHAINS
            and all(node in range(n) for node in ends.union(*triples))
            and all(batch.is_sound(n) for batch in self.batches)
        )

    @classmethod
    def _parsed(cls, content: bytes) -> ChainRecord:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            key, duration, rounds, listed, state, others = json.loads(arrays["rest"].tobytes())
            matrices = {name: arrays[name] for name in _MATRICES}
        batches = tuple(
            ChainBatch(
                {name: matrix[at] for name, matrix in matrices.items()},
                tuple({_triple(t): share for t, share in own} for own in v_structures),
                tuple(Counter({_graph(g): count for g, count in own}) for own in classes),
                jumps,
            )
            for at, (v_structures, classes, jumps) in enumerate(others)
        )
        walkers = tuple(tuple(map(_graph, chain)) for chain in state)
        return cls(key, duration, rounds, tuple(map(_graph, listed)), walkers, batches)


def _triple(values: Sequence[int]) -> Triple:
    a, c, b = values
    return a, c, b


def _graph(values: Sequence[Sequence[Sequence[int]]]) -> CoreGraph:
    directed, undirected = (tuple((a, b) for a, b in edges) for edges in values)
    return CoreGraph(directed, undirected)


class Chains:
    """Chains for a problem under a prior; `record` is what they have found so far.

    `rounds` is the planned length; the length of a batch follows from it.
    """

    def __init__(
        self,
        problem: Problem,
        prior: str,
        rounds: int,
        work: ChainWork,
        optima: Sequence[Scored] = (),
    ) -> None:
        self._problem, self._prior, self._work, self._optima = problem, prior, work, optima
        self._blocks = min(max(rounds // (BATCH * _BATCHES), 1), _LONGEST)
        self._kept = self._stored()
        self.record: ChainRecord | None = None
        self._written = time.monotonic()

    def run(self, rounds: int) -> bool:
        """Go on to a number of rounds; return whether the time sufficed."""
        if self.record is None and not self._begin():
            return False
        try:
            while self._record.done < rounds:
                if not self._batch():
                    return False
                if time.monotonic() - self._written > _SECONDS:
                    self._write()
        finally:
            self._write()
        return True

    def _begin(self) -> bool:
        """Take up the chains of the file, or find models to start from, and their pace."""
        if self._kept is not None:
            self.record = self._kept
            return True
        keep_going = partial(self._work.report, 0)
        optima = self._optima
        if not optima:
            optima = self._problem.driver(self._work.threads).search(_SEARCH, keep_going)
        if not optima:
            raise KesError(
                f"no model was found in time to start from: raise {option('budget')}",
                option="budget",
            )
        best = sorted(dict(optima).items(), key=lambda model: -model[1])
        near = [graph for graph, score in best if score >= best[0][1] - _NEAR][:_LISTED]
        places = np.linspace(0, len(near) - 1, CHAINS).round().astype(int)
        state = tuple((near[place],) * len(BETAS) for place in places)
        duration = self._problem.core.pilot(
            lambda _: keep_going(), near[0], self._problem.knowledge, **self._options(1.0, 0)
        )
        if duration is None:
            return False
        self.record = ChainRecord(self._key, duration, self._blocks * BATCH, tuple(near), state)
        return True

    def _batch(self) -> bool:
        before = self._record
        found = self._problem.core.chains(
            partial(self._report, before.done * CHAINS),
            before.state,
            before.listed,
            self._problem.knowledge,
            **self._options(before.duration, len(before.batches) * self._blocks),
        )
        if not found:  # the time is over
            return False
        batch = ChainBatch.of(found, len(self._problem.dataset.names))
        state = tuple(tuple(map(CoreGraph.of, chain.state)) for chain in found)
        self.record = replace(before, state=state, batches=(*before.batches, batch))
        return True

    def _report(self, before: int, rounds: int) -> bool:
        return self._work.report((before + rounds) // CHAINS)

    def _options(self, duration: float, before: int) -> dict[str, Any]:
        settings = self._problem.settings
        return {
            "prior": self._prior,
            "betas": list(BETAS),
            "seed": settings.seed,
            "duration": duration,
            "rounds": BATCH,
            "before": before,
            "blocks": self._blocks,
            "max_parents": settings.max_parents,
            "n_jobs": self._work.threads,
        }

    @property
    def _record(self) -> ChainRecord:
        if self.record is None:
            raise RuntimeError("the chains have not begun")
        return self.record

    # --- file ---

    @cached_property
    def _key(self) -> str:
        """The identity of what the chains depend on, apart from their length."""
        settings = self._problem.settings
        parts = (
            self._problem.fingerprint,
            settings.measure,
            settings.prior,
            self._problem.knowledge,
            settings.max_parents,
            settings.seed,
            self._prior,
            self._blocks,
            sorted(self._optima),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def _stored(self) -> ChainRecord | None:
        file = self._work.file
        if file is None or not file.exists():
            return None
        record = load(file, partial(ChainRecord.parse, len(self._problem.dataset.names)))
        if record.key != self._key:
            raise KesError(
                f"{file} has chains of other data, settings or lengths: use another file",
                option="resume",
                file=str(file),
            )
        return record

    def _write(self) -> None:
        self._written = time.monotonic()
        if self._work.file is not None:
            write_file(self._work.file, self._record.to_bytes())
