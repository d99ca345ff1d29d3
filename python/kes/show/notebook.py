"""What notebooks show: pictures where Graphviz is at hand, and plain tables where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kes.show.layout import Layout, graph_layout, layout
from kes.show.svg import drawn
from kes.table import Table

if TYPE_CHECKING:
    from kes.graph import EssentialGraph
    from kes.network import BayesianNetwork
    from kes.results.optima import Optima

_MOST_EDGES = 300
"""Edges of the largest graph that a notebook draws: a larger one is a blot, and takes long."""

_KEY = (
    '<p style="font-size: smaller; opacity: 0.8">Arrows are compelled: all networks of the class '
    "have them. Dashed edges are reversible.</p>"
)


def optima_html(optima: Optima) -> str:
    """Return the summary of a result, and the picture of its best model."""
    from kes.results.summary import html

    graph = optima.best.graph
    picture = _picture(graph)
    if picture is None:
        return html(optima)
    return f"{html(optima)}<p>The best network:</p>{picture}{_KEY}"


def graph_html(graph: EssentialGraph) -> str:
    """Return the picture of an essential graph, or a table of its edges."""
    picture = _picture(graph)
    counts = (
        f"<p>Essential graph: {len(graph.nodes)} nodes, {len(graph.directed)} compelled and "
        f"{len(graph.undirected)} reversible edges</p>"
    )
    if picture is None:
        return counts + _edge_table(graph)._repr_html_()
    return counts + picture + _KEY


def network_html(network: BayesianNetwork) -> str:
    """Return the picture of a network, and a table of its nodes."""
    nodes = Table(
        {
            "node": network.nodes,
            "states": [network.states[node] for node in network.nodes],
            "parents": [network.parents[node] for node in network.nodes],
        }
    )
    place = _place(network.nodes, network.arcs)
    picture = "" if place is None else drawn(place, network.arcs, ())
    return f"<p>Bayesian network: {network._summary()}</p>{picture}{nodes._repr_html_()}"


def _picture(graph: EssentialGraph) -> str | None:
    if not _can_draw(len(graph.directed) + len(graph.undirected)):
        return None
    return drawn(graph_layout(graph), graph.directed, graph.undirected)


def _place(nodes: tuple[str, ...], arcs: tuple[tuple[str, str], ...]) -> Layout | None:
    return layout(nodes, arcs) if _can_draw(len(arcs)) else None


def _can_draw(edges: int) -> bool:
    from importlib.util import find_spec

    return edges <= _MOST_EDGES and find_spec("pygraphviz") is not None


def _edge_table(graph: EssentialGraph) -> Table:
    arcs = [(a, "->", b) for a, b in sorted(graph.directed)]
    links = [(*sorted(pair), "-") for pair in sorted(graph.undirected, key=sorted)]
    rows = [*arcs, *((a, mark, b) for a, b, mark in links)]
    return Table({name: [row[i] for row in rows] for i, name in enumerate(("from", "", "to"))})
