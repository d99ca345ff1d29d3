"""Bayesian-network models by brute force: the definitions, spelt out on all DAGs with few nodes.

Nothing here shares code or ideas with the engine, which never looks at a class DAG by DAG. A DAG is
the tuple of its nodes' parent sets, a set of nodes is an integer whose bit i stands for node i.

- Two DAGs are equivalent iff they have the same adjacencies and the same v-structures
  [Verma & Pearl 1990]; a *model* is a class of equivalent DAGs.
- The essential graph of a model directs an edge iff all its DAGs agree on the direction
  [Andersson, Madigan & Perlman 1997].
- The inclusion boundary of a model holds the models of all DAGs that differ by a single arc from
  any of its DAGs [Chickering 2002].
- d-separation is read off the moral graph of the smallest ancestral set
  [Lauritzen, Dawid, Larsen & Leimer 1990].
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

Dag = tuple[int, ...]
Edges = list[tuple[int, int]]
Triple = tuple[bool, int, int, tuple[int, ...]]
"""(is it an insertion, x, y, conditioning set), with x < y."""
Statement = tuple[int, int, int]
"""x and y (x < y) are independent given the set of the third entry."""


@cache
def members(nodes: int) -> tuple[int, ...]:
    """Elements of a set of nodes, ascending."""
    return tuple(i for i in range(nodes.bit_length()) if nodes >> i & 1)


def subsets(nodes: int) -> Iterator[int]:
    """All subsets of a set of nodes, the empty one included."""
    part = nodes
    while True:
        yield part
        if part == 0:
            return
        part = (part - 1) & nodes


def bits(nodes: Iterable[int]) -> int:
    """Set of the given nodes."""
    return sum(1 << i for i in set(nodes))


# --- DAGs ---------------------------------------------------------------------------------------


def dag_from_arcs(n: int, arcs: Iterable[tuple[int, int]]) -> Dag:
    parents = [0] * n
    for x, y in arcs:
        parents[y] |= 1 << x
    return tuple(parents)


def arcs_of(dag: Dag) -> Edges:
    return sorted((x, y) for y, parents in enumerate(dag) for x in members(parents))


def with_arc(dag: Dag, x: int, y: int) -> Dag:
    return (*dag[:y], dag[y] | 1 << x, *dag[y + 1 :])


def without_arc(dag: Dag, x: int, y: int) -> Dag:
    return (*dag[:y], dag[y] & ~(1 << x), *dag[y + 1 :])


def adjacencies(dag: Dag) -> list[int]:
    """Set of nodes adjacent to each node."""
    adjacent = list(dag)
    for y, parents in enumerate(dag):
        for x in members(parents):
            adjacent[x] |= 1 << y
    return adjacent


def ancestral_set(dag: Dag, nodes: int) -> int:
    """Return the nodes together with all their ancestors."""
    closed, frontier = nodes, nodes
    while frontier:
        parents = 0
        for y in members(frontier):
            parents |= dag[y]
        frontier = parents & ~closed
        closed |= frontier
    return closed


@cache
def all_dags(n: int) -> tuple[Dag, ...]:
    """All DAGs on n labelled nodes, each once: put node n-1 into every DAG on the others.

    Parents P and children Q of the new node are possible iff no node of Q is an ancestor of, or
    itself in, P.
    """
    if n == 0:
        return ((),)
    new = 1 << (n - 1)
    return tuple(
        (*(p | new if children >> y & 1 else p for y, p in enumerate(dag)), parents)
        for dag in all_dags(n - 1)
        for parents in range(new)
        for children in subsets((new - 1) & ~ancestral_set(dag, parents))
    )


def equivalence_key(dag: Dag) -> tuple[tuple[int, ...], frozenset[tuple[int, int, int]]]:
    """Adjacencies and v-structures (a, y, b), a < b: the same for equivalent DAGs only."""
    adjacent = adjacencies(dag)
    v_structures = frozenset(
        (a, y, b)
        for y, parents in enumerate(dag)
        for a, b in combinations(members(parents), 2)
        if not adjacent[a] >> b & 1
    )
    return tuple(adjacent), v_structures


def max_in_degree(dag: Dag) -> int:
    return max((parents.bit_count() for parents in dag), default=0)


def parameter_count(dag: Dag, cardinalities: list[int]) -> int:
    """Free parameters of the model: (r - 1) per state of the parents, over all nodes."""
    total = 0
    for y, parents in enumerate(dag):
        states = 1
        for x in members(parents):
            states *= cardinalities[x]
        total += (cardinalities[y] - 1) * states
    return total


# --- models -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Models:
    """All models with n nodes. A model is known by its number, 0 .. len(classes) - 1."""

    n: int
    classes: tuple[tuple[Dag, ...], ...]
    """The DAGs of each model."""
    number: dict[Dag, int]
    """The model of each DAG."""

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def empty(self) -> int:
        return self.number[(0,) * self.n]

    @cached_property
    def essential(self) -> list[tuple[Edges, Edges]]:
        """Essential graph of each model: directed arcs, and undirected edges (a, b) with a < b."""
        return [_essential_graph(dags) for dags in self.classes]

    @cached_property
    def boundary(self) -> list[dict[Triple, set[int]]]:
        """Inclusion boundary of each model: the models reached, under the triple of the step.

        The triple of adding or removing x -> y in a DAG is {x, y} with C = Pa(y) \\ {x}. That it
        identifies the model reached is a claim for the tests, hence the *set* of models.
        """
        return [self._boundary_of(dags) for dags in self.classes]

    def _boundary_of(self, dags: tuple[Dag, ...]) -> dict[Triple, set[int]]:
        reached: dict[Triple, set[int]] = defaultdict(set)
        for dag in dags:
            adjacent = adjacencies(dag)
            for y, parents in enumerate(dag):
                for x in range(self.n):
                    if parents >> x & 1:
                        insertion, other = False, without_arc(dag, x, y)
                    elif x != y and not adjacent[y] >> x & 1:
                        insertion, other = True, with_arc(dag, x, y)
                    else:
                        continue
                    # A digraph that is not among all DAGs has a cycle.
                    if (model := self.number.get(other)) is not None:
                        given = members(parents & ~(1 << x))
                        reached[insertion, min(x, y), max(x, y), given].add(model)
        return dict(reached)

    @cached_property
    def independences(self) -> list[frozenset[Statement]]:
        """Independence model (all d-separations of single nodes) of each model."""
        return [independence_model(dags[0]) for dags in self.classes]

    def includes(self, larger: int, smaller: int) -> bool:
        """Whether every distribution of the smaller model is one of the larger."""
        return self.independences[larger] <= self.independences[smaller]

    def inclusion_optimal(self, holds: frozenset[Statement]) -> set[int]:
        """Models that include a distribution, while no model strictly included in them does.

        The distribution is given by the independences that hold in it, and must satisfy the
        composition property: then it is in a model iff it has all its independences of single
        nodes.
        """
        fitting = [m for m in range(len(self)) if self.independences[m] <= holds]
        return {
            m
            for m in fitting
            if not any(self.independences[m] < self.independences[o] for o in fitting)
        }


@cache
def models(n: int) -> Models:
    """All models with n nodes; enumerated once per test session."""
    classes: dict[object, list[Dag]] = defaultdict(list)
    for dag in all_dags(n):
        classes[equivalence_key(dag)].append(dag)
    number = {dag: i for i, dags in enumerate(classes.values()) for dag in dags}
    return Models(n, tuple(map(tuple, classes.values())), number)


def _essential_graph(dags: tuple[Dag, ...]) -> tuple[Edges, Edges]:
    arcs = {arc for dag in dags for arc in arcs_of(dag)}
    directed = sorted((x, y) for x, y in arcs if (y, x) not in arcs)
    undirected = sorted((x, y) for x, y in arcs if x < y and (y, x) in arcs)
    return directed, undirected


# --- independence -------------------------------------------------------------------------------


def d_separated(dag: Dag, x: int, y: int, given: int) -> bool:
    """Whether `given` separates x and y in the moral graph of their smallest ancestral set."""
    relevant = ancestral_set(dag, given | 1 << x | 1 << y)
    moral = [0] * len(dag)
    for child in members(relevant):
        family = dag[child] | 1 << child  # becomes complete: parents are married
        for node in members(family):
            moral[node] |= family
    reached = frontier = 1 << x
    while frontier:
        adjacent = 0
        for node in members(frontier):
            adjacent |= moral[node]
        frontier = adjacent & relevant & ~given & ~reached
        reached |= frontier
    return not reached >> y & 1


def statements(n: int) -> Iterator[Statement]:
    """All pairs x < y with all conditioning sets."""
    for x, y in combinations(range(n), 2):
        for given in subsets(((1 << n) - 1) & ~(1 << x | 1 << y)):
            yield x, y, given


def independence_model(dag: Dag) -> frozenset[Statement]:
    return frozenset(s for s in statements(len(dag)) if d_separated(dag, *s))
