"""Supports of edges, v-structures and Markov blankets, counted anew over every run."""

import math
import pickle
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from tests.unit.refused import refused

import kes
from kes.graph.core_graph import CoreGraph
from kes.results.optima import Optima
from kes.search.record import Model


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=300)


@pytest.fixture(scope="module")
def optima(data):
    """A small k on few rows: many optima that seldom agree."""
    return kes.learn(data, k=0.3, runs=40)


@pytest.fixture(scope="module")
def stability(data):
    return kes.stability(data, resamples=7, runs=2)


def made(names, graphs, scores, runs):
    """Optima with given models: what no data would yield on demand."""
    base = kes.learn(np.array([[0, 1], [1, 0], [1, 1]] * 5), runs=1, improve=False).record
    states = tuple((0, 1) for _ in names)
    models = tuple(
        Model(CoreGraph(tuple(sorted(d)), tuple(sorted(u))), score, True)
        for (d, u), score in zip(graphs, scores, strict=True)
    )
    return Optima(
        replace(base, names=tuple(names), states=states, models=models, runs=runs, ges=models[0])
    )


A_B, B_A, OPEN, NONE = ([(0, 1)], []), ([(1, 0)], []), ([], [(0, 1)]), ([], [])


# --- edges ---------------------------------------------------------------------------------------


def test_search_support_is_the_share_of_runs(optima):
    """Count over the runs one by one, instead of over optima by their hits."""
    joined, pointing = Counter(), Counter()
    for place in optima.run_optima:
        graph = optima[int(place)].graph
        joined.update(graph.skeleton)
        pointing.update(graph.directed)
    table = optima.edges()
    every = {pair for optimum in optima for pair in optimum.graph.skeleton}
    assert {frozenset((row["x"], row["y"])) for row in table} == every >= set(joined)
    for row in table:
        x, y = row["x"], row["y"]
        assert row["search_support"] == joined[frozenset((x, y))] / 40
        assert row["search_x_to_y"] == pointing[x, y] / 40
        assert row["search_y_to_x"] == pointing[y, x] / 40


def test_relative_weight_is_that_of_exact_arithmetic(optima):
    """exp(score) underflows; fractions of exp(score - best) as rationals do not."""
    odds = [Fraction(math.exp(o.score - optima.best.score)) for o in optima]
    for row in optima.edges():
        pair = frozenset((row["x"], row["y"]))
        with_edge = sum(w for w, o in zip(odds, optima, strict=True) if pair in o.graph.skeleton)
        assert row["relative_weight"] == pytest.approx(float(with_edge / sum(odds)), abs=1e-12)


def test_rows_are_ordered_and_name_each_pair_once(optima):
    place = {name: i for i, name in enumerate(optima.names)}
    table = optima.edges()
    assert all(place[row["x"]] < place[row["y"]] for row in table)
    keys = [
        (-row["search_support"], -row["relative_weight"], place[row["x"]], place[row["y"]])
        for row in table
    ]
    assert keys == sorted(keys)


def test_resampling_support_joins_the_others(optima, stability):
    table = optima.edges(stability=stability)
    assert table.columns[:5] == (
        "x",
        "y",
        "search_support",
        "relative_weight",
        "resampling_support",
    )
    for row in table:
        pair = frozenset((row["x"], row["y"]))
        count = sum(pair in best.graph.skeleton for best in stability.best)
        assert row["resampling_support"] == count / 7
    only_there = {e for best in stability.best for e in best.graph.skeleton}
    assert only_there <= {frozenset((row["x"], row["y"])) for row in table}


def test_stability_of_other_variables_is_refused(optima):
    other = kes.stability(np.array([[0, 1], [1, 0], [1, 1]] * 5), resamples=2, runs=1)
    with refused(option="stability", column="ANAPHYLAXIS"):
        optima.edges(stability=other)


def test_evidence_joins_the_others(optima, stability):
    evidence = optima.evidence(tasks=0)
    nats = {(row["x"], row["y"]): row for row in evidence}
    for row in optima.edges(stability=stability, evidence=evidence):
        known = nats.get((row["x"], row["y"]), {})  # resamples have further edges
        for column in ("evidence", "direction", "how"):
            assert row[column] == known.get(column)


def test_at_large_n_all_weight_is_on_the_best():
    """As the documentation warns, scores differ by far more than a few logarithms."""
    optima = kes.learn(kes.datasets.alarm(rows=20000), runs=20)
    best = optima.best.graph.skeleton
    for row in optima.edges():
        in_best = frozenset((row["x"], row["y"])) in best
        assert row["relative_weight"] == pytest.approx(float(in_best), abs=1e-3)


# --- v-structures and blankets -------------------------------------------------------------------


def test_v_structures_count_as_edges_do(optima):
    found = Counter()
    for place in optima.run_optima:
        for a, c, b in optima[int(place)].graph.v_structures():
            found[c, frozenset((a, b))] += 1
    table = optima.v_structures()
    counted = {
        (row["collider"], frozenset((row["x"], row["y"]))): row["search_support"]
        for row in table
        if row["search_support"]  # the others are those of models that no run ended in
    }
    assert counted == {feature: count / 40 for feature, count in found.items()}
    every = {(c, frozenset((a, b))) for o in optima for a, c, b in o.graph.v_structures()}
    assert len(table) == len(every)


