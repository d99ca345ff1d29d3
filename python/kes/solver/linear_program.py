"""The linear programme behind `kes.solver.bound`, and the search for conditions that it violates.

Scores and solutions go through HiGHS, the solver of the extra ``certify``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.errors import not_installed

if TYPE_CHECKING:
    import highspy

    from kes._core import Families

Cluster: TypeAlias = frozenset[int]
"""A set of variables of which, in a network, at least one has no parents within the set."""

Choices: TypeAlias = list[tuple[int, tuple[int, ...], float]]
"""Variable, parents, and the share in which it chooses them; only positive shares."""

_SLACK = 1e-6
"""Conditions violated by less are not added: the solver's own accuracy is not much better."""
_CUTS = 60
"""Most clusters added in a round."""
_HOPE = 0.5
"""A cluster whose support is so much above 1 will hardly become violated by growing."""
_SEARCH_SECONDS = 20.0
"""For the search for one violated cluster."""
_LEAST_SECONDS = 0.2
"""Even when the time is nearly over: less is not worth the start."""
_PATIENCE = 1.0
"""Seconds to wait for a solver to stop."""

_NOTHING = np.array([], dtype=np.int32)


@dataclass(frozen=True)
class Counts:
    """How much a solver may do where no clock is to decide: then the result is the same anywhere.

    Attributes
    ----------
    rounds : int
        Rounds of adding violated conditions, and of branch and bound.
    steps : int
        Iterations of the simplex method in each round.
    nodes : int
        Nodes of each branch and bound.
    """

    rounds: int
    steps: int
    nodes: int


class Programme:
    """Choose parents so that the score is highest: a column for each family.

    Parameters
    ----------
    whole : bool
        Whether choices are yes or no, rather than shares.
    counts : Counts or None
        How much each solution may take; None: as much as it needs.
    """

    def __init__(
        self, families: Families, *, whole: bool = False, counts: Counts | None = None
    ) -> None:
        choices = [families.choices(y) for y in range(len(families.sizes))]
        self._families = [
            (y, tuple(parents)) for y, own in enumerate(choices) for parents, _ in own
        ]
        self._variables = len(choices)
        self._child = np.array([y for y, _ in self._families])
        self._member = np.zeros((len(self._families), self._variables), dtype=bool)
        for column, (_, parents) in enumerate(self._families):
            self._member[column, list(parents)] = True
        # Scores relative to the best of each variable: small numbers are solved more accurately.
        self._offset = sum(own[0][1] for own in choices)
        self._solver = _new_solver(counts)
        for own in choices:
            for _, score in own:
                self._solver.addCol(score - own[0][1], 0.0, 1.0, 0, _NOTHING, _NOTHING)
        if whole:
            _make_whole(self._solver, len(self._families))
        for y in range(self._variables):
            self._add_row(self._child == y, 1.0, 1.0)

    def add(self, clusters: list[Cluster]) -> None:
        """Ask that some member of each cluster has no parents in it."""
        for cluster in clusters:
            members = sorted(cluster)
            outside = ~self._member[:, members].any(axis=1)
            self._add_row(np.isin(self._child, members) & outside, 1.0, np.inf)

    def _add_row(self, columns: NDArray[np.bool_], least: float, most: float) -> None:
        places = np.flatnonzero(columns).astype(np.int32)
        self._solver.addRow(least, most, len(places), places, np.ones(len(places)))

    def solve(self, seconds: float) -> tuple[Choices, list[float]] | None:
        """Return the choices, and the weights of the clusters in the order they were added.

        None if the time, or what is allowed, was too short.
        """
        if not (_run(self._solver, seconds) and _is_optimal(self._solver)):
            return None
        solution = self._solver.getSolution()
        weights = np.maximum(-np.asarray(solution.row_dual[self._variables :]), 0.0)
        return self._chosen(solution.col_value), weights.tolist()

    def branch(self, seconds: float) -> tuple[Choices | None, float]:
        """Return whole choices, if they are known to be the best, and the solver's bound."""
        if not _run(self._solver, seconds):
            return None, math.inf
        bound = self._offset + self._solver.getInfo().mip_dual_bound
        if not _is_optimal(self._solver):
            return None, bound
        return self._chosen(self._solver.getSolution().col_value), bound

    def _chosen(self, values: list[float]) -> Choices:
        shares = np.asarray(values)
        return [
            (*self._families[column], float(shares[column]))
            for column in np.flatnonzero(shares > _SLACK)
        ]


