"""Read networks and graphs from files, and convert between formats."""

from os import PathLike
from typing import Any

import numpy as np

from kes.data.discretizer import Discretizer
from kes.data.normal_scores import Ranks, Scores
from kes.data.notation import Notation
from kes.errors import KesError
from kes.files import load, stem
from kes.formats import format_of, holds_network, write_graph, write_network
from kes.formats.builder import Parts
from kes.graph import EssentialGraph
from kes.network.average import AnyNetwork, AveragedNetwork
from kes.network.cpds import Linear, Logistic
from kes.network.discrete import BayesianNetwork
from kes.network.fitting import Fitted
from kes.network.gaussian import GaussianNetwork
from kes.network.mixed import MixedNetwork


def read_network(path: str | PathLike[str]) -> AnyNetwork:
    """Read a network from a file, or an average of networks.

    Parameters
    ----------
    path
        A file in the format BIF (``.bif``), XMLBIF (``.xmlbif``, ``.bifxml``, ``.xml``), HUGIN's
        NET (``.net``) or JSON as `Network.save` writes it (``.json``), possibly compressed
        (``.gz``).

    Returns
    -------
    BayesianNetwork, GaussianNetwork, MixedNetwork or AveragedNetwork
        According to its nodes; only JSON files have continuous ones, and averages. States are text,
        unless the file was written by kes and states other types. Distributions whose sums differ
        from 1 by at most 0.01 are taken for rounded, and scaled.

    Raises
    ------
    KesError
        If the file cannot be read or does not contain a network; see `KesError.file` and
        `KesError.row`, the line.
    """
    form = format_of(path)
    if not form.offers("read"):
        raise KesError(
            f"{path}: {form.name} files contain graphs, not networks; read it with kes.read_graph",
            file=str(path),
        )

    def parse(content: bytes) -> AnyNetwork:
        if form.offers("holds_average") and form.function("holds_average")(content):
            members, weights = form.function("read_members")(content)
            return AveragedNetwork(map(_network, members), weights)
        return _network(form.function("read")(content))

    network: AnyNetwork = load(path, parse)
    return network


def _network(parts: Parts) -> Fitted:
    """Make a network of the kind of its nodes."""
    kept: dict[str, Any] = {"discretizer": None, "transform": None, "notations": {}}
    models = {**parts.cpts}
    try:
        for node, (kind, numbers) in parts.models.items():
            models[node] = {"linear": Linear, "logistic": Logistic}[kind](**numbers)
        if parts.cuts is not None:
            kept["discretizer"] = Discretizer.at(parts.cuts)
        if parts.ranks is not None:
            kept["transform"] = Ranks({node: _scores(**r) for node, r in parts.ranks.items()})
        for node, notation in parts.notations.items():
            kept["notations"][node] = Notation.read(node, notation)
    except KesError:
        raise
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise KesError(f"not a network written by kes: {error}") from None
    if not parts.models:
        return BayesianNetwork(parts.nodes, parts.states, parts.parents, models, **kept)
    if all(isinstance(model, Linear) and model.degree == 1 for model in models.values()):
        return GaussianNetwork(parts.nodes, parts.parents, models, **kept)
    return MixedNetwork(parts.nodes, parts.states, parts.parents, models, **kept)


def _scores(values: list[float], scores: list[float]) -> Scores:
    return Scores(np.array(values, dtype=np.float64), np.array(scores, dtype=np.float64))


def read_graph(path: str | PathLike[str]) -> EssentialGraph:
    """Read a graph from a file, for instance to start a search from it or to compare it.

    Parameters
    ----------
    path
        A file in the format DOT (``.dot``, ``.gv``), GraphML (``.graphml``) or JSON (``.json``), or
        a network in any of the formats of `read_network`.

    Returns
    -------
    EssentialGraph
        Arcs alone form a DAG, whose essential graph is returned. With undirected edges the graph
        must be an essential graph.

    Raises
    ------
    KesError
        If the file cannot be read, or its graph is neither a DAG nor an essential graph.
    """
    if holds_network(path):
        network = read_network(path)
        if isinstance(network, AveragedNetwork):
            raise no_single_graph(path)
        return network.graph
    graph: EssentialGraph = load(path, format_of(path).function("read_graph"))
    return graph


def convert(source: str | PathLike[str], target: str | PathLike[str]) -> str:
    """Convert a file into another format, and describe what was written.

    A network becomes a graph if the target format has graphs only; a graph remains one. Each member
    of an average gets a file of its own, unless the target format has averages.
    """
    format_of(target)  # fail before a large file is read
    if holds_network(source):
        network = read_network(source)
        if not isinstance(network, AveragedNetwork):
            write_network(network, target, name=stem(source))
        elif format_of(target).offers("write_members"):
            network.save(target)
        else:
            files = network.save_members(target)
            return f"{network!r}: {files[0].name} to {files[-1].name}"
        return repr(network)
    graph = read_graph(source)
    write_graph(graph, target)
    return repr(graph)


def no_single_graph(path: str | PathLike[str]) -> KesError:
    """Return the error for an average where a graph is needed."""
    return KesError(
        f"{path} holds an average of networks, which have different graphs; use one of its "
        "members: kes convert writes each to a file of its own",
        file=str(path),
    )
