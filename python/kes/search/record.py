"""What a search found, as plain data: the content of a result file.

Everything else about a result (the order of the optima, hits, score levels) follows from a
record. Two searches with the same settings on the same data and the same number of runs give
equal records, whoever did the runs and in whatever order they ended.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from kes.data.core import level
from kes.data.dataset import State
from kes.settings import CoreGraph, Settings

Edges: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Model:
    """A model in which runs ended: its essential graph over variable numbers, and its score."""

    directed: Edges
    undirected: Edges
    score: float
    is_local_optimum: bool

    @classmethod
    def from_core(cls, graph: CoreGraph, score: float, is_local_optimum: bool) -> Model:
        """Return the model that the core describes."""
        directed, undirected = graph
        return cls(tuple(directed), tuple(undirected), score, is_local_optimum)

    @property
    def edges(self) -> tuple[Edges, Edges]:
        """Directed and undirected edges: the identity of the model."""
        return self.directed, self.undirected


@dataclass(frozen=True, slots=True)
class Offspring:
    """A model that was made of others.

    Attributes
    ----------
    how : str
        "recombined", "refined" or "perturbed".
    parents : tuple of int
        Places of the models it was made of: those of the runs by their numbers, then GES, then
        other offspring.
    task : int
        Number of the task that found it, from 0.
    """

    model: Model
    how: str
    parents: tuple[int, ...]
    task: int


@dataclass(frozen=True, slots=True)
class Improvement:
    """What was made of the models of a record: the best of it, with all ancestors.

    Attributes
    ----------
    seed, tasks : int
        What decides it, besides the record.
    offspring : tuple of Offspring
        In the order in which they were found.
    """

    seed: int
    tasks: int
    offspring: tuple[Offspring, ...]


@dataclass(frozen=True)
class Record:
    """The outcome of runs 0, 1, 2, ... under one set of settings on one table.

    Attributes
    ----------
    models : tuple of Model
        Distinct ends of the runs, in the order of the first run that found each.
    runs : tuple of int
        Run i ended in ``models[runs[i]]``.
    ges : Model
        End of run 0 with k=1, all else equal.
    ahead : tuple of (int, int)
        Runs that ended before an earlier run did, as (run, number of the model). Only the
        record of an unfinished search has any; they are not yet part of the result.
    tolerance : float
        Scores that round to the same multiple of it are on one level.
    improvement : Improvement or None
        What was made of the models afterwards. It has no part in the equality of records, which
        is that of the runs.
    """

    settings: Settings
    names: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    fingerprint: str
    cases: float
    tolerance: float
    ges: Model
    models: tuple[Model, ...] = ()
    runs: tuple[int, ...] = ()
    ahead: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)
    improvement: Improvement | None = field(default=None, compare=False)

    def level(self, score: float) -> float:
        """Score in units of the tolerance: equal for scores that differ by rounding only."""
        return level(score, self.tolerance)

    def finished(self) -> Record:
        """Return the record without the runs that are ahead of others."""
        used = max(self.runs, default=-1) + 1  # models are numbered by first run
        return replace(self, models=self.models[:used], ahead=())


def fingerprint(names: Sequence[str], states: Sequence[Sequence[State]], rows: str) -> str:
    """Identity of a table: names, states and the core's fingerprint of the coded rows."""
    content = json.dumps([list(names), [list(s) for s in states], rows], separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()[:32]
