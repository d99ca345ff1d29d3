"""Default effort of the search for evidence: a few seconds of work, by problem size.

The amount depends on the size and not on the clock, so all output shows the same evidence unless
the user asks for more work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.search.problem import Problem

TASKS = 30
"""Improvement tasks for each side."""

_WORK = 4_000_000
"""Steps (pairs asked about x pairs of variables x tasks) that take a few seconds."""

_MOST_WORK = 12_000_000
"""Steps without tasks above which nothing is searched."""

_PER_CUBE = 1e-5
"""Relative cost of the cubed number of states in a table with continuous columns: states become
columns of a matrix that is factorised."""

_ROWS = 10_000
"""Rows up to which the cost of a step hardly depends on their number."""


@dataclass(frozen=True)
class Work:
    """The searches that evidence needs.

    Attributes
    ----------
    tasks : int
        Improvement tasks for each side of a question.
    models : int or None
        Search for the parts of this many of the best optima; None for all of them.
    """

    tasks: int = TASKS
    models: int | None = None


def default_work(optima: Optima, problem: Problem) -> Work:
    """Return the default: all pairs that some optimum connects, those of the best, or none."""
    own, each = max(len(optima.best.graph.skeleton), 1), _steps(optima, problem)
    if own * each > _MOST_WORK:
        return Work(0, 0)
    every = max(len({pair for optimum in optima for pair in optimum.graph.skeleton}), 1)
    pairs, models = (every, None) if every * each <= _MOST_WORK else (own, 1)
    return Work(min(TASKS, int(_WORK / (pairs * each))), models)


def _steps(optima: Optima, problem: Problem) -> float:
    """Return the cost of a question without tasks."""
    size = problem.size
    steps = float(size.variables * max(size.variables, size.columns))
    steps *= max(1.0, optima.cases / _ROWS)
    if size.columns:
        steps *= 1 + max(map(len, problem.dataset.states)) ** 3 * _PER_CUBE
    return steps
