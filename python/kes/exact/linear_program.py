"""The linear programme behind `kes.exact.bound`, solved by HiGHS (extra ``certify``)."""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.budget import UNLIMITED, Budget
from kes.errors import not_installed

if TYPE_CHECKING:
    import highspy

    from kes._core import Families


class Cluster(NamedTuple):
    """A set of variables of which, in a network, at least `k` have fewer than `k` parents in it."""

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

    Parameters
    ----------
    integral : bool
        Whether choices are 0 or 1, rather than fractions.
    budget : Budget
        Bounds each solution by `iterations` and `nodes`.
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
