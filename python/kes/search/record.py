"""The result of a search as plain data: the content of a result file.

Everything else about a result (the order of the optima, hits, score levels) follows from a
record. Two searches with the same settings, data and amounts of work give equal records, wherever
the work was done and in whatever order it ended.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Literal

from kes._core import __version__, level
from kes.budget import Improve, Prove
from kes.data.column import State, kind_of
from kes.data.schema import ReadOptions
from kes.graph.core_graph import CoreGraph, RawGraph
from kes.network.gibbs import SWEEPS
from kes.search.choice import CriterionChoice
from kes.search.edge_price import default_price
from kes.search.evaluation import Evaluation
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
    """A model that improvement made of others."""

    model: Model
    how: str  # "recombined", "refined", "perturbed", "ordered"; "exact" if a proof found it
    parents: tuple[int, ...]  # places of the models it was made of in `Record.pool`
    task: int | None  # number of the task that found it, from 0; None for a model of a proof


@dataclass(frozen=True, slots=True)
class Batch:
    """A number of improvement tasks that were done together.

    "learn": done by `kes.learn` on the runs and GES alone. "improve": done by a call of
    `Optima.improve`. "earlier": done before the runs were last extended; models they made are
    kept. "outdated": the same, done by `kes.learn` with fewer runs; their models are kept only
    until it repeats its tasks with all runs.
    """

    tasks: int
    by: Literal["learn", "improve", "earlier", "outdated"]


@dataclass(frozen=True, slots=True)
class Improving:
    """The improvement tasks that were done, in the order of their numbers.

    Those of `kes.learn` come first. They are complete unless it was interrupted, or the budget was
    spent.
    """

    asked: Improve = field(default=Improve(), compare=False)
    complete: bool = field(default=True, compare=False)
    batches: tuple[Batch, ...] = ()

    @property
    def tasks(self) -> int:
        """Number of all tasks."""
        return sum(batch.tasks for batch in self.batches)

    @property
    def own(self) -> int:
        """Number of tasks that `kes.learn` did."""
        return self._by("learn")

    @property
    def outdated(self) -> int:
        """Number of tasks that `kes.learn` did with fewer runs."""
        return self._by("outdated")

    @property
    def earlier(self) -> int:
        """Number of tasks done before the runs were last extended."""
        return self._by("earlier") + self.outdated

    @property
    def calls(self) -> tuple[int, ...]:
        """Number of tasks of each call of `Optima.improve` since then."""
        return tuple(batch.tasks for batch in self.batches if batch.by == "improve")

    def followed_by(self, *batches: Batch) -> Improving:
        """Return the same with more batches; empty ones are left out."""
        more = (batch for batch in batches if batch.tasks)
        return replace(self, batches=(*self.batches, *more))

    def _by(self, by: str) -> int:
        return sum(batch.tasks for batch in self.batches if batch.by == by)


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof about all networks that the bound on parents and the knowledge allow.

    Attributes
    ----------
    proven : bool
        Whether none of them scores higher than the best model of the record.
    upper_bound : float or None
        A score that none of them exceeds; None if there is no such bound.
    method : str
        The method, or why it stopped.
    counted, families : int
        Sets of variables counted, and families that were left to choose from.
    """

    proven: bool
    upper_bound: float | None
    method: str
    counted: int
    families: int

    def is_stronger_than(self, other: Proof | None) -> bool:
        """Tell whether it is stronger than another proof about the same problem."""
        if other is None:
            return self.proven or self.upper_bound is not None
        if self.proven or other.proven:
            return not other.proven
        bounds = (math.inf if p.upper_bound is None else p.upper_bound for p in (self, other))
        return next(bounds) < next(bounds)


@dataclass(frozen=True, slots=True)
class Completion:
    """The imputation of missing values.

    It is settled if the last round found the same model again. If not, the budget was spent, or the
    limit on rounds was reached.
    """

    cells: tuple[int, ...]  # for each variable, the number of rows in which it was missing
    rounds: int  # of structural EM
    settled: bool
    sweeps: int = SWEEPS  # of the last round, which a budget may end
    imputed: tuple[tuple[float, ...], ...] = field(default=(), compare=False, repr=False)
    """For each variable, the imputed codes or numbers in the order of `Stack`; empty if not kept.

    Those of a search on normal scores are normal scores."""


