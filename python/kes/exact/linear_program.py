"""The linear programme behind `kes.exact.bound`.

Scores and solutions go through HiGHS, the solver of the extra ``certify``.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
"""Conditions violated by less are not added: the solver's own accuracy is not much better."""
_LEAST_SECONDS = 0.2
"""Even when the time is nearly over: less is not worth the start."""
_PATIENCE = 1.0
"""Seconds to wait for a solver to stop."""
_THREAD = "kes-solver"
"""The name of threads in which solvers run."""

_SEARCHES = ("feasibility_jump", "rins", "rens", "root_reduced_cost", "zi_round", "shifting")
"""What the solver does by itself to find good networks: most of its time, if it may."""

NOTHING = np.array([], dtype=np.int32)


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
        self,
        families: Families,
        clusters: list[Cluster],
        *,
        whole: bool = False,
        counts: Counts | None = None,
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
        self._solver = new_solver(counts)
        for own in choices:
            for _, score in own:
                self._solver.addCol(score - own[0][1], 0.0, 1.0, 0, NOTHING, NOTHING)
        if whole:
            make_whole(self._solver, len(self._families))
        for y in range(self._variables):
            self._add_row(self._child == y, 1.0, 1.0)
        self.add(clusters)

    @property
    def columns(self) -> int:
        """How many families there are to choose from."""
        return len(self._families)

    def add(self, clusters: list[Cluster]) -> None:
        """Ask that of each cluster at least `k` members have fewer than `k` parents in it."""
        for cluster, k in clusters:
            members = sorted(cluster)
            few = self._member[:, members].sum(axis=1) < k
            self._add_row(np.isin(self._child, members) & few, float(k), np.inf)

    def _add_row(self, columns: NDArray[np.bool_], least: float, most: float) -> None:
        places = np.flatnonzero(columns).astype(np.int32)
        self._solver.addRow(least, most, len(places), places, np.ones(len(places)))

    def solve(self, seconds: float) -> tuple[Choices, list[float]] | None:
        """Return the choices, and the weights of the clusters in the order they were added.

        None if the time, or what is allowed, was too short.
        """
        if not (run(self._solver, seconds) and _is_optimal(self._solver)):
            return None
        solution = self._solver.getSolution()
        weights = np.maximum(-np.asarray(solution.row_dual[self._variables :]), 0.0)
        return self._chosen(solution.col_value), weights.tolist()

    def branch(self, seconds: float) -> tuple[Choices | None, float]:
        """Return whole choices, if they are known to be the best, and the solver's bound."""
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


def new_solver(counts: Counts | None) -> highspy.Highs:
    """Return a silent solver that maximises, and does not stop short of the best.

    With counts, it does if these are reached; and it works on one thread, in one order.
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
    for search in _SEARCHES:  # a good network is known
        solver.setOptionValue(f"mip_heuristic_run_{search}", False)
    if counts is not None:
        solver.setOptionValue("parallel", "off")
        solver.setOptionValue("simplex_iteration_limit", counts.steps)
        solver.setOptionValue("mip_max_nodes", counts.nodes)
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    return solver


def _is_optimal(solver: highspy.Highs) -> bool:
    import highspy

    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def make_whole(solver: highspy.Highs, columns: int) -> None:
    """Let the first columns take whole numbers only."""
    import highspy

    kinds = [highspy.HighsVarType.kInteger] * columns
    solver.changeColsIntegrality(columns, np.arange(columns, dtype=np.int32), kinds)


def run(solver: highspy.Highs, seconds: float) -> bool:
    """Run a solver for so long at most, and say whether it came to an end.

    The solver looks at clocks and interrupts only now and then, so it is left to itself if it does
    not stop soon after it was told to; then nothing may be asked of it any more. Its thread is our
    own: those of highspy wait for each other, and so for whatever was left to itself before.
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
    """Whether there is a solver that has not come to an end, though it may have been told to."""
    return any(thread.name == _THREAD for thread in threading.enumerate())
