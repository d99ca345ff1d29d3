"""Search for the best model under a constraint: with an edge, with its reverse, without it.

A question about a network has several *sides*: "are x and y adjacent?" has x -> y, y -> x, and
neither. A side is a set of networks, described by required and forbidden arcs, so its best model is
found by a search under that knowledge. The search starts from the best model, changed just enough
to be on the side: a question mostly concerns a small part of the network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from kes import _core
from kes.analysis.certify import estimate
from kes.analysis.deletion_loss import edge_worth
from kes.budget import Budget
from kes.exact.prover import Prover
from kes.graph import EssentialGraph
from kes.graph.core_graph import NOTHING, Arc, CoreGraph, CoreKnowledge
from kes.graph.dags import descendants, parent_sets
from kes.search.driver import Driver, Scored
from kes.search.problem import Problem

_SECONDS = 10.0
"""Estimated seconds up to which the best models of all sides are proven."""

_MEMORY_MB = 512


@dataclass(frozen=True)
class Side:
    """The networks with, or without, some part.

    ``"arc"``: with the arc between two nodes; ``"apart"``: with no edge between them;
    ``"collider"``: with the v-structure of three nodes a < b, the collider between them;
    ``"ancestor"`` and ``"no ancestor"``: the first of two nodes is an ancestor of the other, or is
    not. No arcs describe the last two, so they cannot be searched.
    """

    kind: Literal["arc", "apart", "collider", "ancestor", "no ancestor"]
    nodes: tuple[int, ...]

    @property
    def required(self) -> tuple[Arc, ...]:
        """Arcs of all of its networks."""
        match self.kind, self.nodes:
            case "arc", (a, b):
                return ((a, b),)
            case "collider", (a, c, b):
                return ((a, c), (b, c))
        return ()

    @property
    def forbidden(self) -> tuple[Arc, ...]:
        """Arcs of none of its networks."""
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
    """A model that may be the best of a side; only its networks that satisfy knowledge count."""

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
    def dag(self) -> list[Arc]:
        """The arcs of a network of the class."""
        return self.graph.to_dag(len(self._names))

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

    `known` are models, best first; `tasks` improve on the search of each side.
    """

    def __init__(
        self, problem: Problem, known: Iterable[Scored], *, tasks: int, threads: int
    ) -> None:
        self.problem, self._tasks, self._threads = problem, tasks, threads
        self._names, self._known = problem.dataset.names, problem.knowledge or NOTHING
        self._n = len(self._names)
        exact = replace(problem.settings, two_phase=False, neighbourhood="exact", start=None)
        self._driver = Driver(problem.core, self._names, exact.for_core(self._names), threads)
        self.candidates = [self._candidate(graph, score) for graph, score in known]
        self._dag = self.candidates[0].graph.to_dag(self._n, self._known)

    def is_possible(self, side: Side) -> bool:
        """Tell whether the settings allow any network on a side."""
        knowledge = self._within(side)
        is_allowed = not self._too_many_parents(knowledge[1], side)
        return is_allowed and _core.contradiction(self._n, knowledge) is None

    def can_prove(self, sides: int) -> bool:
        """Tell whether the best models of a number of sides can be proven in a short time."""
        settings = self.problem.settings
        cost = estimate(
            self.problem.dataset,
            criterion=settings.criterion,
            edge_prior=settings.edge_prior,
            max_parents=settings.max_parents,
        )
        return sides * cost.seconds <= _SECONDS

    def prove(self, side: Side) -> Candidate | None:
        """Return the best model of a side; None if the proof needs too much memory."""
        prover = Prover(
            self.problem.core,
            self._names,
            self.problem.settings.max_parents,
            self._within(side),
            self._threads,
            Budget(counting_mb=_MEMORY_MB, solving_mb=_MEMORY_MB),
        )
        solved = prover.by_subsets(prover.families())
        if solved is None or solved.arcs is None:
            return None
        graph = CoreGraph.from_dag(self._n, solved.arcs)
        return self._candidate(graph, self.problem.core.score(graph.to_dag(self._n)))

    def search(self, side: Side) -> Candidate:
        """Return the best model of a side that a search finds."""
        driver = self._driver.with_knowledge(self._within(side))
        # A single short run: one thread is fastest.
        climb = replace(driver, threads=1).starting_at(self._start(side)).greedy()
        found = climb.search(Budget(runs=1))
        known = next((model for model in self.candidates if side.holds(model)), None)
        if known is not None and known.graph != found[0][0]:
            found.append((known.graph, known.score))
        best = driver.search(Budget(tasks=self._tasks), pool=found)
        return self._candidate(*max(best, key=lambda model: model[1]))

    def near(self, nats: float) -> dict[Arc, float]:
        """Return the gain of each edge, a < b, that costs the best model at most this much.

        An edge of a variable with one state costs nothing, and means nothing.
        """
        limit = self.problem.settings.max_parents
        best = self.candidates[0].graph
        constant = {i for i, own in enumerate(self.problem.dataset.states) if len(own) == 1}
        found: dict[Arc, float] = {}
        for (is_insertion, x, y, _), gain in self.problem.core.boundary(
            best, limit, self.problem.knowledge
        ):
            if is_insertion and gain >= -nats and constant.isdisjoint((x, y)):
                found.setdefault(_ordered(x, y), gain)  # the best gain comes first
        return found

    def without_edges(self) -> dict[Side, float]:
        """Return the score of the best model without each of its edges, all else unchanged."""
        best = self.candidates[0]
        if self._known == NOTHING:
            place = {name: i for i, name in enumerate(self._names)}
            graph = EssentialGraph.from_core(self._names, best.graph)
            losses = {
                _ordered(*(place[name] for name in edge)): loss
                for edge, loss in edge_worth(graph, self.problem).items()
            }
        else:  # any arc of an admissible network may go, unless it is required
            delta = self.problem.core.delta
            parents: dict[int, list[int]] = {}
            for parent, child in sorted(self._dag):
                parents.setdefault(child, []).append(parent)
            losses = {
                _ordered(a, b): delta((True, a, b, [other for other in parents[b] if other != a]))
                for a, b in set(self._dag).difference(self._known[1])
            }
        return {Side("apart", pair): best.score - loss for pair, loss in losses.items()}

    def _candidate(self, graph: CoreGraph, score: float) -> Candidate:
        return Candidate(self._names, graph, score, self._known)

    def _within(self, side: Side) -> CoreKnowledge:
        """Return the knowledge that describes the networks of a side."""
        tiers, required, forbidden = self._known
        return tiers, sorted({*required, *side.required}), sorted({*forbidden, *side.forbidden})

    def _start(self, side: Side) -> CoreGraph | None:
        """Return the best model, changed to be on the side; None if that is not easy."""
        dag = moved(self._dag, side)
        if self._too_many_parents(dag, side):
            return None
        graph = CoreGraph.from_dag(self._n, dag)
        is_admissible = _core.inadmissible(self._n, graph, self._within(side)) is None
        return graph if is_admissible else None

    def _too_many_parents(self, arcs: Iterable[Arc], side: Side) -> bool:
        """Tell whether a child of a required arc has more parents than allowed."""
        limit = self.problem.settings.max_parents
        if limit is None:
            return False
        parents = Counter(child for _, child in arcs)
        return any(parents[child] > limit for _, child in side.required)


def _ordered(a: int, b: int) -> Arc:
    return min(a, b), max(a, b)


def moved(dag: Iterable[Arc], side: Side) -> list[Arc]:
    """Change a network to be on a side by removing arcs.

    An arc a -> b closes a cycle if a is a descendant of b. Then the arcs to a from the descendants
    of b are removed.
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
