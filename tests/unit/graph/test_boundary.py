"""`inclusion_boundary` as users call it. That the boundary is right is shown in tests/oracle."""

import math
import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.api import inclusion_boundary
from kes.graph import EssentialGraph

NODES = ("c", "a", "b")  # on purpose not in the order of the alphabet


@pytest.fixture
def data():
    """`b` is `a` with errors, `c` is a coin; 300 rows. One column does not belong to the graph."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300)
    b = a ^ (rng.random(300) < 0.1)
    return pd.DataFrame(
        {"a": a, "b": b, "extra": rng.integers(0, 3, 300), "c": rng.integers(0, 2, 300)}
    )


def test_boundary_of_the_empty_graph(data):
    """One insertion per pair; the dependent pair is best, the others lose their penalty."""
    neighbours = inclusion_boundary(EssentialGraph(NODES), data)
    assert {n.kind for n in neighbours} == {"insert"}
    assert {(n.x, n.y) for n in neighbours} == set(combinations(NODES, 2))  # x first in NODES
    assert (neighbours[0].x, neighbours[0].y) == ("a", "b")
    assert neighbours[0].delta > 0 > neighbours[1].delta >= neighbours[2].delta


def test_delta_is_the_difference_of_scores(data):
    graph = EssentialGraph.from_dag(NODES, [("a", "b")])
    table = data[list(NODES)]
    for criterion in ("bic", "aic", "bdeu", "qnml"):
        options = {"criterion": criterion, "ess": 3.0}
        before = kes.score(graph, table, **options)
        for neighbour in inclusion_boundary(graph, table, **options):
            gain = kes.score(neighbour.graph, table, **options) - before
            assert neighbour.delta == pytest.approx(gain, abs=1e-9)


def test_best_first(data):
    graph = EssentialGraph.from_dag(NODES, [("a", "b"), ("c", "b")])
    deltas = [n.delta for n in inclusion_boundary(graph, data)]
    assert deltas == sorted(deltas, reverse=True)


def test_without_data():
    graph = EssentialGraph.from_dag(NODES, [("a", "b"), ("c", "b")])
    neighbours = inclusion_boundary(graph)
    assert all(n.delta is None for n in neighbours)
    # a -> b <- c: an arc goes given the other, or a and c are joined; neither has a parent.
    assert {(n.kind, n.x, n.y, n.given) for n in neighbours} == {
        ("delete", "a", "b", frozenset("c")),
        ("delete", "c", "b", frozenset("a")),
        ("insert", "c", "a", frozenset()),
    }


def test_graph_of_a_neighbour():
    graph = EssentialGraph.from_dag(NODES, [("a", "b"), ("c", "b")])
    by_triple = {(n.kind, n.x, n.y): n for n in inclusion_boundary(graph)}
    assert by_triple["delete", "c", "b"].graph == EssentialGraph(NODES, [], [("a", "b")])
    complete = EssentialGraph(NODES, [], combinations(NODES, 2))
    assert by_triple["insert", "c", "a"].graph == complete
    assert by_triple["insert", "c", "a"].graph.nodes == NODES


def test_limit_on_parents():
    graph = EssentialGraph.from_dag("abc", [("a", "b")])
    assert {n.given for n in inclusion_boundary(graph, max_parents=1)} == {frozenset()}
    assert [n.kind for n in inclusion_boundary(graph, max_parents=0)] == ["delete"]


def test_order_of_the_columns_does_not_matter(data):
    graph = EssentialGraph.from_dag(NODES, [("a", "b")])
    plain, turned = (inclusion_boundary(graph, d) for d in (data, data[data.columns[::-1]]))
    assert [(n.x, n.y, n.given) for n in plain] == [(n.x, n.y, n.given) for n in turned]


def test_weights(data):
    graph = EssentialGraph(NODES)
    twice = inclusion_boundary(graph, data, weights=np.full(300, 2.0))
    doubled = inclusion_boundary(graph, pd.concat([data, data]))
    assert [n.delta for n in twice] == [n.delta for n in doubled]


def test_neighbours_are_values():
    graph = EssentialGraph.from_dag("abc", [("a", "b")])
    first, second = inclusion_boundary(graph), inclusion_boundary(graph)
    assert first == second
    assert len({*first, *second}) == len(first)
    copied = pickle.loads(pickle.dumps(first[0]))
    assert copied == first[0]
    assert copied.graph == first[0].graph
    assert "EssentialGraph" not in repr(first[0])


def test_arcs_are_no_essential_graph(data):
    with refused("from_dag", option="g"):
        inclusion_boundary([("a", "b")], data)


def test_gains_that_are_infinite_are_sorted_like_others():
    """90 parents of 5 000 states have more cells than a number can say: BIC calls that hopeless."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 5000, (92, 30)).astype(np.int32)
    states = [tuple(range(5000))] * 92
    names = tuple(f"x{i}" for i in range(92))
    table = kes.Dataset(names=names, states=states, codes=codes)
    graph = EssentialGraph.from_dag(names, [(name, "x91") for name in names[:90]])
    gains = [step.delta for step in inclusion_boundary(graph, table)]
    assert gains == sorted(gains, reverse=True)
    assert gains.count(math.inf) == 90  # any of the parents may go
    assert gains.count(-math.inf) == 1  # the one that is left may not come
    assert len(gains) > 91


def test_data_without_a_node(data):
    with refused(column="z"):
        inclusion_boundary(EssentialGraph(["a", "z"]), data)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"criterion": "bci"}, "did you mean 'bic'"),
        ({"ess": 0}, ""),
        ({"max_parents": -1}, ""),
        ({"weights": [1.0, 2.0]}, ""),
    ],
)
def test_settings_that_are_refused(data, options, word):
    with refused(word, option=next(iter(options))):
        inclusion_boundary(EssentialGraph(NODES), data, **options)
