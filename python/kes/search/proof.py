"""Proof that no network scores higher than the best one found, where it costs little.

It takes all families that a best network can have: those that the bounds of the criterion do not
rule out. How many sets have to be counted for them, nobody can tell beforehand: the most that are
possible whatever the data say is often a hundred times too many. So what is estimated beforehand is
whether it is worth a start, by the least: all sets of up to three variables, or all there are if
there are no such bounds (continuous columns) or weak ones (BDeu, qNML). Then sets are counted, as
many as are allowed. Of the families that are found, the best network is made by dynamic programming
up to 23 variables that depend on each other, else by the linear programme of `kes.exact.bound`, and
last by dynamic programming up to 25 variables.

Amounts of work are limited, and not time, so that the same search ends in the same proof, or in
none, anywhere. Only a budget of the whole search, if there is one, may end it as well.
"""

from __future__ import annotations

import importlib.util
import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kes.exact.bound import Bounded, Means, Network, upper_bound
from kes.exact.linear_program import Counts
from kes.graph import EssentialGraph
from kes.native import core_errors
from kes.progress import Progress, Reporter, reporting
from kes.search.budget import Prove, Size
from kes.search.execution import Execution, SearchInterrupted
from kes.search.problem import Problem
from kes.search.record import Model, Proof, Record

if TYPE_CHECKING:
    from kes._core import Families

PER_SET, _PER_ROW, _PER_CUBE = 2e-6, 4e-9, 2e-11
"""Processor seconds to count a set of variables, for each row of the table, and for the cube of the
columns of numbers that are factorised: half of them, on average. Measured."""

_QUICK_MB = 64  # dynamic programming over 23 variables: a second or two
_TOGETHER = 25  # variables that can be solved together if there is no other way
_LEAST_SIZE = 3  # sets up to this size are hardly ever ruled out


@dataclass(frozen=True)
class Allowance:
    """How much may be done for a proof.

    Attributes
    ----------
    seconds : float
        Of processor time for counting, as estimated by `set_seconds`.
    start : float
        As many seconds at most must be sure to be needed for it to be started.
    families : int
        Most families that the linear programme is made of.
    solving_mb : int
        Memory for dynamic programming.
    counting_mb : int
        Memory for families.
    counts : Counts
        How much the solver of linear programmes may do.
    """

    seconds: float
    start: float
    families: int
    solving_mb: int
    counting_mb: int
    counts: Counts


_FEW = Allowance(15.0, 15.0, 5000, 256, 512, Counts(40, 20_000, 20))
_MORE = replace(_FEW, seconds=6.0, start=1.5)
_ASKED = Allowance(1000.0, 1000.0, 50_000, 2048, 2048, Counts(1000, 10**6, 10_000))
"""By itself up to 25 variables, by itself with more of them, and if it was asked for."""


def allowance(problem: Problem, prove: Prove) -> Allowance | None:
    """Return how much may be done for a proof; None if it is not worth a start."""
    if prove is False:
        return None
    sets, variables = _least_sets(problem)
    allowed = _ASKED if prove is True else _FEW if variables <= _TOGETHER else _MORE
    return allowed if sets * set_seconds(problem.size) <= allowed.start else None


def _least_sets(problem: Problem) -> tuple[int, int]:
    """Return how many sets have to be counted at least, of how many variables that vary."""
    dataset, most = problem.dataset, problem.settings.max_parents
    n = sum(states != 1 for states in dataset.cardinalities)
    largest = n if most is None else min(n, most + 1)
    if dataset.kind == "discrete" and problem.settings.measure.price(problem.core.total_weight):
        largest = min(largest, _LEAST_SIZE)
    return sum(math.comb(n, size) for size in range(largest + 1)), n


def set_seconds(size: Size) -> float:
    """Return the processor seconds that a set of variables takes to count."""
    return PER_SET + _PER_ROW * size.rows + _PER_CUBE * size.columns**3


def prove_best(problem: Problem, record: Record, asked: Prove, execution: Execution) -> Record:
    """Find out whether a network scores higher than the best of a record, and which.

    Raises
    ------
    SearchInterrupted
        On Ctrl-C, with the record as it was.
    """
    bare = replace(record.unproven(), prove=asked)
    if record.proof is None:
        record = bare
    allowed = allowance(problem, asked)
    left = execution.limits.budget
    if allowed is None or (left is not None and left <= 0):
        return record
    deadline = math.inf if left is None else time.monotonic() + left
    try:
        with reporting(execution.progress) as report, core_errors():
            found = _Attempt(
                problem,
                bare,
                allowed,
                threads=execution.threads,
                deadline=deadline,
                report=report,
            ).proof()
    except KeyboardInterrupt:
        raise SearchInterrupted(record) from None
    if time.monotonic() > deadline and not found[0].proven:
        return record  # the clock, and not the work, has decided
    if record.proof is not None and record.proof.is_stronger_than(found[0]):
        return replace(record, prove=record.prove or asked)
    return with_proof(bare, *found)


