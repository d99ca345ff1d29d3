"""Essential graphs: what observational data can identify.

Data cannot distinguish DAGs that encode the same independences. Such DAGs form a Markov equivalence
class, and its *essential graph* (also: CPDAG, completed pattern) shows what they have in common
[Andersson 1997]: a *directed* edge ``a -> b`` points the same way in all DAGs of the class, an
*undirected* edge ``a - b`` points one way in some and the other way in others. Two classes are
equal iff their essential graphs are.
"""

from __future__ import annotations

from collections.abc import Iterable

from kes import _core
from kes.errors import KesError
from kes.graph.core_graph import CoreGraph, RawGraph
from kes.graph.pdag import Pdag, checked_nodes, ends, refuse_cycle, refuse_double, why_not_essential


class EssentialGraph(Pdag):
    """Essential graph of a Markov equivalence class of DAGs; immutable.

    Graphs are equal if they have the same nodes and edges; the order of the nodes, which tables
    and pictures use, does not matter.

    Parameters
    ----------
    nodes
        Names of the variables, in order.
    directed
        Pairs (a, b) for a -> b.
    undirected
        Pairs of nodes, as sets or tuples, with an undirected edge.

    Raises
    ------
    KesError
        If an edge is malformed, or the graph is not an essential graph.

    See Also
    --------
    from_dag : the essential graph of a DAG.

    Examples
    --------
    >>> from kes import EssentialGraph
    >>> g = EssentialGraph.from_dag("abcd", [("a", "b"), ("c", "b"), ("b", "d")])
    >>> g
    EssentialGraph(4 nodes: a -> b, b -> d, c -> b)
    >>> EssentialGraph.from_dag("xyz", [("x", "y"), ("y", "z")])
    EssentialGraph(3 nodes: x - y, y - z)
    """

    __slots__ = ()
    title = "Essential graph"

    def __init__(
        self,
        nodes: Iterable[str],
        directed: Iterable[tuple[str, str]] = (),
        undirected: Iterable[Iterable[str]] = (),
    ) -> None:
        names = checked_nodes(nodes)
        index = {name: i for i, name in enumerate(names)}
        arcs = [ends(edge, index) for edge in directed]
        edges = [tuple(sorted(ends(edge, index))) for edge in undirected]
        refuse_double(names, arcs, [(a, b) for a, b in edges])
        graph = CoreGraph(tuple(sorted(arcs)), tuple(sorted((a, b) for a, b in edges)))
        try:
            _core.check_essential(len(names), graph)
        except _core.CoreError as error:
            raise KesError(why_not_essential(names, graph)) from error
        self._fill(names, graph)

    @classmethod
    def from_dag(cls, nodes: Iterable[str], arcs: Iterable[tuple[str, str]]) -> EssentialGraph:
        """Return the essential graph of a DAG's equivalence class.

        Parameters
        ----------
        nodes
            Names of the variables, in order.
        arcs
            Pairs (a, b) for a -> b.

        Returns
        -------
        EssentialGraph

        Raises
        ------
        KesError
            If an arc is malformed or repeated, or the arcs form a directed cycle.
        """
        names = checked_nodes(nodes)
        index = {name: i for i, name in enumerate(names)}
        pairs = [ends(arc, index) for arc in arcs]
        refuse_cycle(names, pairs)
        refuse_double(names, pairs, [])
        return cls.from_core(names, CoreGraph.from_dag(len(names), pairs))

    @classmethod
    def from_core(cls, names: tuple[str, ...], graph: RawGraph) -> EssentialGraph:
        """Wrap an essential graph of the core, unchecked; many graphs may share their names."""
        self = cls.__new__(cls)
        self._fill(names, CoreGraph.of(graph))
        return self

    @property
    def essential(self) -> EssentialGraph:
        """The graph itself."""
        return self

    def to_dag(self) -> list[tuple[str, str]]:
        """Return the arcs (a, b), sorted, of one DAG of the class, the same for equal graphs."""
        names = sorted(self._nodes)
        return [(names[a], names[b]) for a, b in self.to_core(names).to_dag(len(names))]

    def __reduce__(self) -> tuple[object, ...]:
        # Without the hash: hashes of strings differ between processes.
        return EssentialGraph.from_core, (self._nodes, self._graph)
