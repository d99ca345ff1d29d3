"""File formats of networks and graphs, selected by the suffix of the file name.

========  ==========================  ============================  ===========================
format    suffixes                    networks                      graphs
========  ==========================  ============================  ===========================
BIF       .bif                        read, write                   read (of the network)
XMLBIF    .xmlbif, .bifxml, .xml      read, write                   read (of the network)
NET       .net                        read, write                   read (of the network)
JSON      .json                       read, write (of all kinds,    read, write
                                      and averages of them)
DOT       .dot, .gv                   write (its DAG)               read, write
GraphML   .graphml                    write (its DAG, with states)  read, write
========  ==========================  ============================  ===========================

Readers return the `Parts` of a network, from which `kes.network.files` makes one. A further suffix
.gz means that the file is compressed; compressed files are read under any name.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from kes.errors import KesError, listed, suggest
from kes.files import load, write_file
from kes.formats.builder import Writable
from kes.graph.pdag import Pdag

__all__ = [
    "Format",
    "format_of",
    "holds_network",
    "write_average",
    "write_graph",
    "write_network",
]


@dataclass(frozen=True)
class Format:
    """A file format: the module of this package with its name, and some of these functions.

    ``read`` converts bytes to the `Parts` of a network and ``write`` a network to lines of text;
    ``read_graph`` and ``write_graph`` do so for graphs. ``holds_network`` distinguishes networks
    from graphs in formats that have both. The module is imported on first use: importing all of
    them, with their parsers, would add a sixth to the time of ``import kes``.
    """

    name: str
    suffixes: tuple[str, ...]
    continuous: bool = False
    """Whether it supports continuous nodes, if only in graphs."""
    named: bool = False
    """Whether it supports a name of the network."""
    knowledge: bool = False
    """Whether it marks edges that are directed by knowledge."""

    def offers(self, function: str) -> bool:
        """Return whether the format has a function."""
        return hasattr(import_module(f"kes.formats.{self.name.lower()}"), function)

    def function(self, name: str) -> Any:  # noqa: ANN401
        """Return a function of the format."""
        return getattr(import_module(f"kes.formats.{self.name.lower()}"), name)


FORMATS = (
    Format("BIF", (".bif",), named=True),
    Format("XMLBIF", (".xmlbif", ".bifxml", ".xml"), named=True),
    Format("NET", (".net",)),
    Format("JSON", (".json",), continuous=True),
    Format("DOT", (".dot", ".gv"), continuous=True, knowledge=True),
    Format("GraphML", (".graphml",), continuous=True),
)
"""All formats. A new one takes a line here and its module."""

_BY_SUFFIX = {suffix: form for form in FORMATS for suffix in form.suffixes}


def format_of(path: str | PathLike[str]) -> Format:
    """Return the format of a file by its suffix."""
    suffix = Path(str(Path(path)).lower().removesuffix(".gz")).suffix
    if suffix not in _BY_SUFFIX:
        raise KesError(
            f"{path}: cannot tell the format from the suffix {suffix!r}"
            f"{suggest(suffix, _BY_SUFFIX)}; known: {listed(_BY_SUFFIX)}",
            file=str(path),
        )
    return _BY_SUFFIX[suffix]


def holds_network(path: str | PathLike[str]) -> bool:
    """Tell whether a file contains a network, not a graph."""
    form = format_of(path)
    if not form.offers("holds_network"):
        return form.offers("read")
    return bool(load(path, form.function("holds_network")))


def write_network(network: Writable, path: str | PathLike[str], *, name: str | None = None) -> None:
    """Write a network to a file, with its name if given; see `Network.save`."""
    form = format_of(path)
    if not form.continuous and not hasattr(network, "cpts"):
        raise KesError(
            f"{path}: {form.name} files support discrete nodes only; write .json, or the graph as "
            ".dot or .graphml",
            file=str(path),
        )
    known = {"name": name} if form.named and name is not None else {}
    _write(path, form.function("write")(network, **known))


def write_average(
    members: Sequence[Writable], path: str | PathLike[str], weights: Sequence[float]
) -> None:
    """Write the members of an averaged network, and their weights, to one file."""
    form = format_of(path)
    if not form.offers("write_members"):
        raise KesError(
            f"{path}: {form.name} files hold one network or graph, not the members of an average; "
            "write .json, or each member to a file of its own: save_members",
            file=str(path),
        )
    _write(path, form.function("write_members")(members, weights))


def write_graph(graph: Pdag, path: str | PathLike[str]) -> None:
    """Write an essential graph to a file (``.dot``, ``.gv``, ``.graphml``, ``.json``).

    Undirected edges are lines in DOT (``dir=none``), and have ``directed="false"`` in GraphML.
    Edges directed by knowledge are dotted in DOT; the other formats cannot express them.
    """
    form = format_of(path)
    if not form.offers("write_graph"):
        raise KesError(
            f"{path}: {form.name} files contain networks with probabilities, which a graph lacks; "
            "fit it to data first, or write .dot, .graphml or .json",
            file=str(path),
        )
    if graph.by_knowledge and not form.knowledge:
        raise KesError(
            f"{path}: {form.name} files cannot mark edges as directed by knowledge; write .dot, or "
            "the class alone: write_graph(graph.essential, path)",
            file=str(path),
        )
    _write(path, form.function("write_graph")(graph))


def _write(path: str | PathLike[str], lines: Iterable[str]) -> None:
    write_file(path, "".join(lines).encode("utf-8"))
