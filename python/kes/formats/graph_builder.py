"""A graph in the making, for the readers of files that hold graphs only."""

from __future__ import annotations

from dataclasses import dataclass, field

from kes._core import MAX_VARIABLES
from kes.graph import EssentialGraph


@dataclass
class GraphDraft:
    """Nodes and edges as a reader finds them; `graph` makes a graph of them."""

    names: dict[str, str] = field(default_factory=dict)
    """What the file calls a node, and its true name."""
    directed: set[tuple[str, str]] = field(default_factory=set)
    undirected: set[frozenset[str]] = field(default_factory=set)

    def add_node(self, node: str) -> bool:
        """Add a node, unless it is there; tell whether a graph may have so many."""
        self.names.setdefault(node, node)
        return len(self.names) <= MAX_VARIABLES

    def rename(self, node: str, true: str) -> None:
        """Give a node its true name."""
        self.names[node] = true

    def add(self, a: str, b: str, *, directed: bool) -> bool:
        """Add an edge, unless these nodes are joined otherwise; tell whether that went well.

        The same arc, or edge without direction, may come again.
        """
        pair = frozenset((a, b))
        if directed:
            self.directed.add((a, b))
            return (b, a) not in self.directed and pair not in self.undirected
        self.undirected.add(pair)
        return (a, b) not in self.directed and (b, a) not in self.directed

    def graph(self) -> EssentialGraph:
        """Make the graph.

        Arcs alone are taken for a DAG; with edges without direction among them, the graph must be
        an essential graph.
        """
        true = self.names
        nodes = list(true.values())
        arcs = sorted((true[a], true[b]) for a, b in self.directed)
        if not self.undirected:
            return EssentialGraph.from_dag(nodes, arcs)
        return EssentialGraph(nodes, arcs, [[true[a] for a in pair] for pair in self.undirected])
