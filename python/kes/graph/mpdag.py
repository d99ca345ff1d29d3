"""What the admissible DAGs of a class have in common: its essential graph, oriented by knowledge.

Of the edges that a class leaves open, knowledge may give some a direction, and others get theirs
from these by Meek's rules 1 to 4. The result, the *maximally oriented partially directed acyclic
graph* (MPDAG), stands for exactly the DAGs of the class that obey the knowledge [Meek 1995].
"""

from __future__ import annotations

from kes import _core
from kes.errors import KesError
from kes.graph.essential import EssentialGraph
from kes.graph.knowledge import Knowledge
from kes.graph.pdag import Pdag
from kes.native import core_errors


class Mpdag(Pdag):
    """The DAGs of a class that obey some knowledge, as one graph; immutable.

    It is equal to the essential graph of the class if the knowledge orients nothing.

    Parameters
    ----------
    graph : EssentialGraph
        The class.
    knowledge : Knowledge
        What is known of its nodes.

    Raises
    ------
    KesError
        If no DAG of the class obeys the knowledge; the message says why.

    Examples
    --------
    >>> import kes
    >>> chain = kes.EssentialGraph.from_dag("abc", [("a", "b"), ("b", "c")])
    >>> kes.Mpdag(chain, kes.Knowledge(forbidden=[("b", "a")]))
    Mpdag(3 nodes: a -> b, b -> c)
    >>> kes.Mpdag(chain, kes.Knowledge(required=[("a", "c")]))
    Traceback (most recent call last):
    kes.errors.KesError: no network of the class obeys the knowledge: a -> c is required, but a \
and c are not joined
    """

    __slots__ = ("_essential", "_knowledge")
    title = "MPDAG (the class under the knowledge)"

    _essential: EssentialGraph
    _knowledge: Knowledge

    def __init__(self, graph: EssentialGraph, knowledge: Knowledge) -> None:
        names = graph.nodes
        reason = why_inadmissible(graph, knowledge.checked(names))
        if reason is not None:
            raise KesError(f"no network of the class obeys the knowledge: {reason}")
        self._fill(names, graph.to_core(names).mpdag(len(names), knowledge.to_core(names)))
        self._essential, self._knowledge = graph, knowledge

    @property
    def essential(self) -> EssentialGraph:
        """The essential graph of the class."""
        return self._essential

    @property
    def knowledge(self) -> Knowledge:
        """What is known."""
        return self._knowledge

    @property
    def by_knowledge(self) -> frozenset[tuple[str, str]]:
        """Directed edges that have their direction from the knowledge, not from the class alone."""
        return self.directed - self._essential.directed

    def to_dag(self) -> list[tuple[str, str]]:
        """Arcs (a, b), sorted, of one admissible DAG of the class: the same for equal graphs."""
        names = sorted(self._nodes)
        graph, knowledge = self._essential.to_core(names), self._knowledge.to_core(names)
        return [(names[a], names[b]) for a, b in graph.to_dag(len(names), knowledge)]

    def __reduce__(self) -> tuple[object, ...]:
        return Mpdag, (self._essential, self._knowledge)


def why_inadmissible(graph: EssentialGraph, knowledge: Knowledge) -> str | None:
    """Say why no DAG of a class obeys the knowledge; None if one does."""
    names = graph.nodes
    with core_errors():
        found = _core.inadmissible(len(names), graph.to_core(names), knowledge.to_core(names))
    if found is None:
        return None
    kind, (i, j) = found
    a, b = names[i], names[j]
    if kind == "missing":
        return f"{a} -> {b} is required, but {a} and {b} are not joined"
    return f"{a} -> {b} follows from the graph and the rest of the knowledge, which forbids it"
