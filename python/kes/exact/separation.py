"""Separation: find acyclicity conditions that a solution of the linear programme violates."""

from __future__ import annotations

import itertools
import math
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kes.budget import UNLIMITED, Budget
from kes.exact.linear_program import (
    NOTHING,
    SLACK,
    Choices,
    Cluster,
    make_integral,
    new_solver,
    run,
)

_CUTS = 60
"""Largest number of clusters added in a round."""
_HOPE = 0.5
"""A cluster with support this far above 1 hardly becomes violated by growing."""
_SMALL = 4
"""Largest cluster in which members with all others as parents are counted."""
_SEARCH_SECONDS = 20.0
"""Time limit of the search for one violated cluster."""


class Separation:
    """Finds clusters whose condition some choices violate.

    The *support* of a cluster is the total share of choices of its members with fewer than `k`
    parents in it. It must be at least `k`. Two values of `k` are used: 1, and the number of members
    minus one, where the condition says that at most one member has all others as parents.

    Parameters
    ----------
    deadline : float
        When to end the search, on the clock `time.monotonic`.
    budget : Budget
        If it bounds the work, the search for one cluster has no time limit of its own.
    """

    def __init__(
        self, choices: Choices, deadline: float = math.inf, budget: Budget = UNLIMITED
    ) -> None:
        self._deadline = deadline
        self._budget = budget
        self._n = 1 + max(max((y, *parents)) for y, parents, _ in choices)
        self._child = np.array([y for y, _, _ in choices])
        self._share = np.array([share for _, _, share in choices])
        self._parent = np.zeros((len(choices), self._n))
        for at, (_, parents, _) in enumerate(choices):
            self._parent[at, list(parents)] = 1.0
        self._is_child = np.zeros((len(choices), self._n))
        self._is_child[np.arange(len(choices)), self._child] = 1.0

    def violated(self, known: set[Cluster]) -> list[Cluster]:
        """Return clusters whose condition is violated, most violated first.

        No violated cluster with `k` 1 is missed unless its search takes too long.
        """
        found = dict(self._surrounded())
        for start in range(self._n):
            if time.monotonic() > self._deadline:
                break
            found.update(self._grow(start))
        fresh = {cluster: lack for cluster, lack in found.items() if cluster not in known}
        if not fresh:
            fresh = {cluster: 1.0 for cluster in self._search() if cluster not in known}
        return sorted(fresh, key=lambda found: (-fresh[found], found.k, sorted(found.members)))[
            :_CUTS
        ]

    def _surrounded(self) -> Iterator[tuple[Cluster, float]]:
        """Yield small clusters in which too many members have all others as parents."""
        shares: defaultdict[frozenset[int], float] = defaultdict(float)
        for child, share, parent in zip(self._child, self._share, self._parent, strict=True):
            parents = np.flatnonzero(parent).tolist()
            for size in range(2, _SMALL):
                for others in itertools.combinations(parents, size):
                    shares[frozenset((int(child), *others))] += float(share)
        for members, share in shares.items():
            if share > 1.0 + SLACK:
                yield Cluster(members, len(members) - 1), share - 1.0

    def _grow(self, start: int) -> Iterator[tuple[Cluster, float]]:
        """Yield violated clusters with the support they lack.

        A cluster grows by the variable that leaves the least support.
        """
        cluster = np.zeros(self._n)
        cluster[start] = 1.0
        lowest = 1.0 - SLACK
        for _ in range(self._n - 1):
            outside = self._share * (self._parent @ cluster == 0)
            inside = outside * (self._is_child @ cluster)
            support = inside.sum() - inside @ self._parent + outside @ self._is_child
            support[cluster > 0] = np.inf
            best = int(np.argmin(support))
            cluster[best] = 1.0
            if support[best] < lowest - SLACK:
                lowest = float(support[best])
                yield Cluster(_members(cluster)), 1.0 - lowest
            if support[best] > 1.0 + _HOPE:
                return

    def _search(self) -> list[Cluster]:
        """Return the most violated cluster, by branch and bound; empty if there is none.

        Of all clusters maximise (choices with parents in it) - (members), which is at most -1
        unless the cluster is violated [Bartlett & Cussens 2017].
        """
        solver = new_solver(self._budget)
        for _ in range(self._n):
            solver.addCol(-1.0, 0.0, 1.0, 0, NOTHING, NOTHING)
        make_integral(solver, self._n)
        everyone = np.arange(self._n, dtype=np.int32)
        solver.addRow(2.0, float(self._n), self._n, everyone, np.ones(self._n))
        for child, parents, share in zip(self._child, self._parent, self._share, strict=True):
            inside = np.flatnonzero(parents).astype(np.int32)
            if not len(inside):
                continue
            column = solver.getNumCol()
            solver.addCol(float(share), 0.0, 1.0, 0, NOTHING, NOTHING)
            # A choice counts if its child is in the cluster, and one of its parents.
            for places in (np.array([child]), inside):
                row = np.append(places, column).astype(np.int32)
                signs = np.append(-np.ones(len(places)), 1.0)
                solver.addRow(-np.inf, 0.0, len(row), row, signs)
        limit = _SEARCH_SECONDS if self._budget.rounds is None else math.inf
        if not run(solver, min(limit, self._deadline - time.monotonic())):
            return []
        values = np.asarray(solver.getSolution().col_value)
        cluster = (values[: self._n] > 0.5).astype(float) if len(values) else np.zeros(self._n)
        outside = self._share * (self._parent @ cluster == 0)
        is_violated = cluster.any() and outside @ (self._is_child @ cluster) < 1.0 - SLACK
        return [Cluster(_members(cluster))] if is_violated else []


def cycles(parents: Mapping[int, Sequence[int]]) -> frozenset[int]:
    """Return the variables that are on a cycle or below one: each has a parent among them."""
    left = frozenset(parents)
    while free := {y for y in left if left.isdisjoint(parents[y])}:
        left -= free
    return left


def _members(cluster: NDArray[np.float64]) -> frozenset[int]:
    return frozenset(np.flatnonzero(cluster).tolist())
