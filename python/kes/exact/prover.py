"""The prover: find the best of all networks, or bound its score.

It needs all families that a best network can have: those that the bounds of the criterion do not
rule out. From these, dynamic programming over subsets makes the best network, if few variables
depend on each other; else a linear programme bounds its score, and often finds
it (`kes.exact.bound`).
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from kes import _core
from kes.budget import Budget
from kes.exact.bound import Bounded, upper_bound
from kes.graph.core_graph import CoreKnowledge
from kes.native import core_errors

if TYPE_CHECKING:
    from kes._core import Families

Report: TypeAlias = Callable[[str, int, float | None], object]
"""Called with the stage, the sets done in it, and the upper bound, if there is one."""

QUICK_MB = 64
"""Dynamic programming over 23 variables: a second or two, so worth a try again and again."""

COUNTING, SOLVING, BOUNDING = "counting sets", "solving subsets", "lowering the bound"


@dataclass(frozen=True)
class Prover:
    """Proofs about one table under one criterion.

    Attributes
    ----------
    core : _core.Problem
        The data and the criterion.
    names : sequence of str
        The variables, for errors.
    max_parents, knowledge
        The networks to consider: those with at most so many parents that satisfy the knowledge.
    threads : int
        Number of threads; does not change what is found.
    budget : Budget
        `sets`, `families`, `counting_mb`, `solving_mb`, and the work of the linear programme.
    deadline : float
        End on the monotonic clock.
    report : callable
        Shows the progress.
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
        """Find the best network by dynamic programming; None if that needs too much."""
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
            best = Bounded(
                families.upper_bound([]), False, None, "the best family of each variable"
            )
            if math.isinf(best.upper_bound) or sum(families.sizes) > self.budget.families:
                return best
            if importlib.util.find_spec("highspy") is None:
                return best.because("to go on, HiGHS is needed: pip install highspy")
        return upper_bound(
            families,
            incumbent=incumbent,
            tolerance=self.core.tolerance,
            solve=lambda fewer: self.by_subsets(fewer, QUICK_MB),
            deadline=self.deadline,
            report=lambda bound: self.report(BOUNDING, 0, bound),
            budget=self.budget,
        )

    def _watch(
        self, stage: str, deadline: float, limit: int | None = None
    ) -> Callable[[int], bool]:
        """Return a callback for the core, which stops it at the limit or the deadline."""

        def on_progress(done: int) -> bool:
            self.report(stage, done, None)
            return (limit is None or done <= limit) and time.monotonic() < deadline

        return on_progress
