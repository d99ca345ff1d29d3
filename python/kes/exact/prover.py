"""The prover: find the best of all networks, or bound its score.

It needs all families that a best network can have: those that the bounds of the criterion do not
rule out. If few variables depend on each other, dynamic programming over subsets makes the best
network of these. Otherwise choose parents for every variable so that the score is highest: a linear
programme if choices may be fractional. Networks have no cycles, which is stated cluster by cluster:
in any set of variables at least one has no parents within the set [Jaakkola 2010], and in any set
at most one has all others as parents [Cussens 2011]. Only violated conditions are added, round
after round [Bartlett & Cussens 2017]. Each round gives weights of the clusters, and from the
weights the core computes a bound of its own (``relaxation.rs``), so that the bound does not rest on
the solver.

Families that no network as good as the incumbent can have are dropped on the way. Once the rest
falls into parts small enough for dynamic programming, the optimum is exact. If no more clusters are
violated before that, choices are made integral by branch and bound; only then the bound is the
solver's, and good to its accuracy of about 1e-6. As long as the result has cycles, the linear
programme goes on with the clusters that these violate.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from kes import _core
from kes.budget import UNLIMITED, Budget
from kes.exact.linear_program import Choices, Cluster, Programme, Separation, cycles
from kes.graph.core_graph import CoreKnowledge
from kes.native import core_errors

if TYPE_CHECKING:
    from kes._core import Families

Report: TypeAlias = Callable[[str, int, float | None], object]
"""Called with the stage, the sets done in it, and the upper bound, if there is one."""

QUICK_MB = 64
"""Memory for dynamic programming over 23 variables, which takes a second or two."""

COUNTING, SOLVING, BOUNDING = "counting sets", "solving subsets", "lowering the bound"

_BY_BUDGET = "by the budget"

_REBUILD = 0.8
"""Rebuild the programme when the families left are fewer than this share of its own."""


@dataclass(frozen=True)
class Bounded:
    """A bound on the highest score, and the method that found it.

    If it is `exact`, no network scores higher than `arcs` (or the incumbent, if there are none),
    which need not be better than the incumbent.
    """

    upper_bound: float
    exact: bool
    arcs: list[tuple[int, int]] | None
    method: str


@dataclass(frozen=True)
class Prover:
    """Proofs about one table under one criterion.

    All networks that `max_parents` and `knowledge` allow are considered. `deadline` is a time of
    the monotonic clock. The number of threads does not change what is found.
    """

    core: _core.Problem
    names: Sequence[str]
    max_parents: int | None
    knowledge: CoreKnowledge | None
    threads: int
    budget: Budget
    deadline: float = math.inf
    report: Report = field(default=lambda *_: None, repr=False)

    def families(self, deadline: float = math.inf) -> Families:
        """Return the families that matter, as far as budget and time suffice."""
        assert self.budget.counting_mb is not None
        with core_errors(self.names):
            return self.core.families(
                self._watch(COUNTING, min(deadline, self.deadline), self.budget.sets),
                max_parents=self.max_parents,
                n_jobs=self.threads,
                memory_mb=self.budget.counting_mb,
                knowledge=self.knowledge,
            )

    def by_subsets(self, families: Families, memory_mb: int | None = None) -> Bounded | None:
        """Find the best network by dynamic programming; None if that needs too much memory."""
        allowed = self.budget.solving_mb or 0
        solved = families.optimum(
            self._watch(SOLVING, self.deadline),
            n_jobs=self.threads,
            memory_mb=allowed if memory_mb is None else min(memory_mb, allowed),
        )
        if solved is None:
            return None
        return Bounded(solved[1], True, solved[0], "dynamic programming over all subsets")

    def by_programme(self, families: Families, incumbent: float) -> Bounded:
        """Bound the score by a linear programme, given the score of a known network.

        With a limit on families, it is left out where it would be too large or HiGHS is missing.
        """
        if self.budget.families is not None:
            bound, method = families.upper_bound([]), "the best family of each variable"
            if math.isinf(bound) or sum(families.sizes) > self.budget.families:
                return Bounded(bound, False, None, method)
            if importlib.util.find_spec("highspy") is None:
                method += "; to go on, HiGHS is needed: pip install highspy"
                return Bounded(bound, False, None, method)
        return Bounding(
            families,
            incumbent=incumbent,
            tolerance=self.core.tolerance,
            solve=lambda fewer: self.by_subsets(fewer, QUICK_MB),
            deadline=self.deadline,
            report=lambda bound: self.report(BOUNDING, 0, bound),
            budget=self.budget,
        ).upper_bound()

    def _watch(
        self, stage: str, deadline: float, limit: int | None = None
    ) -> Callable[[int], bool]:
        """Return a callback for the core, which stops it at the limit or the deadline."""

        def on_progress(done: int) -> bool:
            self.report(stage, done, None)
            return (limit is None or done <= limit) and time.monotonic() < deadline

        return on_progress


@dataclass(kw_only=True)
class Bounding:
    """Bounds the score of all networks made of some families.

    Attributes
    ----------
    families : Families
        For every variable, all that a best network may have.
    incumbent, tolerance : float
        Score of the best known network; scores that differ by less than `tolerance` are equal.
    solve : callable
        Finds the best network of some families exactly; None if they are too many.
    report : callable
        Called with the bound after each round.
    budget : Budget
        Its `rounds`, `iterations` and `nodes` decide where the clock must not.
    """

    families: Families = field(kw_only=False)
    incumbent: float
    tolerance: float
    solve: Callable[[Families], Bounded | None]
    deadline: float
    report: Callable[[float], object] = lambda _: None
    budget: Budget = UNLIMITED

    def upper_bound(self) -> Bounded:
        """Add clusters and branch until the bound is met or the budget is spent."""
        self._bound = self.families.upper_bound([])
        if time.monotonic() >= self.deadline:
            return self._stopped("the best family of each variable", _BY_BUDGET)
        self._clusters: list[Cluster] = []
        self._programme = Programme(self.families, [], budget=self.budget)
        rounds = 0
        while True:
            rounds += 1
            found = self._relax() or self._branch(rounds)
            if found is not None:
                return found

    def _relax(self) -> Bounded | None:
        """Add violated clusters until there are none; None if that settles nothing."""
        method = "linear programme over clusters"
        for rounds in itertools.count(1):
            solution = self._programme.solve(self._seconds_left)
            if solution is None:
                return self._stopped(method, self._shortage)
            choices, weights = solution
            weighted = [
                (sorted(c.members), c.k, w) for c, w in zip(self._clusters, weights, strict=True)
            ]
            if self._lower(self.families.upper_bound(weighted)):
                return Bounded(self._bound, True, None, method)
            fewer = self.families.reduced(weighted, self.incumbent - self.tolerance)
            if sum(fewer.sizes) < sum(self.families.sizes):
                self.families = fewer
                solved = self.solve(fewer)
                if solved is not None:
                    return replace(solved, method=f"{method}, and dynamic programming on the rest")
            found = self._violated(choices)
            if reason := self._limit_reached(rounds):
                return self._stopped(method, reason)
            if not found:
                break
            if sum(self.families.sizes) < _REBUILD * self._programme.columns:
                self._clusters = [c for c, w in zip(self._clusters, weights, strict=True) if w > 0]
                self._programme = Programme(self.families, self._clusters, budget=self.budget)
            self._add(found)
        return None

    def _branch(self, rounds: int) -> Bounded | None:
        """Make choices integral, and forbid the cycles of the solution; None if it has any."""
        method = "branch and bound with HiGHS"
        programme = Programme(self.families, self._clusters, integral=True, budget=self.budget)
        choices, bound = programme.branch(self._seconds_left)
        if self._lower(bound):
            return Bounded(self._bound, True, None, method)
        if choices is None:
            return self._stopped(method, self._shortage)
        chosen = {y: parents for y, parents, share in choices if share > 0.5}
        entangled = cycles(chosen)
        if not entangled:
            arcs = [(x, y) for y, parents in chosen.items() for x in parents]
            return Bounded(self._bound, True, arcs, method)
        if reason := self._limit_reached(rounds):
            return self._stopped(method, reason)
        self._add(self._violated(choices) or [Cluster(entangled)])
        return None

    @property
    def _seconds_left(self) -> float:
        return self.deadline - time.monotonic()

    def _limit_reached(self, rounds: int) -> str | None:
        """Return the limit that ends the work after a number of rounds; None if it continues."""
        if self.budget.rounds is not None and rounds >= self.budget.rounds:
            return "after as many rounds as are allowed"
        return _BY_BUDGET if self._seconds_left <= 0 else None

    @property
    def _shortage(self) -> str:
        """The limits that were reached before a solution."""
        by_clock = self.budget.rounds is None or self._seconds_left <= 0
        return _BY_BUDGET if by_clock else "by its limit of work"

    def _lower(self, bound: float) -> bool:
        """Lower the bound; return whether the incumbent reaches it."""
        self._bound = min(self._bound, bound)
        self.report(self._bound)
        return self._bound <= self.incumbent + self.tolerance

    def _stopped(self, method: str, reason: str) -> Bounded:
        return Bounded(self._bound, False, None, f"{method}, stopped {reason}")

    def _violated(self, choices: Choices) -> list[Cluster]:
        separation = Separation(choices, self.deadline, self.budget)
        return separation.violated(set(self._clusters))

    def _add(self, clusters: list[Cluster]) -> None:
        self._clusters += clusters
        self._programme.add(clusters)
