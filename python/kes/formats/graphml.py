"""GraphML, the XML format for graphs that networkx, igraph, yEd, Gephi and Cytoscape read.

Undirected edges have the attribute ``directed="false"``, as GraphML defines for graphs with edges
of both kinds. (networkx does not read such graphs; it does read networks, which are DAGs.)
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from kes.data.column import State
from kes.formats.builder import GraphDraft, Writable
from kes.formats.escaping import NAME, STATES, plain_words, write_literals
from kes.formats.parsing import XML_TEXT, Document, Element
from kes.graph import EssentialGraph
from kes.graph.pdag import Pdag

_HEAD = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="{NAME}" for="node" attr.name="{NAME}" attr.type="string"/>
<key id="{STATES}" for="node" attr.name="{STATES}" attr.type="string"/>
<graph edgedefault="directed">
"""


def write(network: Writable) -> Iterator[str]:
    """Yield the DAG of a network as the text of a file; the nodes have their states as data."""
    return _lines(network.nodes, network.arcs, (), network.states)


def write_graph(graph: Pdag) -> Iterator[str]:
    """Yield a graph as the text of a file."""
    undirected = sorted(map(sorted, graph.undirected))
    return _lines(graph.nodes, sorted(graph.directed), undirected, {})


def _lines(
    nodes: Sequence[str],
    directed: Iterable[Iterable[str]],
    undirected: Iterable[Iterable[str]],
    states: Mapping[str, Iterable[State]],
) -> Iterator[str]:
    word = dict(zip(nodes, plain_words(nodes, XML_TEXT), strict=True))
    identifier = {node: quoteattr(word[node]) for node in nodes}
    yield _HEAD
    for node in nodes:
        yield f"<node id={identifier[node]}>\n"
        if word[node] != node:
            yield f'\t<data key="{NAME}">{escape(write_literals([node]))}</data>\n'
        if states.get(node):
            yield f'\t<data key="{STATES}">{escape(write_literals(states[node]))}</data>\n'
        yield "</node>\n"
    for a, b in directed:
        yield f"<edge source={identifier[a]} target={identifier[b]}/>\n"
    for a, b in undirected:
        yield f'<edge source={identifier[a]} target={identifier[b]} directed="false"/>\n'
    yield "</graph>\n</graphml>\n"


def read_graph(content: bytes) -> EssentialGraph:
    """Read a graph from the bytes of a GraphML file.

    Nodes are named by their identifiers. Arcs alone form a DAG, whose essential graph is returned;
    with undirected edges it must be an essential graph.
    """
    document = Document(content, "graphml")
    graph = document.only(document.root, "graph")
    keys = {
        key.attributes["id"]
        for key in document.root.find_all("key")
        if "id" in key.attributes and key.attributes.get("attr.name") == NAME
    }
    edges = GraphDraft(document.fail)
    for node in graph.find_all("node"):
        identifier = _attribute(document, node, "id")
        edges.add_node(identifier, node.at)
        for data in node.find_all("data"):
            if data.attributes.get("key") in keys:
                edges.rename(identifier, data.text, data.at)
    default = graph.attributes.get("edgedefault", "directed") == "directed"
    for edge in graph.find_all("edge"):
        ends = _attribute(document, edge, "source"), _attribute(document, edge, "target")
        for end in ends:
            if end not in edges.names:
                document.fail(f"there is no node {end!r}", edge.at)
        directed = {"true": True, "false": False}.get(edge.attributes.get("directed", ""), default)
        edges.add(*ends, edge.at, directed=directed)
    return edges.graph()


def _attribute(document: Document, element: Element, name: str) -> str:
    if name not in element.attributes:
        document.fail(f"<{element.tag}> lacks the attribute {name}", element.at)
    return element.attributes[name]
