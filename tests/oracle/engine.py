"""The engine as these tests call it: defaults for its long signatures, one form for its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes import _core

from .brute import Edges, Triple

Graph = tuple[Edges, Edges]
EMPTY: Graph = ([], [])


def problem(
    codes: ArrayLike,
    cardinalities: Sequence[int],
    weights: ArrayLike | None = None,
    criterion: str = "bic",
    ess: float = 1.0,
    cache_mb: int = 64,
) -> _core.Problem:
    return _core.Problem(
        np.ascontiguousarray(codes, dtype=np.int32),
        [int(r) for r in cardinalities],
        None if weights is None else np.ascontiguousarray(weights, dtype=np.float64),
        criterion,
        ess,
        cache_mb,
    )


def gaussian(
    columns: Sequence[NDArray[Any]],
    weights: ArrayLike | None = None,
    criterion: str = "bic",
    penalty: float = 1.0,
    order: ArrayLike | None = None,
) -> _core.Problem:
    """A continuous or mixed table: columns of numbers (float64) or codes (int32)."""
    return _core.Problem.gaussian(
        [np.ascontiguousarray(column) for column in columns],
        list(range(len(columns))) if order is None else [int(v) for v in np.asarray(order)],
        None if weights is None else np.ascontiguousarray(weights, dtype=np.float64),
        criterion,
        penalty,
        64,
        2,
    )


def trace(shared: _core.Problem, run: int, **options: Any) -> tuple[list[Any], Graph]:
    """Replay a run of the plain search: from the empty graph, without limits."""
    settings = {
        "k": 0.8,
        "seed": 0,
        "max_parents": None,
        "two_phase": False,
        "start": None,
        "sampled": None,
    }
    steps, end = shared.trace(run, **(settings | options))
    return steps, graph(end)


def essential_graph(n: int, arcs: Edges) -> Graph:
    return graph(_core.essential_graph(n, arcs))


def boundary(n: int, essential: Graph, max_parents: int | None = None) -> list[Triple]:
    return [key(triple) for triple in _core.boundary(n, essential, max_parents)]


def apply(n: int, essential: Graph, triple: Triple) -> Graph:
    return graph(_core.apply(n, essential, core_triple(triple)))


def graph(edges: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]]) -> Graph:
    directed, undirected = edges
    return [(a, b) for a, b in directed], [(a, b) for a, b in undirected]


def key(triple: tuple[bool, int, int, Sequence[int]]) -> Triple:
    insertion, x, y, given = triple
    return insertion, x, y, tuple(given)


def core_triple(triple: Triple) -> tuple[bool, int, int, list[int]]:
    insertion, x, y, given = triple
    return insertion, x, y, list(given)
