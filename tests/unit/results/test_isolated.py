"""Isolated columns that clearly depend on others are reported, and only those."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, chi2_contingency

import kes
from kes.data.dataset import informative
from kes.results import isolated
from kes.results.isolated import chi2_tail, unseen
from kes.show.report.page import page


@pytest.mark.parametrize("freedom", [1, 2, 3, 8, 15, 200])
@pytest.mark.parametrize("value", [0.0, 0.1, 5.0, 40.0, 300.0])
def test_the_tail_is_that_of_chi_square(value, freedom):
    assert chi2_tail(value, freedom) == pytest.approx(chi2.sf(value, freedom), rel=1e-9, abs=1e-300)


def words(rng, size, cases):
    return np.array([f"w{i}" for i in range(size)])[rng.integers(0, size, cases)]


def related(rng, cases=600):
    """Two columns of 20 words each that agree in two of five cases, and one that is alone."""
    x, other = words(rng, 20, cases), words(rng, 20, cases)
    y = np.where(rng.random(cases) < 0.4, x, other)
    return pd.DataFrame({"x": x, "y": y, "z": words(rng, 3, cases)})


def test_a_relation_that_its_states_hide_is_told():
    table = related(np.random.default_rng(0))
    optima = kes.learn(table, runs=2)
    assert not optima.best.graph.skeleton
    [found] = unseen(optima, optima.problem)
    assert {found.column, found.other} == {"x", "y"}
    assert found.remedy.startswith("to merge states of 'x', 'y'")


def test_p_values_are_those_of_another_library():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 12, 3000)
    y = np.where(rng.random(3000) < 0.12, x, rng.integers(0, 12, 3000))
    table = pd.DataFrame({"x": x, "y": y}).map("w{}".format)
    optima = kes.learn(table, runs=2)
    [found] = unseen(optima, optima.problem)
    cells = pd.crosstab(table["x"], table["y"])
    assert cells.to_numpy().sum(axis=1).min() > np.sqrt(5 * 3000)  # no state is merged
    assert found.p == pytest.approx(chi2_contingency(cells, lambda_="log-likelihood").pvalue)


def test_rows_that_count_several_cases_are_as_many_rows():
    table = related(np.random.default_rng(0), 900).drop(columns="z")
    counted = table.groupby(["x", "y"]).size().reset_index(name="times")
    assert len(counted) < 400
    plain, weighted = kes.learn(table, runs=2), kes.learn(counted, runs=2, weights="times")
    [found], [again] = unseen(plain, plain.problem), unseen(weighted, weighted.problem)
    assert {again.column, again.other} == {found.column, found.other}
    assert again.p == pytest.approx(found.p)


def test_weights_that_are_no_counts_tell_less_than_their_sum():
    """Half of the rows count a hundred times as much as the others: about 500 of 1 000 are left."""
    weights = np.tile([1.99, 0.0199], 500)
    assert informative(weights) == pytest.approx(510, abs=1)
    assert informative(np.full(1000, 0.3)) == pytest.approx(1000)
    assert informative(np.array([3.0, 0.0, 4.0])) == 7


def test_independent_columns_are_left_alone():
    """Rare words, ties and extremes among them; 300 pairs at the level of the test."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame(
            {
                "a": words(rng, 40, 300),
                "b": words(rng, 25, 300),
                "c": np.where(rng.random(300) < 0.01, "rare", "usual"),
                "d": rng.standard_cauchy(300),
                "e": rng.poisson(3, 300),
                "f": np.where(rng.random(300) < 0.01, "odd", "even"),
            }
        )
        optima = kes.learn(table, runs=1, kinds={"a": "discrete", "b": "discrete"})
        assert unseen(optima, optima.problem) == []


def test_pairs_that_the_user_keeps_apart_are_not_told():
    table = related(np.random.default_rng(0))
    known = kes.Knowledge(apart=[("x", "y")])
    optima = kes.learn(table, runs=2, knowledge=known)
    assert unseen(optima, optima.problem) == []
    one_way = kes.learn(table, runs=2, knowledge=kes.Knowledge(forbidden=[("x", "y")]))
    assert len(unseen(one_way, one_way.problem)) == 1


def test_exogenous_columns_may_depend_on_others_through_each_other():
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    b = a + 0.1 * rng.normal(size=500)
    table = pd.DataFrame({"a": a, "b": b, "y": b + rng.normal(size=500)})
    known = kes.Knowledge(exogenous=["a", "b"])
    optima = kes.learn(table, runs=2, knowledge=known)
    assert optima.best.graph.skeleton == {frozenset("by")}
    assert unseen(optima, optima.problem) == []


