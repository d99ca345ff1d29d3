"""Conversion of networks to objects of other packages."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from kes.errors import KesError, listed, not_installed
from kes.formats.escaping import labels

if TYPE_CHECKING:
    import networkx as nx

    from kes.network.base import Network
    from kes.network.discrete import BayesianNetwork
    from kes.network.gaussian import GaussianNetwork


def to_pyagrum(network: BayesianNetwork) -> Any:  # noqa: ANN401 - pyAgrum has no types
    """Convert into a ``pyagrum.BayesNet``; states become labels, that is, text."""
    try:
        gum: Any = import_module("pyagrum")
    except ImportError as error:
        raise not_installed("pyagrum") from error
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
        raise not_installed("pgmpy") from error
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


def to_linear_gaussian(network: GaussianNetwork) -> Any:  # noqa: ANN401 - pgmpy has no types
    """Convert into a ``pgmpy.models.LinearGaussianBayesianNetwork``."""
    try:
        from pgmpy.factors.continuous import LinearGaussianCPD
        from pgmpy.models import LinearGaussianBayesianNetwork
    except ImportError as error:
        raise not_installed("pgmpy") from error
    model = LinearGaussianBayesianNetwork()
    model.add_nodes_from(network.nodes)
    model.add_edges_from(network.arcs)
    for node in network.nodes:
        own = network.models[node]
        beta = [own.intercept, *own.coefficients.tolist()]
        model.add_cpds(LinearGaussianCPD(node, beta, own.deviation, list(network.parents[node])))
    return model


def to_networkx(network: Network) -> nx.DiGraph[str]:
    """Convert into a `networkx.DiGraph`; see `Network.to_networkx` for the attributes."""
    try:
        import networkx as nx
    except ImportError as error:
        raise not_installed("networkx") from error
    graph: nx.DiGraph[str] = nx.DiGraph()
    for node in network.nodes:
        graph.add_node(
            node,
            kind=network.kinds[node],
            states=network.states[node],
            parents=network.parents[node],
            **vars(network.local(node)),
        )
    graph.add_edges_from(network.arcs)
    return graph


def unsupported(where: str, network: Network) -> KesError:
    """Return the error for a network that other software does not support."""
    continuous = [node for node, kind in network.kinds.items() if kind == "continuous"]
    return KesError(
        f"{where} does not support continuous nodes: {listed(continuous)}; discretize them first "
        "(kes.discretize), or use to_networkx() or a .json file",
        column=continuous[0],
    )
