"""The inclusion boundary: all models one step away from a model.

The neighbours of a class are the classes of all DAGs that differ by a single arc from *any* of its
DAGs; they are the models a search can move to [Chickering 2002]. A neighbour is identified by its
kind and a triple: x and y are connected (or separated) given a set of variables, and the criterion
changes by the gain of the dependence of x and y given that set. No two neighbours have the same
triple.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kes import _core
from kes.graph import EssentialGraph
from kes.graph.knowledge import Knowledge
from kes.native import core_errors


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A model one step away from another.

    Attributes
    ----------
    kind : {"insert", "delete"}
        Whether the step connects x and y or separates them.
    x, y : str
        The two variables, x before y in the order of the nodes.
    given : frozenset of str
        The other parents that y has (or x has) in the DAGs where the step is a single arc.
    delta : float or None
        Gain of the criterion by the step, in natural logarithms; None without data.
    of : EssentialGraph
        The model that it is a neighbour of.
    """

    kind: Literal["insert", "delete"]
    x: str
    y: str
    given: frozenset[str]
    delta: float | None
    of: EssentialGraph = field(repr=False)

    @classmethod
    def from_core(
        cls, of: EssentialGraph, triple: tuple[bool, int, int, list[int]], delta: float | None
    ) -> Neighbour:
        """Return the neighbour of a model for a triple of the core."""
        insertion, x, y, given = triple
        kind: Literal["insert", "delete"] = "insert" if insertion else "delete"
        names = of.nodes
        return cls(kind, names[x], names[y], frozenset(names[i] for i in given), delta, of)

    @property
    def graph(self) -> EssentialGraph:
        """The essential graph of the neighbour."""
        nodes = self.of.nodes
        at = {name: i for i, name in enumerate(nodes)}
        given = sorted(at[name] for name in self.given)
        triple = (self.kind == "insert", at[self.x], at[self.y], given)
        with core_errors(nodes):
            edges = _core.apply(len(nodes), self.of.to_core(nodes), triple)
        return EssentialGraph.from_core(nodes, edges)


def neighbours(
    g: EssentialGraph, max_parents: int | None = None, knowledge: Knowledge | None = None
) -> list[Neighbour]:
    """Return all admissible neighbours without gains: deletions first, in node order."""
    known = None if knowledge is None else knowledge.to_core(g.nodes)
    with core_errors(g.nodes):
        triples = _core.boundary(len(g.nodes), g.to_core(g.nodes), max_parents, known)
    return [Neighbour.from_core(g, triple, None) for triple in triples]