class Separation:
    """The search for clusters whose condition some choices violate.

    The *support* of a cluster is the share of choices of its members without parents in it. It must
    be at least 1.

    Parameters
    ----------
    deadline : float
        When to end the search, on the clock `time.monotonic`.
    counts : Counts or None
        How much it may take, instead.
    """

    def __init__(
        self, choices: Choices, deadline: float = math.inf, counts: Counts | None = None
    ) -> None:
        self._deadline = deadline
        self._counts = counts
        self._n = 1 + max(max((y, *parents)) for y, parents, _ in choices)
        self._child = np.array([y for y, _, _ in choices])
        self._share = np.array([share for _, _, share in choices])
        self._parent = np.zeros((len(choices), self._n))
        for at, (_, parents, _) in enumerate(choices):
            self._parent[at, list(parents)] = 1.0
        self._is_child = np.zeros((len(choices), self._n))
        self._is_child[np.arange(len(choices)), self._child] = 1.0

    def violated(self, known: set[Cluster]) -> list[Cluster]:
        """Return clusters whose condition is violated, most violated first; none if there is none.

        Nothing violated is overlooked, unless the search for it takes too long.
        """
        found: dict[Cluster, float] = {}
        for start in range(self._n):
            if time.monotonic() > self._deadline:
                break
            found.update(self._grow(start))
        fresh = {cluster: support for cluster, support in found.items() if cluster not in known}
        if not fresh:
            fresh = {cluster: 0.0 for cluster in self._search() if cluster not in known}
        return sorted(fresh, key=lambda cluster: (fresh[cluster], sorted(cluster)))[:_CUTS]

    def _grow(self, start: int) -> Iterator[tuple[Cluster, float]]:
        """Go through violated clusters: always add the variable that leaves the least support."""
        cluster = np.zeros(self._n)
        cluster[start] = 1.0
        lowest = 1.0 - _SLACK
        for _ in range(self._n - 1):
            outside = self._share * (self._parent @ cluster == 0)
            inside = outside * (self._is_child @ cluster)
            support = inside.sum() - inside @ self._parent + outside @ self._is_child
            support[cluster > 0] = np.inf
            best = int(np.argmin(support))
            cluster[best] = 1.0
            if support[best] < lowest - _SLACK:
                lowest = float(support[best])
                yield _members(cluster), lowest
            if support[best] > 1.0 + _HOPE:
                return

    def _search(self) -> list[Cluster]:
        """Return the most violated cluster, by branch and bound; nothing if there is none.

        Of all clusters maximise (choices with parents in it) - (members), which is at most -1
        unless the cluster is violated [Bartlett & Cussens 2017].
        """
        solver = _new_solver(self._counts)
        for _ in range(self._n):
            solver.addCol(-1.0, 0.0, 1.0, 0, _NOTHING, _NOTHING)
        _make_whole(solver, self._n)
        everyone = np.arange(self._n, dtype=np.int32)
        solver.addRow(2.0, float(self._n), self._n, everyone, np.ones(self._n))
        for child, parents, share in zip(self._child, self._parent, self._share, strict=True):
            inside = np.flatnonzero(parents).astype(np.int32)
            if not len(inside):
                continue
            column = solver.getNumCol()
            solver.addCol(float(share), 0.0, 1.0, 0, _NOTHING, _NOTHING)
            # A choice counts if its child is in the cluster, and one of its parents.
            for places in (np.array([child]), inside):
                row = np.append(places, column).astype(np.int32)
                signs = np.append(-np.ones(len(places)), 1.0)
                solver.addRow(-np.inf, 0.0, len(row), row, signs)
        longest = _SEARCH_SECONDS if self._counts is None else math.inf
        if not _run(solver, min(longest, self._deadline - time.monotonic())):
            return []
        values = np.asarray(solver.getSolution().col_value)
        cluster = (values[: self._n] > 0.5).astype(float) if len(values) else np.zeros(self._n)
        outside = self._share * (self._parent @ cluster == 0)
        is_violated = cluster.any() and outside @ (self._is_child @ cluster) < 1.0 - _SLACK
        return [_members(cluster)] if is_violated else []


def cycles(parents: Mapping[int, Sequence[int]]) -> Cluster:
    """Return the variables that are on a cycle or below one: each has a parent among them."""
    left = frozenset(parents)
    while free := {y for y in left if left.isdisjoint(parents[y])}:
        left -= free
    return left


def _members(cluster: NDArray[np.float64]) -> Cluster:
    return frozenset(np.flatnonzero(cluster).tolist())


def _new_solver(counts: Counts | None) -> highspy.Highs:
    """Return a silent solver that maximises, and does not stop short of the best.

    With counts, it does if these are reached; and it works on one thread, in one order.
    """
    try:
        import highspy
    except ImportError:
        raise not_installed("highspy") from None
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.0)
    solver.setOptionValue("mip_heuristic_effort", 0.0)  # a good network is known
    if counts is not None:
        solver.setOptionValue("parallel", "off")
        solver.setOptionValue("simplex_iteration_limit", counts.steps)
        solver.setOptionValue("mip_max_nodes", counts.nodes)
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    return solver


def _is_optimal(solver: highspy.Highs) -> bool:
    import highspy

    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def _make_whole(solver: highspy.Highs, columns: int) -> None:
    """Let the first columns take whole numbers only."""
    import highspy

    kinds = [highspy.HighsVarType.kInteger] * columns
    solver.changeColsIntegrality(columns, np.arange(columns, dtype=np.int32), kinds)


def _run(solver: highspy.Highs, seconds: float) -> bool:
    """Run a solver for so long at most, and say whether it came to an end.

    The solver looks at clocks and interrupts only now and then, so it is left to itself if it does
    not stop soon after it was told to; then nothing may be asked of it any more.
    """
    deadline = time.monotonic() + max(seconds, _LEAST_SECONDS)
    solver.HandleUserInterrupt = True
    solver.startSolve()
    try:
        while time.monotonic() < deadline:
            if solver.wait(0.1)[0]:
                return True
    except KeyboardInterrupt:
        solver.cancelSolve()
        raise
    solver.cancelSolve()
    return bool(solver.wait(_PATIENCE)[0])
