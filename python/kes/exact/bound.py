"""How high a score can be at most, for more variables than can be solved set by set.

Choose parents for every variable, from the families that the criterion's bounds leave, so that the
score is highest: a linear programme once choices may be fractional. Networks have no cycles, which
is stated cluster by cluster: in any set of variables at least one has no parents within the set
[Jaakkola 2010], and in any set not more than one has all others as parents [Cussens 2011]. Of
these conditions only violated ones are added, round after round [Bartlett & Cussens 2017]. Each
round gives weights of the clusters, and the weights give a bound that the core computes by itself
(``relaxation.rs``), so that it does not rest on the solver.

Families that no network as good as the best one known can have are dropped on the way. Once the
rest falls into parts small enough for dynamic programming, the optimum is exact. If no more
clusters are violated before that, choices are made whole by branch and bound; only then the bound
is the solver's, and good to its accuracy of about 1e-6. As long as the result has cycles, the
linear programme goes on with the clusters that these violate.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from kes.exact.linear_program import Choices, Cluster, Counts, Programme
from kes.exact.separation import Separation, cycles

if TYPE_CHECKING:
    from kes._core import Families

Network: TypeAlias = list[tuple[int, int]]
"""Arcs between numbers of variables."""

_BY_BUDGET = "by the budget"

_REBUILD = 0.8
"""Make the programme anew when the families left are fewer than this share of its own."""


@dataclass(frozen=True)
class Bounded:
    """What was found out about the highest score.

    Attributes
    ----------
    upper_bound : float
        No network scores higher.
    exact : bool
        Whether no network scores higher than `arcs` or the network known before.
    arcs : list of (int, int) or None
        The network found last, if any; not necessarily better than the one known before.
    method : str
        How the bound came about.
    """

    upper_bound: float
    exact: bool
    arcs: Network | None
    method: str


@dataclass(frozen=True)
class Means:
    """What the search for a bound rests on, what it may use, and whom it tells.

    Attributes
    ----------
    known : float
        Score of a network that is known.
    tolerance : float
        Scores that differ by less are equal.
    solve : callable
        Makes families into (arcs, score) of the best network, or None if they are too entangled.
    deadline : float
        On the clock `time.monotonic`.
    report : callable
        Called with the bound after each round.
    counts : Counts or None
        How much may be done, where that is not for the clock to say.
    """

    known: float
    tolerance: float
    solve: Callable[[Families], tuple[Network, float] | None]
    deadline: float
    report: Callable[[float], object]
    counts: Counts | None = None

    @property
    def left(self) -> float:
        """Seconds to the deadline."""
        return self.deadline - time.monotonic()

    def met(self, bound: float) -> bool:
        """Whether the known network reaches the bound."""
        return bound <= self.known + self.tolerance

    def over(self, rounds: int) -> str | None:
        """Return what ends the work after so many rounds; None if it goes on."""
        if self.counts is not None and rounds >= self.counts.rounds:
            return "after as many rounds as are allowed"
        return _BY_BUDGET if self.left <= 0 else None

    @property
    def short(self) -> str:
        """What it was that did not suffice for a solution."""
        return _BY_BUDGET if self.counts is None or self.left <= 0 else "by its limit of work"


def upper_bound(families: Families, means: Means) -> Bounded:
    """Bound the score of all networks made of some families.

    Parameters
    ----------
    families : Families
        Of every variable, all that a best network may have.
    """
    bound = families.upper_bound([])
    if means.left <= 0:
        return Bounded(
            bound, False, None, "the best family of each variable, stopped by the budget"
        )
    work = _Bounding(families, bound, means)
    while True:
        found = work.relax() or work.branch()
        if found is not None:
            return found


class _Bounding:
    """Families and clusters so far, with the bound that follows from them."""

    def __init__(self, families: Families, bound: float, means: Means) -> None:
        self._families, self._bound, self._means = families, bound, means
        self._clusters: list[Cluster] = []
        self._programme = Programme(families, [], counts=means.counts)
        self._branched = 0

    def relax(self) -> Bounded | None:
        """Add violated clusters until there are none; None if that settles nothing."""
        method, means = "linear programme over clusters", self._means
        for rounds in itertools.count(1):
            solution = self._programme.solve(means.left)
            if solution is None:
                return self._stopped(method, means.short)
            choices, weights = solution
            weighted = [
                (sorted(c.members), c.k, w) for c, w in zip(self._clusters, weights, strict=True)
            ]
            self._lower(self._families.upper_bound(weighted))
            if means.met(self._bound):
                return Bounded(self._bound, True, None, method)
            fewer = self._families.reduced(weighted, means.known - means.tolerance)
            if sum(fewer.sizes) < sum(self._families.sizes):
                self._families = fewer
                solved = means.solve(fewer)
                if solved is not None:
                    arcs, score = solved
                    rest = f"{method}, and dynamic programming on the rest"
                    return Bounded(score, True, arcs, rest)
            found = self._violated(choices)
            if why := means.over(rounds):
                return self._stopped(method, why)
            if not found:
                return None
            if sum(self._families.sizes) < _REBUILD * self._programme.columns:
                self._clusters = [c for c, w in zip(self._clusters, weights, strict=True) if w > 0]
                self._programme = Programme(self._families, self._clusters, counts=means.counts)
            self._add(found)
        return None  # never: rounds are counted without end

    def branch(self) -> Bounded | None:
        """Make choices whole, and forbid the cycles of the solution; None if it has any."""
        method, means = "branch and bound with HiGHS", self._means
        self._branched += 1
        programme = Programme(self._families, self._clusters, whole=True, counts=means.counts)
        choices, bound = programme.branch(means.left)
        self._lower(bound)
        if means.met(self._bound):
            return Bounded(self._bound, True, None, method)
        if choices is None:
            return self._stopped(method, means.short)
        chosen = {y: parents for y, parents, share in choices if share > 0.5}
        entangled = cycles(chosen)
        if not entangled:
            arcs = [(x, y) for y, parents in chosen.items() for x in parents]
            return Bounded(self._bound, True, arcs, method)
        if why := means.over(self._branched):
            return self._stopped(method, why)
        self._add(self._violated(choices) or [Cluster(entangled)])
        return None

    def _lower(self, bound: float) -> None:
        self._bound = min(self._bound, bound)
        self._means.report(self._bound)

    def _stopped(self, method: str, why: str) -> Bounded:
        return Bounded(self._bound, False, None, f"{method}, stopped {why}")

    def _violated(self, choices: Choices) -> list[Cluster]:
        separation = Separation(choices, self._means.deadline, self._means.counts)
        return separation.violated(set(self._clusters))

    def _add(self, clusters: list[Cluster]) -> None:
        self._clusters += clusters
        self._programme.add(clusters)
