"""Files of networks and graphs: reading and writing, by the suffix of the file's name.

========  ==========================  ============================  ===========================
format    suffixes                    networks                      graphs
========  ==========================  ============================  ===========================
BIF       .bif                        read, write                   read (of the network)
XMLBIF    .xmlbif, .bifxml, .xml      read, write                   read (of the network)
NET       .net                        read, write                   read (of the network)
JSON      .json                       read, write (of all kinds)    read, write
DOT       .dot, .gv                   write (its DAG)               read, write
GraphML   .graphml                    write (its DAG, with states)  read, write
========  ==========================  ============================  ===========================

Networks go by their `Parts` here; `kes.network.files` makes networks of what is read. A further
suffix .gz means that the file is compressed; compressed files are read by any name.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

from kes.errors import KesError, listed, suggest
from kes.files import read_file, write_file
from kes.formats.network_parts import Writable
from kes.graph.pdag import Pdag

__all__ = ["Format", "format_of", "holds_network", "load", "write_graph", "write_network"]


class Format:
    """A file format: a module of this package with some of these functions.

    ``read`` makes `Parts` of a network of bytes and ``write`` bytes of a network; ``read_graph``
    and ``write_graph`` do so for essential graphs, and ``write_pdag`` for graphs in which knowledge
    directs edges. If it reads both, ``holds_network`` tells them apart. Some formats have a place
    for continuous nodes, be it in a graph only, some for the name of a network. The module is
    imported when a file of its format is met: all of them, with their parsers, would add a sixth to
    the time that ``import kes`` takes.
    """

    def __init__(
        self, name: str, module: str, *suffixes: str, continuous: bool = False, named: bool = False
    ) -> None:
        self.name, self.suffixes, self.continuous, self.named = name, suffixes, continuous, named
        self._module = module

    def offers(self, function: str) -> bool:
        """Tell whether the format has a function."""
        return hasattr(self._load(), function)

    def function(self, name: str) -> Callable[..., Any]:
        """Return a function of the format."""
        function: Callable[..., Any] = getattr(self._load(), name)
        return function

    def _load(self) -> ModuleType:
        return import_module(f"kes.formats.{self._module}")


FORMATS = (
    Format("BIF", "bif", ".bif", named=True),
    Format("XMLBIF", "xmlbif", ".xmlbif", ".bifxml", ".xml", named=True),
    Format("NET", "net", ".net"),
    Format("JSON", "json", ".json", continuous=True),
    Format("DOT", "dot", ".dot", ".gv", continuous=True),
    Format("GraphML", "graphml", ".graphml", continuous=True),
)
"""All of them; this line and its module are all that there is to a format."""

_BY_SUFFIX = {suffix: form for form in FORMATS for suffix in form.suffixes}


def format_of(path: str | PathLike[str]) -> Format:
    """Return the format that the suffix of a file's name says."""
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


def holds_network(path: str | PathLike[str]) -> bool:
    """Tell whether a file holds a network, not a graph."""
    form = format_of(path)
    if not form.offers("holds_network"):
        return form.offers("read")
    is_network: bool = load(path, form.function("holds_network"))
    return is_network


def load(path: str | PathLike[str], parse: Callable[[bytes], Any]) -> Any:  # noqa: ANN401
    """Return what `parse` makes of a file's content; its complaints get the file's name."""
    content = read_file(path)
    try:
        return parse(content)
    except KesError as error:
        raise KesError(f"{path}: {error}") from None


def write_network(network: Writable, path: str | PathLike[str], *, name: str | None = None) -> None:
    """Write a network into a file, with its name if that is known; see `Network.save`."""
    form = format_of(path)
    if not form.continuous and not hasattr(network, "cpts"):
        raise KesError(
            f"{path}: {form.name} files hold networks of discrete nodes only; write .json, or "
            "the graph as .dot or .graphml"
        )
    known = {"name": name} if form.named and name is not None else {}
    write_file(path, form.function("write")(network, **known))


def write_graph(graph: Pdag, path: str | PathLike[str]) -> None:
    """Write an essential graph into a file (``.dot``, ``.gv``, ``.graphml``, ``.json``).

    Edges without direction are lines in DOT (``dir=none``), and have ``directed="false"`` in
    GraphML. Edges that have their direction from knowledge are dotted in DOT; the other formats
    have no word for that.
    """
    form = format_of(path)
    if not form.offers("write_graph"):
        raise KesError(
            f"{path}: {form.name} files hold networks with probabilities, which a graph lacks; fit "
            "it to data first, or write .dot, .graphml or .json"
        )
    if not graph.by_knowledge:
        write_file(path, form.function("write_graph")(graph.essential))
    elif form.offers("write_pdag"):
        write_file(path, form.function("write_pdag")(graph))
    else:
        raise KesError(
            f"{path}: {form.name} files cannot tell that edges have their direction from "
            "knowledge; write .dot, or the class alone: write_graph(graph.essential, path)"
        )
