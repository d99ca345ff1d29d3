"""A table under one set of settings, ready for runs."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from kes import _core
from kes.budget import Budget, Size
from kes.data.dataset import AnyTable, Data, Dataset, Incomplete, Weights, dataset_of
from kes.data.discretizer import Discretizer
from kes.data.encoder import read_data
from kes.data.interventions import check_interventions
from kes.data.notes import exclusion_notes, left_out
from kes.data.schema import ReadOptions, Schema
from kes.data.series import Lagged
from kes.errors import KesError, listed
from kes.exact.prover import Prover, Report
from kes.graph import EssentialGraph
from kes.graph.boundary import Neighbour
from kes.graph.core_graph import CoreGraph, CoreKnowledge
from kes.native import core_errors, core_problem
from kes.options import DEFAULTS, LearnOptions
from kes.search.basis import with_basis
from kes.search.constraints import constrained, lost_guarantee, with_exogenous
from kes.search.driver import Driver
from kes.search.edge_price import price_for
from kes.search.record import Completion, Model, Record, fingerprint
from kes.search.structural_em import KeepGoing, complete, restored
from kes.search.tails import with_transform
from kes.settings import Settings
from kes.validation import integer, megabytes

_PSEUDO = (
    "the score of curves is a pseudo-likelihood: it ranks networks, but differences in nats are "
    "not log odds, and are larger than those of likelihoods"
)


class OtherData(KesError):
    """Data that are not those of a result: the difference, and what to do."""

    def __init__(self, reason: str, advice: str = "", column: str | None = None) -> None:
        super().__init__(
            f"these are not the data that the result comes from: {reason}{advice}",
            option="data",
            column=column,
        )
        self.reason, self.advice = reason, advice

    def __reduce__(self) -> tuple[object, ...]:
        return OtherData, (self.reason, self.advice, self.column)


@dataclass(frozen=True)
class TableAsRead:
    """A table that was read before, with how it was read: data for `Problem.of`."""

    table: AnyTable
    reading: ReadOptions


@dataclass(frozen=True, eq=False)
class Problem:
    """The data, the settings and the core's problem made of both.

    Attributes
    ----------
    table : Dataset or Incomplete
        The table as it was read; `dataset` has its missing values imputed.
    cache_mb : int
        Bound on the memory for counted set terms; it changes the speed, never the result.
    earlier : Completion or None
        An earlier imputation of the missing values, to be repeated.
    filled : (Dataset, Completion) or None
        The completed table, if it is known already.
    shared : _core.Problem or None
        The core's problem of a search with the same data and criterion, to share its counts.
    """

    table: AnyTable
    settings: Settings
    cache_mb: int = DEFAULTS["cache_mb"]
    reading: ReadOptions = field(default_factory=ReadOptions)
    earlier: Completion | None = None
    filled: tuple[Dataset, Completion] | None = field(default=None, repr=False)
    shared: _core.Problem | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Drop a transform that has no effect on the table."""
        object.__setattr__(self, "settings", self.settings.on(self.table.kind))

    @classmethod
    def of(
        cls,
        data: Data | TableAsRead,
        options: Mapping[str, object],
        *,
        earlier: Completion | None = None,
    ) -> Problem:
        """Read the data and return the problem that they and options of `kes.learn` make."""
        chosen = cast("LearnOptions", {**DEFAULTS, **options})
        settings = Settings.of(chosen)
        memory = megabytes("cache_mb", chosen["cache_mb"])
        read = data if isinstance(data, TableAsRead) else read_as(data, chosen)
        names = read.table.names
        known = with_exogenous(
            chosen["knowledge"],
            chosen["contexts"],
            names,
            notations=dataset_of(read.table).notations,
            interventions=read.reading.interventions,
        )
        settings = constrained(settings, names, start=chosen["start"], knowledge=known)
        settings, table = with_basis(settings, read.table, chosen)
        settings, table = with_transform(settings, table)
        settings = replace(settings, edge_prior=price_for(table, settings, chosen))
        return cls(table, settings, memory, read.reading, earlier)

    @classmethod
    def again(
        cls, record: Record, data: Data, *, weights: Weights = None, missing: str | None = None
    ) -> Problem:
        """Return the problem of a record with its data, in any form; refuse other data.

        Data are read as they were then where the arguments do not say otherwise.
        """
        reading = record.reading
        how = reading if missing is None else replace(reading, missing=missing)
        try:
            schema = Schema(record.names, record.states)
            table = read_data(data, how, schema=schema, weights=weights)
        except KesError as error:
            raise OtherData(str(error), column=error.column) from error
        problem = cls(table, record.settings, reading=reading, earlier=record.completion)
        problem.check(record)
        return problem

    def over(self, nodes: Sequence[str]) -> Problem:
        """Return the problem of some of the columns, in this order."""
        there = set(self.dataset.names)
        lacking = [node for node in nodes if node not in there]
        if lacking:
            raise KesError(
                f"the data have no column for {listed(lacking)}; every node of the graph needs one"
                f"{left_out(lacking, self.dataset.notes)}",
                column=lacking[0],
            )
        if tuple(nodes) == self.dataset.names:
            return self
        settings, known = self.settings, self.settings.knowledge
        if known is not None:
            settings = replace(settings, knowledge=known.among(nodes) or None)
        return Problem(self.dataset.select(nodes), settings, self.cache_mb, self.reading)

    def driver(self, threads: int) -> Driver:
        """Return an executor of runs and tasks on this machine."""
        names = self.dataset.names
        return Driver(self.core, names, self.settings.for_core(names), threads)

    def prover(self, threads: int, budget: Budget, deadline: float, report: Report) -> Prover:
        """Return a prover of statements about all networks that the settings allow."""
        names, limit = self.dataset.names, self.settings.max_parents
        return Prover(self.core, names, limit, self.knowledge, threads, budget, deadline, report)

    @cached_property
    def size(self) -> Size:
        """The size of the table."""
        measure, states = self.settings.measure, self.dataset.states
        by_rows = measure.on(self.dataset.kind).model == "location"
        return Size.of(states, self.core.total_weight, by_rows=by_rows, degree=measure.degree)

    # --- missing values ---

    @property
    def dataset(self) -> Dataset:
        """The table to learn from; if values were missing, the completed one."""
        return self._completed[0]

    @property
    def completion(self) -> Completion | None:
        """The imputation of missing values; None if there were none."""
        return self._completed[1]

    @cached_property
    def _completed(self) -> tuple[Dataset, Completion | None]:
        return self._complete(None, lambda _: True)

    def completed(self, threads: int, keep_going: KeepGoing = lambda _: True) -> Problem:
        """Return the problem with its missing values imputed.

        An earlier imputation is repeated whatever `keep_going` returns.
        """
        dataset, completion = self._complete(threads, keep_going)
        return self if completion is None else replace(self, filled=(dataset, completion))

    def without_imputed(self) -> Problem:
        """Return the problem with a completion whose record does not keep the imputed values."""
        if self.completion is None:
            return self
        bare = replace(self.completion, imputed=())
        return replace(self, filled=(self.dataset, bare))

    def _complete(
        self, threads: int | None, keep_going: KeepGoing
    ) -> tuple[Dataset, Completion | None]:
        if self.filled is not None:
            return self.filled
        if isinstance(self.table, Dataset):
            return self.table, None
        again = self.earlier
        if again is not None:
            kept = restored(self.table, self.settings, self.reading.completions, again)
            if kept is not None:
                return kept, again
        return complete(
            self.table,
            self.settings,
            self.reading.completions,
            self.cache_mb,
            threads=threads,
            again=again,
            keep_going=keep_going if again is None else lambda done: keep_going(done) or True,
        )

    # --- the core ---

    @cached_property
    def core(self) -> _core.Problem:
        """The data as the core holds them, with the cache that all runs share."""
        problem = self.shared
        if problem is None:
            additions = self.settings.additions(self.dataset.names)
            problem = core_problem(self.dataset, self.settings.measure, self.cache_mb, additions)
        start = self.settings.start
        if start is not None:
            names = self.dataset.names
            arcs = start.to_core(names).to_dag(len(names))
            self._check_score(problem, problem.score(arcs), "start")
        return problem

    @cached_property
    def knowledge(self) -> CoreKnowledge | None:
        """The background knowledge, as the core takes it."""
        return self.settings.known(self.dataset.names)

    @cached_property
    def fingerprint(self) -> str:
        """Identity of the data; independent of the order of the rows."""
        return fingerprint(self.dataset.names, self.dataset.states, self.core.fingerprint)

    def trace(self, run: int) -> tuple[dict[str, list[Any]], CoreGraph]:
        """Replay a run: the columns of a table of its steps, and the graph it ends in."""
        names = self.dataset.names
        with core_errors(names):
            steps, end = self.core.trace(run, **self.settings.for_core(names))
        columns: dict[str, list[Any]] = {
            "step": list(range(1, len(steps) + 1)),
            "kind": ["insert" if insertion else "delete" for (insertion, *_), *_ in steps],
            "x": [names[x] for (_, x, _, _), *_ in steps],
            "y": [names[y] for (_, _, y, _), *_ in steps],
            "given": [frozenset(names[i] for i in given) for (_, _, _, given), *_ in steps],
            "delta": [delta for _, delta, _, _ in steps],
            "better": [better for _, _, better, _ in steps],
            "rank": [rank + 1 for *_, rank in steps],
        }
        return columns, CoreGraph.of(end)

    def score(self, graph: EssentialGraph) -> float:
        """Score a model over these variables, as a search does."""
        names = self.dataset.names
        score = self.core.score(graph.to_core(names).to_dag(len(names)))
        self._check_score(self.core, score, "the model")
        return score

    def _check_score(self, problem: _core.Problem, score: float, what: str) -> None:
        if score == -math.inf and self.dataset.kind != "discrete":
            if dependent := self._dependent(problem):
                raise KesError(
                    f"{what} has no score: it connects collinear columns, {listed(dependent)}, or "
                    "has families as large as the table; use fewer edges, or leave one of these "
                    "columns out",
                    column=dependent[0],
                )
            raise KesError(
                f"{what} has no score: it has families as large as the table; use fewer edges"
            )

    def _dependent(self, problem: _core.Problem) -> list[str]:
        return [self.dataset.names[i] for i in problem.dependent or []]

    def neighbours(self, graph: EssentialGraph) -> list[Neighbour]:
        """Return the admissible neighbours of a model with their gains, best first."""
        names = self.dataset.names
        with core_errors(names):
            valued = self.core.boundary(
                graph.to_core(names), self.settings.max_parents, self.knowledge
            )
        return [
            Neighbour.from_core(graph, triple, delta)
            for triple, delta in valued
            if delta > -math.inf or self.dataset.kind == "discrete"  # without a score
        ]

    def blank(self, ges: Model, *, steps: int | None = None) -> Record:
        """Return a record with GES and no runs; or with run 0, if that is GES.

        If GES was stopped after some `steps`, its model is the one that it had reached. The core
        must have done nothing but GES: its notes depend on the sets it has met.
        """
        excluded = tuple(self.core.excluded)
        notes = [*self.dataset.notes, *exclusion_notes(self.dataset.names, excluded)]
        notes += lost_guarantee(self.settings)
        if self.settings.basis is not None:
            notes.append(_PSEUDO)
        dependent = self._dependent(self.core)
        if len(dependent) > 2:  # pairs are excluded
            notes.append(
                "collinear columns (exactly, or nearly): no model connects all of "
                f"{listed(dependent)}; leave one out, or discretize the numbers"
            )
        if steps is not None:
            notes.append(
                f"GES was stopped after {steps} steps: its model is not a local optimum, and there "
                "are no runs; learn again with more time"
            )
        is_run_0 = self.settings.k == 1.0 and steps is None
        return Record(
            settings=self.settings,
            names=tuple(self.dataset.names),
            states=tuple(tuple(states) for states in self.dataset.states),
            fingerprint=self.fingerprint,
            cases=self.core.total_weight,
            tolerance=self.core.tolerance,
            ges=ges,
            models=(ges,) if is_run_0 else (),
            runs=(0,) if is_run_0 else (),
            notes=tuple(notes),
            reading=self.reading,
            completion=self.completion,
            excluded=excluded,
            unfinished=steps is not None,
        )

    def check(self, record: Record) -> None:
        """Refuse a record of other data, or with other scores."""
        if self.fingerprint != record.fingerprint:
            reason, column = _difference(self.dataset, record)
            raise OtherData(reason, "; use the data it was learned from", column)
        # Score the models again: someone may have changed the file.
        unit, n = self.core.tolerance, len(self.dataset.names)
        for number, model in enumerate(record.pool):
            score = self.core.score(model.graph.to_dag(n))
            if abs(score - model.score) > unit:
                raise KesError(
                    f"the result file is inconsistent with the data: model {number} scores "
                    f"{model.score:.12g} in the file, but {score:.12g} on these data; learn again",
                    option="data",
                )
        expected = (unit, self.core.total_weight)
        if not np.allclose((record.tolerance, record.cases), expected, rtol=1e-9, atol=0.0):
            raise KesError(
                "the result file is inconsistent with the data: its number of cases or its "
                "tolerance of scores differs; learn again",
                option="data",
            )


