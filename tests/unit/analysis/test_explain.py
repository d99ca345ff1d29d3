"""Explanations: the figures by independent formulas, and words that claim no more than is true."""

import math

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    c = (a + b + (rng.random(300) < 0.2)) % 3
    return pd.DataFrame({"a": a, "b": b, "c": c})


@pytest.fixture(scope="module")
def alarm():
    return kes.datasets.alarm(rows=500)


def information(table, x, y, given):
    """N times the conditional mutual information of x and y, from its definition, in nats."""
    total = 0.0
    for _, part in table.groupby(given) if given else [((), table)]:
        joint = pd.crosstab(part[x], part[y]).to_numpy()
        expected = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True) / joint.sum()
        seen = joint > 0
        total += float(np.sum(joint[seen] * np.log(joint[seen] / expected[seen])))
    return total


# --- a step --------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_fit_and_penalty(three, criterion):
    """Worth = N I(x; y | given) - parameters times price, each from its definition."""
    g = kes.EssentialGraph.from_dag("abc", [("a", "c"), ("b", "c")])
    price = math.log(300) / 2 if criterion == "bic" else 1.0
    for step in kes.inclusion_boundary(g, three, criterion=criterion):
        found = kes.explain(step, three, criterion=criterion)
        states = {"a": 2, "b": 3, "c": 3}
        count = (states[step.x] - 1) * (states[step.y] - 1)
        count *= math.prod(states[node] for node in step.given)
        assert found.parameters == count
        assert found.fit == pytest.approx(information(three, step.x, step.y, sorted(step.given)))
        assert found.worth == pytest.approx(found.fit - count * price)
        assert found.neighbour.delta == pytest.approx(step.delta)
        assert f"{count * price:.4g}" in str(found)


def test_an_edge_is_worth_what_its_removal_loses(three):
    empty = kes.EssentialGraph("abc")
    joined = kes.EssentialGraph.from_dag("abc", [("a", "c")])
    [insert] = [s for s in kes.inclusion_boundary(empty, three) if (s.x, s.y) == ("a", "c")]
    [delete] = [s for s in kes.inclusion_boundary(joined, three) if s.kind == "delete"]
    assert kes.explain(insert).worth == pytest.approx(kes.explain(delete).worth)
    assert "Connecting a and c" in str(kes.explain(insert))
    assert "Separating a and c" in str(kes.explain(delete))


def test_odds_are_claimed_only_where_they_are_right(three):
    """BDeu is a marginal likelihood, BIC approximates one, AIC does not."""
    g = kes.EssentialGraph.from_dag("abc", [("a", "c"), ("b", "c")])
    step = kes.inclusion_boundary(g)[0]
    bdeu = kes.explain(step, three, criterion="bdeu", ess=2)
    with_edge, without = (
        kes.score(model, three, criterion="bdeu", ess=2) for model in (g, step.graph)
    )
    assert step.kind == "delete"
    assert bdeu.worth == pytest.approx(with_edge - without)
    text = str(bdeu)
    assert f"the model with the edge is e^{bdeu.worth:.4g}" in text
    assert "equal prior probabilities" in text
    assert "ess=2" in text
    assert bdeu.fit is None
    bic = str(kes.explain(step, three))
    assert "BIC approximates" in bic
    assert "very roughly" in bic
    assert "not a log odds" in str(kes.explain(step, three, criterion="aic"))
    for text in (bic, str(kes.explain(step, three, criterion="aic"))):
        assert "times as probable" not in text


def test_odds_are_not_spelled_out_beyond_imagination():
    data = np.array([[0, 0], [1, 1]] * 200)
    [step] = kes.inclusion_boundary(kes.EssentialGraph(["x0", "x1"]))
    assert "about" not in str(kes.explain(step, data, criterion="bdeu"))
    few = str(kes.explain(step, data[:8], criterion="bdeu"))
    worth = kes.explain(step, data[:8], criterion="bdeu").worth
    assert f"(about {round(math.exp(worth), -1):.0f})" in few  # two digits of a number of three