def test_only_observed_values_count():
    """Imputed values would dilute the relation, or make one."""
    rng = np.random.default_rng(0)
    table = related(rng, 1200).astype(object)
    table.loc[rng.random(1200) < 0.3, "x"] = None
    optima = kes.learn(table, runs=2, missing="em")
    again = kes.learn(table.dropna(), runs=2)
    ps = []
    for one in (optima, again):
        assert not one.best.graph.skeleton
        [found] = unseen(one, one.problem)
        ps.append(found.p)
    assert ps[0] == pytest.approx(ps[1])


def test_a_curve_between_numbers_gets_its_own_advice():
    rng = np.random.default_rng(3)
    x = rng.normal(size=1000)
    table = pd.DataFrame({"x": x, "y": x**2 + rng.normal(size=1000), "z": rng.normal(size=1000)})
    optima = kes.learn(table, runs=2)
    [found] = unseen(optima, optima.problem)
    assert {found.column, found.other} == {"x", "y"}
    assert found.why == "an edge costs more than a straight line gains"
    assert found.remedy == 'basis="auto"'
    assert kes.learn(table, runs=2, basis="auto").best.graph.skeleton == {frozenset("xy")}


def test_a_price_of_edges_is_named_where_it_hides_a_line():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    table = pd.DataFrame({"x": x, "y": x + rng.normal(size=300), "z": rng.normal(size=300)})
    optima = kes.learn(table, runs=2, edge_prior=1000.0)
    [found] = unseen(optima, optima.problem)
    assert found.why == "it gains less than the price of an edge, 1000 nats"
    assert found.remedy == "edge_prior=0"
    assert kes.learn(table, runs=2, edge_prior=0).best.graph.skeleton == {frozenset("xy")}
    unlikely = kes.Knowledge(likely={("x", "y"): -1000.0})
    optima = kes.learn(table, runs=2, knowledge=unlikely)
    [found] = unseen(optima, optima.problem)
    assert "(likely)" in found.remedy


def test_many_pairs_of_short_columns_are_not_tested(monkeypatch):
    """A test takes about 20 µs even without rows, and the summary of a result waits for all."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 400)))
    optima = kes.learn(table.add_prefix("g"), runs=1, improve=False, prove=False)
    tested = []
    monkeypatch.setattr(isolated._Tests, "p", lambda *pair: tested.append(pair) or 1.0)
    unseen(optima, optima.problem)
    assert len(tested) * 20e-6 < 2


def test_no_relation_is_told_where_no_edge_is_allowed():
    optima = kes.learn(related(np.random.default_rng(0)), runs=2, max_parents=0)
    assert unseen(optima, optima.problem) == []


@pytest.mark.parametrize("criterion", ["bic", "bdeu"])
def test_the_advice_for_states_is_an_option_of_discrete_tables(criterion):
    """And it shows the edge: penalty, which is one of continuous tables, would be refused."""
    table = related(np.random.default_rng(0))
    optima = kes.learn(table, runs=2, criterion=criterion)
    [found] = unseen(optima, optima.problem)
    assert found.remedy.endswith(', or criterion="aic"')
    assert kes.learn(table, runs=2, criterion="aic").best.graph.skeleton == {frozenset("xy")}


def test_a_strong_penalty_hides_lines_and_curves_alike():
    """So neither text may say that the shape is why."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    table = pd.DataFrame({"x": x, "y": x + 0.1 * rng.normal(size=300)})
    optima = kes.learn(table, runs=2, penalty=1000.0)
    [found] = unseen(optima, optima.problem)
    assert found.why == "an edge costs more than a straight line gains"
    optima = kes.learn(table, runs=2, penalty=1000.0, basis=3)
    [found] = unseen(optima, optima.problem)
    assert found.why == "an edge costs more than a curve gains"
    assert found.remedy == "penalty=500.0"


@pytest.mark.parametrize("kind", [int, float, "{}.0".format])
def test_states_that_are_whole_numbers_count_in_their_order(kind):
    """Neighbouring numbers share a group, however they are written."""
    rng = np.random.default_rng(0)
    x = rng.integers(2, 42, 400)
    y = (x + rng.integers(-2, 3, 400)).clip(2, 41)
    columns = {"x": x.tolist(), "y": y.tolist()}
    table = pd.DataFrame({name: [*map(kind, column)] for name, column in columns.items()})
    optima = kes.learn(table, runs=2, kinds={"x": "discrete", "y": "discrete"})
    [found] = unseen(optima, optima.problem)
    assert found.p < 1e-200
    assert found.remedy == 'kinds={"x": "continuous", "y": "continuous"}'


def test_the_report_tells_it():
    optima = kes.learn(related(np.random.default_rng(0)), runs=2)
    [found] = unseen(optima, optima.problem)
    assert f"depends on &#x27;{found.other}&#x27; (G² test" in page(optima, problem=optima.problem)