def test_markov_blankets_are_those_of_the_graphs(optima):
    found = Counter()
    for place in optima.run_optima:
        graph = optima[int(place)].graph
        found.update((node, m) for node in graph.nodes for m in graph.markov_blanket(node))
    table = optima.markov_blankets()
    counted = {(r["node"], r["member"]): r["search_support"] for r in table if r["search_support"]}
    assert counted == {pair: count / 40 for pair, count in found.items()}
    own = optima.markov_blankets("HR")
    assert [row for row in table if row["node"] == "HR"] == list(own)
    with refused("did you mean 'HR'", option="node"):
        optima.markov_blankets("HRX")


# --- consensus -----------------------------------------------------------------------------------


def test_consensus_keeps_what_reaches_the_threshold(optima):
    graph = optima.consensus(0.6)
    kept = [row for row in optima.edges() if row["search_support"] >= 0.6]
    assert set(graph.supports) == {frozenset((row["x"], row["y"])) for row in kept}
    for row in kept:
        x, y = row["x"], row["y"]
        assert ((x, y) in graph.directed) == (row["search_x_to_y"] >= 0.6)
        assert ((y, x) in graph.directed) == (row["search_y_to_x"] >= 0.6)
    assert graph.undirected == set(graph.supports) - {frozenset(arc) for arc in graph.directed}
    everywhere = optima.consensus(1)
    common = frozenset.intersection(*(o.graph.skeleton for o in optima))
    assert set(everywhere.supports) == common


@pytest.mark.parametrize(
    ("graphs", "runs", "threshold", "expected"),
    [
        ((A_B, B_A), (0, 1), 0.5, "open"),  # as many for either direction: take neither
        ((A_B, B_A), (0, 0, 1), 0.5, "a_b"),
        ((A_B, OPEN), (0, 1, 1), 0.5, "open"),  # compelled in a third only
        ((A_B, OPEN), (0, 1, 1), 0.3, "a_b"),
        ((A_B, NONE), (0, 1), 0.5, "a_b"),  # exactly half is enough
        ((A_B, NONE), (0, 1, 1), 0.5, "none"),
        ((NONE,), (0,), 0.0, "none"),  # no threshold invents an edge
    ],
)
def test_directions_of_the_consensus(graphs, runs, threshold, expected):
    optima = made("ab", graphs, [-float(i) for i in range(len(graphs))], runs)
    graph = optima.consensus(threshold)
    directed, undirected = {
        "open": (set(), {frozenset("ab")}),
        "a_b": ({("a", "b")}, set()),
        "none": (set(), set()),
    }[expected]
    assert (graph.directed, graph.undirected) == (directed, undirected)


def test_consensus_by_weight_and_by_resampling(optima, stability):
    by_weight = optima.consensus(0.5, support="weight")
    assert set(by_weight.supports) == {
        frozenset((row["x"], row["y"])) for row in optima.edges() if row["relative_weight"] >= 0.5
    }
    resampled = optima.consensus(0.5, support="resampling", stability=stability)
    assert resampled == stability.consensus(0.5)
    with refused(r"kes\.stability", option="stability"):
        optima.consensus(support="resampling")
    with refused("did you mean 'weight'", option="support"):
        optima.consensus(support="weigth")
    for wrong in (-0.1, 1.5, "half"):
        with refused(option="threshold"):
            optima.consensus(wrong)


def test_a_consensus_need_not_be_essential():
    """A majority for each of a -> b, b -> c, c -> a: the picture has a cycle, and may."""
    v = ([(0, 1), (1, 2)], [])
    graphs = (v, ([(1, 2), (2, 0)], []), ([(2, 0), (0, 1)], []))
    graph = made("abc", graphs, (-1.0, -2.0, -3.0), (0, 1, 2)).consensus(0.6)
    assert graph.directed == {("a", "b"), ("b", "c"), ("c", "a")}
    with refused("cycle", column="b"):
        kes.EssentialGraph(graph.nodes, graph.directed, graph.undirected)


def test_consensus_as_networkx(optima):
    graph = optima.consensus(0.4)
    other = graph.to_networkx()
    assert isinstance(other, nx.DiGraph)
    assert set(other.nodes) == set(optima.names)
    both = {(a, b) for pair in graph.undirected for a in pair for b in pair if a != b}
    assert set(other.edges) == set(graph.directed) | both
    for a, b, attributes in other.edges(data=True):
        assert attributes["support"] == graph.supports[frozenset((a, b))]
        assert attributes["direction_support"] == graph.direction_supports[a, b]
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert f"{len(graph.directed)} directed" in repr(graph)


# --- the smallest cases --------------------------------------------------------------------------


def test_one_run_without_edges():
    optima = kes.learn(np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5), runs=1)
    assert len(optima) == 1
    for table in (optima.edges(), optima.v_structures(), optima.markov_blankets()):
        assert len(table) == 0
        assert "search_support" in table.columns
    assert optima.consensus().supports == {}


def test_one_run_with_one_edge():
    optima = kes.learn(np.array([[0, 0], [1, 1]] * 10), runs=1)
    [row] = optima.edges()
    assert (row["x"], row["y"], row["search_support"], row["relative_weight"]) == (
        *("x0", "x1"),
        *(1.0, 1.0),
    )
    assert row["search_x_to_y"] == row["search_y_to_x"] == 0.0
    assert optima.consensus().undirected == {frozenset(("x0", "x1"))}
