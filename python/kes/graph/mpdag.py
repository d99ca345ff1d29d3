"""MPDAGs: essential graphs oriented by knowledge.

Knowledge directs some of the undirected edges of an essential graph, and Meek's rules 1 to 4 direct
further ones. The result, the *maximally oriented partially directed acyclic graph* (MPDAG),
represents exactly the DAGs of the class that satisfy the knowledge [Meek 1995].
"""

from kes import _core
from kes.errors import KesError
from kes.graph.essential import EssentialGraph
from kes.graph.knowledge import Knowledge
from kes.graph.pdag import Pdag
from kes.native import core_errors


class Mpdag(Pdag):
    """The DAGs of a class that satisfy some knowledge, as one graph; immutable.

    Equal to the essential graph of the class if the knowledge directs no edge.

    Parameters
    ----------
    graph : EssentialGraph
        Essential graph of the class.
    knowledge : Knowledge
        Knowledge about its nodes.

    Raises
    ------
    KesError
        If no DAG of the class satisfies the knowledge; the message says why.

    Examples
    --------
    >>> import kes
    >>> chain = kes.EssentialGraph.from_dag("abc", [("a", "b"), ("b", "c")])
    >>> kes.Mpdag(chain, kes.Knowledge(forbidden=[("b", "a")]))
    Mpdag(3 nodes: a -> b, b -> c)
    >>> kes.Mpdag(chain, kes.Knowledge(required=[("a", "c")]))
    Traceback (most recent call last):
    kes.errors.KesError: no network of the class satisfies the knowledge: a -> c is required, but \
a and c are not adjacent
    """

    __slots__ = ("_essential", "_knowledge")
    title = "MPDAG (the class under the knowledge)"

    _essential: EssentialGraph
    _knowledge: Knowledge

    def __init__(self, graph: EssentialGraph, knowledge: Knowledge) -> None:
        names = graph.nodes
        reason = why_inadmissible(graph, knowledge.checked(names))
        if reason is not None:
            raise KesError(
                f"no network of the class satisfies the knowledge: {reason}", option="knowledge"
            )
        self._fill(names, graph.to_core(names).mpdag(len(names), knowledge.to_core(names)))
        self._essential, self._knowledge = graph, knowledge

    @property
    def essential(self) -> EssentialGraph:
        """The essential graph of the class."""
        return self._essential

    @property
    def knowledge(self) -> Knowledge:
        """The knowledge."""
        return self._knowledge

    @property
    def by_knowledge(self) -> frozenset[tuple[str, str]]:
        """Edges that are directed by the knowledge, not by the class alone."""
        return self.directed - self._essential.directed

    @property
    def known_directions(self) -> frozenset[tuple[str, str]]:
        """Edges that are directed by the knowledge, or whose opposite it excludes.

        Unlike `by_knowledge`, they include edges that the class alone directs as the knowledge
        demands: no admissible network of any class has the opposite.
        """
        opposite = self._knowledge.excludes((b, a) for a, b in self.directed)
        return self.by_knowledge.union((a, b) for b, a in opposite)

    @property
    def exogenous(self) -> tuple[str, ...]:
        """The nodes that are not modelled, by the knowledge."""
        return self._knowledge.exogenous

    @property
    def by_exogenous(self) -> frozenset[tuple[str, str]]:
        """Arcs between modelled nodes whose directions follow from the exogenous ones.

        Without these, that is, in the class of a DAG over the modelled nodes alone and under the
        rest of the knowledge, they are undirected.
        """
        block = set(self.exogenous)
        if not block:
            return frozenset()
        modelled = [node for node in self._nodes if node not in block]
        arcs = [arc for arc in self.to_dag() if block.isdisjoint(arc)]
        alone = EssentialGraph.from_dag(modelled, arcs)
        directed = Mpdag(alone, self._knowledge.among(modelled)).directed
        return frozenset(arc for arc in self.directed - directed if block.isdisjoint(arc))

    def to_dag(self) -> list[tuple[str, str]]:
        """Return the arcs (a, b), sorted, of one admissible DAG, the same for equal graphs."""
        names = sorted(self._nodes)
        graph, knowledge = self._essential.to_core(names), self._knowledge.to_core(names)
        return [(names[a], names[b]) for a, b in graph.to_dag(len(names), knowledge)]

    def __reduce__(self) -> tuple[object, ...]:
        return Mpdag, (self._essential, self._knowledge)


def why_inadmissible(graph: EssentialGraph, knowledge: Knowledge) -> str | None:
    """Return why no DAG of a class satisfies the knowledge; None if one does."""
    names = graph.nodes
    with core_errors(names):
        found = _core.inadmissible(len(names), graph.to_core(names), knowledge.to_core(names))
    if found is None:
        return None
    kind, (i, j) = found
    a, b = names[i], names[j]
    if kind == "missing":
        return f"{a} -> {b} is required, but {a} and {b} are not adjacent"
    return f"the graph and the rest of the knowledge imply {a} -> {b}, which is forbidden"
