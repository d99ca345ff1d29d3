"""What the page shows, as plain data: numbers for nodes and pairs of nodes keep it small."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any

from kes.analysis.coverage import Coverage
from kes.analysis.effects import Effects
from kes.analysis.evidence.deletion_loss import edge_worth
from kes.analysis.evidence.evidence import WEAK
from kes.analysis.landscape import Landscape
from kes.data.column import State
from kes.drawing import layout
from kes.drawing.layout import Layout, graph_layout
from kes.drawing.plot import SUPPORT_COLUMNS
from kes.formats import bif
from kes.formats.escaping import UNNAMED, labels
from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.search.problem import Problem
from kes.show.report.charts import charts
from kes.show.report.edge_certainty import CLEAR, SURE, Certainty
from kes.show.report.families import families
from kes.show.report.overview import overview
from kes.show.report.variables import variables
from kes.table import Table

MOST_OWN = 30
"""Optima that get a layout, and tables, of their own."""

_MOST_EDGES = 3000
"""Edges in all such layouts: large graphs take long, so fewer of them get one."""

LEAST_SUPPORT = 0.05
"""Least threshold of the consensus; edges below have no say in the shared layout."""

FEW = 5
"""Cases below which a probability is marked: it is hardly more than a guess."""


def content(
    optima: Optima,
    found: Landscape,
    coverage: Coverage,
    problem: Problem | None,
    certainty: Certainty,
) -> dict[str, Any]:
    """Return all that the page draws.

    An edge of a model is ``3 * pair + status``, where the status is 0 for an edge without
    direction, 1 for x -> y and 2 for y -> x. ``known`` are the pairs that have their direction from
    knowledge.
    """
    further, parts, edges = certainty.further, certainty.parts, certainty.edges
    number = {name: i for i, name in enumerate(optima.names)}
    pairs = [(number[x], number[y]) for x, y in zip(edges["x"], edges["y"], strict=True)]
    place = {pair: i for i, pair in enumerate(pairs)}
    own = _worth_a_layout(found.optima)
    dataset = None if problem is None else problem.dataset
    completion = optima.record.completion

    def packed(one: Layout) -> dict[str, Any]:
        return _packed(one, number, place)

    return {
        "names": optima.names,
        "labels": [layout.label(name) for name in optima.names],
        "states": [labels(states) for states in optima.states.values()],
        "variables": None if problem is None else variables(problem.table),
        "completions": None if completion is None else optima.record.reading.completions,
        "cases": optima.cases,
        "few": FEW,
        "pairs": pairs,
        "supports": {part.kind: _supports(edges, part.kind) for part in parts},
        "limits": {"sure": SURE, "weak": WEAK, "clear": CLEAR},
        "evidence": None if further.evidence is None else _evidence(edges),
        "evidence_note": further.evidence_note,
        "worth": None
        if problem is None
        else {i: _worth(found.optima[i], problem, number, place) for i in own},
        "optima": [
            _optimum(optimum, place)
            | {"number": found.numbers[i], "shd": int(found.distances[0, i])}
            for i, optimum in enumerate(found.optima)
        ],
        "best": 0,
        "best_run": next((i for i, optimum in enumerate(found.optima) if optimum.hits), None),
        "ges": found.ges,
        "runs": len(optima.runs),
        "boxes": [round(layout.box_width(name), 1) for name in optima.names],
        "layouts": [
            packed(_shared_layout(optima, edges)),
            *(packed(graph_layout(found.optima[i].mpdag)) for i in own),
        ],
        "own": {i: 1 + number for number, i in enumerate(own)},
        "least": LEAST_SUPPORT,
        "clusters": overview(optima.best, packed),
        "tables": None if dataset is None else families({i: found.optima[i] for i in own}, dataset),
        "stem": optima.stem or "kes",
        "source": os.path.basename(optima.record.reading.source or "") or None,
        "files": _files(optima),
        "effects": [_effects(one, number) for one in further.effects],
        "charts": charts(optima, found, coverage),
    }


# --- models and edges ----------------------------------------------------------------------------


def _supports(edges: Table, kind: str) -> list[list[float]]:
    """Return the support of each pair, and of its two directions."""
    columns = (SUPPORT_COLUMNS[kind], f"{kind}_x_to_y", f"{kind}_y_to_x")
    return [[edges[name][i] for name in columns] for i in range(len(edges))]


def _evidence(edges: Table) -> dict[str, list[Any]]:
    """Return what is known of each pair: nats for the edge, and for x -> y; and whether exactly."""
    return {
        "nats": [_rounded(nats) for nats in edges["evidence"]],
        "direction": [_rounded(nats) for nats in edges["direction"]],
        "exact": [how == "exact" for how in edges["how"]],
        # What the search was told has no rival without it.
        "told": [i for i, nats in enumerate(edges["evidence"]) if nats == math.inf],
    }


def _worth(
    optimum: Optimum,
    problem: Problem,
    number: Mapping[str, int],
    place: Mapping[tuple[int, int], int],
) -> dict[int, float | None]:
    """Return what each edge of a model is worth in its place."""
    found = {}
    for edge, nats in edge_worth(optimum.graph, problem).items():
        x, y = sorted(number[name] for name in edge)
        found[place[x, y]] = _rounded(nats)
    return found


def _rounded(nats: float | None) -> float | None:
    """Return a number for the page; None if there is none, or it is not finite."""
    return None if nats is None or not math.isfinite(nats) else round(nats, 2)


def _optimum(optimum: Optimum, place: Mapping[tuple[int, int], int]) -> dict[str, Any]:
    directed, undirected = optimum.mpdag.to_core(optimum.names)
    arcs = [3 * place[a, b] + 1 if a < b else 3 * place[b, a] + 2 for a, b in directed]
    known = set(directed).difference(optimum.edges.directed)
    return {
        "score": round(optimum.score, 6),
        "hits": optimum.hits,
        "first": optimum.first_run,
        "local": optimum.is_local_optimum,
        "origin": optimum.origin,
        "compelled": len(optimum.edges.directed),
        "known": sorted(place[min(arc), max(arc)] for arc in known),
        "edges": sorted([*arcs, *(3 * place[min(e), max(e)] for e in undirected)]),
    }


def _effects(one: Effects, number: Mapping[str, int]) -> dict[str, Any]:
    """Return the ranges of an effect, with what is assumed."""
    columns = ("range", "low", "high", "over")
    rows = [[row[name] for name in columns] for row in one.summary()]
    x, y = number[one.x], number[one.y]
    return {"x": x, "y": y, "change": one.change, "rows": rows, "note": one.note}


# --- pictures ------------------------------------------------------------------------------------


def _worth_a_layout(optima: Sequence[Optimum]) -> list[int]:
    """Return the numbers of the best models, as many as get a layout of their own."""
    edges = sum(map(len, optima[0].edges))
    return [*range(min(len(optima), max(1, min(MOST_OWN, _MOST_EDGES // max(edges, 1)))))]


def _shared_layout(optima: Optima, edges: Table) -> Layout:
    """Lay out all pairs that some model joins, from top to bottom as in the best one."""
    parents: dict[str, list[str]] = {name: [] for name in optima.names}
    for a, b in optima.best.mpdag.to_dag():
        parents[b].append(a)
    supports = {frozenset((row["x"], row["y"])): row[SUPPORT_COLUMNS["search"]] for row in edges}
    order = TopologicalSorter(parents).static_order()
    return layout.shared_layout(optima.names, order, supports, threshold=LEAST_SUPPORT)


def _packed(
    one: Layout, number: Mapping[str, int], place: Mapping[tuple[int, int], int]
) -> dict[str, Any]:
    """Return a layout by the numbers of nodes and pairs; a curve runs from x to y of its pair."""
    curves = {}
    for a, b in one.curves:
        x, y = ((a, b), (b, a))[number[a] > number[b]]
        curves[place[number[x], number[y]]] = one.curve(x, y).round(1).ravel().tolist()
    return {
        "size": [round(one.width, 1), round(one.height, 1)],
        "nodes": {number[name]: [round(b.x, 1), round(b.y, 1)] for name, b in one.boxes.items()},
        "curves": curves,
    }


# --- downloads -----------------------------------------------------------------------------------


def _files(optima: Optima) -> dict[str, Any]:
    """Return what the page needs to write networks: how formats spell names and states."""
    spelled = None
    if optima.kind == "discrete":
        head, words, states = bif.variables(optima.names, optima.states, optima.stem or UNNAMED)
        spelled = {"head": head, "words": words, "states": states}
    return {
        "bif": spelled,
        "literals": [[_literal(state) for state in states] for states in optima.states.values()],
        "cuts": optima.record.reading.cuts,
    }


def _literal(state: State) -> str:
    """Return a state as JSON; a large integer would not survive the page as a number."""
    return json.dumps(state)
