"""Bound the score of all networks where there are too many variables for dynamic programming.

Choose parents for every variable, from the families that the criterion's bounds leave, so that the
score is highest: a linear programme if choices may be fractional. Networks have no cycles, which
is stated cluster by cluster: in any set of variables at least one has no parents within the set
[Jaakkola 2010], and in any set at most one has all others as parents [Cussens 2011]. Only violated
conditions are added, round after round [Bartlett & Cussens 2017]. Each round gives weights of the
clusters, and from the weights the core computes a bound by itself (``relaxation.rs``), so that the
bound does not rest on the solver.

Families that no network as good as the incumbent can have are dropped on the way. Once the rest
falls into parts small enough for dynamic programming, the optimum is exact. If no more clusters are
violated before that, choices are made integral by branch and bound; only then the bound is the
solver's, and good to its accuracy of about 1e-6. As long as the result has cycles, the linear
programme goes on with the clusters that these violate.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from kes.budget import UNLIMITED, Budget
from kes.exact.linear_program import Choices, Cluster, Programme
from kes.exact.separation import Separation, cycles

if TYPE_CHECKING:
    from kes._core import Families

Arcs: TypeAlias = list[tuple[int, int]]
"""A network, as arcs between numbers of variables."""

_BY_BUDGET = "by the budget"

_REBUILD = 0.8
"""Rebuild the programme when the families left are fewer than this share of its own."""


@dataclass(frozen=True)
class Bounded:
    """A bound on the highest score.

    Attributes
    ----------
    upper_bound : float
        No network scores higher.
    exact : bool
        Whether no network scores higher than `arcs` or the incumbent.
    arcs : list of (int, int) or None
        The network found last, if any; not necessarily better than the incumbent.
    method : str
        How the bound was found.
    """

    upper_bound: float
    exact: bool
    arcs: Arcs | None
    method: str

    def because(self, reason: str) -> Bounded:
        """Return it with a reason why there is no better bound."""
        return replace(self, method=f"{self.method}; {reason}")


def upper_bound(
    families: Families,
    *,
    incumbent: float,
    tolerance: float,
    solve: Callable[[Families], Bounded | None],
    deadline: float,
    report: Callable[[float], object] = lambda _: None,
    budget: Budget = UNLIMITED,
) -> Bounded:
    """Bound the score of all networks made of some families.

    Parameters
    ----------
    families : Families
        For every variable, all that a best network may have.
    incumbent : float
        Score of the best known network.
    tolerance : float
        Scores that differ by less are equal.
    solve : callable
        Finds the best network of some families exactly; None if they are too many.
    deadline : float
        On the clock `time.monotonic`.
    report : callable
        Called with the bound after each round.
    budget : Budget
        Its `rounds`, `iterations` and `nodes` decide where the clock must not.
    """
    if time.monotonic() >= deadline:
        method = "the best family of each variable, stopped by the budget"
        return Bounded(families.upper_bound([]), False, None, method)
    work = _Bounding(
        families,
        incumbent=incumbent,
        tolerance=tolerance,
        solve=solve,
        deadline=deadline,
        report=report,
        budget=budget,
    )
    while True:
        found = work.relax() or work.branch()
        if found is not None:
            return found


class _Bounding:
    """Families and clusters so far, with the bound that follows from them."""

    def __init__(
        self,
        families: Families,
        *,
        incumbent: float,
        tolerance: float,
        solve: Callable[[Families], Bounded | None],
        deadline: float,
        report: Callable[[float], object],
        budget: Budget,
    ) -> None:
        self._families, self._bound = families, families.upper_bound([])
        self._incumbent, self._tolerance = incumbent, tolerance
        self._solve, self._report = solve, report
        self._deadline, self._budget = deadline, budget
        self._clusters: list[Cluster] = []
        self._programme = Programme(families, [], budget=budget)
        self._branched = 0

    def relax(self) -> Bounded | None:
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
            self._lower(self._families.upper_bound(weighted))
            if self._is_met:
                return Bounded(self._bound, True, None, method)
            fewer = self._families.reduced(weighted, self._incumbent - self._tolerance)
            if sum(fewer.sizes) < sum(self._families.sizes):
                self._families = fewer
                solved = self._solve(fewer)
                if solved is not None:
                    return replace(solved, method=f"{method}, and dynamic programming on the rest")
            found = self._violated(choices)
            if reason := self._limit_reached(rounds):
                return self._stopped(method, reason)
            if not found:
                return None
            if sum(self._families.sizes) < _REBUILD * self._programme.columns:
                self._clusters = [c for c, w in zip(self._clusters, weights, strict=True) if w > 0]
                self._programme = Programme(self._families, self._clusters, budget=self._budget)
            self._add(found)
        return None  # never: rounds are counted without end

    def branch(self) -> Bounded | None:
        """Make choices integral, and forbid the cycles of the solution; None if it has any."""
        method = "branch and bound with HiGHS"
        self._branched += 1
        programme = Programme(self._families, self._clusters, integral=True, budget=self._budget)
        choices, bound = programme.branch(self._seconds_left)
        self._lower(bound)
        if self._is_met:
            return Bounded(self._bound, True, None, method)
        if choices is None:
            return self._stopped(method, self._shortage)
        chosen = {y: parents for y, parents, share in choices if share > 0.5}
        entangled = cycles(chosen)
        if not entangled:
            arcs = [(x, y) for y, parents in chosen.items() for x in parents]
            return Bounded(self._bound, True, arcs, method)
        if reason := self._limit_reached(self._branched):
            return self._stopped(method, reason)
        self._add(self._violated(choices) or [Cluster(entangled)])
        return None

    @property
    def _seconds_left(self) -> float:
        return self._deadline - time.monotonic()

    @property
    def _is_met(self) -> bool:
        """Whether the incumbent reaches the bound."""
        return self._bound <= self._incumbent + self._tolerance

    def _limit_reached(self, rounds: int) -> str | None:
        """Return what ends the work after a number of rounds; None if it goes on."""
        if self._budget.rounds is not None and rounds >= self._budget.rounds:
            return "after as many rounds as are allowed"
        return _BY_BUDGET if self._seconds_left <= 0 else None

    @property
    def _shortage(self) -> str:
        """What did not suffice for a solution."""
        by_clock = self._budget.rounds is None or self._seconds_left <= 0
        return _BY_BUDGET if by_clock else "by its limit of work"

    def _lower(self, bound: float) -> None:
        self._bound = min(self._bound, bound)
        self._report(self._bound)

    def _stopped(self, method: str, reason: str) -> Bounded:
        return Bounded(self._bound, False, None, f"{method}, stopped {reason}")

    def _violated(self, choices: Choices) -> list[Cluster]:
        separation = Separation(choices, self._deadline, self._budget)
        return separation.violated(set(self._clusters))

    def _add(self, clusters: list[Cluster]) -> None:
        self._clusters += clusters
        self._programme.add(clusters)