def test_without_data_or_criterion_nothing_is_made_up(three):
    g = kes.EssentialGraph("abc")
    unscored = kes.inclusion_boundary(g)[0]
    assert kes.explain(unscored).worth is None
    assert "depends on the data" in str(kes.explain(unscored))
    scored = kes.inclusion_boundary(g, three, criterion="aic")[0]
    text = str(kes.explain(scored))
    assert "the score gains" in text
    assert not any(word in text for word in ("BIC", "AIC", "BDeu", "probable", "odds"))
    assert "AIC gains" in str(kes.explain(scored, criterion="aic"))


def test_a_step_that_does_not_pay():
    rng = np.random.default_rng(0)
    data = rng.integers(0, 2, (400, 2))
    [step] = kes.inclusion_boundary(kes.EssentialGraph(["x0", "x1"]))
    found = kes.explain(step, data, criterion="bdeu")
    assert found.worth < 0
    assert "lowers the score" in str(found)
    assert "the model without the edge" in str(found)


def test_weights_count(three):
    step = kes.inclusion_boundary(kes.EssentialGraph("abc"))[0]
    doubled = kes.explain(step, three, weights=np.full(300, 2.0))
    assert doubled.cases == 600
    assert doubled.fit == pytest.approx(2 * kes.explain(step, three).fit)


def test_only_neighbours_are_explained(alarm):
    with refused(r"optimum\.explain", option="neighbour"):
        kes.explain(kes.learn(alarm, runs=1).best)


# --- where a search stops ------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["bic", "aic", "bdeu"])
def test_no_neighbour_of_an_optimum_is_better(alarm, criterion):
    optima = kes.learn(alarm, runs=3, criterion=criterion, ess=2)
    stop = optima.explain()
    assert stop.better == 0
    assert len(stop.neighbours) == len(kes.inclusion_boundary(optima.best.graph))
    assert all(delta <= 1e-6 for delta in stop.table()["delta"])
    gains = np.array(stop.table()["delta"]).round(6)  # ties are not ordered by rounding errors
    assert np.all(np.diff(gains) <= 0)
    assert f"none of {len(stop.neighbours)} neighbours scores higher" in str(stop)
    assert optima.best.explain(alarm, criterion=criterion, ess=2) == stop


def test_worth_of_edges_is_the_score_lost(alarm):
    """The cheapest way to take an edge away, by scoring all models without it."""
    optima = kes.learn(alarm, runs=3)
    best = optima.best
    table = optima.explain().edges()
    assert {frozenset((row["x"], row["y"])) for row in table} == best.graph.skeleton
    assert list(table["worth"]) == sorted(table["worth"])
    deletions = [s for s in kes.inclusion_boundary(best.graph) if s.kind == "delete"]
    for row in list(table)[:6]:
        without = [s.graph for s in deletions if {s.x, s.y} == {row["x"], row["y"]}]
        lost = min(best.score - kes.score(model, alarm) for model in without)
        assert row["worth"] == pytest.approx(lost, abs=1e-6)


def test_a_stop_short_of_an_optimum_says_so(three):
    g = kes.learn(three, runs=1, max_parents=0)
    assert g.explain().better == 0  # nothing admissible is better
    stop = g.best.explain(three)  # without the limit there is
    assert stop.better > 0
    assert "not a local optimum" in str(stop)


def test_other_data_or_criterion_is_noticed(alarm):
    optimum = kes.learn(alarm, runs=1, criterion="bdeu").best
    with refused("bic", option="data"):
        optimum.explain(alarm)
    with refused(option="data"):
        optimum.explain(kes.datasets.alarm(rows=501), criterion="bdeu")


def test_after_loading_data_are_needed(alarm, tmp_path):
    optima = kes.learn(alarm, runs=2)
    optima.save(tmp_path / "a.kes.json")
    loaded = kes.load(tmp_path / "a.kes.json")
    with refused(option="data"):
        loaded.explain()
    assert loaded.explain(0, alarm) == optima.explain(0)
    with refused(option="optimum"):
        optima.explain(99)


def test_smallest():
    two = kes.learn(np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5), runs=1)
    stop = two.explain()
    assert len(stop.neighbours) == 1
    assert len(stop.edges()) == 0
    assert "none of 1 neighbour scores" in str(stop)
    alone = kes.learn(np.array([[0], [1], [1]]), runs=1)
    assert "no neighbours" in str(alone.explain())