def read_as(data: Data, options: LearnOptions) -> TableAsRead:
    """Read data as the options of a search say."""
    weights, missing = options["weights"], options["missing"]
    discretizer = Discretizer.checked(options["discretize"])
    reading = ReadOptions(
        source=_path(data),
        missing=missing,
        kinds=options["kinds"] or {},
        dates=options["dates"],
        completions=integer("completions", options["completions"], minimum=1),
        interventions=check_interventions(options["interventions"]),
        series=data.series if isinstance(data, Lagged) else None,
    )
    table = read_data(data, reading, weights=weights, discretizer=discretizer)
    reading = replace(
        reading,
        missing="em" if isinstance(table, Incomplete) else missing,
        weights=weights if isinstance(weights, str) else table.weights is not None,
        cuts={} if discretizer is None else dict(discretizer.cuts),
    )
    return TableAsRead(table, reading)


def _path(data: Data) -> str | None:
    """Return the path of a table that comes from a file."""
    table = data.table if isinstance(data, Lagged) else data
    return os.fspath(table) if isinstance(table, str | os.PathLike) else None


def _difference(dataset: Dataset, record: Record) -> tuple[str, str | None]:
    """Describe how the data differ from those of the record, and name the column in question."""
    if list(dataset.names) != list(record.names):
        expected, given = set(record.names), set(dataset.names)
        extra = [name for name in dataset.names if name not in expected]
        lacking = [name for name in record.names if name not in given]
        if not extra and not lacking:
            return "the columns are in another order", None
        parts = [f"it has no column {name!r}" for name in extra[:3]]
        parts += [f"the data lack its column {name!r}" for name in lacking[:3]]
        return ", ".join(parts) + left_out(lacking, dataset.notes), (extra + lacking)[0]
    for name, here, there in zip(record.names, dataset.states, record.states, strict=True):
        if bool(here) != bool(there):
            kind = "discrete" if there else "continuous"
            return f"column {name!r} is {kind} in the result", name
        if list(here) != list(there):
            states = f"has the states {list(here)}, the result has {list(there)}"
            return f"column {name!r} {states}", name
    return "the rows or their weights differ", None
