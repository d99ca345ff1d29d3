"""DAGs of a class: those with preferred arcs, and the possible parent sets of a node.

The networks of a class differ in the directions of the undirected edges of its essential graph. The
parent sets of a node x follow from the edges at x: a set S of its undirected neighbours can be
added to its parents iff directing S -> x -> (all others) is consistent with the class, that is,
closes under Meek's rules without a new v-structure. Such sets are called *locally valid*
[Maathuis 2009; Fang & He 2020]. They are cliques and are enumerated as such.

All networks with the same parents of x agree on the descendants of x: all nodes that those parents
do not separate from it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kes import _core
from kes.errors import KesError, about, unknown
from kes.graph.core_graph import NOTHING, CoreGraph, CoreKnowledge
from kes.graph.essential import EssentialGraph
from kes.graph.pdag import Pdag

MAX_SETS = 4096
"""Largest number of parent sets of a node: with more, no statement about it is useful."""


@dataclass(frozen=True)
class Parents:
    """A possible parent set of a node, with a network of the class that has it."""

    members: frozenset[int]
    dag: tuple[tuple[int, int], ...]


def parent_sets(
    names: Sequence[str], graph: CoreGraph, x: int, knowledge: CoreKnowledge = NOTHING
) -> list[Parents]:
    """Return all parent sets that a node has in the admissible networks of a class.

    Smaller sets come first, sets of one size in the order of their numbers. Raise an error, which
    names x, if there are too many sets.
    """
    n, (tiers, required, forbidden) = len(names), knowledge
    directed, undirected = graph.mpdag(n, knowledge)
    fixed = frozenset(a for a, b in directed if b == x)
    open_ = sorted({a + b - x for a, b in undirected if x in (a, b)})
    found: list[Parents] = []
    for chosen in _cliques(open_, graph.adjacency(n)):
        away = [(x, other) for other in open_ if other not in chosen]
        own = (tiers, [*required, *((other, x) for other in chosen), *away], forbidden)
        if _core.contradiction(n, own) is None and _core.inadmissible(n, graph, own) is None:
            found.append(Parents(fixed.union(chosen), tuple(graph.to_dag(n, own))))
        if len(found) > MAX_SETS:
            raise KesError(
                f"{names[x]!r} can have more than {MAX_SETS} different parent sets in one model; "
                "direct some of its edges by background knowledge",
                column=names[x],
            )
    return found


def count_dags(n: int, graph: CoreGraph, knowledge: CoreKnowledge = NOTHING) -> int:
    """Return the number of admissible DAGs of a class.

    The undirected edges of its restricted graph fall into components that can be directed
    independently: Meek's rules never lead from one to another. Each is directed edge by edge.
    """
    open_ = graph.mpdag(n, knowledge).undirected
    product = 1
    for component in _components(open_):
        product *= _count(n, graph, knowledge, component)
    return product


def _count(
    n: int, graph: CoreGraph, knowledge: CoreKnowledge, component: Collection[tuple[int, int]]
) -> int:
    """Return the number of ways to direct some edges of a class."""
    open_ = [edge for edge in graph.mpdag(n, knowledge).undirected if edge in component]
    if not open_:
        return 1
    (a, b), (tiers, required, forbidden) = open_[0], knowledge
    ways = ((tiers, [*required, arc], forbidden) for arc in ((a, b), (b, a)))
    return sum(_count(n, graph, way, component) for way in ways)


def _components(edges: Iterable[tuple[int, int]]) -> list[set[tuple[int, int]]]:
    """Return the edges of each connected component."""
    found: list[set[tuple[int, int]]] = []
    for edge in edges:
        touched = [own for own in found if any(set(edge) & set(other) for other in own)]
        found = [own for own in found if own not in touched]
        found.append({edge}.union(*touched))
    return found


def descendants(dag: Sequence[tuple[int, int]], x: int) -> set[int]:
    """Return the descendants of x, without x itself."""
    children: dict[int, list[int]] = {}
    for a, b in dag:
        children.setdefault(a, []).append(b)
    found: set[int] = set()
    waiting = [x]
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in found]
        found.update(new)
        waiting += new
    return found


def _cliques(nodes: Sequence[int], adjacent: Sequence[set[int]]) -> Iterator[tuple[int, ...]]:
    """Yield all cliques among some nodes, smaller ones first."""
    layer: list[tuple[int, ...]] = [()]
    while layer:
        yield from layer
        layer = [
            (*clique, node)
            for clique in layer
            for node in nodes
            if (not clique or node > clique[-1]) and adjacent[node].issuperset(clique)
        ]


def preferred_dag(
    graph: Pdag, prefer: Iterable[tuple[str, str]] = (), wishes: Iterable[tuple[str, str]] = ()
) -> list[tuple[str, str]]:
    """Return the arcs of a DAG represented by a graph that has the preferred arcs.

    The arcs are fixed one after the other. For each, a DAG with all arcs fixed so far is found; the
    last one is returned, or the canonical DAG if there are no preferences. Arcs between nodes that
    are not adjacent have no effect. Raise an error if the class, or the arcs fixed before, compel
    the opposite of an arc. `wishes` are undirected edges of the graph with a direction, which come
    last; those that are not possible have no effect.
    """
    dag = graph.to_dag()
    fixed: set[tuple[str, str]] = set(graph.directed)
    for arc in prefer:
        with about(option="prefer"):
            a, b = checked_arc(arc, graph.nodes)
        if frozenset((a, b)) not in graph.skeleton:
            continue
        if (b, a) in graph.directed:
            raise KesError(
                f"the preferred arc {a} -> {b} contradicts the graph: {b} -> {a} is compelled; "
                "drop the preference",
                option="prefer",
            )
        fixed.add((a, b))
        if (a, b) not in dag:
            witness = _extension(graph, fixed)
            if witness is None:
                raise KesError(
                    f"the preferred arc {a} -> {b} contradicts those before it: together with the "
                    f"graph they compel {b} -> {a}; drop one of them",
                    option="prefer",
                )
            dag = witness
    for arc in wishes:
        if arc not in dag:
            witness = _extension(graph, {*fixed, arc})
            if witness is None:
                continue
            dag = witness
        fixed.add(arc)
    return dag


def checked_arc(arc: tuple[str, str], nodes: Collection[str]) -> tuple[str, str]:
    """Return the arc; raise an error unless it connects two nodes."""
    if isinstance(arc, str) or len(arc) != 2:
        raise KesError(f"an arc must be a pair (from, to) of names, not {arc!r}")
    for name in arc:
        if name not in nodes:
            raise unknown("node", name, nodes, column=name)
    return arc


def _extension(graph: Pdag, fixed: set[tuple[str, str]]) -> list[tuple[str, str]] | None:
    """Return a DAG represented by the graph that has the fixed arcs; None if none has them."""
    index = {node: i for i, node in enumerate(graph.nodes)}
    taken = {frozenset(arc) for arc in fixed}
    arcs = sorted((index[a], index[b]) for a, b in fixed)
    edges = sorted((index[a], index[b]) for a, b in map(sorted, graph.undirected - taken))
    if len(taken) < len(fixed):  # both directions of an edge
        return None
    found, stuck = CoreGraph(tuple(arcs), tuple(edges)).consistent_extension(len(index))
    if stuck:
        return None
    dag = sorted((graph.nodes[a], graph.nodes[b]) for a, b in found)
    # The fixed arcs themselves may form a v-structure that the class does not have.
    return dag if EssentialGraph.from_dag(graph.nodes, dag) == graph.essential else None
