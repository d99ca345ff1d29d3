"""Essential graphs: the part of a network that observational data can identify.

Data cannot distinguish DAGs that encode the same independences. Such DAGs form a Markov equivalence
class, and its *essential graph* (also: CPDAG, completed pattern) shows what they have in common
[Andersson 1997]: a *directed* edge ``a -> b`` points the same way in all DAGs of the class, an
*undirected* edge ``a - b`` points one way in some and the other way in others. Two classes are
equal iff their essential graphs are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from kes import _core
from kes.errors import KesError, about, listed, repeated, unknown
from kes.graph.core_graph import Arc, CoreGraph, RawGraph
from kes.graph.pdag import Pdag, edges_as_text


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
        names = _checked_nodes(nodes)
        index = {name: i for i, name in enumerate(names)}
        with about(option="directed"):
            arcs = [_ends(edge, index) for edge in directed]
        with about(option="undirected"):
            edges = [_ends(edge, index) for edge in undirected]
        edges = [(min(a, b), max(a, b)) for a, b in edges]
        _refuse_double(names, [*arcs, *edges])
        graph = CoreGraph(tuple(sorted(arcs)), tuple(sorted(edges)))
        try:
            _core.check_essential(len(names), graph)
        except _core.CoreError as error:
            raise _not_essential(names, graph) from error
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
        names = _checked_nodes(nodes)
        index = {name: i for i, name in enumerate(names)}
        with about(option="arcs"):
            pairs = [_ends(arc, index) for arc in arcs]
            _refuse_cycle(names, pairs)
            _refuse_double(names, pairs)
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


def _checked_nodes(nodes: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the nodes, which must be distinct strings."""
    names = tuple(nodes)
    for name in names:
        if not isinstance(name, str):
            raise KesError(f"node names must be str, not {name!r}", option="nodes")
    if double := repeated(names):
        raise KesError(f"duplicate node {double[0]!r}", option="nodes", column=double[0])
    return names


def _ends(edge: Iterable[str], index: Mapping[str, int]) -> tuple[int, int]:
    """Return the numbers of the two nodes of an edge, in the given order."""
    pair = (edge,) if isinstance(edge, str) else tuple(edge)
    for name in pair:
        if name not in index:
            raise unknown("node", name, index, column=name)
    if len(pair) != 2 or pair[0] == pair[1]:
        raise KesError(f"an edge must connect two different nodes, not {edge!r}")
    return index[pair[0]], index[pair[1]]


def _refuse_double(names: Sequence[str], edges: Iterable[Arc]) -> None:
    """Raise an error if two nodes have more than one edge."""
    if double := repeated(frozenset(edge) for edge in edges):
        a, b = (names[i] for i in sorted(double[0]))
        raise KesError(
            f"more than one edge between {a} and {b}; list an undirected edge once, in "
            "`undirected`",
            column=a,
        )


def _refuse_cycle(names: Sequence[str], arcs: Iterable[Arc]) -> None:
    """Raise an error that names a directed cycle, if there is one."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for a, b in arcs:
        sorter.add(names[b], names[a])
    try:
        sorter.prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        raise KesError(
            f"the graph has the directed cycle {' -> '.join(cycle)}", column=cycle[0]
        ) from None


def _not_essential(names: Sequence[str], graph: CoreGraph) -> KesError:
    """Return the error for a graph that is not an essential graph.

    Either no DAG has its edges and v-structures, or the DAGs that do have another essential graph.
    """
    _refuse_cycle(names, graph.directed)
    arcs, stuck = graph.consistent_extension(len(names))
    if stuck:
        return KesError(
            "not an essential graph: the undirected edges cannot be directed without a cycle or a "
            f"new v-structure, at {listed((names[i] for i in stuck), show=str)}",
            option="undirected",
            column=names[stuck[0]],
        )
    ours = set(edges_as_text(names, graph))
    right = set(edges_as_text(names, CoreGraph.from_dag(len(names), arcs)))
    return KesError(
        f"not an essential graph: {listed(sorted(ours - right), show=str)} should be "
        f"{listed(sorted(right - ours), show=str)}; use EssentialGraph.from_dag to get the "
        "essential graph of a DAG",
        option="directed",
    )
