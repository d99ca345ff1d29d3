"""Tables and graphs of unusual shape: huge cardinalities, constants, many variables, stars."""

from itertools import combinations

import numpy as np
import pytest

import kes
from kes import _core

from . import brute, engine
from .distributions import random_dag
from .scores import DirectScore
from .tables import noisy_copies, sample

CRITERIA = ("bic", "aic", "bdeu", "qnml")


# --- huge cardinalities -------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
def test_column_with_5000_states(criterion):
    rng = np.random.default_rng(1)
    codes = np.stack([rng.permutation(6000) % 5000, *noisy_copies(3, 6000, rng)])
    cardinalities = [5000, 2, 2, 2]
    problem = engine.problem(codes, cardinalities, criterion=criterion)
    direct = DirectScore(codes, cardinalities, criterion=criterion)
    for dag in brute.all_dags(4)[::11]:
        assert problem.score(brute.arcs_of(dag)) == pytest.approx(direct.of(dag), rel=1e-11)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_twelve_parents_of_ten_states(criterion):
    """A table of 10^13 cells that nobody may lay out; only its occupied cells count."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 10, (13, 3000))
    codes[:, 1500:] = codes[:, :1500]  # so that some cells hold more than one case
    problem = engine.problem(codes, [10] * 13, criterion=criterion)
    direct = DirectScore(codes, [10] * 13, criterion=criterion)
    dag = (*[0] * 12, (1 << 12) - 1)
    assert problem.score(brute.arcs_of(dag)) == pytest.approx(direct.of(dag), rel=1e-11)
    given = list(range(1, 12))
    assert problem.delta((True, 0, 12, given)) == pytest.approx(
        direct.delta(True, 0, 12, brute.bits(given)), rel=1e-9, abs=problem.tolerance
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_product_of_states_beyond_any_float(criterion):
    """100 parents of 5 000 states: 10^370 cells. BIC and AIC are minus infinity, others not."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 5000, (101, 50))
    problem = engine.problem(codes, [5000] * 101, criterion=criterion)
    delta = problem.delta((True, 0, 100, list(range(1, 100))))
    assert not np.isnan(delta)
    # All cells are singletons: what is gained or lost is only that of a penalty per parameter.
    assert delta == -np.inf if criterion in ("bic", "aic") else abs(delta) < 1e-6


def test_search_with_a_column_of_5000_states():
    """Such a column costs more parameters than it explains: it stays isolated under BIC."""
    rng = np.random.default_rng(4)
    codes = np.stack([rng.permutation(6000) % 5000, *noisy_copies(4, 6000, rng)])
    optima = kes.learn(codes.T, k=0.5, runs=10, n_jobs=1)
    for optimum in optima:
        assert not any("x0" in pair for pair in optimum.graph.skeleton)
        assert optimum.is_local_optimum


# --- constant columns and many variables ---------------------------------------------------------


@pytest.mark.parametrize("n", [65, 130])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_constant_columns_change_nothing(n, criterion):
    """Five variables spread among constants: the same runs as with the five alone.

    A constant adds nothing to any score, so B is the same; and its variables now lie in
    different machine words of the sets.
    """
    rng = np.random.default_rng(5)
    codes = sample(random_dag(5, 0.6, rng), [2, 3, 2, 3, 2], 300, rng, noise=0.5)
    places = [0, 1, 62, 63, 64] if n == 65 else [3, 63, 64, 127, 129]
    spread = np.zeros((n, 300), dtype=np.int32)
    spread[places] = codes
    cardinalities = [int(row.max()) + 1 for row in spread]
    alone = engine.problem(codes, [2, 3, 2, 3, 2], criterion=criterion)
    among = engine.problem(spread, cardinalities, criterion=criterion)
    for run in range(20):
        steps, end = engine.trace(alone, run, k=0.5)
        steps_among, end_among = engine.trace(among, run, k=0.5)
        moved = [
            ((kind, places[x], places[y], tuple(places[z] for z in given)), *rest)
            for (kind, x, y, given), *rest in steps
        ]
        assert [(engine.key(triple), *rest) for triple, *rest in steps_among] == moved
        assert end_among == renamed(end, places)


def test_learning_with_constant_columns():
    rng = np.random.default_rng(6)
    data = np.zeros((400, 6), dtype=int)
    data[:, [1, 3, 4]] = noisy_copies(3, 400, rng).T
    optima = kes.learn(data, k=0.5, runs=20, n_jobs=1)
    constants = {"x0", "x2", "x5"}
    for optimum in optima:
        assert optimum.graph.nodes == tuple(f"x{i}" for i in range(6))
        assert not any(pair & constants for pair in optimum.graph.skeleton)
    assert optima.best.graph.skeleton


def renamed(graph, places):
    directed, undirected = graph
    return (
        sorted((places[a], places[b]) for a, b in directed),
        sorted((places[a], places[b]) for a, b in undirected),
    )


