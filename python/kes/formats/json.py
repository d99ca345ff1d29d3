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

An average of networks has names and states once, and then a line for each member, with an entry for
each node in the same order; cuts, ranks and notations are as above::

    {"format": "kes-average", "version": 1, "nodes": [{"name": "lung", "states": ["no", "yes"]}],
     "members": [
    [{"parents": [], "cpt": [0.98, 0.02]}], ...]}

If members count differently, the version is 2, and ``"weights": [0.7, 0.3]`` precedes the members.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from kes.data.column import State
from kes.errors import KesError
from kes.formats.builder import Parts, Writable
from kes.formats.parsing import decode, located
from kes.graph import EssentialGraph
from kes.graph.pdag import Pdag

_NETWORK = "kes-network"
_GRAPH = "kes-graph"
_AVERAGE = "kes-average"
_VERSIONS = {_NETWORK: (1, 2), _GRAPH: (1,), _AVERAGE: (1, 2)}
_MODELS = ("linear", "logistic")


def read(content: bytes) -> Parts:
    """Read a network from the bytes of a JSON file."""
    document = _parse(content, (_NETWORK,))
    return _parts(document, document["nodes"])


def read_members(content: bytes) -> tuple[list[Parts], list[float] | None]:
    """Read the members of an average, and their weights, from the bytes of a JSON file."""
    document = _parse(content, (_AVERAGE,))
    nodes, members = document["nodes"], document.get("members")
    if not isinstance(members, list):
        raise KesError('the file lacks the list of "members"')
    try:
        every = [
            [{**node, **entry} for node, entry in zip(nodes, member, strict=True)]
            for member in members
        ]
    except (TypeError, ValueError):
        raise KesError("a member has a missing or malformed entry") from None
    weights = document.get("weights")
    if weights is not None and not (
        isinstance(weights, list) and all(isinstance(weight, int | float) for weight in weights)
    ):
        raise KesError('"weights" must be a list of numbers')
    return [_parts(document, entries) for entries in every], weights


def holds_average(content: bytes) -> bool:
    """Tell whether a JSON file contains an average of networks."""
    return bool(_parse(content, (_GRAPH, _NETWORK, _AVERAGE))["format"] == _AVERAGE)


def _parts(document: dict[str, Any], entries: list[Any]) -> Parts:
    """Return the parts of a network with an entry for each node."""
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
    return bool(_parse(content, (_GRAPH, _NETWORK, _AVERAGE))["format"] != _GRAPH)


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
    states = network.states
    named = [{"name": node, **_states(states[node])} for node in network.nodes]
    entries = [{**node, **own} for node, own in zip(named, _entries(network), strict=True)]
    kept = _kept(network)
    version = 1 if all("cpt" in entry for entry in entries) and not kept else 2
    return _dump({"format": _NETWORK, "version": version, **kept}, "nodes", entries)


def write_members(members: Sequence[Writable], weights: Sequence[float]) -> Iterator[str]:
    """Yield an average of networks as the text of a JSON file."""
    first = members[0]
    nodes = [{"name": node, **_states(first.states[node])} for node in first.nodes]
    own = {} if set(weights) == {1 / len(members)} else {"weights": list(weights)}
    head = {"format": _AVERAGE, "version": 2 if own else 1, **_kept(first), "nodes": nodes, **own}
    return _dump(head, "members", [_entries(member) for member in members])


def _states(states: Sequence[State]) -> dict[str, Any]:
    return {"states": states} if states else {}


def _entries(network: Writable) -> list[dict[str, Any]]:
    """Return the parents and the CPD of each node."""
    every = [(network.parents[node], *network.local(node).describe()) for node in network.nodes]
    return [{"parents": parents, kind: numbers} for parents, kind, numbers in every]


def _kept(network: Writable) -> dict[str, Any]:
    """Return the rules by which a network reads raw columns."""
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
    return kept


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
