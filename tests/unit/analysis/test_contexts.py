"""Targets of contexts, and the directions that they decide."""

import re

import numpy as np
import pandas as pd
import pytest
from tests.unit.show.test_report import content

import kes
from kes.show.report import report_text


@pytest.fixture(scope="module")
def table():
    """x -> y -> z, with interventions on x and on y."""
    rng = np.random.default_rng(0)
    condition = rng.choice(["none", "a", "b"], 2000)
    x = rng.normal(size=2000) + 2 * (condition == "a")
    y = x + rng.normal(size=2000) + 2 * (condition == "b")
    z = 0.8 * y + rng.normal(size=2000)
    return pd.DataFrame({"condition": condition, "x": x, "y": y, "z": z})


KNOWN = {"condition": {"a": "x", "b": ["y"], "none": None}}


def test_interventions_direct_what_observations_leave_open(table):
    alone = kes.learn(table.drop(columns="condition"), runs=10).best.mpdag
    assert not alone.directed
    optima = kes.learn(table, interventions=KNOWN, runs=20)
    best = optima.best.mpdag
    assert best.directed == {("condition[a]", "x"), ("condition[b]", "y"), ("x", "y"), ("y", "z")}
    assert best.by_exogenous == {("x", "y"), ("y", "z")}
    found = optima.contexts()
    assert [*zip(found["context"], found["touches"], strict=True)] == [
        ("condition[a]", "x"),
        ("condition[b]", "y"),
    ]
    assert set(found["targets"]) == {"known"}
    assert "x -> y" in found.note
    assert "they direct x -> y, y -> z" in str(optima)


def test_what_experiments_decide_is_shown_in_graph_report_and_effects(table):
    """The block touches x and y, and decides x -> y and y -> z; the page gets pairs by number."""
    optima = kes.learn(table, interventions=KNOWN, runs=5)
    marked = optima.best.mpdag.to_networkx().edges(data="by_exogenous")
    assert {(a, b) for a, b, own in marked if own} == {("x", "y"), ("y", "z")}
    assert "decide the direction of x → y, y → z" in optima.best.mpdag._repr_html_()
    text = report_text(optima, {})
    found = content(text)
    pairs = [tuple(found["names"][node] for node in pair) for pair in found["pairs"]]
    best = found["optima"][0]
    assert {pairs[i] for i in best["decided"]} == {("x", "y"), ("y", "z")}
    assert {pairs[i] for i in best["known"]} == {("condition[a]", "x"), ("condition[b]", "y")}
    assert "They decide the direction of x → y, y → z" in text
    headline = re.sub("<[^>]*>", "", text[text.index("The connections are") :][:600])
    assert "condition[a] → x" in headline
    assert "x -> y, y -> z" in optima.effects("x", "z").note
    assert "decide" not in optima.effects("x", "z").note.partition("Directions")[0]
    without = kes.learn(table.drop(columns="condition"), runs=5)
    assert "exogenous" not in without.effects("x", "z").note


def test_unknown_targets_are_found(table):
    optima = kes.learn(table, interventions={"condition": {"none": None}}, runs=10)
    assert set(optima.contexts()["targets"]) == {"any"}
    assert optima.best.mpdag.directed >= {("condition[a]", "x"), ("condition[b]", "y")}


def test_a_context_as_a_whole(table):
    optima = kes.learn(table, contexts="condition", runs=10)
    assert optima.settings.exogenous == ("condition",)
    assert {(r["context"], r["touches"]) for r in optima.contexts()} == {
        ("condition", "x"),
        ("condition", "y"),
    }
    # It touches both ends of x - y, so it cannot direct that edge.
    assert optima.best.mpdag.by_exogenous == {("y", "z")}


def test_all_that_takes_scoring_options_takes_contexts(table):
    small = table[:300]
    known = {"contexts": ["condition"]}
    graph = kes.learn(small, runs=5, **known).best.graph
    assert kes.score(graph, small, **known) == kes.learn(small, runs=5, **known).best.score
    assert kes.certify(small, **known).proven
    steps = kes.inclusion_boundary(graph, small, **known)
    assert all("condition" not in (step.x, step.y) or step.kind for step in steps)
    assert kes.inclusion_boundary(graph, contexts=["condition"])
    assert kes.stability(small, resamples=2, runs=2, **known).resamples == 2
    assert kes.cross_validate(small, folds=2, runs=2, **known)
    assert kes.sweep(small, ks=[1.0], runs=2, **known)


def test_without_exogenous_variables_there_is_nothing_to_show(table):
    with pytest.raises(kes.KesError) as caught:
        kes.learn(table[:100], runs=1).contexts()
    assert caught.value.option == "contexts"


@pytest.mark.parametrize(
    ("contexts", "column"),
    [(["conditon"], "conditon"), (3, None), ([3], None), (["condition", "x", "y", "z"], None)],
)
def test_what_cannot_be_a_context_is_named(table, contexts, column):
    with pytest.raises(kes.KesError) as caught:
        kes.learn(table, contexts=contexts, runs=1)
    assert (caught.value.option, caught.value.column) == ("contexts", column)


def test_effects_adjust_for_contexts(table):
    """The effect of x on z is 0.8 per unit, whatever the experiments did to x and y."""
    optima = kes.learn(table, interventions=KNOWN, runs=20, transform="none")
    effects = optima.effects("x", "z", within=1.0)
    assert all(abs(value - 0.8) < 0.1 for value in effects["effect"])
