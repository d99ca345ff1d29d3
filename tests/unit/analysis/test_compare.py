"""Comparing models: pair by pair, all against all, with GES and with the truth."""

import itertools
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.analysis.compare import compare_graphs, shd_matrix
from kes.budget import Improve
from kes.results.optima import Optima


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=600)


@pytest.fixture(scope="module")
def optima(data):
    return kes.learn(data, k=0.5, runs=40)


def graph(*arcs, nodes="abcd"):
    return kes.EssentialGraph.from_dag(nodes, arcs)


@pytest.fixture
def loaded(optima, tmp_path):
    optima.save(tmp_path / "a.kes.json")
    return kes.load(tmp_path / "a.kes.json")


# --- two models ----------------------------------------------------------------------------------


def test_every_kind_of_change():
    """a -> c <- b turns into a -> b <- c: one edge lost, one new, one kept as it was reversed."""
    here = graph(("a", "c"), ("b", "c"))
    there = graph(("a", "b"), ("c", "b"))
    found = compare_graphs(here, there)
    assert found.removed == {frozenset("ac")}
    assert found.added == {frozenset("ab")}
    assert found.reversed == {("b", "c")}
    assert found.newly_directed == found.newly_undirected == frozenset()
    assert found.table()["change"] == ("added", "removed", "reversed")
    assert found.table()["here"] == ("not joined", "a -> c", "b -> c")
    assert found.table()["there"] == ("a -> b", "not joined", "b <- c")

    chain = graph(("a", "c"), ("c", "b"))
    opened = compare_graphs(here, chain)
    assert opened.newly_undirected == {("a", "c"), ("b", "c")}
    assert opened.shd == 2
    assert compare_graphs(chain, here).newly_directed == {("a", "c"), ("b", "c")}


def test_changes_add_up_to_the_distance(optima):
    """The kinds are disjoint and exhaustive: their number is SHD as the graphs count it."""
    for one, other in itertools.combinations(optima[:12], 2):
        found = one.compare(other)
        assert found.shd == one.graph.shd(other.graph) == len(found.table())
        assert found.score_difference == other.score - one.score


def test_optima_compare_by_their_best(optima, data):
    best = optima.best
    other = kes.learn(data, k=0.9, runs=30, random_state=5)
    found = optima.compare(other)
    assert (found.here, found.there) == (best.graph, other.best.graph)
    assert found.score_difference == other.best.score - best.score
    assert found.shared == len({o.graph for o in optima} & {o.graph for o in other})
    assert f"{found.shared} model" in str(found)
    assert optima.compare(optima).shd == 0
    assert optima.compare(optima).shared == len(optima)


def test_scores_that_cannot_be_compared_are_not(optima, data):
    assert optima.compare(kes.learn(data, criterion="aic", runs=2)).score_difference is None
    elsewhere = kes.learn(kes.datasets.alarm(rows=601), runs=2)
    assert optima.compare(elsewhere).score_difference is None
    assert "score" not in str(optima.compare(elsewhere))


def test_scores_with_another_penalty_or_transform_are_not_compared():
    """The criterion is another function, although its name is the same."""
    rng = np.random.default_rng(3)
    a = rng.normal(size=200)
    frame = pd.DataFrame({"a": a, "b": a + rng.normal(size=200), "c": rng.exponential(size=200)})
    plain = kes.learn(frame, runs=2)
    for other in (kes.learn(frame, runs=2, penalty=2), kes.learn(frame, runs=2, transform="ranks")):
        assert plain.compare(other).score_difference is None
        assert plain.best.compare(other.best).score_difference is None
    assert plain.compare(kes.learn(frame, runs=3, k=0.5)).score_difference == 0


def test_a_graph_is_scored_on_the_data_at_hand(optima, loaded, data):
    truth = kes.datasets.alarm_network().graph
    expected = kes.score(truth, data) - optima.best.score
    assert optima.compare(truth).score_difference == pytest.approx(expected, abs=1e-6)
    assert optima.compare(kes.datasets.alarm_network()).there == truth
    assert optima.compare(truth.to_dag()).there == truth
    assert loaded.compare(truth).score_difference is None
    # ... but the score of a graph that was found is known even so.
    third = loaded[3]
    assert loaded.compare(third.graph).score_difference == third.score - loaded.best.score
    assert loaded.compare(loaded.ges).score_difference == loaded.ges.score - loaded.best.score


