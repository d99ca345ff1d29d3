"""The inclusion boundary: every model one step away from a model.

The neighbours of a class are the classes of all DAGs that differ by a single arc from *any* of its
DAGs; they are the models a search can move to [Chickering 2002]. A neighbour is known by its kind
and by a triple: x and y are joined (or separated) given a set of variables, and the criterion
changes by the worth of the dependence of x and y given that set. No two neighbours have the same
triple.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kes import _core
from kes.data.core import core_errors, core_problem
from kes.data.dataset import Data, Weights
from kes.data.encoding import encode
from kes.errors import KesError
from kes.graph import EssentialGraph
from kes.settings import check_criterion, whole

CACHE_MB = 64
"""Memory for the counts of one boundary."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A model one step away from another.

    Attributes
    ----------
    kind : {"insert", "delete"}
        Whether the step joins x and y or separates them.
    x, y : str
        The two variables, x before y in the order of the nodes.
    given : frozenset of str
        The other parents that y has (or x has) in the DAGs where the step is a single arc.
    delta : float or None
        What the criterion gains by the step, in natural logarithms; None without data.
    of : EssentialGraph
        The model from which it is one step away.
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
        """Return the neighbour of a model that the core describes by a triple."""
        insertion, x, y, given = triple
        kind: Literal["insert", "delete"] = "insert" if insertion else "delete"
        names = of.nodes
        return cls(kind, names[x], names[y], frozenset(names[i] for i in given), delta, of)

    @property
    def graph(self) -> EssentialGraph:
        """The essential graph of this model."""
        nodes = self.of.nodes
        at = {name: i for i, name in enumerate(nodes)}
        given = sorted(at[name] for name in self.given)
        triple = (self.kind == "insert", at[self.x], at[self.y], given)
        with core_errors():
            edges = _core.apply(len(nodes), self.of.to_core(nodes), triple)
        return EssentialGraph.from_core(nodes, edges)


def inclusion_boundary(
    g: EssentialGraph,
    data: Data | None = None,
    *,
    criterion: str = "bic",
    ess: float = 1.0,
    max_parents: int | None = None,
    weights: Weights = None,
    missing: str = "error",
) -> list[Neighbour]:
    """List all neighbours of a model, each once.

    Parameters
    ----------
    g
        Essential graph of the model.
    data
        Table with a column for each node of the graph, in any form that `kes.learn` takes.
        Further columns are not used, but must be readable, too. Without data the neighbours are
        not scored.
    criterion, ess
        As in `kes.learn`.
    max_parents
        Leave out neighbours in whose DAGs the step gives a node more parents than this.
    weights, missing
        As in `kes.learn`.

    Returns
    -------
    list of Neighbour
        Best first; tied ones, and all of them without data, deletions first, in node order.

    Raises
    ------
    KesError
        If the data lack a node of the graph, or a setting is out of range.

    Examples
    --------
    >>> import kes
    >>> g = kes.EssentialGraph.from_dag("abc", [("a", "b")])
    >>> for n in kes.inclusion_boundary(g):
    ...     print(n.kind, n.x, n.y, "given", sorted(n.given))
    delete a b given []
    insert a c given []
    insert a c given ['b']
    insert b c given []
    insert b c given ['a']
    """
    limit = None if max_parents is None else whole("max_parents", max_parents, least=0)
    name, strength = check_criterion(criterion, ess)
    if not isinstance(g, EssentialGraph):
        raise KesError(
            f"the model must be an EssentialGraph, not {type(g).__name__}; "
            "make one of the arcs of a DAG with EssentialGraph.from_dag(nodes, arcs)"
        )
    if data is None:
        with core_errors():
            triples = _core.boundary(len(g.nodes), g.to_core(g.nodes), limit)
        return [Neighbour.from_core(g, triple, None) for triple in triples]

    table = encode(data, weights=weights, missing=missing)
    problem = core_problem(table, name, strength, CACHE_MB, nodes=g.nodes)
    with core_errors():
        scored = problem.boundary(g.to_core(g.nodes), limit)
    return [Neighbour.from_core(g, triple, delta) for triple, delta in scored]
