"""The linear programme of `kes.exact.prover`, and its cuts; solved by HiGHS (extra ``certify``)."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.budget import UNLIMITED, Budget
from kes.errors import not_installed

if TYPE_CHECKING:
    import highspy

    from kes._core import Families


class Cluster(NamedTuple):
    """Variables; in any network at least `k` of them have fewer than `k` parents among them."""

    members: frozenset[int]
    k: int = 1


Choices: TypeAlias = list[tuple[int, tuple[int, ...], float]]
"""Variable, parents, and the share in which it chooses them; only positive shares."""

SLACK = 1e-6
"""Conditions violated by less are not added: the solver is not much more accurate."""
_LEAST_SECONDS = 0.2
"""Shortest time to run a solver for, even at the deadline: less is not worth the start."""
_PATIENCE = 1.0
"""Seconds to wait for a cancelled solver."""
_THREAD = "kes-solver"
"""The name of threads in which solvers run."""

_SEARCHES = ("feasibility_jump", "rins", "rens", "root_reduced_cost", "zi_round", "shifting")
"""Heuristics of the solver that look for good networks; they take most of its time."""

NOTHING = np.array([], dtype=np.int32)


class Programme:
    """Choose parents so that the score is highest: a column for each family.

    Choices are fractions unless `integral`. `iterations` and `nodes` of the budget bound each
    solution.
    """

    def __init__(
        self,
        families: Families,
        clusters: list[Cluster],
        *,
        integral: bool = False,
        budget: Budget = UNLIMITED,
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
        self._solver = new_solver(budget)
        for own in choices:
            for _, score in own:
                self._solver.addCol(score - own[0][1], 0.0, 1.0, 0, NOTHING, NOTHING)
        if integral:
            make_integral(self._solver, len(self._families))
        for y in range(self._variables):
            self._add_row(self._child == y, 1.0, 1.0)
        self.add(clusters)

    @property
    def columns(self) -> int:
        """Number of families to choose from."""
        return len(self._families)

    def add(self, clusters: list[Cluster]) -> None:
        """Require that at least `k` members of each cluster have fewer than `k` parents in it."""
        for cluster, k in clusters:
            members = sorted(cluster)
            few = self._member[:, members].sum(axis=1) < k
            self._add_row(np.isin(self._child, members) & few, float(k), np.inf)

    def _add_row(self, columns: NDArray[np.bool_], lower: float, upper: float) -> None:
        places = np.flatnonzero(columns).astype(np.int32)
        self._solver.addRow(lower, upper, len(places), places, np.ones(len(places)))

    def solve(self, seconds: float) -> tuple[Choices, list[float]] | None:
        """Return the choices, and the weights of the clusters in the order they were added.

        None if time or budget did not suffice.
        """
        if not (run(self._solver, seconds) and _is_optimal(self._solver)):
            return None
        solution = self._solver.getSolution()
        weights = np.maximum(-np.asarray(solution.row_dual[self._variables :]), 0.0)
        return self._chosen(solution.col_value), weights.tolist()

    def branch(self, seconds: float) -> tuple[Choices | None, float]:
        """Return integral choices, if they are optimal, and the solver's bound."""
        if not run(self._solver, seconds):
            return None, math.inf
        bound = self._offset + self._solver.getInfo().mip_dual_bound
        if not _is_optimal(self._solver):
            return None, bound
        return self._chosen(self._solver.getSolution().col_value), bound

    def _chosen(self, values: list[float]) -> Choices:
        shares = np.asarray(values)
        return [
            (*self._families[column], float(shares[column]))
            for column in np.flatnonzero(shares > SLACK)
        ]


def new_solver(budget: Budget) -> highspy.Highs:
    """Return a silent solver that maximises, with no tolerated gap.

    With a budget of iterations or nodes it works on one thread, in one order, so that the result
    is the same anywhere.
    """
    try:
        import highspy
    except ImportError:
        raise not_installed("highspy") from None
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.HandleUserInterrupt = True
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.0)
    for search in _SEARCHES:  # there is an incumbent
        solver.setOptionValue(f"mip_heuristic_run_{search}", False)
    if budget.iterations is not None:
        solver.setOptionValue("parallel", "off")
        solver.setOptionValue("simplex_iteration_limit", budget.iterations)
    if budget.nodes is not None:
        solver.setOptionValue("mip_max_nodes", budget.nodes)
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    return solver


def _is_optimal(solver: highspy.Highs) -> bool:
    import highspy

    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def make_integral(solver: highspy.Highs, columns: int) -> None:
    """Let the first columns take integers only."""
    import highspy

    kinds = [highspy.HighsVarType.kInteger] * columns
    solver.changeColsIntegrality(columns, np.arange(columns, dtype=np.int32), kinds)


def run(solver: highspy.Highs, seconds: float) -> bool:
    """Run a solver for at most some seconds; return whether it ended.

    The solver checks clocks and interrupts only now and then. If it does not stop soon after it
    was cancelled, its thread is abandoned, and the solver must not be used any more. The thread is
    our own: those of highspy wait for each other, and so for abandoned ones.
    """
    thread = threading.Thread(target=solver.solve, name=_THREAD)
    deadline = time.monotonic() + max(seconds, _LEAST_SECONDS)
    thread.start()
    try:
        while thread.is_alive() and time.monotonic() < deadline:
            thread.join(0.1)
    except KeyboardInterrupt:
        solver.cancelSolve()
        raise
    if thread.is_alive():
        solver.cancelSolve()
        thread.join(_PATIENCE)
    return not thread.is_alive()


def is_running() -> bool:
    """Tell whether a solver still runs, perhaps after it was cancelled."""
    return any(thread.name == _THREAD for thread in threading.enumerate())


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
    minus one, where the condition says that at most one member has all others as parents. If the
    budget bounds the work, the search for one cluster has no time limit of its own.
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
