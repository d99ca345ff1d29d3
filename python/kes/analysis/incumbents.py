"""The networks that a certificate compares, or the incumbent that a short search finds."""

from __future__ import annotations

import time
from typing import TypeAlias

from kes._core import level
from kes.budget import Budget
from kes.errors import KesError, option
from kes.graph import EssentialGraph
from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.search.constraints import refuse_inadmissible
from kes.search.problem import Problem
from kes.table import Table

Comparable: TypeAlias = Optima | Optimum | EssentialGraph | None

_BUDGET = Budget(runs=100, tasks=1000)
"""Of the search for an incumbent."""


class Incumbents:
    """The networks to compare, with scores and names."""

    def __init__(self, problem: Problem, given: Comparable) -> None:
        self._problem = problem
        self._networks: list[tuple[str, float, EssentialGraph]] = []
        if isinstance(given, Optima):
            self._check(given)
            for optimum in given:
                is_ges = optimum is given.ges and optimum.hits
                self._add(f"{optimum.origin}, GES" if is_ges else optimum.origin, optimum.graph)
        elif isinstance(given, Optimum):
            self._add("given", given.graph)
        elif isinstance(given, EssentialGraph):
            self._add("given", given)
        elif given is not None:
            raise KesError(
                f"optima must be the result of kes.learn, an optimum, or a graph, "
                f"not {type(given).__name__}",
                option="optima",
            )

    def _check(self, optima: Optima) -> None:
        mine, theirs = self._problem.settings, optima.settings
        for name in ("criterion", "ess", "penalty", "transform", "max_parents", "knowledge"):
            here, there = getattr(mine, name), getattr(theirs, name)
            if here != there:
                advice = f"leave out {option(name)}"
                if there is not None:
                    advice = f"pass {option(name, there)}"
                raise KesError(
                    f"the optima were found with {name} {there}, not {here}: {advice}", option=name
                )
        self._problem.check(optima.record)

    def _add(self, name: str, graph: EssentialGraph) -> None:
        if set(graph.nodes) != set(self._problem.dataset.names):
            raise KesError(
                f"the nodes of the graph {name!r} are not the columns of the data", option="optima"
            )
        if self._problem.settings.knowledge is not None:
            refuse_inadmissible(graph, self._problem.settings.knowledge, f"the graph {name!r}")
        self._networks.append((name, score_of(self._problem, graph), graph))

    def __bool__(self) -> bool:
        return bool(self._networks)

    def search(self, threads: int, deadline: float) -> None:
        """Search for a network, if there is none.

        If none is found before the deadline, on the clock `time.monotonic`, the network with only
        the required arcs serves.
        """
        if self._networks:
            return
        problem, names = self._problem, self._problem.dataset.names
        driver = problem.driver(threads)

        def keep_going() -> bool:
            return time.monotonic() < deadline

        greedy = driver.greedy().search(Budget(runs=1), keep_going)  # the fastest way to a network
        found = driver.search(_BUDGET, keep_going, pool=greedy)
        if found:
            best, _ = max(found, key=lambda network: network[1])
            arcs = best.to_dag(len(names))
        else:
            arcs = problem.knowledge[1] if problem.knowledge else []
        self._add("", EssentialGraph.from_dag(names, [(names[a], names[b]) for a, b in arcs]))

    @property
    def best(self) -> tuple[float, EssentialGraph]:
        """Score and model of the best network."""
        _, score, graph = max(self._networks, key=lambda network: network[1])
        return score, graph

    def table(self, upper_bound: float) -> Table:
        """Return the networks to compare, with their gaps to a bound."""
        named = [network for network in self._networks if network[0]]
        return Table(
            {
                "network": [name for name, _, _ in named],
                "score": [score for _, score, _ in named],
                "gap": [upper_bound - score for _, score, _ in named],
            }
        )

    def ties(self, graph: EssentialGraph, score: float) -> int:
        """Return the number of distinct models on the level of a score, including `graph`."""
        tolerance = self._problem.core.tolerance
        here = level(score, tolerance)
        tied = {other for _, theirs, other in self._networks if level(theirs, tolerance) == here}
        return len(tied | {graph})


def score_of(problem: Problem, graph: EssentialGraph) -> float:
    """Score a model as a search would; -inf if it connects collinear columns."""
    place = {name: i for i, name in enumerate(problem.dataset.names)}
    return problem.core.score([(place[a], place[b]) for a, b in graph.to_dag()])
