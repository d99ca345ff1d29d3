"""What the page shows, as plain data: numbers for nodes and pairs of nodes keep it small."""

from __future__ import annotations

import math
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

from kes.analysis.landscape import Landscape
from kes.analysis.support import edge_table, ensembles
from kes.drawing import layout
from kes.drawing.layout import Layout
from kes.graph.pictures import SUPPORT_COLUMNS, graph_layout
from kes.network import BayesianNetwork
from kes.network.fitting import Fitted, fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kes.analysis.stability import Stability
    from kes.data.dataset import Dataset
    from kes.results.optima import Optima
    from kes.results.optimum import Optimum
    from kes.table import Table

MOST_OWN = 30
"""Optima that get a layout, and tables, of their own."""

_MOST_EDGES = 3000
"""Edges in all such layouts: large graphs take long, so fewer of them get one."""

LEAST_SUPPORT = 0.05
"""Least threshold of the consensus; edges below have no say in the shared layout."""

_MOST_CELLS = 4096
"""Cells of the largest table shown: no reader looks through more."""


def content(
    optima: Optima,
    found: Landscape,
    *,
    dataset: Dataset | None,
    stability: Stability | None,
    evidence: Table | None = None,
) -> dict[str, Any]:
    """Return all that the page draws, except for its charts.

    An edge of a model is ``3 * pair + status``, where the status is 0 for an edge without
    direction, 1 for x -> y and 2 for y -> x. ``known`` are the pairs that have their direction from
    knowledge.
    """
    parts = ensembles(optima, stability)
    edges = edge_table(optima.names, parts, evidence)
    number = {name: i for i, name in enumerate(optima.names)}
    pairs = [(number[x], number[y]) for x, y in zip(edges["x"], edges["y"], strict=True)]
    place = {pair: i for i, pair in enumerate(pairs)}
    own = _worth_a_layout(found.optima)
    return {
        "names": optima.names,
        "labels": [layout.label(name) for name in optima.names],
        "states": [[str(state) for state in states] for states in optima.states.values()],
        "pairs": pairs,
        "supports": {part.kind: _supports(edges, part.kind) for part in parts},
        "evidence": None if evidence is None else [_rounded(nats) for nats in edges["evidence"]],
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
            _packed(_shared_layout(optima, edges), optima.names, place),
            *(_packed(graph_layout(found.optima[i].mpdag), optima.names, place) for i in own),
        ],
        "own": {i: 1 + number for number, i in enumerate(own)},
        "least": LEAST_SUPPORT,
        "tables": None
        if dataset is None
        else _tables({i: found.optima[i] for i in own}, dataset, number),
    }


def _supports(edges: Table, kind: str) -> list[list[float]]:
    """Return the support of each pair, and of its two directions."""
    columns = (SUPPORT_COLUMNS[kind], f"{kind}_x_to_y", f"{kind}_y_to_x")
    return [[edges[name][i] for name in columns] for i in range(len(edges))]


def _rounded(nats: float | None) -> float | None:
    """Return a number for the page; None if there is none, or it is not finite."""
    return None if nats is None or not math.isfinite(nats) else round(nats, 2)


def _optimum(optimum: Optimum, place: dict[tuple[int, int], int]) -> dict[str, Any]:
    directed, undirected = optimum.mpdag.to_core(optimum.names)
    arcs = [3 * place[a, b] + 1 if a < b else 3 * place[b, a] + 2 for a, b in directed]
    known = set(directed).difference(optimum.edges[0])
    return {
        "score": optimum.score,
        "hits": optimum.hits,
        "first": optimum.first_run,
        "local": optimum.is_local_optimum,
        "origin": optimum.origin,
        "compelled": len(optimum.edges[0]),
        "known": sorted(place[min(arc), max(arc)] for arc in known),
        "edges": sorted([*arcs, *(3 * place[min(e), max(e)] for e in undirected)]),
    }


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


def _packed(one: Layout, names: Sequence[str], place: dict[tuple[int, int], int]) -> dict[str, Any]:
    number = {name: i for i, name in enumerate(names)}
    curves = {}
    for a, b in one.curves:
        x, y = sorted((number[a], number[b]))
        curves[place[x, y]] = one.curve(names[x], names[y]).round(1).ravel().tolist()
    return {
        "size": [round(one.width, 1), round(one.height, 1)],
        "nodes": [[round(one.boxes[n].x, 1), round(one.boxes[n].y, 1)] for n in names],
        "curves": curves,
    }


# --- tables --------------------------------------------------------------------------------------


def _tables(optima: dict[int, Optimum], dataset: Dataset, number: dict[str, int]) -> dict[str, Any]:
    """Fit the optima; models that share a family of nodes share its table.

    Returns
    -------
    dict
        ``families``: node, parents and probabilities (a row for each configuration), or None if
        there are too many; ``of``: for each optimum, by number, the family of each node.
    """
    families: dict[tuple[int, ...], int] = {}
    rows: list[Any] = []
    of = {}
    for index, optimum in optima.items():
        network = fit(optimum.mpdag, dataset)
        own = []
        for name in network.nodes:
            key = (number[name], *(number[parent] for parent in network.parents[name]))
            if key not in families:
                families[key] = len(families)
                rows.append([key[0], key[1:], _probabilities(network, name)])
            own.append(families[key])
        of[index] = own
    return {"families": rows, "of": of}


def _probabilities(network: Fitted, name: str) -> list[list[float]] | None:
    if not isinstance(network, BayesianNetwork):
        return None
    table = network.cpts[name]
    if table.size > _MOST_CELLS:
        return None
    rounded: list[list[float]] = table.reshape(-1, table.shape[-1]).round(4).tolist()
    return rounded
