"""DOT, the language of Graphviz: graphs, for pictures and as input.

An undirected edge is written as ``a -> b [dir=none]``, which Graphviz draws as a line. An edge
directed by knowledge is dotted and has ``kes_by_knowledge=true``; it is read as undirected, which
gives the class.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kes.drawing.style import GREEN
from kes.files import how_to_lift, most_unfolded
from kes.formats.builder import GraphDraft, Writable
from kes.formats.escaping import NAME, plain_words, write_literals
from kes.formats.parsing import Scanner, Token
from kes.graph import EssentialGraph
from kes.graph.pdag import Pdag

_TOKEN = re.compile(
    r"""\s*(?: "(?P<string>(?:[^"\\]|\\.)*)"
          | (?P<mark>->|--|[{}\[\];,=:+])
          | (?P<word>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)|[^\W0-9]\w*) )""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(
    r'(?P<string>"(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|^\#[^\n]*', re.DOTALL | re.MULTILINE
)
_QUOTABLE = re.compile("[^\\\\\x00-\x1f\x7f\ud800-\udfff]*")
_DEEPEST = 50
_EDGE = 400  # bytes of an edge in memory, about
_BY_KNOWLEDGE = "kes_by_knowledge"


def write(network: Writable) -> Iterator[str]:
    """Yield the DAG of a network as the text of a file."""
    return _lines(network.nodes, network.arcs)


def write_graph(graph: Pdag) -> Iterator[str]:
    """Yield a graph as the text of a file."""
    undirected = sorted(map(sorted, graph.undirected))
    return _lines(graph.nodes, sorted(graph.directed), undirected, graph.by_knowledge)


def _lines(
    nodes: Sequence[str],
    directed: Iterable[Iterable[str]],
    undirected: Iterable[Iterable[str]] = (),
    known: Collection[tuple[str, str]] = (),
) -> Iterator[str]:
    # In a quoted name \" is a quote, but a backslash is never escaped and may act as an escape
    # when the name is drawn, so names with backslashes cannot be written unchanged.
    words = plain_words(nodes, _QUOTABLE)
    quoted = {n: '"' + word.replace('"', '\\"') + '"' for n, word in zip(nodes, words, strict=True)}
    yield "digraph {\n"
    for node, word in zip(nodes, words, strict=True):
        truth = "" if word == node else f' [{NAME}="{write_literals([node])}"]'
        yield f"  {quoted[node]}{truth};\n"
    for a, b in directed:
        look = f' [{_BY_KNOWLEDGE}=true, style=dotted, color="{GREEN}"]' if (a, b) in known else ""
        yield f"  {quoted[a]} -> {quoted[b]}{look};\n"
    for a, b in undirected:
        yield f"  {quoted[a]} -> {quoted[b]} [dir=none];\n"
    yield "}\n"


@dataclass
class _DotParser:
    """A recursive-descent parser and the graph read so far."""

    scanner: Scanner
    edges: GraphDraft
    arrow: str
    default_direction: str = "forward"
    depth: int = 0
    """Number of open groups."""
    unfolded: int = 0
    """Edges from groups to groups."""

    def statements(self) -> list[str]:
        """Read statements up to the closing brace; return the nodes in them."""
        mentioned: list[str] = []
        while not self.scanner.skip("}"):
            if not self.scanner.skip(";"):
                mentioned += self.statement()
        return mentioned

    def statement(self) -> list[str]:
        first = self.scanner.peek()
        if first.kind == "word" and first.text.lower() in ("graph", "node", "edge"):
            self.scanner.next()
            attributes = self.attributes()
            if first.text.lower() == "edge":
                self.default_direction = self.direction(attributes, first)
            return []
        groups = [self.operand()]
        if self.scanner.skip("="):  # an attribute of the graph
            self.identifier()
            return []
        while self.scanner.is_mark("->", "--"):
            mark = self.scanner.next()
            if mark.text != self.arrow:
                self.scanner.fail(f"expected {self.arrow!r}, found {mark}", mark.at)
            groups.append(self.operand())
        mentioned = [node for group in groups for node in group]
        for node in mentioned:
            self.edges.add_node(node, first.at)
        attributes = self.attributes()
        if NAME in attributes and [*map(len, groups)] == [1]:
            self.edges.rename(mentioned[0], attributes[NAME], first.at)
        self.join(groups, self.direction(attributes, first), first)
        return mentioned

    def operand(self) -> list[str]:
        """Read a node, or a group of nodes in braces."""
        token = self.scanner.peek()
        if token.kind == "word" and token.text.lower() == "subgraph":
            self.scanner.names()  # the word, and the name if there is one
        if self.scanner.skip("{"):
            if self.depth == _DEEPEST:
                self.scanner.fail(f"more than {_DEEPEST} groups within each other", token.at)
            self.depth += 1
            mentioned = list(dict.fromkeys(self.statements()))
            self.depth -= 1
            return mentioned
        name = self.identifier()
        while self.scanner.skip(":"):  # a port says where on the node an edge ends
            self.identifier()
        return [name]

    def identifier(self) -> str:
        token = self.scanner.name("a name")
        text = token.text.replace('\\"', '"').replace("\\\n", "")
        while token.kind == "string" and self.scanner.skip("+"):
            text += self.scanner.name("a string").text.replace('\\"', '"')
        return text

    def attributes(self) -> dict[str, str]:
        found = {}
        while self.scanner.skip("["):
            while not self.scanner.skip("]"):
                key = self.identifier()
                found[key] = self.identifier() if self.scanner.skip("=") else "true"
                _ = self.scanner.skip(",") or self.scanner.skip(";")
        return found

    def direction(self, attributes: dict[str, str], at: Token) -> str:
        if attributes.get(_BY_KNOWLEDGE) == "true":
            return "none"
        value = attributes.get("dir", self.default_direction if self.arrow == "->" else "none")
        if value not in ("none", "forward", "back"):
            self.scanner.fail(f"dir={value}: an edge has one direction, or none (dir=none)", at.at)
        return value

    def join(self, groups: list[list[str]], direction: str, at: Token) -> None:
        for tails, heads in pairwise(groups):
            if len(tails) * len(heads) > 1:
                self.unfolded += len(tails) * len(heads)
                most = most_unfolded() // _EDGE
                if self.unfolded > most:
                    self.scanner.fail(f"groups make more than {most} edges; {how_to_lift()}", at.at)
            for a, b in ((a, b) for a in tails for b in heads):
                tail, head = (b, a) if direction == "back" else (a, b)
                self.edges.add(tail, head, at.at, directed=direction != "none")


def read_graph(content: bytes) -> EssentialGraph:
    """Read a graph from the bytes of a DOT file.

    Arcs alone form a DAG, whose essential graph is returned; with undirected edges it must be an
    essential graph.
    """
    scanner = Scanner(content, token=_TOKEN, comment=_COMMENT)
    first = scanner.next()
    if first.text.lower() == "strict":
        first = scanner.next()
    if first.text.lower() not in ("graph", "digraph"):
        scanner.fail(f"expected graph or digraph, found {first}", first.at)
    scanner.names()
    scanner.expect("{", "after the name of the graph")
    arrow = "->" if first.text.lower() == "digraph" else "--"
    reader = _DotParser(scanner, GraphDraft(scanner.fail), arrow)
    reader.statements()
    return reader.edges.graph()
