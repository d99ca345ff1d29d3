"""Files of networks and graphs: reading and writing, by the suffix of the file's name.

========  ==========================  ============================  ===========================
format    suffixes                    networks                      graphs
========  ==========================  ============================  ===========================
BIF       .bif                        read, write                   read (of the network)
XMLBIF    .xmlbif, .bifxml, .xml      read, write                   read (of the network)
NET       .net                        read, write                   read (of the network)
JSON      .json                       read, write                   read, write
DOT       .dot, .gv                   write (its DAG)               read, write
GraphML   .graphml                    write (its DAG, with states)  read, write
========  ==========================  ============================  ===========================

A further suffix .gz means that the file is compressed; compressed files are read by any name.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kes.errors import KesError, listed, suggest

if TYPE_CHECKING:
    from kes.graph import EssentialGraph
    from kes.network import BayesianNetwork

__all__ = ["convert", "read_graph", "read_network", "write_graph", "write_network"]

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class _Format:
    """A file format: a module with some of `read`, `write`, `read_graph` and `write_graph`."""

    name: str
    module: str
    does: frozenset[str]

    def function(self, name: str) -> Callable[..., Any]:
        module: ModuleType = import_module(f"kes.formats.{self.module}")
        function: Callable[..., Any] = getattr(module, name)
        return function


_NETWORKS = frozenset({"read", "write"})
_GRAPHS = frozenset({"write", "read_graph", "write_graph"})
_BIF = _Format("BIF", "bif", _NETWORKS)
_XMLBIF = _Format("XMLBIF", "xmlbif", _NETWORKS)
_NET = _Format("NET", "net", _NETWORKS)
_JSON = _Format("JSON", "json", _NETWORKS | _GRAPHS)
_DOT = _Format("DOT", "dot", _GRAPHS)
_GRAPHML = _Format("GraphML", "graphml", _GRAPHS)
_BY_SUFFIX = {
    ".bif": _BIF,
    ".xmlbif": _XMLBIF,
    ".bifxml": _XMLBIF,
    ".xml": _XMLBIF,
    ".net": _NET,
    ".json": _JSON,
    ".dot": _DOT,
    ".gv": _DOT,
    ".graphml": _GRAPHML,
}


def read_network(path: str | PathLike[str]) -> BayesianNetwork:
    """Read a Bayesian network from a file.

    Parameters
    ----------
    path
        A file in the format BIF (``.bif``), XMLBIF (``.xmlbif``, ``.bifxml``, ``.xml``), HUGIN's
        NET (``.net``) or JSON as `BayesianNetwork.save` writes it (``.json``), possibly compressed
        (``.gz``).

    Returns
    -------
    BayesianNetwork
        States are text, unless the file was written by kes and says otherwise. Distributions that
        miss a sum of 1 by no more than 0.01 are taken for rounded, and scaled.

    Raises
    ------
    KesError
        If the file cannot be read or holds no directed network of discrete variables; the message
        gives line and column as far as it can.
    """
    form = _format(path)
    if "read" not in form.does:
        raise KesError(
            f"{path}: {form.name} files hold graphs, not networks; read it with kes.read_graph"
        )
    network: BayesianNetwork = _parsed(path, form.function("read"))
    return network


def read_graph(path: str | PathLike[str]) -> EssentialGraph:
    """Read a graph from a file, for instance to start a search from it or to compare with it.

    Parameters
    ----------
    path
        A file in the format DOT (``.dot``, ``.gv``), GraphML (``.graphml``) or JSON (``.json``), or
        a network in any of the formats of `read_network`.

    Returns
    -------
    EssentialGraph
        Arcs alone are taken for a DAG, and its essential graph is returned. With edges without
        direction among them the graph must be an essential graph.

    Raises
    ------
    KesError
        If the file cannot be read, or its graph is neither a DAG nor an essential graph.
    """
    form = _format(path)
    if "read_graph" not in form.does:
        return read_network(path).graph
    graph: EssentialGraph = _parsed(path, form.function("read_graph"))
    return graph


def write_network(network: BayesianNetwork, path: str | PathLike[str]) -> None:
    """Write a network into a file; see `BayesianNetwork.save`."""
    _store(path, _format(path).function("write")(network))


def write_graph(graph: EssentialGraph, path: str | PathLike[str]) -> None:
    """Write an essential graph into a file (``.dot``, ``.gv``, ``.graphml``, ``.json``).

    Edges without direction are lines in DOT (``dir=none``), and have ``directed="false"`` in
    GraphML.
    """
    form = _format(path)
    if "write_graph" not in form.does:
        raise KesError(
            f"{path}: {form.name} files hold networks with probabilities, which a graph lacks; fit "
            "it to data first, or write .dot, .graphml or .json"
        )
    _store(path, form.function("write_graph")(graph))


def convert(source: str | PathLike[str], target: str | PathLike[str]) -> str:
    """Convert a file into another format, and say what was written.

    A network becomes a graph where the target holds graphs only; a graph stays one.
    """
    _format(target)  # complain before a large file is read
    if _holds_network(source):
        network = read_network(source)
        write_network(network, target)
        return repr(network)
    graph = read_graph(source)
    write_graph(graph, target)
    return repr(graph)


def _holds_network(path: str | PathLike[str]) -> bool:
    form = _format(path)
    if form is not _JSON:
        return "read" in form.does
    is_network: bool = _parsed(path, form.function("holds_network"))
    return is_network


def _format(path: str | PathLike[str]) -> _Format:
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix not in _BY_SUFFIX:
        raise KesError(
            f"{path}: cannot tell the format from the suffix {suffix!r}"
            f"{suggest(suffix, _BY_SUFFIX)}; known: {listed(_BY_SUFFIX)}"
        )
    return _BY_SUFFIX[suffix]


def _parsed(path: str | PathLike[str], parse: Callable[[bytes], Any]) -> Any:  # noqa: ANN401
    try:
        content = Path(path).read_bytes()
        if content.startswith(_GZIP):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise KesError(f"{path}: cannot be read: {reason}") from None
    try:
        return parse(content)
    except KesError as error:
        raise KesError(f"{path}: {error}") from None


def _store(path: str | PathLike[str], content: bytes) -> None:
    if Path(path).suffix.lower() == ".gz":
        content = gzip.compress(content, mtime=0)  # the same network gives the same file
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise KesError(f"{path}: cannot be written: {error.strerror}") from None