@dataclass(frozen=True)
class Record:
    """Runs 0, 1, 2, ... under one set of settings on one table, and what followed them.

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
        record of an unfinished search has any; they are not part of the result yet.
    tolerance : float
        Scores that round to the same multiple of it are on one level.
    offspring : tuple of Offspring
        The best models that improvement made of these, with all ancestors, by number of task.
    excluded : tuple of (int, int, str)
        Pairs of variables that no model connects, and why; see `kes._core.Problem.excluded`.
    proof, completion
        None if no proof was attempted, or no values were missing.
    evaluation : Evaluation or None
        How well the target is predicted; None without a target.
    choice : CriterionChoice or None
        What was tried to choose the criterion, if it was chosen.
    unfinished : bool
        Whether GES was stopped: `ges` is the model that it had reached, and there are no runs.
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
    evaluation: Evaluation | None = field(default=None, compare=False)
    choice: CriterionChoice | None = field(default=None, compare=False)
    unfinished: bool = False
    excluded: tuple[tuple[int, int, str], ...] = field(default=(), compare=False)
    version: str = field(default=__version__, compare=False)

    @cached_property
    def pool(self) -> tuple[Model, ...]:
        """Every model once: the ends of runs, GES unless it is one of them, the offspring."""
        ges = () if any(model.graph == self.ges.graph for model in self.models) else (self.ges,)
        return (*self.models, *ges, *(child.model for child in self.offspring))

    @cached_property
    def first_runs(self) -> dict[int, int]:
        """For each place of the pool that runs ended in, the first of them."""
        return {place: run for run, place in reversed([*enumerate(self.runs)])}

    def child(self, place: int) -> Offspring | None:
        """Return the offspring at a place of the pool; None for a run or GES."""
        first = len(self.pool) - len(self.offspring)
        return self.offspring[place - first] if place >= first else None

    def ancestors(self, places: Iterable[int]) -> set[int]:
        """Return places of the pool with the places of all their ancestors."""
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
        """Return the places of the offspring that scored higher than all models before them."""
        first = len(self.pool) - len(self.offspring)
        levels = [self.level(model.score) for model in self.pool]
        highest = list(accumulate(levels, max))
        return [at for at in range(first, len(levels)) if levels[at] > highest[at - 1]]

    @property
    def highest(self) -> float:
        """The highest score level."""
        return max(self.level(model.score) for model in self.pool)

    def level(self, score: float) -> float:
        """Score in units of the tolerance: equal for scores that differ by rounding only."""
        return level(score, self.tolerance)

    @property
    def varying(self) -> int:
        """Number of variables with more than one state."""
        return sum(len(states) != 1 for states in self.states)

    @property
    def has_default_price(self) -> bool:
        """Whether every edge has the price that is chosen by default."""
        measure = self.settings.measure.of_cheapest_edges(kind_of(self.states))
        chosen = default_price(self.varying, self.cases, measure)
        return math.isclose(self.settings.edge_prior, chosen, abs_tol=1e-5)

    def is_scored_like(self, other: Record) -> bool:
        """Return whether the scores of both can be compared: same cases, criterion and prior.

        Imputed values follow from the seed and from what the networks may be, too.
        """
        return self._scoring == other._scoring

    @property
    def _scoring(self) -> tuple[object, ...]:
        settings, completion = self.settings, self.completion
        same = (self.fingerprint, settings.measure, settings.prior)
        if completion is None:
            return same
        how = settings.seed, settings.max_parents, settings.knowledge, self.reading.completions
        return (*same, completion, *how)

    def finished(self) -> Record:
        """Return the record without the runs that are ahead of others."""
        if not self.ahead:
            return self
        used = max(self.runs, default=-1) + 1  # models are numbered by first run
        bare = self.unimproved(self.improving.asked)
        return replace(bare, models=self.models[:used], ahead=()).keeping_tasks(self)

    def unimproved(self, asked: Improve) -> Record:
        """Return the record without improvement and proof."""
        improving = Improving(asked, complete=not asked)
        return replace(self, offspring=(), improving=improving, proof=None)

    def keeping(self, old: Record) -> Record:
        """Return this record with the models that `Optima.improve` made of an older, shorter one.

        Models that `learn` had made there are dropped, as this record has its own, unless kept
        models were made of them. A proof holds whatever the runs are, and is kept.
        """
        own = old.improving.own or old.improving.outdated
        return self._with_tasks(old, own, Batch(old.improving.tasks, "earlier"))

    def keeping_tasks(self, old: Record) -> Record:
        """Return this unimproved record with all models that tasks made of an older, shorter one.

        Those that `learn` had made stay until it repeats its tasks: no model is lost meanwhile.
        """
        own = old.improving.own or old.improving.outdated
        batches = Batch(own, "outdated"), Batch(old.improving.tasks - own, "earlier")
        return self._with_tasks(old, 0, *batches)

    def with_exact(self, model: Model) -> Record:
        """Return the record with a model that a proof found, if it scores highest."""
        if self.level(model.score) <= self.highest:
            return self
        exact = Offspring(model, "exact", (), None)
        return replace(self, offspring=(*self.offspring, exact))

    def unproven(self) -> Record:
        """Return the record without its proof, and without a model that only the proof found."""
        parents = {parent for child in self.offspring for parent in child.parents}
        last = len(self.pool) - 1
        if self.offspring and self.offspring[-1].task is None and last not in parents:
            return replace(self, offspring=self.offspring[:-1], proof=None)
        return replace(self, proof=None)

    def _with_proof(self, old: Record) -> Record:
        """Return this record with the proof of another one, if that is stronger."""
        proof = old.proof
        if proof is None or not proof.is_stronger_than(self.proof):
            return self
        record = replace(self, proof=proof)
        if not proof.proven:
            return record
        return record.with_exact(max(old.pool, key=lambda model: self.level(model.score)))

    def _with_tasks(self, old: Record, first: int, *batches: Batch) -> Record:
        """Return this record with the proof of another, and what its tasks from `first` on made."""
        start = len(old.pool) - len(old.offspring)
        made = [
            place
            for place, child in enumerate(old.offspring, start)
            if child.task is not None and child.task >= first
        ]
        place = {model.graph: i for i, model in enumerate(self.pool)}
        kept: list[Offspring] = []
        for at in sorted(old.ancestors(made)):
            model, child = old.pool[at], old.child(at)
            if child is None or model.graph in place:
                continue
            made_of = [old.pool[parent].graph for parent in child.parents]
            if all(edges in place for edges in made_of):  # not of a run that waits for others
                place[model.graph] = len(self.pool) + len(kept)
                parents = tuple(place[edges] for edges in made_of)
                task = None if child.task is None else self.improving.own + child.task
                kept.append(replace(child, parents=parents, task=task))
        improving = self.improving.followed_by(*batches) if kept else self.improving
        record = replace(self, offspring=(*self.offspring, *kept), improving=improving)
        return record._with_proof(old)


def fingerprint(names: Sequence[str], states: Sequence[Sequence[State]], rows: str) -> str:
    """Identity of a table: names, states and the core's fingerprint of the coded rows."""
    content = json.dumps([list(names), [list(s) for s in states], rows], separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()[:32]