@pytest.mark.parametrize(
    ("n", "places", "every"), [(65, (0, 31, 63, 64), 2), (130, (5, 63, 64, 129), 9)]
)
def test_models_within_many_variables(n, places, every):
    """A good share of the models with four nodes, spread over several machine words.

    Isolated nodes elsewhere neither block nor open a path between these four: their part of the
    boundary is the boundary of the small model.
    """
    models = brute.models(4)
    inside = set(places)
    for m in range(0, len(models), every):
        essential = renamed(models.essential[m], places)
        dag = models.classes[m][-1]
        arcs = [(places[a], places[b]) for a, b in brute.arcs_of(dag)]
        assert engine.essential_graph(n, arcs) == essential
        among = [
            triple for triple in engine.boundary(n, essential) if inside.issuperset(triple[1:3])
        ]
        expected = {
            (kind, places[x], places[y], tuple(places[z] for z in given)): neighbour
            for (kind, x, y, given), (neighbour,) in models.boundary[m].items()
        }
        assert sorted(among) == sorted(expected)
        for triple, neighbour in expected.items():
            reached = engine.apply(n, essential, triple)
            assert reached == renamed(models.essential[neighbour], places)


@pytest.mark.parametrize("n", [65, 130])
def test_steps_of_a_search_over_many_variables(n):
    """Gains by the family formula, and a stop where the engine's own boundary has no gain left."""
    rng = np.random.default_rng(n)
    cardinalities = [int(r) for r in rng.integers(2, 4, n)]
    codes = sample(random_dag(n, 1.5 / n, rng), cardinalities, 200, rng)
    problem = engine.problem(codes, cardinalities)
    direct = DirectScore(codes, cardinalities)
    steps, end = engine.trace(problem, 0, k=0.9)
    assert len(steps) > n // 4
    graph = engine.EMPTY
    for triple, delta, _, _ in steps[:40]:
        kind, x, y, given = engine.key(triple)
        assert delta == pytest.approx(direct.delta(kind, x, y, brute.bits(given)), rel=1e-9)
        graph = engine.apply(n, graph, (kind, x, y, given))
    assert len(steps) > 40 or graph == end
    assert all(
        problem.delta(triple) <= problem.tolerance for triple in _core.boundary(n, end, None)
    )


def test_two_thousand_variables():
    """A chain 0 - 1 - ... - 1999, given as a DAG in an arbitrary consistent direction."""
    n = 2000
    root = 700
    arcs = [(i, i + 1) if i >= root else (i + 1, i) for i in range(n - 1)]
    chain = ([], [(i, i + 1) for i in range(n - 1)])
    assert engine.essential_graph(n, arcs) == chain
    assert len(_core.extension(n, chain)) == n - 1


# --- stars ---------------------------------------------------------------------------------------


def star(leaves):
    """Node 0 joined to the leaves by undirected edges, and one isolated node, the last."""
    return leaves + 2, ([], [(0, leaf) for leaf in range(1, leaves + 1)])


def star_boundary(leaves):
    """Boundary of a star, by thought.

    Any of its DAGs has one root and points away from it. A leaf's edge is deleted given nothing.
    Two leaves can be joined given the centre only: if one of them has no parent it is the root,
    and the other, its descendant, cannot point at it. The isolated node and a leaf: the leaf has
    no parent, or the centre. The isolated node and the centre: the centre has no parent, or one
    leaf, as two parents would be a v-structure.
    """
    ends, alone = range(1, leaves + 1), leaves + 1
    yield from ((False, 0, leaf, ()) for leaf in ends)
    yield from ((True, a, b, (0,)) for a, b in combinations(ends, 2))
    yield from ((True, leaf, alone, given) for leaf in ends for given in ((), (0,)))
    yield (True, 0, alone, ())
    yield from ((True, 0, alone, (leaf,)) for leaf in ends)


@pytest.mark.parametrize("leaves", [2, 3])
def test_thought_about_stars_agrees_with_brute_force(leaves):
    n, graph = star(leaves)
    models = brute.models(n)
    assert sorted(star_boundary(leaves)) == sorted(models.boundary[models.essential.index(graph)])


@pytest.mark.timeout(20)
@pytest.mark.parametrize("leaves", [2, 3, 60, 200])
def test_boundary_of_a_star(leaves):
    """2^60 sets of leaves may not be looked at one by one."""
    n, graph = star(leaves)
    assert sorted(engine.boundary(n, graph)) == sorted(star_boundary(leaves))


@pytest.mark.timeout(30)
def test_search_through_a_star_of_60_leaves():
    """Sixty noisy copies of one variable: the search passes large stars and ends in an optimum."""
    rng = np.random.default_rng(60)
    hidden = rng.integers(0, 2, 4000)
    copies = [hidden ^ (rng.random(4000) < 0.2) for _ in range(60)]
    codes = np.stack([hidden, *copies]).astype(np.int32)
    problem = engine.problem(codes, [2] * 61)
    _, end = engine.trace(problem, 0, k=1.0)
    joined = {pair for edges in end for pair in edges}
    assert sum(0 in pair for pair in joined) == 60  # each copy depends on the hidden one directly
    assert problem.is_local_optimum(end, None)
