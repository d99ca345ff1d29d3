"""What a search found, as plain data: the content of a result file.

Everything else about a result (the order of the optima, hits, score levels) follows from a
record. Two searches with the same settings on the same data and the same amounts of work give
equal records, whoever did the work and in whatever order it ended.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from kes._core import __version__, level
from kes.data.column import State
from kes.data.read_options import ReadOptions
from kes.graph.core_graph import CoreGraph, RawGraph
from kes.search.budget import Improve, Prove
from kes.settings import Settings


@dataclass(frozen=True, slots=True)
class Model:
    """A model that was found: its essential graph over variable numbers, and its score."""

    graph: CoreGraph
    score: float
    is_local_optimum: bool

    @classmethod
    def from_core(cls, graph: RawGraph, score: float, is_local_optimum: bool) -> Model:
        """Return the model that the core describes."""
        return cls(CoreGraph.of(graph), score, is_local_optimum)


@dataclass(frozen=True, slots=True)
class Offspring:
    """A model that improving made of others.

    Attributes
    ----------
    how : str
        "recombined", "refined", "perturbed", "ordered"; "exact" if a proof found it, not a search.
    parents : tuple of int
        Places of the models it was made of in `Record.pool`.
    task : int or None
        Number of the task that found it, from 0; None if none did.
    """

    model: Model
    how: str
    parents: tuple[int, ...]
    task: int | None


@dataclass(frozen=True, slots=True)
class Improving:
    """How much was done to improve on the runs.

    Attributes
    ----------
    asked : bool, int or str
        What `kes.learn` was asked to do after its runs: nothing (False), as much as it chooses
        (True), as much as pays ("auto"), so many tasks, or so long.
    complete : bool
        Whether it did that: not if it was interrupted, or a budget was over.
    own : int
        Tasks that it did. They start from the runs and GES alone, and are numbered from 0.
    earlier : int
        Tasks done before the runs were last extended, if models of theirs are kept. They are
        numbered on from `own`.
    calls : tuple of int
        Tasks of each call of `Optima.improve` since then, numbered on.
    outdated : int
        How many of the earlier tasks, the first of them, `kes.learn` did itself, with fewer runs.
        What they made is kept only until it does its own again with all of them.
    """

    asked: Improve = field(default=False, compare=False)
    complete: bool = field(default=True, compare=False)
    own: int = 0
    earlier: int = 0
    calls: tuple[int, ...] = ()
    outdated: int = 0

    @property
    def tasks(self) -> int:
        """Number of tasks in all."""
        return self.own + self.earlier + sum(self.calls)


@dataclass(frozen=True, slots=True)
class Proof:
    """What is known for certain of the highest score there is.

    It is about all networks with at most as many parents as the settings allow that obey the
    knowledge, if there is any.

    Attributes
    ----------
    proven : bool
        Whether none of them scores higher than the best model of the record.
    upper_bound : float or None
        A score that none of them exceeds; None if there is no such bound.
    method : str
        How it was found out, or why it was not.
    counted, families : int
        Sets of variables that were counted, and families that were left to choose from.
    """

    proven: bool
    upper_bound: float | None
    method: str
    counted: int
    families: int

    def is_stronger_than(self, other: Proof | None) -> bool:
        """Tell whether it says more than another one of the same problem."""
        if other is None:
            return self.proven or self.upper_bound is not None
        if self.proven or other.proven:
            return not other.proven
        return _or_infinite(self.upper_bound) < _or_infinite(other.upper_bound)


@dataclass(frozen=True, slots=True)
class Completion:
    """What was done about missing values.

    Attributes
    ----------
    cells : tuple of int
        For each variable, the number of rows in which it was missing.
    rounds : int
        How often a model was learned and the gaps were filled from it.
    settled : bool
        Whether the last of these models was found again in the table that was filled from it.
        If not, a budget was over, or there were as many rounds as there may be.
    """

    cells: tuple[int, ...]
    rounds: int
    settled: bool

    @property
    def most(self) -> int | None:
        """Rounds at most that lead to the same values again; None if they end by themselves."""
        return None if self.settled else self.rounds


@dataclass(frozen=True)
class Record:
    """The outcome of runs 0, 1, 2, ... under one set of settings on one table, and what followed.

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
    offspring : tuple of Offspring
        The best of what improving made of these models, with all ancestors, by number of task.
    improving : Improving
        How much was done for it.
    prove : bool or "auto"
        Whether the best model was to be proven, as in `kes.learn`.
    proof : Proof or None
        What came of it; None if nothing was done.
    completion : Completion or None
        How gaps of the table were filled; None if there were none.
    version : str
        The version of kes that did the latest work.
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
    offspring: tuple[Offspring, ...] = ()
    improving: Improving = Improving()
    prove: Prove = field(default=False, compare=False)
    proof: Proof | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)
    reading: ReadOptions = field(default=ReadOptions(), compare=False)
    completion: Completion | None = None
    version: str = field(default=__version__, compare=False)

    @cached_property
    def pool(self) -> tuple[Model, ...]:
        """Every model once: the ends of runs, GES unless it is one of them, the offspring."""
        edges = self.ges.graph
        ges = () if any(model.graph == edges for model in self.models) else (self.ges,)
        return (*self.models, *ges, *(child.model for child in self.offspring))

    @cached_property
    def first_runs(self) -> dict[int, int]:
        """For each place of the pool in which runs ended, the first of them."""
        found: dict[int, int] = {}
        for run, place in enumerate(self.runs):
            found.setdefault(place, run)
        return found

    def child(self, place: int) -> Offspring | None:
        """Return what improving made at a place of the pool; None if it was there before."""
        first = len(self.pool) - len(self.offspring)
        return self.offspring[place - first] if place >= first else None

    def ancestors(self, places: Iterable[int]) -> set[int]:
        """Return places of the pool with those of all that the models there were made of."""
        found: set[int] = set()
        waiting = list(places)
        while waiting:
            place = waiting.pop()
            child = self.child(place)
            if place not in found and child is not None:
                waiting.extend(child.parents)
            found.add(place)
        return found

    def rises(self) -> list[int]:
        """Return the places of the offspring that scored higher than all there was before them."""
        first = len(self.pool) - len(self.offspring)
        levels = [self.level(model.score) for model in self.pool]
        highest = list(accumulate(levels, max))
        return [at for at in range(first, len(levels)) if levels[at] > highest[at - 1]]

    @property
    def highest(self) -> float:
        """The highest level of all scores."""
        return max(self.level(model.score) for model in self.pool)

    def level(self, score: float) -> float:
        """Score in units of the tolerance: equal for scores that differ by rounding only."""
        return level(score, self.tolerance)

    def finished(self) -> Record:
        """Return the record without the runs that are ahead of others."""
        if not self.ahead:
            return self
        used = max(self.runs, default=-1) + 1  # models are numbered by first run
        bare = self.unimproved(self.improving.asked)
        return replace(bare, models=self.models[:used], ahead=()).keeping_tasks(self)

    def unimproved(self, asked: Improve) -> Record:
        """Return the record without what followed the runs, to be done again if asked for."""
        improving = Improving(asked, complete=asked is False)
        return replace(self, offspring=(), improving=improving, proof=None)

    def keeping(self, old: Record) -> Record:
        """Return this record with what `Optima.improve` had made of an older one with fewer runs.

        What `learn` itself had made is left behind, as this record has its own, unless something
        that is kept was made of it. What was proven holds whatever the runs are, and is kept.
        """
        own = old.improving.own or old.improving.outdated
        return self._with_calls(old, own)._with_proof(old)

    def keeping_tasks(self, old: Record) -> Record:
        """Return this record, which is not improved, with all that was made of an older one.

        What `learn` itself had made is there until it does so again: no model is lost meanwhile.
        """
        record = self._with_calls(old, 0)
        if record.improving.earlier:
            own = old.improving.own or old.improving.outdated
            record = replace(record, improving=replace(record.improving, outdated=own))
        return record._with_proof(old)

    def with_exact(self, model: Model) -> Record:
        """Return the record with a model that a proof found, if that scores highest."""
        if self.level(model.score) <= self.highest:
            return self
        exact = Offspring(model, "exact", (), None)
        return replace(self, offspring=(*self.offspring, exact))

    def unproven(self) -> Record:
        """Return the record without its proof, and without what nothing but that has found."""
        parents = {parent for child in self.offspring for parent in child.parents}
        last = len(self.pool) - 1
        if self.offspring and self.offspring[-1].task is None and last not in parents:
            return replace(self, offspring=self.offspring[:-1], proof=None)
        return replace(self, proof=None)

    def _with_proof(self, old: Record) -> Record:
        """Return this record with the proof of another one of the same problem, if it has none."""
        proof = old.proof
        if proof is None or not proof.is_stronger_than(self.proof):
            return self
        record = replace(self, proof=proof)
        if not proof.proven:
            return record
        return record.with_exact(max(old.pool, key=lambda model: self.level(model.score)))

    def _with_calls(self, old: Record, least: int) -> Record:
        """Return this record with what tasks of another one, from a number on, have made."""
        first = len(old.pool) - len(old.offspring)
        called = [
            first + number
            for number, child in enumerate(old.offspring)
            if child.task is not None and child.task >= least
        ]
        place = {model.graph: i for i, model in enumerate(self.pool)}
        kept: list[Offspring] = []
        for at in sorted(old.ancestors(called)):
            model, child = old.pool[at], old.child(at)
            if child is None or model.graph in place:
                continue
            made_of = [old.pool[parent].graph for parent in child.parents]
            if all(edges in place for edges in made_of):  # not of a run that waits for others
                place[model.graph] = len(self.pool) + len(kept)
                parents = tuple(place[edges] for edges in made_of)
                task = None if child.task is None else self.improving.own + child.task
                kept.append(replace(child, parents=parents, task=task))
        if not kept:
            return self
        improving = replace(self.improving, earlier=old.improving.tasks)
        return replace(self, offspring=(*self.offspring, *kept), improving=improving)


def _or_infinite(bound: float | None) -> float:
    return math.inf if bound is None else bound


def fingerprint(names: Sequence[str], states: Sequence[Sequence[State]], rows: str) -> str:
    """Identity of a table: names, states and the core's fingerprint of the coded rows."""
    content = json.dumps([list(names), [list(s) for s in states], rows], separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()[:32]
