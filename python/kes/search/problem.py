"""A table under one set of settings, ready for runs: what all of them share."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from kes import _core
from kes.data.dataset import Data, Dataset, Weights
from kes.data.discretizer import Discretizer
from kes.data.encoder import read_data
from kes.data.incomplete import AnyTable, Incomplete
from kes.data.notes import left_out
from kes.data.read_options import ReadOptions
from kes.data.schema import Schema
from kes.errors import KesError, listed
from kes.graph import EssentialGraph
from kes.graph.boundary import Neighbour
from kes.graph.core_graph import CoreGraph, CoreKnowledge
from kes.native import core_errors, core_problem
from kes.options import DEFAULTS, LearnOptions
from kes.search.budget import Size
from kes.search.collector import NewModels, OnBatch
from kes.search.constraints import constrained
from kes.search.record import Completion, Model, Record, fingerprint
from kes.search.structural_em import GoingOn, complete
from kes.settings import Settings
from kes.validation import integer, megabytes


class OtherData(KesError):
    """Data that are not those of a result.

    Attributes
    ----------
    reason, advice : str
        In which respect, and what to do.
    """

    def __init__(self, reason: str, advice: str = "") -> None:
        super().__init__(f"these are not the data that the result comes from: {reason}{advice}")
        self.reason, self.advice = reason, advice

    def __reduce__(self) -> tuple[object, ...]:
        return OtherData, (self.reason, self.advice)


class Problem:
    """The data, the settings and the core's problem made of both.

    Parameters
    ----------
    table : Dataset or Incomplete
        The table as it was read; `dataset` has its gaps filled.
    cache_mb : int
        Bound on the memory for counted set terms; it changes the speed, never the result.
    reading : ReadOptions
        How the data were read.
    earlier : Completion or None
        How the gaps of the table were filled before, to be repeated.
    """

    def __init__(
        self,
        table: AnyTable,
        settings: Settings,
        cache_mb: int = DEFAULTS["cache_mb"],
        reading: ReadOptions | None = None,
        earlier: Completion | None = None,
    ) -> None:
        self.table = table
        self.settings = settings
        if "continuous" not in table.kinds:  # there is nothing to transform
            self.settings = replace(settings, transform=None)
        self.cache_mb = cache_mb
        self.reading = reading or ReadOptions(weights=table.weights is not None)
        self.earlier = earlier

    @classmethod
    def of(cls, data: Data, options: Mapping[str, object]) -> Problem:
        """Return the problem that data and options of `kes.learn` make."""
        chosen = cast("LearnOptions", {**DEFAULTS, **options})
        settings = Settings.of(chosen)
        memory = megabytes("cache_mb", chosen["cache_mb"])
        weights, missing, kinds = chosen["weights"], chosen["missing"], chosen["kinds"]
        discretizer = Discretizer.checked(chosen["discretize"])
        reading = ReadOptions(
            source=os.fspath(data) if isinstance(data, str | os.PathLike) else None,
            missing=missing,
            kinds=kinds or {},
            completions=integer("completions", chosen["completions"], minimum=1),
        )
        table = read_data(data, reading, weights=weights, discretizer=discretizer)
        settings = constrained(
            settings, table.names, start=chosen["start"], knowledge=chosen["knowledge"]
        )
        reading = replace(
            reading,
            missing="em" if isinstance(table, Incomplete) else missing,
            weights=weights if isinstance(weights, str) else table.weights is not None,
            cuts={} if discretizer is None else dict(discretizer.cuts),
        )
        return cls(table, settings, memory, reading)

    @classmethod
    def again(
        cls, record: Record, data: Data, *, weights: Weights = None, missing: str | None = None
    ) -> Problem:
        """Take up the search that a record comes from, with its data in whatever form.

        Where it is not said how to read them, they are read as they were then.

        Raises
        ------
        KesError
            If the data are others than those of the record.
        """
        reading = record.reading
        how = reading if missing is None else replace(reading, missing=missing)
        try:
            table = read_data(
                data, how, schema=Schema(record.names, record.states), weights=weights
            )
        except KesError as error:
            raise OtherData(str(error)) from error
        problem = cls(table, record.settings, reading=reading, earlier=record.completion)
        problem.check(record)
        return problem

    def over(self, nodes: Sequence[str]) -> Problem:
        """Return the problem of some of the columns, in this order."""
        lacking = [node for node in nodes if node not in set(self.dataset.names)]
        if lacking:
            raise KesError(
                f"the data have no column for {listed(lacking)}; every node of the graph needs one"
                f"{left_out(lacking, self.dataset.notes)}"
            )
        if tuple(nodes) == self.dataset.names:
            return self
        settings, known = self.settings, self.settings.knowledge
        if known is not None:  # what is known of other columns does not matter
            settings = replace(settings, knowledge=known.among(nodes) or None)
        return Problem(self.dataset.select(nodes), settings, self.cache_mb, self.reading)

    @cached_property
    def size(self) -> Size:
        """How large the table is."""
        return Size.of(self.dataset.states, self.core.total_weight)

    # --- the gaps ---

    @property
    def dataset(self) -> Dataset:
        """The table to learn from; if values were missing, the completed one."""
        return self._completed[0]

    @property
    def completion(self) -> Completion | None:
        """What was done about missing values; None if there was nothing to do."""
        return self._completed[1]

    @cached_property
    def _completed(self) -> tuple[Dataset, Completion | None]:
        return self._filled(None, lambda _: True)

    def fill(self, threads: int, going_on: GoingOn) -> None:
        """Fill the gaps now, with so many threads and as long as it is to go on.

        A completion that is to be repeated, is repeated in any case.
        """
        if "_completed" not in self.__dict__:
            self._completed = self._filled(threads, going_on)

    def _filled(self, threads: int | None, going_on: GoingOn) -> tuple[Dataset, Completion | None]:
        if isinstance(self.table, Dataset):
            return self.table, None
        return complete(
            self.table,
            self.settings,
            self.reading.completions,
            self.cache_mb,
            threads=threads,
            most=None if self.earlier is None else self.earlier.most,
            going_on=going_on if self.earlier is None else lambda done: going_on(done) or True,
        )

    # --- the core ---

    @cached_property
    def core(self) -> _core.Problem:
        """The data as the core holds them, with the cache that all runs share."""
        problem = core_problem(self.dataset, self.settings.measure, self.cache_mb)
        start = self.settings.start
        if start is not None:
            names = self.dataset.names
            arcs = start.to_core(names).to_dag(len(names))
            self._check_score(problem, problem.score(arcs), "start")
        return problem

    @cached_property
    def knowledge(self) -> CoreKnowledge | None:
        """What is known, as the core takes it."""
        return self.settings.known(self.dataset.names)

    @cached_property
    def fingerprint(self) -> str:
        """Identity of the data; independent of the order of the rows."""
        return fingerprint(self.dataset.names, self.dataset.states, self.core.fingerprint)

    def search(self, runs: list[int], on_batch: OnBatch, *, n_jobs: int) -> None:
        """Do runs on this machine."""
        options = self.settings.for_core(self.dataset.names)
        with core_errors():
            self.core.search(runs, on_batch, n_jobs=n_jobs, **options)

    def trace(self, run: int) -> tuple[dict[str, list[Any]], CoreGraph]:
        """Replay a run: the columns of a table of its steps, and the graph it ends in."""
        names = self.dataset.names
        with core_errors():
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
        """Score a model over these variables, as a search does.

        Raises
        ------
        KesError
            If it joins continuous variables that determine each other, so that it has no score.
        """
        names = self.dataset.names
        score = self.core.score(graph.to_core(names).to_dag(len(names)))
        self._check_score(self.core, score, "the model")
        return score

    def _check_score(self, problem: _core.Problem, score: float, what: str) -> None:
        if score == -math.inf and self.dataset.kind != "discrete":
            raise KesError(
                f"{what} has no score: it joins {listed(self._dependent(problem))}, of which some "
                "determine another linearly, or has families as large as the table; take fewer "
                "edges, or leave one of these columns out"
            )

    def _dependent(self, problem: _core.Problem) -> list[str]:
        return [self.dataset.names[i] for i in problem.dependent or []]

    def neighbours(self, graph: EssentialGraph) -> list[Neighbour]:
        """Return the admissible neighbours of a model with what they gain, best first."""
        names = self.dataset.names
        with core_errors():
            valued = self.core.boundary(
                graph.to_core(names), self.settings.max_parents, self.knowledge
            )
        return [
            Neighbour.from_core(graph, triple, delta)
            for triple, delta in valued
            if delta > -math.inf or self.dataset.kind == "discrete"  # no family: see `score`
        ]

    def blank(self, going_on: Callable[[], bool], n_jobs: int) -> Record | None:
        """Do GES, and return a record with no runs, or with run 0 if that is GES already.

        Parameters
        ----------
        going_on : callable
            Asked about ten times a second; if it says no before GES has ended, there is no record.
        n_jobs : int
            Threads; they do not change what is found.
        """
        found: list[Model] = []

        def on_batch(runs: list[int], models: list[int], new_models: NewModels) -> bool:
            found.extend(Model.from_core(*model) for model in new_models)
            return going_on()

        options = self.settings.for_core(self.dataset.names)
        options["k"] = 1.0
        with core_errors():
            self.core.search([0], on_batch, n_jobs=n_jobs, **options)
        if not found:
            return None
        [ges] = found
        # GES alone meets the same sets whatever is done before and after, so notes are the same.
        dependent = self._dependent(self.core)
        notes = [*self.dataset.notes]
        if dependent:
            notes.append(
                "never all joined, however strong the relation, as some determine another linearly "
                f"(or nearly): {listed(dependent)}; leave one out, or discretize the numbers"
            )
        is_run_0 = self.settings.k == 1.0
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
        )

    def check(self, record: Record) -> None:
        """Refuse a record that was made from other data, or with other scores.

        Raises
        ------
        KesError
            Names the columns or states that differ, or says that the rows or the scores do.
        """
        if self.fingerprint != record.fingerprint:
            reason = _difference(self.dataset, record)
            raise OtherData(reason, advice="; use the data it was learned from")
        self._check_scores(record)

    def _check_scores(self, record: Record) -> None:
        """Score the models again: files may have been changed."""
        unit, n = self.core.tolerance, len(self.dataset.names)
        for number, model in enumerate(record.pool):
            score = self.core.score(model.graph.to_dag(n))
            if abs(score - model.score) > unit:
                raise KesError(
                    f"the result is not to be trusted: model {number} of the file is said to score "
                    f"{model.score:.12g}, but on these data it scores {score:.12g}; learn again"
                )
        if not (_same(record.tolerance, unit) and _same(record.cases, self.core.total_weight)):
            raise KesError(
                "the result is not to be trusted: its number of cases or its tolerance of scores "
                "are not those of these data; learn again"
            )


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9)


def _difference(dataset: Dataset, record: Record) -> str:
    """Say in which respect the data are not those of the record."""
    if list(dataset.names) != list(record.names):
        extra = [name for name in dataset.names if name not in set(record.names)]
        lacking = [name for name in record.names if name not in set(dataset.names)]
        if not extra and not lacking:
            return "the columns are in another order"
        parts = [f"it has no column {name!r}" for name in extra[:3]]
        parts += [f"the data lack its column {name!r}" for name in lacking[:3]]
        return ", ".join(parts) + left_out(lacking, dataset.notes)
    for name, here, there in zip(record.names, dataset.states, record.states, strict=True):
        if bool(here) != bool(there):
            kind = "discrete" if there else "continuous"
            return f"column {name!r} is {kind} in the result"
        if list(here) != list(there):
            return f"column {name!r} has the states {list(here)}, the result has {list(there)}"
    return "the rows or their weights differ"