def test_a_graph_of_a_file(optima, tmp_path):
    path = tmp_path / "alarm.bif"
    kes.datasets.alarm_network().save(path)
    assert optima.compare(path).there == kes.datasets.alarm_network().graph
    assert optima.best.compare(path).shd == optima.compare(path).shd


def test_other_variables_are_named(optima):
    with refused(column="ANAPHYLAXIS"):
        optima.compare(graph(("a", "b")))
    with refused(option="other"):
        optima.compare(7)


# --- all against all -----------------------------------------------------------------------------


def test_distances_are_those_of_the_graphs(optima):
    matrix = optima.distances()
    assert matrix.shape == (len(optima), len(optima))
    for (i, one), (j, other) in itertools.product(enumerate(optima), repeat=2):
        assert matrix[i, j] == one.graph.shd(other.graph)


def test_distances_of_graphs_with_nodes_in_another_order():
    one, other = graph(("a", "c"), ("b", "c")), graph(("c", "a"), ("b", "a"), nodes="dcba")
    assert shd_matrix([one, other]).tolist() == [[0, one.shd(other)], [one.shd(other), 0]]


def test_many_distances_are_fast():
    """700 optima of 37 variables; a second leaves room for a slow machine."""
    optima = kes.learn(kes.datasets.alarm(rows=300), k=0, runs=700)
    assert len(optima) > 650
    started = time.process_time()
    matrix = optima.distances()
    assert time.process_time() - started < 1
    assert np.array_equal(matrix, matrix.T)


# --- GES -----------------------------------------------------------------------------------------


def test_where_ges_stands(optima):
    standing = optima.ges_standing()
    scores, ges = optima.run_scores, optima.ges.score
    assert standing.better == sum(scores > ges + 1e-6)
    assert standing.equal == sum(abs(scores - ges) <= 1e-6)
    assert standing.runs == 40
    assert standing.share_better == standing.better / 40
    assert standing.rank == 1 + len({s for s in scores if s > ges + 1e-6})
    assert standing.gap == optima.best_run.score - ges
    assert f"rank {standing.rank} of" in str(standing)


def test_ges_on_top_and_alone(data):
    greedy = kes.learn(data, k=1, runs=4).ges_standing()
    assert (greedy.rank, greedy.equal, greedy.better, greedy.gap) == (1, 4, 0, 0)


def test_ges_better_than_all_runs(optima):
    """Its level counts among the levels although no run has reached it."""
    record = optima.record
    worst = min(record.models, key=lambda model: model.score)
    alone = Optima(replace(record.unimproved(Improve()), models=(worst,), runs=(0,)))
    standing = alone.ges_standing()
    assert (standing.rank, standing.levels, standing.worse) == (1, 2, 1)
    assert standing.gap < 0


# --- the truth -----------------------------------------------------------------------------------


def test_truth_of_each_optimum(optima):
    network = kes.datasets.alarm_network()
    table = optima.truth(network)
    assert len(table) == len(optima)
    for row, optimum in zip(table, optima, strict=True):
        one = kes.compare_to_truth(optimum.graph, network)
        assert (row["shd"], row["precision"], row["recall"]) == (one.shd, one.precision, one.recall)
        assert row["shd"] == row["extra"] + row["missing"] + row["misdirected"]
        assert row["score"] == optimum.score


# --- the smallest cases --------------------------------------------------------------------------


def test_one_optimum_without_edges():
    optima = kes.learn(np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5), runs=1)
    assert optima.distances().tolist() == [[0]]
    assert optima.ges_standing().rank == 1
    found = optima.compare([("x0", "x1")])
    assert found.added == {frozenset(("x0", "x1"))}
    assert found.score_difference == pytest.approx(-np.log(20) / 2)  # no fit, one parameter
    assert len(optima.compare([]).table()) == 0
    assert optima.truth([]).to_dict()["precision"] == [1.0]
