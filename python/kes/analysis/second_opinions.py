"""Directions by other criteria: a second opinion before an arrow is called clear.

A direction may have much evidence and still be wrong, because the criterion leaves out an edge that
the sample is too small for: then other edges must be directed so as to make up for it. Criteria
with other penalties leave out other edges. So a direction is clear only if the best network that a
short search finds by each of them has it, too; docs/howto/evidence.md has the rates.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

from kes.budget import Budget
from kes.errors import KesError
from kes.graph.core_graph import NOTHING, Arc, CoreGraph
from kes.search.problem import Problem

MOST = 100
"""Variables up to which other criteria are asked: AIC takes many edges, and long, in more."""

NOT_ASKED = "not compared"
"""In place of criteria, where none was asked."""

_EITHER = ("bic", "aic")
_OTHERS = {"discrete": (*_EITHER, "bdeu"), "continuous": (*_EITHER, "bge"), "mixed": _EITHER}
_WORK = Budget(runs=1, tasks=20)


class SecondOpinions:
    """The best networks by criteria other than that of a problem.

    Attributes
    ----------
    models : dict
        The best network found by each criterion, directed as knowledge implies. Empty if there was
        no time to ask all of them.
    """

    def __init__(self, problem: Problem, threads: int, deadline: float | None = None) -> None:
        names = problem.dataset.names
        self.models: dict[str, CoreGraph] = {}
        if len(names) > MOST:
            return
        own, end = problem.settings, math.inf if deadline is None else deadline
        for criterion in _OTHERS[problem.dataset.kind]:
            if criterion == own.criterion:
                continue
            # Without a price on edges, which depends on the criterion.
            other = replace(own, criterion=criterion, edge_prior=0.0, two_phase=False, start=None)
            try:
                asked = Problem(problem.dataset, other, problem.cache_mb, problem.reading)
                found = asked.driver(threads).greedy().search(_WORK, lambda: time.monotonic() < end)
            except KesError:  # a criterion that cannot take these columns or options
                continue
            if time.monotonic() >= end:
                self.models = {}
                return
            best, _ = max(found, key=lambda model: model[1])
            self.models[criterion] = best.mpdag(len(names), problem.knowledge or NOTHING)

    def against(self, arc: Arc) -> str:
        """Return the criteria whose best network lacks an arc, or `NOT_ASKED`."""
        if not self.models:
            return NOT_ASKED
        return ", ".join(name for name, graph in self.models.items() if arc not in graph.directed)
