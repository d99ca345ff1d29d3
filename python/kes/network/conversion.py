"""Networks as objects of other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kes.errors import missing_extra
from kes.formats.names import labels

if TYPE_CHECKING:
    import networkx as nx

    from kes.network.discrete import BayesianNetwork


def import_pyagrum() -> Any:  # noqa: ANN401 - pyAgrum has no types
    """Import pyAgrum, or say how to install it."""
    try:
        import pyagrum
    except ImportError as error:
        raise missing_extra("pyagrum", "inference") from error
    return pyagrum


def to_pyagrum(network: BayesianNetwork) -> Any:  # noqa: ANN401 - pyAgrum has no types
    """Convert into a ``pyagrum.BayesNet``; states become labels, that is, text."""
    gum = import_pyagrum()
    model = gum.BayesNet()
    for node in network.nodes:
        model.add(gum.LabelizedVariable(node, "", labels(network.states[node])))
    index = {node: i for i, node in enumerate(network.nodes)}
    for node, i in index.items():
        parents = network.parents[node]
        for parent in parents:
            model.addArc(index[parent], i)
        # pyAgrum's arrays have the last parent first and the node itself last.
        axes = (*reversed(range(len(parents))), len(parents))
        model.cpt(i)[:] = np.ascontiguousarray(network.cpts[node].transpose(axes))
    return model


def to_pgmpy(network: BayesianNetwork) -> Any:  # noqa: ANN401 - pgmpy has no types
    """Convert into a ``pgmpy.models.DiscreteBayesianNetwork``; states keep their types."""
    try:
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork
    except ImportError as error:
        raise missing_extra("pgmpy", "pgmpy") from error
    model = DiscreteBayesianNetwork()
    model.add_nodes_from(network.nodes)
    model.add_edges_from(network.arcs)
    for node in network.nodes:
        parents, cpt = network.parents[node], network.cpts[node]
        model.add_cpds(
            TabularCPD(
                node,
                cpt.shape[-1],
                cpt.reshape(-1, cpt.shape[-1]).T,
                evidence=list(parents),
                evidence_card=list(cpt.shape[:-1]),
                state_names={member: list(network.states[member]) for member in (*parents, node)},
            )
        )
    return model


def to_networkx(network: BayesianNetwork) -> nx.DiGraph[str]:
    """Convert into a `networkx.DiGraph`.

    Nodes have the attributes ``states``, ``parents`` (in the order of the axes) and ``cpt``.
    """
    try:
        import networkx as nx
    except ImportError as error:
        raise missing_extra("networkx", "networkx") from error
    graph: nx.DiGraph[str] = nx.DiGraph()
    for node in network.nodes:
        graph.add_node(
            node,
            states=network.states[node],
            parents=network.parents[node],
            cpt=network.cpts[node],
        )
    graph.add_edges_from(network.arcs)
    return graph
