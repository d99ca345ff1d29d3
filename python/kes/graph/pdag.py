"""Partially directed acyclic graphs: the common base of essential graphs and MPDAGs.

A *partially directed acyclic graph* represents a set of DAGs: a *directed* edge ``a -> b`` points
the same way in all of them, an *undirected* edge ``a - b`` one way in some and the other way in
others. An essential graph represents all DAGs of an equivalence class, an MPDAG only those that
satisfy some knowledge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

from kes.drawing.layout import Layout, layout
from kes.drawing.plot import draw, edge_widths, strength_kind
from kes.drawing.svg import picture
from kes.errors import KesError, listed, not_installed, printable, unknown
from kes.graph.core_graph import CoreGraph
from kes.table import Table

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from kes.graph.essential import EssentialGraph

_SHOWN_EDGES = 12
"""Edges that the repr shows; it counts the rest."""


class Pdag:
    """A partially directed acyclic graph; immutable.

    Graphs are equal if they have the same nodes and edges; the order of the nodes, which tables
    and pictures use, does not matter.
    """

    __slots__ = ("_directed", "_graph", "_hash", "_nodes", "_undirected")

    title: ClassVar[str]
    """Name of this kind of graph in captions."""

    _nodes: tuple[str, ...]
    _graph: CoreGraph
    _directed: frozenset[tuple[str, str]] | None
    _undirected: frozenset[frozenset[str]] | None
    _hash: int | None

    def _fill(self, names: tuple[str, ...], graph: CoreGraph) -> None:
        self._nodes, self._graph = names, graph
        self._directed = self._undirected = self._hash = None

    def to_core(self, names: Sequence[str]) -> CoreGraph:
        """Return the graph for the core, with variables numbered as in `names`.

        Names that are not nodes of the graph become isolated nodes.
        """
        if tuple(names) == self._nodes:
            return self._graph
        position = {name: i for i, name in enumerate(names)}
        directed = sorted((position[a], position[b]) for a, b in self.directed)
        undirected = [tuple(sorted(position[name] for name in edge)) for edge in self.undirected]
        return CoreGraph(tuple(directed), tuple(sorted((a, b) for a, b in undirected)))

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the variables, in order."""
        return self._nodes

    @property
    def directed(self) -> frozenset[tuple[str, str]]:
        """Edges (a, b), meaning a -> b, that all DAGs have."""
        if self._directed is None:
            name = self._nodes
            self._directed = frozenset((name[a], name[b]) for a, b in self._graph.directed)
        return self._directed

    @property
    def undirected(self) -> frozenset[frozenset[str]]:
        """Edges {a, b} that point one way in some of the DAGs and the other way in others."""
        if self._undirected is None:
            name = self._nodes
            self._undirected = frozenset(
                frozenset((name[a], name[b])) for a, b in self._graph.undirected
            )
        return self._undirected

    @property
    def skeleton(self) -> frozenset[frozenset[str]]:
        """Adjacent pairs {a, b}, whatever the direction."""
        return self.undirected.union(frozenset(edge) for edge in self.directed)

    def v_structures(self) -> frozenset[tuple[str, str, str]]:
        """Return all triples (a, c, b) with a -> c <- b where a and b are not adjacent.

        Together with the skeleton they determine the class [Verma & Pearl 1990]. Each is listed
        once, with a before b in alphabetical order.
        """
        parents: dict[str, list[str]] = {}
        for a, c in sorted(self.directed):
            parents.setdefault(c, []).append(a)
        skeleton = self.skeleton
        return frozenset(
            (a, c, b)
            for c, causes in parents.items()
            for a, b in combinations(causes, 2)
            if frozenset((a, b)) not in skeleton
        )

    def markov_blanket(self, node: str) -> frozenset[str]:
        """Return the nodes that, once observed, make all others irrelevant for `node`.

        In each DAG of the class these are its parents, its children and the other parents of its
        children. The class determines them: those not adjacent to the node are the other parents
        in its v-structures.
        """
        if node not in self._nodes:
            raise unknown("node", node, self._nodes, option="node")
        joined = {other for edge in self.skeleton if node in edge for other in edge}
        spouses = {other for a, _, b in self.v_structures() if node in (a, b) for other in (a, b)}
        return frozenset((joined | spouses) - {node})

    @property
    def essential(self) -> EssentialGraph:
        """The essential graph of the class of the DAGs."""
        raise NotImplementedError

    @property
    def by_knowledge(self) -> frozenset[tuple[str, str]]:
        """Edges that are directed by knowledge, not by the class alone."""
        return frozenset()

    @property
    def known_directions(self) -> frozenset[tuple[str, str]]:
        """Edges that are directed by knowledge, or whose opposite it excludes."""
        return self.by_knowledge

    @property
    def exogenous(self) -> tuple[str, ...]:
        """The nodes that are not modelled, by knowledge; their arcs need no other direction."""
        return ()

    @property
    def by_exogenous(self) -> frozenset[tuple[str, str]]:
        """Arcs between modelled nodes whose directions follow from the exogenous ones."""
        return frozenset()

    def to_dag(self) -> list[tuple[str, str]]:
        """Return the arcs (a, b), sorted, of one of the DAGs, the same for equal graphs."""
        raise NotImplementedError

    def to_networkx(self) -> nx.DiGraph[str]:
        """Convert to a `networkx.DiGraph` with two opposite arcs for an undirected edge.

        This is the usual form of a CPDAG there: ``h.has_edge(a, b) and h.has_edge(b, a)`` means
        that the edge is undirected. Use ``nx.DiGraph(g.to_dag())`` where a DAG is needed. Arcs that
        are directed by knowledge have the attribute ``by_knowledge``, and those that exogenous
        nodes direct ``by_exogenous``.
        """
        try:
            import networkx as nx
        except ImportError:
            raise not_installed("networkx") from None
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self._nodes)
        name = self._nodes
        directed, undirected = self._graph
        arcs = (*directed, *undirected, *((b, a) for a, b in undirected))
        graph.add_edges_from((name[a], name[b]) for a, b in arcs)
        graph.add_edges_from(sorted(self.by_knowledge), by_knowledge=True)
        graph.add_edges_from(sorted(self.by_exogenous), by_exogenous=True)
        return graph

    def plot(
        self,
        support: Table | Mapping[frozenset[str], float] | None = None,
        *,
        kind: str | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the graph: arrows for compelled edges, dashed lines for reversible ones.

        Arrows that are directed by knowledge are dotted and have another colour. Graphviz lays out
        the graph, so that no edge passes behind a node. Needs the extra ``plot``.

        Parameters
        ----------
        support
            Widths of the edges: the result of `Optima.evidence` or `Optima.edges`, or a number from
            0 to 1 for each pair {a, b}. By default all have the same width.
        kind : {"evidence", "search", "weight", "resampling"} or None
            Which column of the table to show; by default the evidence if it has one, else the
            search support.
        ax : matplotlib Axes or None
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
        """
        return draw(
            graph_layout(self),
            self.directed,
            self.undirected,
            labels=("compelled", "reversible"),
            by_knowledge=self.by_knowledge,
            exogenous=self.exogenous,
            widths=edge_widths(support, kind),
            of="evidence" if strength_kind(support, kind) == "evidence" else "support",
            ax=ax,
        )

    def shd(self, other: Pdag) -> int:
        """Return the structural Hamming distance: the number of pairs whose status differs.

        The status of a pair is not adjacent, undirected, or one of the two directions.

        Parameters
        ----------
        other
            A graph with the same nodes, in any order.
        """
        if set(self._nodes) != set(other._nodes):
            differing = sorted(set(self._nodes) ^ set(other._nodes))
            raise KesError(
                f"the graphs have different nodes; only one of them has {listed(differing)}",
                column=differing[0],
            )
        ours, theirs = self._status(), other._status()
        return sum(ours.get(pair) != theirs.get(pair) for pair in ours.keys() | theirs.keys())

    def _status(self) -> dict[frozenset[str], tuple[str, ...]]:
        """Map each adjacent pair to its arc, or to () if it is undirected."""
        status: dict[frozenset[str], tuple[str, ...]] = dict.fromkeys(self.undirected, ())
        return status | {frozenset(arc): arc for arc in self.directed}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pdag):
            return NotImplemented
        if self._nodes == other._nodes:
            return self._graph == other._graph
        return (
            set(self._nodes) == set(other._nodes)
            and self.directed == other.directed
            and self.undirected == other.undirected
        )

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((frozenset(self._nodes), self.directed, self.undirected))
        return self._hash

    def __repr__(self) -> str:
        text = edges_as_text(self._nodes, self._graph)
        if len(text) > _SHOWN_EDGES:
            text[_SHOWN_EDGES:] = [f"and {len(text) - _SHOWN_EDGES} more edges"]
        count = f"{len(self._nodes)} node{'s' * (len(self._nodes) != 1)}"
        return f"{type(self).__name__}({count}: {', '.join(text) or 'no edges'})"

    def _repr_html_(self) -> str:
        """Return a caption with the picture of the graph, or with a table of its edges."""
        known = len(self.by_knowledge)
        kinds = [f"{len(self.directed) - known} compelled"]
        kinds += [f"{known} directed by knowledge"] * bool(known)
        caption = (
            f"<p>{self.title}: {len(self._nodes)} nodes, {', '.join(kinds)} and "
            f"{len(self.undirected)} reversible edges</p>"
        )
        rows = [(a, "->", b) for a, b in sorted(self.directed)]
        rows += [(a, "-", b) for a, b in sorted(map(sorted, self.undirected))]
        table = {name: [row[i] for row in rows] for i, name in enumerate(("from", "", "to"))}
        return caption + (graph_picture(self) or Table(table)._repr_html_())


def edges_as_text(names: Sequence[str], graph: CoreGraph) -> list[str]:
    """Return each edge as text, directed ones first."""
    shown = [printable(name) for name in names]
    arcs = [f"{shown[a]} -> {shown[b]}" for a, b in graph.directed]
    return arcs + [f"{shown[a]} - {shown[b]}" for a, b in graph.undirected]


def graph_layout(graph: Pdag) -> Layout:
    """Lay out a graph, undirected edges as in its canonical DAG."""
    return layout(graph.nodes, graph.to_dag())


def graph_picture(graph: Pdag) -> str | None:
    """Return a graph as SVG with its key; None if it is too large or Graphviz is missing."""
    drawn = picture(
        graph.nodes,
        graph.to_dag(),
        graph.directed,
        graph.undirected,
        graph.by_knowledge,
        exogenous=graph.exogenous,
    )
    if drawn is None:
        return None
    key = "Arrows are compelled: all networks of the class have them. Dashed edges are reversible."
    key += " Dotted arrows are directed by the knowledge." if graph.by_knowledge else ""
    key += " Grey variables are exogenous: they are not modelled." if graph.exogenous else ""
    decided = [f"{printable(a)} → {printable(b)}" for a, b in sorted(graph.by_exogenous)]
    key += f" They decide the direction of {escape(listed(decided, show=str))}." if decided else ""
    return f'{drawn}<p style="font-size: smaller; opacity: 0.8">{key}</p>'
