"""The oracle itself: published counts, an independent d-separation, and the facts of the theory.

What the engine rests on (a neighbour is a triple, a limit on parents is a property of the class)
is checked here on all models with up to five nodes, without the engine.
"""

from itertools import combinations

import networkx as nx
import pytest

from . import brute

NODES = (1, 2, 3, 4, 5)


@pytest.mark.parametrize(("n", "count"), [(1, 1), (2, 3), (3, 25), (4, 543), (5, 29281)])
def test_number_of_dags(n, count):
    # Robinson (1973); OEIS A003024.
    assert len(set(brute.all_dags(n))) == len(brute.all_dags(n)) == count


@pytest.mark.parametrize(("n", "count"), [(1, 1), (2, 2), (3, 11), (4, 185), (5, 8782)])
def test_number_of_models(n, count):
    # Gillispie & Perlman (2001).
    assert len(brute.models(n)) == count


@pytest.mark.parametrize("n", NODES)
def test_essential_graphs_tell_models_apart(n):
    models = brute.models(n)
    assert len({str(graph) for graph in models.essential}) == len(models)


def test_d_separation_agrees_with_networkx():
    for dags in brute.models(4).classes:
        graph = nx.DiGraph(brute.arcs_of(dags[0]))
        graph.add_nodes_from(range(4))
        for x, y, given in brute.statements(4):
            separated = nx.is_d_separator(graph, {x}, {y}, set(brute.members(given)))
            assert brute.d_separated(dags[0], x, y, given) == separated


@pytest.mark.parametrize("n", [2, 3, 4])
def test_equivalent_dags_have_the_same_independences(n):
    # Verma & Pearl (1990): same adjacencies and v-structures iff same d-separations.
    models = brute.models(n)
    for dags, independences in zip(models.classes, models.independences, strict=True):
        assert all(brute.independence_model(dag) == independences for dag in dags)
    assert len(set(models.independences)) == len(models)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_boundary_is_the_boundary_of_the_inclusion_order(n):
    """One arc in some DAG, or nothing strictly between: the paper's two definitions agree."""
    models = brute.models(n)
    numbers = range(len(models))
    larger = [{o for o in numbers if o != m and models.includes(o, m)} for m in numbers]
    smaller = [{o for o in numbers if m in larger[o]} for m in numbers]
    for m in numbers:
        upper = {o for o in larger[m] if not larger[m] & smaller[o]}
        lower = {o for o in smaller[m] if not smaller[m] & larger[o]}
        for insertion, expected in ((True, upper), (False, lower)):
            reached = [o for t, ms in models.boundary[m].items() if t[0] == insertion for o in ms]
            assert set(reached) == expected


@pytest.mark.parametrize("n", NODES)
def test_a_neighbour_is_a_triple(n):
    """Each triple of a model stands for one neighbour, and no two triples for the same."""
    for reached in brute.models(n).boundary:
        neighbours = [model for models in reached.values() for model in models]
        assert all(len(models) == 1 for models in reached.values())
        assert len(set(neighbours)) == len(neighbours)


@pytest.mark.parametrize(("n", "count"), [(2, 1), (3, 21), (4, 756), (5, 59130)])
def test_boundary_totals(n, count):
    kinds = [triple[0] for reached in brute.models(n).boundary for triple in reached]
    assert kinds.count(True) == kinds.count(False) == count


@pytest.mark.parametrize("n", NODES)
def test_maximum_in_degree_belongs_to_the_class(n):
    """So `max_parents` does not depend on the DAG that happens to represent a model."""
    for dags in brute.models(n).classes:
        assert len({brute.max_in_degree(dag) for dag in dags}) == 1


@pytest.mark.parametrize("n", NODES)
def test_triple_shows_the_in_degree_reached(n):
    """An insertion given C keeps within a limit iff the model does and |C| is below the limit."""
    models = brute.models(n)
    degree = [brute.max_in_degree(dags[0]) for dags in models.classes]
    for m, reached in enumerate(models.boundary):
        for (insertion, _, _, given), (neighbour,) in reached.items():
            if insertion:
                assert degree[neighbour] == max(degree[m], len(given) + 1)
            else:
                assert degree[neighbour] <= degree[m]


def test_inclusion_optimal_model_of_a_faithful_distribution_is_the_model():
    models = brute.models(4)
    for m, independences in enumerate(models.independences):
        assert models.inclusion_optimal(independences) == {m}


def test_a_distribution_may_have_several_inclusion_optimal_models():
    """The undirected four-cycle: one more edge, either diagonal, makes it a Bayesian network."""
    independences = frozenset({(0, 2, 0b1010), (1, 3, 0b0101)})
    models = brute.models(4)
    cycle = {(0, 1), (1, 2), (2, 3), (0, 3)}
    optimal = [models.essential[m] for m in models.inclusion_optimal(independences)]
    assert sorted(optimal) == sorted(
        ([], sorted(cycle | {diagonal})) for diagonal in ((0, 2), (1, 3))
    )


def test_subsets_are_all_subsets():
    assert sorted(brute.subsets(0b10110)) == sorted(
        brute.bits(chosen) for size in range(4) for chosen in combinations((1, 2, 4), size)
    )
