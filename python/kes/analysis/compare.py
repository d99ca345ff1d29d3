"""Comparisons of models: edge by edge, all pairs, with GES, with the truth, and as a map.

On the map similar models are close together. It is found by classical multidimensional scaling
[Torgerson 1952] of the structural Hamming distances: distances in the plane approximate the number
of edges in which models differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.analysis.evidence_work import TASKS
from kes.analysis.ground_truth import Truth, as_graph, compare_to_truth, seen_alike
from kes.analysis.group_differences import Sureness, p_values, pair_evidence
from kes.errors import KesError, either, listed
from kes.graph import EssentialGraph
from kes.graph.knowledge import Knowledge
from kes.graph.mpdag import why_inadmissible
from kes.graph.pdag import Pdag
from kes.progress import Show
from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.results.summary import Standing, counted
from kes.table import Table, tabulated

# --- two graphs ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """Differences of one model (`there`) from another (`here`).

    Attributes
    ----------
    here, there : EssentialGraph or Mpdag
        The two models, under the knowledge if there is any.
    score_difference : float or None
        Score of `there` minus score of `here`, in natural logarithms; None if it is not known.
    shared : int or None
        Number of distinct models that both results found, if two results were compared.
    sureness : mapping
        For pairs that are joined in one model only, as frozensets: `Sureness`, the evidence in
        both results and, after permutations, a p-value. Empty unless two results of different
        data were compared, and both have their data.
    """

    here: Pdag
    there: Pdag
    score_difference: float | None = None
    shared: int | None = None
    sureness: Mapping[frozenset[str], Sureness] = field(default_factory=dict)

    @cached_property
    def added(self) -> frozenset[frozenset[str]]:
        """Pairs that are adjacent there, but not here."""
        return self.there.skeleton - self.here.skeleton

    @cached_property
    def removed(self) -> frozenset[frozenset[str]]:
        """Pairs that are adjacent here, but not there."""
        return self.here.skeleton - self.there.skeleton

    @cached_property
    def reversed(self) -> frozenset[tuple[str, str]]:
        """Arcs (a, b) here that point from b to a there."""
        return frozenset((a, b) for a, b in self.here.directed if (b, a) in self.there.directed)

    @cached_property
    def newly_directed(self) -> frozenset[tuple[str, str]]:
        """Arcs there that are undirected here."""
        return frozenset(
            arc for arc in self.there.directed if frozenset(arc) in self.here.undirected
        )

    @cached_property
    def newly_undirected(self) -> frozenset[tuple[str, str]]:
        """Arcs here that are undirected there."""
        return frozenset(
            arc for arc in self.here.directed if frozenset(arc) in self.there.undirected
        )

    @property
    def _changes(self) -> dict[str, frozenset[Any]]:
        return {
            "added": self.added,
            "removed": self.removed,
            "reversed": self.reversed,
            "direction compelled": self.newly_directed,
            "direction opened": self.newly_undirected,
        }

    @property
    def shd(self) -> int:
        """Structural Hamming distance: the number of pairs whose status differs."""
        return sum(map(len, self._changes.values()))

    def table(self) -> Table:
        """Return a row for each difference: the change, the pair, and its status here and there.

        If the sureness is known, also the evidence for the edge in both, in nats (negative: the
        data speak against it), and the p-value of the difference.
        """
        place = {node: i for i, node in enumerate(self.here.nodes)}
        pairs = [
            (change, *sorted(pair, key=place.__getitem__))
            for change, pairs in self._changes.items()
            for pair in sorted(pairs, key=lambda pair: sorted(place[node] for node in pair))
        ]
        rows = [(*row, *(_status(g, *row[1:]) for g in (self.here, self.there))) for row in pairs]
        columns = ["change", "x", "y", "here", "there"]
        if not self.sureness:
            return tabulated(columns, rows)
        known = [self.sureness.get(frozenset(row[1:3]), Sureness(None, None)) for row in rows]
        more: dict[str, list[float | None]] = {
            "evidence_here": [one.here for one in known],
            "evidence_there": [one.there for one in known],
        }
        if any(one.p_value is not None for one in known):
            more["p_value"] = [one.p_value for one in known]
        rows = [(*row, *(of[i] for of in more.values())) for i, row in enumerate(rows)]
        return tabulated([*columns, *more], rows, _SURENESS_NOTE + _P_NOTE * ("p_value" in more))

    def __str__(self) -> str:
        directions = len(self.newly_directed) + len(self.newly_undirected)
        text = (
            f"SHD {self.shd}: {counted(len(self.added), 'edge')} added, {len(self.removed)} "
            f"removed, {len(self.reversed)} reversed, {directions} with a direction compelled "
            "in one model only"
        )
        if self.score_difference is not None:
            text += f"; score {self.score_difference:+.4f}"
        if self.shared is not None:
            text += f"; {counted(self.shared, 'model')} found by both"
        return text

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>{self.table()._repr_html_()}"


_SURENESS_NOTE = (
    "evidence: nats by which the best model with the edge beats the best without it (negative: "
    "without is better), in the data of each result.\n"
    "A difference is sure if one is far above 0 and the other far below; near 0, the data of that "
    "result do not decide."
)
_P_NOTE = (
    "\np_value: share of random divisions of all cases into two such groups, this one included, "
    "in which the evidence differs by at least as much. These pairs were chosen because they "
    "differ, so some values are small by chance."
)


def compare_graphs(
    here: Pdag, there: Pdag, score_difference: float | None = None, shared: int | None = None
) -> Comparison:
    """Compare two graphs over the same nodes."""
    differing = sorted(set(here.nodes) ^ set(there.nodes))
    if differing:
        raise KesError(
            f"the models have different variables; only one of them has {listed(differing)}",
            column=differing[0],
        )
    return Comparison(here, there, score_difference, shared)


def compare_optimum(here: Optimum, other: Optimum | Truth) -> Comparison:
    """Compare an optimum with another one or with a graph; see `Optimum.compare`."""
    if isinstance(other, Optimum):
        difference = other.score - here.score if here.is_scored_like(other) else None
        return compare_graphs(here.mpdag, other.mpdag, score_difference=difference)
    return compare_graphs(*seen_alike(here.mpdag, as_graph(other, here.names, option="other")))


def compare_optima(
    here: Optima,
    other: Optima | Optimum | Truth,
    *,
    permutations: int = 0,
    threads: int = 1,
    progress: bool | Show | None = None,
) -> Comparison:
    """Compare the best optimum of a result with another model; see `Optima.compare`."""
    found = _compared(here, other)
    if isinstance(other, Optima) and here.problem is not None and other.problem is not None:
        if here.record.fingerprint != other.record.fingerprint:
            pairs = sorted((min(pair), max(pair)) for pair in found.added | found.removed)
            evidence = [_evidence(own, pairs, threads) for own in (here, other)]
            shares: list[float] | list[None] = [None] * len(pairs)
            if permutations and pairs:
                shares = p_values(
                    here.problem,
                    other.problem,
                    pairs,
                    permutations,
                    threads=threads,
                    progress=progress,
                )
            rows = zip(pairs, *evidence, shares, strict=True)
            sureness = {frozenset(pair): Sureness(*numbers) for pair, *numbers in rows}
            return replace(found, sureness=sureness)
    elif permutations:
        raise KesError(
            "permutations need two results with their data; "
            f"{either('pass data and other_data', 'give --data-here and --data-there')}",
            option="permutations",
        )
    return found


def _evidence(optima: Optima, pairs: Sequence[tuple[str, str]], threads: int) -> list[float | None]:
    """Return the evidence for edges between pairs on the data of a result."""
    known = [(optimum.edges, optimum.score) for optimum in optima]
    problem = optima.ready(None, None, None)
    return pair_evidence(problem, known, pairs, tasks=TASKS, threads=threads) if pairs else []


def _compared(here: Optima, other: Optima | Optimum | Truth) -> Comparison:
    best = here.best
    if isinstance(other, Optima):
        shared = len({optimum.graph for optimum in here} & {own.graph for own in other})
        return replace(compare_optimum(best, other.best), shared=shared)
    if isinstance(other, Optimum):
        graph, comparison = other.graph, compare_graphs(best.mpdag, other.mpdag)
    else:
        graph = as_graph(other, here.names, option="other")
        comparison = compare_graphs(*seen_alike(best.mpdag, graph))
    score = _score(here, graph)
    return comparison if score is None else replace(comparison, score_difference=score - best.score)


def _score(optima: Optima, graph: EssentialGraph) -> float | None:
    """Return the score of a graph if it was found, or if the result still has its data."""
    score = next((optimum.score for optimum in optima if optimum.graph == graph), None)
    if score is None and optima.problem is not None:
        return optima.problem.score(graph)
    return score


def _status(graph: Pdag, x: str, y: str) -> str:
    if (x, y) in graph.directed:
        return f"{x} -> {y}"
    if (y, x) in graph.directed:
        return f"{x} <- {y}"
    return f"{x} - {y}" if frozenset((x, y)) in graph.undirected else "not joined"


# --- all pairs -----------------------------------------------------------------------------------


def shd_matrix(graphs: Sequence[Pdag]) -> NDArray[np.int64]:
    """Return the structural Hamming distances between all graphs, which have the same nodes.

    Only pairs that are adjacent in some graph can differ. With a column for each of them and each
    status, one matrix product counts the pairs in which two graphs agree.
    """
    column: dict[tuple[int, int], int] = {}
    status = [
        {column.setdefault(pair, len(column)): code for pair, code in _codes(graph, graphs[0])}
        for graph in graphs
    ]
    codes = np.zeros((len(status), len(column)), dtype=np.int8)
    for row, own in enumerate(status):
        codes[row, list(own)] = list(own.values())
    agreeing = np.zeros((len(status), len(status)), dtype=np.float32)  # exact up to 2**24
    for code in range(4):
        has = (codes == code).astype(np.float32)
        agreeing += has @ has.T
    return len(column) - agreeing.astype(np.int64)


def _codes(graph: Pdag, first: Pdag) -> list[tuple[tuple[int, int], int]]:
    """Return adjacent pairs (a, b), a < b, with 1 for a -> b, 2 for a <- b and 3 for a - b."""
    directed, undirected = graph.to_core(first.nodes)
    arcs = [((a, b), 1) if a < b else ((b, a), 2) for a, b in directed]
    return arcs + [(pair, 3) for pair in undirected]


# --- GES -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GesStanding:
    """Greedy equivalence search compared with the runs.

    Attributes
    ----------
    score : float
        Score of GES.
    gap : float
        Score of the best run minus that of GES; negative if GES is better than all runs.
    rank : int
        Rank of its score among the score levels of the runs and of GES, 1 being the best.
    levels : int
        Number of these levels.
    better, equal, worse : int
        Runs that ended on a higher, the same, or a lower score level.
    """

    score: float
    gap: float
    rank: int
    levels: int
    better: int
    equal: int
    worse: int

    @property
    def runs(self) -> int:
        """Number of runs."""
        return self.better + self.equal + self.worse

    @property
    def share_better(self) -> float:
        """Share of the runs that beat GES."""
        return self.better / self.runs

    @property
    def share_equal(self) -> float:
        """Share of the runs that end on the score level of GES."""
        return self.equal / self.runs

    def __str__(self) -> str:
        return (
            f"GES scores {self.score:.4f}, rank {self.rank} of "
            f"{counted(self.levels, 'score level')}: {self.better} of "
            f"{counted(self.runs, 'run')} better ({self.share_better:.1%}), {self.equal} equal "
            f"({self.share_equal:.1%}), {self.worse} worse; the best run is {self.gap:.4f} higher"
        )


def ges_standing(optima: Optima) -> GesStanding:
    """Compare the runs with GES; see `Optima.ges_standing`."""
    level, ges = optima.record.level, optima.ges.score
    levels = {level(optimum.score) for optimum in optima.of_runs}
    standing = Standing.of(optima, ges)
    return GesStanding(
        score=ges,
        gap=optima.best_run.score - ges,
        rank=1 + sum(own > level(ges) for own in levels),
        levels=len(levels | {level(ges)}),
        better=standing.above,
        equal=standing.level,
        worse=standing.below,
    )


# --- the truth -----------------------------------------------------------------------------------


_TRUTH_COLUMNS = ("shd", "extra", "missing", "misdirected", "precision", "recall", "f1")


def truth_table(optima: Optima, truth: Truth) -> Table:
    """Compare every optimum with the true graph; see `Optima.truth`."""
    true = as_graph(truth, optima.names)
    found = [compare_to_truth(optimum.mpdag, true) for optimum in optima]
    return Table(
        {
            "optimum": range(len(optima)),
            "score": [optimum.score for optimum in optima],
            "hits": [optimum.hits for optimum in optima],
            **{name: [getattr(one, name) for one in found] for name in _TRUTH_COLUMNS},
        },
        note=_truth_note(true, optima.settings.knowledge),
    )


def _truth_note(true: EssentialGraph, knowledge: Knowledge | None) -> str:
    """Return a note on the knowledge that was taken into account."""
    if knowledge is None:
        return ""
    reason = why_inadmissible(true, knowledge)
    if reason is not None:
        return f"The true graph violates the knowledge ({reason}): essential graphs are compared."
    return "All graphs are compared under the knowledge: directions that it implies do not count."


MAX_OPTIMA = 1000
"""Optima on a map: more are neither distinguishable nor placed in reasonable time."""


@dataclass(frozen=True)
class Landscape:
    """The best optima and that of GES in the plane.

    `numbers` are their indices among all optima, `ges` is the place of the optimum of GES in
    `optima`. The best optimum is to the upper right of the middle.
    """

    optima: Sequence[Optimum]
    numbers: Sequence[int]
    points: NDArray[np.float64]
    distances: NDArray[np.int64]
    ges: int

    @classmethod
    def of(cls, optima: Optima, max_optima: int = MAX_OPTIMA) -> Landscape:
        """Place the best of the optima."""
        ges = optima.index(optima.ges)
        numbers = [*range(min(max_optima, len(optima))), *([ges] if ges >= max_optima else [])]
        shown = [optima[number] for number in numbers]
        between = shd_matrix([optimum.mpdag for optimum in shown])
        return cls(
            optima=shown,
            numbers=numbers,
            points=placed(between),
            distances=between,
            ges=numbers.index(ges),
        )


def placed(between: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return points in the plane with about the given distances between them.

    The signs of eigenvectors are arbitrary: the first point gets nonnegative coordinates.
    """
    squares = between.astype(np.float64) ** 2
    centred = squares - squares.mean(axis=0)
    inner = -(centred - centred.mean(axis=1, keepdims=True)) / 2
    values, vectors = np.linalg.eigh(inner)
    points = np.zeros((len(between), 2))
    for axis, largest in enumerate(np.argsort(-values, kind="stable")[:2]):
        points[:, axis] = vectors[:, largest] * np.sqrt(max(values[largest], 0.0))
    return np.where(points[0] < 0, -points, points)