def with_proof(record: Record, proof: Proof, model: Model | None) -> Record:
    """Return a record with a proof, and with the model that it found if that scores highest.

    What it says already is replaced only by what says no less.
    """
    if record.proof is None or not record.proof.is_stronger_than(proof):
        record = replace(record, proof=proof)
    return record if model is None else record.with_exact(model)


class _Attempt:
    """One attempt at a proof, with what it may use and whom it tells."""

    def __init__(
        self,
        problem: Problem,
        record: Record,
        allowed: Allowance,
        *,
        threads: int,
        deadline: float,
        report: Reporter,
    ) -> None:
        self._problem, self._record = problem, record
        self._allowed, self._threads, self._deadline = allowed, threads, deadline
        self._report = report
        self._started = time.monotonic()
        self._most = int(allowed.seconds / set_seconds(problem.size))
        self._best = max(model.score for model in record.pool)

    def proof(self) -> tuple[Proof, Model | None]:
        """Return what is known in the end, and the best model of all if it is a new one."""
        problem = self._problem
        families = problem.core.families(
            self._going_on,
            max_parents=problem.settings.max_parents,
            n_jobs=self._threads,
            memory_mb=self._allowed.counting_mb,
            knowledge=problem.knowledge,
        )
        if families.counted > self._most:  # when exactly it was stopped, and by what, is chance
            work = (self._most, 0)
        else:
            work = (families.counted, sum(families.sizes))
        if families.lacking is not None or families.counted > self._most:
            return Proof(False, None, "stopped, as there are too many families", *work), None
        found = self._solved(families)
        if not found.exact:
            bound = found.upper_bound if math.isfinite(found.upper_bound) else None
            return Proof(False, bound, found.method, *work), None
        model = self._model(found.arcs)
        score = self._best if model is None else max(model.score, self._best)
        return Proof(True, score, found.method, *work), model

    def _solved(self, families: Families) -> Bounded:
        """Find the best network of some families, or bound its score."""
        programming = "dynamic programming over all subsets"
        solved = self._subsets(families, _QUICK_MB)
        if solved is not None:
            return Bounded(solved[1], True, solved[0], programming)
        found = self._bounded(families)
        if not found.exact:
            solved = self._subsets(families, self._allowed.solving_mb)
            if solved is not None:
                return Bounded(solved[1], True, solved[0], programming)
        return found

    def _bounded(self, families: Families) -> Bounded:
        """Bound the score by a linear programme, if that is possible and not too large."""
        bound = families.upper_bound([])
        if math.isinf(bound) or sum(families.sizes) > self._allowed.families:
            return Bounded(bound, False, None, "the best family of each variable")
        if importlib.util.find_spec("highspy") is None:
            lacking = "to go on, HiGHS is needed: pip install highspy"
            return Bounded(bound, False, None, f"the best family of each variable; {lacking}")
        means = Means(
            known=self._best,
            tolerance=self._problem.core.tolerance,
            solve=lambda fewer: self._subsets(fewer, _QUICK_MB),
            deadline=self._deadline,
            report=lambda _: self._going_on(self._most),
            counts=self._allowed.counts,
        )
        return upper_bound(families, means)

    def _subsets(self, families: Families, memory_mb: int) -> tuple[Network, float] | None:
        return families.optimum(
            lambda _: self._going_on(self._most), n_jobs=self._threads, memory_mb=memory_mb
        )

    def _model(self, arcs: Network | None) -> Model | None:
        """Return the model of a network."""
        if arcs is None:
            return None
        problem, names = self._problem, self._problem.dataset.names
        graph = EssentialGraph.from_dag(names, [(names[a], names[b]) for a, b in arcs])
        return Model.from_core(graph.to_core(names), problem.score(graph), is_local_optimum=True)

    def _going_on(self, counted: int) -> bool:
        """Tell how far it is, and whether to go on."""
        self._report(
            Progress(
                done=min(counted, self._most),
                wanted=self._most,
                best=self._best,
                optima=len(self._record.pool),
                seconds=time.monotonic() - self._started,
                left=None,
                unit="sets",
            )
        )
        return counted <= self._most and time.monotonic() < self._deadline
