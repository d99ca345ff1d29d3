"""A large network in parts that can be read: clusters of variables, each with a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kes.drawing.clusters import clusters
from kes.drawing.layout import Layout, layout
from kes.results.optimum import Optimum

LEAST = 13
"""Variables from which on a network has an overview: fewer are a cluster themselves."""


def overview(optimum: Optimum, packed: Callable[[Layout], dict[str, Any]]) -> list[Any] | None:
    """Return the clusters of a network: their nodes and where these and their edges go.

    Parameters
    ----------
    packed
        Makes plain data of a layout.
    """
    if len(optimum.names) < LEAST:
        return None
    arcs = optimum.mpdag.to_dag()
    number = {name: i for i, name in enumerate(optimum.names)}
    parts = clusters(len(number), [(number[a], number[b]) for a, b in arcs])
    found = []
    for part in parts:
        names = [optimum.names[node] for node in part]
        inside = set(names)
        edges = [(a, b) for a, b in arcs if a in inside and b in inside]
        # Nodes without edges would stand in one endless row.
        place = packed(layout(names, edges)) if edges else None
        found.append({"nodes": part, "layout": place})
    return found
