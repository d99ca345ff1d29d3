"""The model that runs start from, if it is not the empty one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from kes.errors import KesError, listed
from kes.graph import EssentialGraph
from kes.options import Settings
from kes.validation import arcs


def starting(settings: Settings, start: object, names: Sequence[str]) -> Settings:
    """Return the same settings with runs that start at a graph over some of `names`.

    Raises
    ------
    KesError
        If it is no graph over columns of the data, or breaks the bound on parents.
    """
    graph = _start(start, names)
    if graph is not None and settings.max_parents is not None:
        _check_parents(graph, settings.max_parents)
    return replace(settings, start=graph)


def _start(start: object, names: Sequence[str]) -> EssentialGraph | None:
    """Return the model to start from, over exactly the variables of the data."""
    if start is None:
        return None
    if not isinstance(start, EssentialGraph):
        return EssentialGraph.from_dag(names, arcs("start", start))
    known = set(names)
    strangers = [node for node in start.nodes if node not in known]
    if strangers:
        raise KesError(
            f"start has nodes that the data lack: {listed(strangers)}; "
            "start from a graph over columns of the data"
        )
    return EssentialGraph(names, start.directed, start.undirected)


def _check_parents(start: EssentialGraph, most: int) -> None:
    """Refuse a start that breaks the bound on parents, which steps from it would keep broken."""
    for node, parents in Counter(child for _, child in start.to_dag()).items():
        if parents > most:
            raise KesError(
                f"start gives {node!r} {parents} parents, but max_parents is {most}; "
                "raise max_parents, or start from a graph with fewer edges"
            )
