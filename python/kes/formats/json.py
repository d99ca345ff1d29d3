"""JSON: networks and graphs as plain data, with the types of their states.

A network is written as::

    {"format": "kes-network", "version": 1,
     "nodes": [{"name": "lung", "states": ["no", "yes"], "parents": ["smoke"],
                "cpt": [[0.99, 0.01], [0.9, 0.1]]}, ...]}

where ``cpt`` is nested by the parents in their order and then by the node's own states. In version
2, which is written only where needed, nodes may have another CPD instead, and continuous ones have
no states::

    {"name": "dose", "parents": ["smoke", "age"],
     "linear": {"intercept": 1.0, "coefficients": [0.5, 0.1], "deviation": 2.0, "errors": null}}
    {"name": "lung", "states": ["no", "yes"], "parents": ["age"],
     "logistic": {"coefficients": [[-3.0, 0.04]], "errors": [[0.5, 0.01]]}}

The parameters are those of `kes.network.Linear` and `kes.network.Logistic`. Before the nodes there
may be ``"cuts": {"age": [30.0, 60.0]}``, the cut points of raw columns, and ``"ranks": {"age":
{"values": [...], "scores": [...]}}``, the normal scores of raw values, and ``"notations": {"price":
{"unit": "€"}, "start": {"dates": "days"}}``, how raw columns are written. A graph::

    {"format": "kes-graph", "version": 1, "nodes": ["a", "b", "c"],
     "directed": [["a", "b"]], "undirected": [["b", "c"]]}
"""

import json
from collections.abc import Iterator
from typing import Any

from kes.errors import KesError
from kes.formats.builder import Parts, Writable
from kes.formats.parsing import decode, located
from kes.graph import EssentialGraph
from kes.graph.pdag import Pdag

_NETWORK = "kes-network"
_GRAPH = "kes-graph"
_VERSIONS = {_NETWORK: (1, 2), _GRAPH: (1,)}
_MODELS = ("linear", "logistic")


def read(content: bytes) -> Parts:
    """Read a network from the bytes of a JSON file."""
    document = _parse(content, (_NETWORK,))
    entries = document["nodes"]
    try:
        return Parts(
            nodes=[entry["name"] for entry in entries],
            states={e["name"]: _list(e, "states") if "linear" not in e else [] for e in entries},
            parents={entry["name"]: _list(entry, "parents") for entry in entries},
            cpts={entry["name"]: entry["cpt"] for entry in entries if "cpt" in entry},
            models={entry["name"]: _model(entry) for entry in entries if "cpt" not in entry},
            cuts=document.get("cuts"),
            ranks=document.get("ranks"),
            notations=document.get("notations", {}),
        )
    except (KeyError, TypeError) as error:
        raise KesError(f"a node has a missing or malformed entry: {error}") from None


def _model(entry: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the kind and the parameters of a CPD other than a table."""
    for kind in _MODELS:
        if isinstance(entry.get(kind), dict):
            return kind, entry[kind]
    raise KeyError("cpt")


def read_graph(content: bytes) -> EssentialGraph:
    """Read a graph from the bytes of a JSON file."""
    document = _parse(content, (_GRAPH,))
    try:
        return EssentialGraph(document["nodes"], document["directed"], document["undirected"])
    except (KeyError, TypeError) as error:
        raise KesError(f"the graph has a missing or malformed entry: {error}") from None


def holds_network(content: bytes) -> bool:
    """Tell whether a JSON file contains a network, not a graph."""
    return bool(_parse(content, (_GRAPH, _NETWORK))["format"] == _NETWORK)


def _list(entry: dict[str, Any], key: str) -> list[Any]:
    """Return the plain list under a key of an entry."""
    values = entry[key]
    if not isinstance(values, list) or any(isinstance(value, dict | list) for value in values):
        raise TypeError(f"{key!r} of {entry['name']!r} must be a plain list")
    return values


def _parse(content: bytes, formats: tuple[str, ...]) -> dict[str, Any]:
    try:
        document = json.loads(decode(content))
    except json.JSONDecodeError as error:
        raise located(error.msg, error.lineno, error.colno) from None
    except RecursionError:
        raise KesError("nested too deeply for a kes file") from None
    except ValueError:  # Python refuses integers with thousands of digits
        raise KesError("a number has too many digits") from None
    expected = " or ".join(formats)
    if not isinstance(document, dict) or document.get("format") not in formats:
        raise KesError(f'not a kes file: expected an object with "format": {expected}')
    versions = _VERSIONS[document["format"]]
    if document.get("version") not in versions:
        raise KesError(
            f"the file has version {document.get('version')!r} of its format, but this kes reads "
            f"version {' and '.join(map(str, versions))}"
        )
    if not isinstance(document.get("nodes"), list):
        raise KesError('the file lacks the list of "nodes"')
    return document


def write(network: Writable) -> Iterator[str]:
    """Yield a network as the text of a JSON file."""
    entries, kinds = [], set()
    for node in network.nodes:
        kind, numbers = network.local(node).describe()
        states = {"states": network.states[node]} if network.states[node] else {}
        entries.append({"name": node, **states, "parents": network.parents[node], kind: numbers})
        kinds.add(kind)
    kept: dict[str, Any] = {}
    if network.discretizer is not None:
        kept["cuts"] = dict(network.discretizer.cuts)
    if network.transform is not None:
        kept["ranks"] = {
            name: {"values": column.values.tolist(), "scores": column.scores.tolist()}
            for name, column in network.transform.columns.items()
        }
    if network.notations:
        kept["notations"] = {name: one.describe() for name, one in network.notations.items()}
    version = 1 if kinds == {"cpt"} and not kept else 2
    return _dump({"format": _NETWORK, "version": version, **kept}, "nodes", entries)


def write_graph(graph: Pdag) -> Iterator[str]:
    """Yield a graph as the text of a JSON file."""
    edges = {"nodes": graph.nodes, "directed": sorted(graph.directed)}
    head = {"format": _GRAPH, "version": 1, **edges}
    return _dump(head, "undirected", sorted(map(sorted, graph.undirected)))


def _dump(head: dict[str, Any], key: str, entries: list[Any]) -> Iterator[str]:
    """Yield an object whose last value is a list with an entry per line."""
    yield f'{json.dumps(head)[:-1]}, "{key}": [\n'
    yield ",\n".join(map(json.dumps, entries))
    yield "\n]}\n"
