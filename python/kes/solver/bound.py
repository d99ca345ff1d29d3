"""How high a score can be at most, for more variables than can be solved set by set.

Choose parents for every variable, from the families that the criterion's bounds leave, so that the
score is highest: a linear programme once choices may be fractional. Networks have no cycles, which
is stated cluster by cluster: in any set of variables at least one has no parents within the set
[Jaakkola 2010]. Of these 2^n conditions only violated ones are added, round after round
[Bartlett & Cussens 2017]. Each round gives weights of the clusters, and the weights give a bound
that the core computes by itself (``relaxation.rs``), so that it does not rest on the solver.

Families that no network as good as the best one known can have are dropped on the way. Once the
rest falls into parts small enough for dynamic programming, the optimum is exact. If no more
clusters are violated before that, choices are made whole by branch and bound; only then the bound
is the solver's, and good to its accuracy of about 1e-6.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from kes.solver.linear_program import Cluster, Counts, Programme, Separation, cycles

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
    method = "linear programme over clusters"
    bound = families.upper_bound([])
    clusters: list[Cluster] = []
    if means.left <= 0:
        return Bounded(
            bound, False, None, "the best family of each variable, stopped by the budget"
        )
    programme, columns = Programme(families, counts=means.counts), sum(families.sizes)
    rounds = 0
    while True:
        rounds += 1
        solution = programme.solve(means.left)
        if solution is None:
            return Bounded(bound, False, None, f"{method}, stopped {means.short}")
        choices, weights = solution
        weighted = list(zip(map(sorted, clusters), weights, strict=True))
        bound = min(bound, families.upper_bound(weighted))
        means.report(bound)
        if means.met(bound):
            return Bounded(bound, True, None, method)
        fewer = families.reduced(weighted, means.known - means.tolerance)
        if sum(fewer.sizes) < sum(families.sizes):
            families = fewer
            solved = means.solve(families)
            if solved is not None:
                arcs, score = solved
                return Bounded(score, True, arcs, f"{method}, and dynamic programming on the rest")
        found = Separation(choices, means.deadline, means.counts).violated(set(clusters))
        if why := means.over(rounds):
            return Bounded(bound, False, None, f"{method}, stopped {why}")
        if not found:
            return _branch(families, clusters, bound, means)
        if sum(families.sizes) < _REBUILD * columns:
            clusters = [frozenset(members) for members, weight in weighted if weight > 0]
            programme, columns = Programme(families, counts=means.counts), sum(families.sizes)
            programme.add(clusters)
        clusters += found
        programme.add(found)


def _branch(families: Families, clusters: list[Cluster], bound: float, means: Means) -> Bounded:
    """Branch and bound, again and again, with the cycles of each solution forbidden."""
    method = "branch and bound with HiGHS"
    programme = Programme(families, whole=True, counts=means.counts)
    programme.add(clusters)
    rounds = 0
    while True:
        rounds += 1
        choices, solver_bound = programme.branch(means.left)
        bound = min(bound, solver_bound)
        means.report(bound)
        if means.met(bound):
            return Bounded(bound, True, None, method)
        if choices is None:
            return Bounded(bound, False, None, f"{method}, stopped {means.short}")
        chosen = {y: parents for y, parents, share in choices if share > 0.5}
        entangled = cycles(chosen)
        if not entangled:
            arcs = [(x, y) for y, parents in chosen.items() for x in parents]
            return Bounded(bound, True, arcs, method)
        if why := means.over(rounds):
            return Bounded(bound, False, None, f"{method}, stopped {why}")
        found = Separation(choices, means.deadline, means.counts).violated(set(clusters)) or [
            entangled
        ]
        clusters = clusters + found
        programme.add(found)
