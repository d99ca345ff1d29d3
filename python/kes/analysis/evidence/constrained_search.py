"""Sides of a question about a network, and the best model of each.

"Are x and y joined?" has three sides: x -> y, y -> x, and neither. A side is a set of networks,
described by arcs that they have and arcs that they lack, so the best model of a side is found by a
search under that knowledge. It starts from the best model there is, changed just so much that it is
on the side: what a question is about is mostly a small part of the network.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from kes import _core
from kes.analysis.certify import estimate
from kes.graph.core_graph import NOTHING, Arc, CoreGraph, CoreKnowledge, RawGraph
from kes.graph.parent_sets import descendants, parent_sets
from kes.native import core_errors
from kes.search.collector import NewModels
from kes.search.problem import Problem

_SECONDS = 10.0
"""Estimated seconds that proofs for all sides may take."""

_MEMORY_MB = 512


@dataclass(frozen=True)
class Side:
    """The networks that have, or lack, some part.

    Attributes
    ----------
    kind : str
        ``"arc"``: those with the arc between two nodes; ``"apart"``: those that do not join them;
        ``"collider"``: those with the v-structure of three nodes a < b, the collider between them;
        ``"ancestor"`` and ``"no ancestor"``: those in which the first of two nodes is an ancestor
        of the other, or is not. No arcs describe the last two, so they cannot be searched.
    nodes : tuple of int
        The nodes.
    """

    kind: Literal["arc", "apart", "collider", "ancestor", "no ancestor"]
    nodes: tuple[int, ...]

    @property
    def required(self) -> tuple[Arc, ...]:
        """Arcs that all of its networks have."""
        match self.kind, self.nodes:
            case "arc", (a, b):
                return ((a, b),)
            case "collider", (a, c, b):
                return ((a, c), (b, c))
        return ()

    @property
    def forbidden(self) -> tuple[Arc, ...]:
        """Arcs that none of its networks has."""
        match self.kind, self.nodes:
            case ("apart", (a, b)) | ("collider", (a, _, b)):
                return ((a, b), (b, a))
        return ()

    def holds(self, model: Candidate) -> bool:
        """Tell whether an admissible network of a model is on this side."""
        match self.kind:
            case "arc":
                return self.nodes in model.arcs
            case "apart":
                return model.arcs.isdisjoint(self.forbidden)
            case "collider":
                return self.nodes in model.colliders
            case "ancestor":
                return self.nodes in model.descents[0]
        return self.nodes not in model.descents[1]


class Candidate:
    """A model that may be the best of a side.

    Parameters
    ----------
    names : sequence of str
        The variables.
    graph : CoreGraph
        Its essential graph.
    score : float
        Its score.
    knowledge : CoreKnowledge
        What is known besides: only networks of the class that obey it count.
    """

    def __init__(
        self, names: Sequence[str], graph: CoreGraph, score: float, knowledge: CoreKnowledge
    ) -> None:
        self.graph, self.score = graph, score
        self._names, self._knowledge = names, knowledge

    @cached_property
    def arcs(self) -> frozenset[Arc]:
        """Every arc that some admissible network of the class has."""
        graph = self.graph
        if self._knowledge != NOTHING:
            graph = graph.mpdag(len(self._names), self._knowledge)
        either = graph.undirected
        return frozenset((*graph.directed, *either, *((b, a) for a, b in either)))

    @cached_property
    def colliders(self) -> frozenset[tuple[int, int, int]]:
        """Every v-structure a -> c <- b, with a < b."""
        joined = {frozenset(edge) for edge in self.graph.directed + self.graph.undirected}
        parents: dict[int, list[int]] = {}
        for a, c in sorted(self.graph.directed):
            parents.setdefault(c, []).append(a)
        return frozenset(
            (a, c, b)
            for c, every in parents.items()
            for place, b in enumerate(every)
            for a in every[:place]
            if frozenset((a, b)) not in joined
        )

    @cached_property
    def descents(self) -> tuple[frozenset[Arc], frozenset[Arc]]:
        """Pairs (a, b) with a an ancestor of b: in some network of the class, and in all."""
        some: set[Arc] = set()
        every: set[Arc] = set()
        for a in range(len(self._names)):
            ways = [
                descendants(parents.dag, a)
                for parents in parent_sets(self._names, self.graph, a, self._knowledge)
            ]
            some.update((a, b) for b in set.union(*ways))
            every.update((a, b) for b in set.intersection(*ways))
        return frozenset(some), frozenset(every)


class Contest:
    """Finds the best model of one side after the other.

    Parameters
    ----------
    problem : Problem
        The data and the settings.
    known : iterable of (graph, score)
        Models that there are already, best first.
    tasks : int
        How much to improve on where a search of a side ends.
    threads : int
        How many to use.

    Attributes
    ----------
    candidates : list of Candidate
        Models that there were already, best first.
    """

    def __init__(
        self,
        problem: Problem,
        known: Iterable[tuple[CoreGraph, float]],
        *,
        tasks: int,
        threads: int,
    ) -> None:
        self._problem, self._tasks, self._threads = problem, tasks, threads
        self._names, self._known = problem.dataset.names, problem.knowledge or NOTHING
        self._n = len(self._names)
        self.candidates = [self._candidate(graph, score) for graph, score in known]
        self._dag = self.candidates[0].graph.to_dag(self._n, self._known)

    def is_possible(self, side: Side) -> bool:
        """Tell whether any network that obeys the settings is on a side."""
        knowledge, most = self._within(side), self._problem.settings.max_parents
        if most is not None and any(
            sum(b == node for _, b in knowledge[1]) > most for _, node in side.required
        ):
            return False
        return _core.contradiction(self._n, knowledge) is None

    def can_prove(self, sides: int) -> bool:
        """Tell whether the best model of so many sides can be found for certain, and soon."""
        settings = self._problem.settings
        expense = estimate(
            self._problem.dataset, criterion=settings.criterion, max_parents=settings.max_parents
        )
        return sides * expense.seconds <= _SECONDS

    def prove(self, side: Side) -> Candidate | None:
        """Return the best model of a side; None if that needs too much."""
        with core_errors():
            families = self._problem.core.families(
                lambda done: True,
                max_parents=self._problem.settings.max_parents,
                n_jobs=self._threads,
                memory_mb=_MEMORY_MB,
                knowledge=self._within(side),
            )
        solved = families.optimum(lambda done: True, n_jobs=self._threads, memory_mb=_MEMORY_MB)
        return None if solved is None else self._scored(CoreGraph.from_dag(self._n, solved[0]))

    def search(self, side: Side) -> Candidate:
        """Return the best model of a side that a search finds."""
        known = next((model for model in self.candidates if side.holds(model)), None)
        found = [self._climbed(side, self._start(side))]
        if known is not None and known.graph != found[0].graph:
            found.append(known)
        if self._tasks:
            found += self._improved(side, found)
        return max(found, key=lambda model: model.score)

    # --- within ---

    def _candidate(self, graph: RawGraph, score: float) -> Candidate:
        return Candidate(self._names, CoreGraph.of(graph), score, self._known)

    def _scored(self, graph: CoreGraph) -> Candidate:
        score = self._problem.core.score(graph.to_dag(self._n))
        return self._candidate(graph, score)

    def _within(self, side: Side) -> CoreKnowledge:
        """Return what is known of the networks of a side."""
        tiers, required, forbidden = self._known
        return (
            tiers,
            sorted({*required, *side.required}),
            sorted({*forbidden, *side.forbidden}),
        )

    def _start(self, side: Side) -> CoreGraph | None:
        """Return the best model, changed so that it is on the side; None if that is not easy."""
        dag = moved(self._dag, side)
        most = self._problem.settings.max_parents
        if most is not None and any(
            sum(b == node for _, b in dag) > most for _, node in side.required
        ):
            return None
        graph = CoreGraph.from_dag(self._n, dag)
        fits = _core.inadmissible(self._n, graph, self._within(side)) is None
        return graph if fits else None

    def _climbed(self, side: Side, start: CoreGraph | None) -> Candidate:
        found: list[Candidate] = []

        def take(runs: list[int], models: list[int], new: NewModels) -> bool:
            found.extend(self._candidate(graph, score) for graph, score, _ in new)
            return True

        settings = self._problem.settings
        with core_errors():
            self._problem.core.search(
                [0],
                take,
                n_jobs=1,
                k=1.0,
                seed=settings.seed,
                max_parents=settings.max_parents,
                two_phase=False,
                start=start,
                sampled=None,
                knowledge=self._within(side),
            )
        return found[0]

    def _improved(self, side: Side, models: list[Candidate]) -> list[Candidate]:
        found: list[Candidate] = []

        def take(new: list[tuple[RawGraph, float, str, list[int], int]], done: int) -> bool:
            found.extend(self._candidate(graph, score) for graph, score, *_ in new)
            return True

        settings = self._problem.settings
        with core_errors():
            self._problem.core.improve(
                [model.graph for model in models],
                take,
                tasks=self._tasks,
                seed=settings.seed,
                max_parents=settings.max_parents,
                n_jobs=self._threads,
                knowledge=self._within(side),
            )
        return found


def moved(dag: Iterable[Arc], side: Side) -> list[Arc]:
    """Return a network as it must be to be on a side: arcs that stand in the way are cut.

    An arc a -> b closes a cycle where a is a descendant of b. Then a is cut off from those of its
    parents through which it is.
    """
    arcs = set(dag).difference(side.forbidden)
    for a, b in side.required:
        arcs.discard((b, a))
        if (a, b) not in arcs:
            below = descendants(sorted(arcs), b) | {b}
            if a in below:
                arcs = {arc for arc in arcs if not (arc[1] == a and arc[0] in below)}
            arcs.add((a, b))
    return sorted(arcs)
