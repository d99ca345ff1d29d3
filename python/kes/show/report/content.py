"""The data of the page as plain values; nodes and pairs are numbers, to keep it small."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from graphlib import TopologicalSorter
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from kes.analysis.certainty import LIKELY, VERDICTS, quantity, replaceable
from kes.analysis.compare import Landscape
from kes.analysis.coverage import Coverage
from kes.analysis.deletion_loss import edge_worth
from kes.analysis.effect_table import Effects
from kes.analysis.support import ROUNDING
from kes.drawing import layout
from kes.drawing.layout import Layout
from kes.drawing.patchwork import parts_with_edges
from kes.drawing.plot import FULL_WIDTH, SUPPORT_COLUMNS
from kes.formats import bif
from kes.formats.escaping import UNNAMED, labels
from kes.graph.pdag import graph_layout
from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.results.summary import is_higher
from kes.search.problem import Problem
from kes.show.report.edge_certainty import Certainty, count_costly
from kes.show.report.families import FittedNetworks, families, variables
from kes.table import Table

if TYPE_CHECKING:
    from kes.files import PathLike

MOST_OWN = 30
"""Number of optima with their own layout and tables."""

_MOST_EDGES = 3000
"""Edges in all these layouts: large graphs take long, so fewer of them get one."""

LEAST_SUPPORT = 0.05
"""Least threshold of the consensus; edges below do not affect the shared layout."""

FEW = 5
"""Cases below which a probability is marked as uncertain."""

LEAST = 13
"""Least number of variables of a network with an overview: fewer are one cluster."""

_HALF = 0.5
"""Least share of an edge in the consensus, at first."""

_REQUIRED = 1e6
"""Nats of edges that knowledge requires: JSON has no infinity."""

_MOST_POINTS = 1000
"""Runs in the chart of scores: screens have no more columns."""


def content(
    optima: Optima,
    found: Landscape,
    coverage: Coverage,
    problem: Problem | None,
    certainty: Certainty,
    *,
    fitted: FittedNetworks | None,
    members: dict[str, Any] | None,
    file: PathLike | None,
) -> dict[str, Any]:
    """Return the data of the page. Decisions are made here; the scripts only show them.

    An edge of a model is ``3 * pair + status``, where the status is 0 for an undirected edge, 1
    for x -> y and 2 for y -> x. ``known`` are the pairs that knowledge directs, and ``decided``
    those that exogenous variables direct.
    """
    further, parts, edges = certainty.further, certainty.parts, certainty.edges
    number = {name: i for i, name in enumerate(optima.names)}
    pairs = [(number[x], number[y]) for x, y in zip(edges["x"], edges["y"], strict=True)]
    place = {pair: i for i, pair in enumerate(pairs)}
    own = _worth_a_layout(found.optima)
    # A picture of more edges is put together from clusters: another one would look the same.
    drawn = own if len(optima.best.graph.skeleton) <= _MOST_EDGES else []
    completion = optima.record.completion
    worth = problem and {i: edge_worth(found.optima[i].graph, problem) for i in own}

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
        # Evidence comes first: it decides widths and the consensus.
        "supports": _by_evidence(certainty)
        | {part.kind: _supports(edges, part.kind) for part in parts},
        "support_labels": {
            part.kind: SUPPORT_COLUMNS[part.kind].replace("_", " ") for part in parts
        }
        | {"evidence": "evidence"},
        "full_width": FULL_WIDTH,
        "thresholds": {"evidence": LIKELY, "share": _HALF},
        "clear": certainty.clear_directions,
        "verdicts": VERDICTS,
        "evidence": None if further.evidence is None else _evidence(optima, certainty, problem),
        "evidence_note": further.evidence_note,
        "evidence_quantity": quantity(further.evidence),
        "evidence_command": _evidence_command(certainty, problem, file),
        "worth": worth and {i: _worth(one, number, place) for i, one in worth.items()},
        "costly": worth and {i: count_costly(one) for i, one in worth.items()},
        "optima": [
            _optimum(optimum, place)
            | {
                "number": found.numbers[i],
                "shd": int(found.distances[0, i]),
                "better": is_higher(optima, optimum.score, optima.ges.score),
            }
            for i, optimum in enumerate(found.optima)
        ],
        "target": None if optima.target is None else number[optima.target],
        "exogenous": [number[name] for name in optima.settings.exogenous],
        "best": 0,
        "best_run": next((i for i, optimum in enumerate(found.optima) if optimum.hits), None),
        "ges": found.ges,
        "runs": len(optima.runs),
        "boxes": [round(layout.box_width(name), 1) for name in optima.names],
        "layouts": [
            packed(_shared_layout(optima, edges)),
            *(packed(graph_layout(found.optima[i].mpdag)) for i in drawn),
        ],
        "own": {i: 1 + number for number, i in enumerate(drawn)},
        "least": LEAST_SUPPORT,
        "clusters": _overview(optima.best, packed),
        "tables": fitted and families({i: fitted.parents(found.optima[i]) for i in own}, fitted),
        "average": members,
        "stem": optima.stem or "kes",
        "commands": _commands(optima, problem, file),
        "files": _files(optima),
        "effects": [_effects(one, number) for one in further.effects],
        "charts": _charts(optima, found, coverage),
    }


# --- models and edges ----------------------------------------------------------------------------


def _supports(edges: Table, kind: str) -> list[list[float]]:
    """Return the support of each pair, its better supported direction, and the support of that.

    The direction is 1 for x -> y, 2 for y -> x, and 0 if both are equal. Both shares reach the
    same thresholds as in `Optima.consensus`.
    """
    found = []
    for row in edges:
        forward, backward = row[f"{kind}_x_to_y"], row[f"{kind}_y_to_x"]
        direction = 1 if forward > backward else 2 if backward > forward else 0
        support = _reaching(row[SUPPORT_COLUMNS[kind]])
        found.append([support, direction, _reaching(max(forward, backward))])
    return found


def _reaching(share: float) -> float:
    """Raise a share to the whole percentage that it misses only by a rounding error."""
    return max(share, math.floor(100 * (share + ROUNDING)) / 100)


def _by_evidence(certainty: Certainty) -> dict[str, list[list[float]]]:
    """Return the same by evidence, in nats, if some pair was searched; what was not has none."""
    rows = [certainty.of(frozenset((row["x"], row["y"]))) for row in certainty.edges]
    if not any(one.is_searched for one in rows):
        return {}
    return {
        "evidence": [
            [
                min(max(one.evidence or 0.0, 0.0), _REQUIRED) if one.is_searched else 0.0,
                one.clear_direction,
                min(abs(one.direction or 0.0), _REQUIRED),
            ]
            for one in rows
        ]
    }


def _evidence(
    optima: Optima, certainty: Certainty, problem: Problem | None
) -> dict[str, list[Any]]:
    """Return for each pair its probability, nats for the edge and for x -> y, and words."""
    pairs = [frozenset((row["x"], row["y"])) for row in certainty.edges]
    rows = [certainty.of(pair) for pair in pairs]
    table = certainty.further.evidence
    known = {}
    if table is not None and problem is not None:
        known = replaceable(optima.best.graph, problem, table)
    return {
        "probability": [
            None if one.probability is None else round(one.probability, 4) for one in rows
        ],
        "disputed": [one.disputed for one in rows],
        "nats": [_rounded(one.evidence) for one in rows],
        "direction": [_rounded(one.direction) for one in rows],
        "error": [_rounded(one.error) for one in rows],
        "status": [one.status for one in rows],
        "verdict": [one.verdict for one in rows],
        "instead": [known[pair].instead if pair in known else None for pair in pairs],
    }


def _evidence_command(
    certainty: Certainty, problem: Problem | None, file: PathLike | None
) -> str | None:
    """Return the command that computes better evidence; None if there is none or it needs data."""
    improvable = problem is not None
    if certainty.has_evidence:
        pairs = zip(certainty.edges["evidence"], certainty.edges["how"], strict=True)
        improvable = any(_rounded(nats) is not None and how != "exact" for nats, how in pairs)
    return f"kes report {_result(file)} --evidence" if improvable else None


def _worth(
    worth: Mapping[frozenset[str], float],
    number: Mapping[str, int],
    place: Mapping[tuple[int, int], int],
) -> dict[int, float | None]:
    """Return the worth of the edges of a model by the numbers of their pairs."""
    pairs = (sorted(number[name] for name in edge) for edge in worth)
    return {place[x, y]: _rounded(nats) for (x, y), nats in zip(pairs, worth.values(), strict=True)}


def _rounded(nats: float | None) -> float | None:
    """Round nats for the page; None if they are unknown or not finite."""
    return None if nats is None or not math.isfinite(nats) else round(nats, 2)


def _optimum(optimum: Optimum, place: Mapping[tuple[int, int], int]) -> dict[str, Any]:
    graph, number = optimum.mpdag, {name: i for i, name in enumerate(optimum.names)}
    directed, undirected = graph.to_core(optimum.names)
    arcs = [3 * place[a, b] + 1 if a < b else 3 * place[b, a] + 2 for a, b in directed]
    known = [(number[a], number[b]) for a, b in graph.known_directions]
    decided = [(number[a], number[b]) for a, b in graph.by_exogenous]
    return {
        "score": round(optimum.score, 6),
        "hits": optimum.hits,
        "first": optimum.first_run,
        "local": optimum.is_local_optimum,
        "origin": optimum.origin,
        "known": sorted(place[min(arc), max(arc)] for arc in known),
        "decided": sorted(place[min(arc), max(arc)] for arc in decided),
        "edges": sorted([*arcs, *(3 * place[min(e), max(e)] for e in undirected)]),
    }


def _effects(one: Effects, number: Mapping[str, int]) -> dict[str, Any]:
    """Return the ranges of an effect and its assumptions."""
    columns = ("range", "low", "high", "over")
    rows = [[row[name] for name in columns] for row in one.summary()]
    x, y = number[one.x], number[one.y]
    return {"x": x, "y": y, "change": one.change, "rows": rows, "note": one.note}


# --- pictures ------------------------------------------------------------------------------------


def _worth_a_layout(optima: Sequence[Optimum]) -> list[int]:
    """Return the numbers of the best models that get their own layout."""
    edges = sum(map(len, optima[0].edges))
    return [*range(min(len(optima), max(1, min(MOST_OWN, _MOST_EDGES // max(edges, 1)))))]


def _shared_layout(optima: Optima, edges: Table) -> Layout:
    """Lay out all pairs that some model connects, from top to bottom as in the best one."""
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


def _overview(optimum: Optimum, packed: Callable[[Layout], dict[str, Any]]) -> list[Any] | None:
    """Return the clusters of a large network: their nodes and their packed layouts."""
    if len(optimum.names) < LEAST:
        return None
    arcs = optimum.mpdag.to_dag()
    number = {name: i for i, name in enumerate(optimum.names)}
    found = []
    for part, inside in parts_with_edges(len(number), [(number[a], number[b]) for a, b in arcs]):
        names = [optimum.names[node] for node in part]
        edges = [(optimum.names[a], optimum.names[b]) for a, b in inside]
        # Nodes without edges would form a single long row.
        drawn = packed(layout.layout(names, edges)) if edges else None
        found.append({"nodes": part, "layout": drawn})
    return found


# --- downloads and commands ----------------------------------------------------------------------


def _result(file: PathLike | None) -> str:
    """Return the name of the result file, quoted for a shell."""
    return quote(os.path.basename(file or "RESULT.kes.json.gz"))


def _commands(optima: Optima, problem: Problem | None, file: PathLike | None) -> dict[str, Any]:
    """Return the parts of commands that contain file names."""
    source = os.path.basename(optima.record.reading.source or "DATA.csv")
    data = "" if problem is not None else f" --data {quote(source)}"
    return {
        "fit": f"kes fit {_result(file)}{data}",
        "query": f"kes query {_result(file)}",
        "out": {suffix: quote(f"{optima.stem or 'kes'}.{suffix}") for suffix in ("bif", "json")},
    }


def _files(optima: Optima) -> dict[str, Any]:
    """Return the spelling of names and states in the formats that the page can write."""
    spelled = None
    if optima.kind == "discrete":
        head, words, states = bif.variables(optima.names, optima.states, optima.stem or UNNAMED)
        spelled = {"head": head, "words": words, "states": states}
    return {
        "bif": spelled,
        # As JSON text: a large integer would not survive the page as a number.
        "literals": [[json.dumps(state) for state in states] for states in optima.states.values()],
        "cuts": optima.record.reading.cuts,
    }


# --- charts --------------------------------------------------------------------------------------


def _charts(optima: Optima, found: Landscape, coverage: Coverage) -> dict[str, Any]:
    """Return the points of the map, the sorted scores of the runs, and the curves of coverage."""
    return {
        "landscape": found.points.round(2).tolist(),
        "scores": _scores(optima, found),
        "accumulation": _curves(coverage.accumulation(), "models", "levels"),
        "best": _curves(coverage.best_so_far(), "observed", "expected"),
    }


def _curves(table: Table, *columns: str) -> dict[str, Any]:
    rounded = {name: [round(value, 6) for value in table[name]] for name in columns}
    return {"runs": list(table["runs"])} | rounded


def _scores(optima: Optima, found: Landscape) -> dict[str, Any]:
    """Return runs, best first: rank, number, score, and the optimum if it is on the page."""
    order = np.argsort(-optima.run_scores, kind="stable")
    ranks = np.unique(np.linspace(0, len(order) - 1, min(len(order), _MOST_POINTS)).astype(int))
    runs = order[ranks]
    shown = {number: i for i, number in enumerate(found.numbers)}
    return {
        "ranks": (ranks + 1).tolist(),
        "runs": runs.tolist(),
        "scores": [round(score, 6) for score in optima.run_scores[runs].tolist()],
        "optima": [shown.get(int(end)) for end in optima.run_optima[runs]],
    }
