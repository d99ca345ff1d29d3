"""Effects as users meet them: what is compared and assumed is said, and can be asked for."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.analysis.adjustment import Contrast, interventions, slope
from kes.analysis.effect_table import Effects
from kes.data import encode


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=400)


@pytest.fixture(scope="module")
def optima(data):
    return kes.learn(data, k=0.5, runs=30)


@pytest.fixture(scope="module")
def table(optima):
    return optima.effects("VENTALV", "CATECHOL", within=20)


def test_a_row_for_each_good_optimum_and_each_set_of_parents(optima, table):
    good = [i for i, o in enumerate(optima) if optima.best.score - o.score <= 20]
    assert sorted(set(table["optimum"])) == good
    assert len(good) < len(optima)
    for number in good:
        sets = [row["parents"] for row in table if row["optimum"] == number]
        assert len(sets) == len(set(sets)) == len(optima[number].to_dowhy("VENTALV", "CATECHOL"))
    best = optima.best.score
    assert all(row["below"] == best - optima[row["optimum"]].score for row in table)


def test_probabilities_are_distributions_and_their_difference_the_effect(optima):
    table = optima.effects("VENTALV", "CATECHOL", states=("LOW", "HIGH"), outcome="HIGH")
    turned = optima.effects("VENTALV", "CATECHOL", states=("HIGH", "LOW"), outcome="HIGH")
    assert any(row["effect"] for row in table)
    for row, other in zip(table, turned, strict=True):
        for state in optima.states["VENTALV"]:
            total = sum(row[f"P({end}|do({state}))"] for end in optima.states["CATECHOL"])
            assert total == pytest.approx(1)
        assert row["effect"] == row["P(HIGH|do(HIGH))"] - row["P(HIGH|do(LOW))"]
        assert row["effect"] == -other["effect"]


def test_unseen_is_the_share_where_a_state_never_occurs():
    """Counted by hand: in the third of the cases with z = 1, x is never b."""
    rows = [("a", 0, 0), ("b", 0, 1), ("a", 0, 0), ("b", 0, 1), ("a", 1, 0), ("a", 1, 1)]
    frame = encode(pd.DataFrame(rows, columns=["x", "z", "y"]))
    found = interventions(frame, "x", "y", ["z"])
    assert found.unseen([0, 1]) == found.unseen([1]) == pytest.approx(1 / 3)
    assert found.unseen([0]) == 0
    assert interventions(frame, "x", "y", []).unseen([0, 1]) == 0
    # Eight cells share one prior case; where x is never b, nothing but that is left.
    seen, guess = (2 + 1 / 8) / (2 + 2 / 8), 1 / 2
    assert found.table[1, 1] == pytest.approx(2 / 3 * seen + 1 / 3 * guess)


def test_the_widths_are_apart(optima, data):
    table = optima.effects("VENTALV", "CATECHOL", within=20, resamples=20)
    rows = {row["range"]: row for row in table.summary()}
    best = [row["effect"] for row in table if row["optimum"] == 0]
    own = rows["within the best class"]
    assert (own["low"], own["high"]) == (min(best), max(best))
    across = rows["across optima"]
    assert (across["low"], across["high"]) == (min(table["effect"]), max(table["effect"]))
    widths = [row["high"] - row["low"] for row in table]
    assert rows["by resampling"]["width"] == max(widths)
    assert rows["all together"]["low"] == min(*table["low"], *table["effect"])
    assert all(row["width"] == row["high"] - row["low"] for row in rows.values())
    without = optima.effects("VENTALV", "CATECHOL", within=20).summary()
    assert list(without["range"]) == ["within the best class", "across optima"]
    # Resampling changes neither graphs nor estimates.
    assert table["effect"] == optima.effects("VENTALV", "CATECHOL", within=20)["effect"]


def test_what_is_assumed_stands_in_the_table(table):
    text = " ".join(repr(table).split())
    assert "no common cause of two variables is missing" in text
    assert "change of P(CATECHOL = HIGH) when VENTALV is set to HIGH instead of ZERO" in text
    assert table.note == table.summary().note
    assert pickle.loads(pickle.dumps(table)) == table
    assert pickle.loads(pickle.dumps(table)).change == table.change


def test_filled_in_values_are_told():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    frame = pd.DataFrame({"a": a.astype(float), "b": a ^ (rng.random(200) < 0.1)})
    whole = kes.learn(frame, runs=2)
    frame.loc[::9, "a"] = np.nan
    filled = kes.learn(frame, runs=2, missing="em")
    for optima, is_filled in ((whole, False), (filled, True)):
        for table in (optima.effects("a", "b"), optima.evidence()):
            assert ("from the completed table" in table.note) == is_filled


def test_resamples_are_filled_in_anew():
    """Where nothing but a binary cause is in doubt, less of it widens the range of its effect.

    By theory the width goes with one over the root of the cases that tell, which are 30 %: with b
    alone nothing is known of the effect. It is thus nearly twice that of all cases.
    """
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 400)
    frame = pd.DataFrame({"a": a.astype(float), "b": a ^ (rng.random(400) < 0.2)})
    full = kes.learn(frame, runs=2).effects("a", "b", resamples=100)
    frame.loc[rng.random(400) < 0.7, "a"] = np.nan
    gappy = kes.learn(frame, runs=2, missing="em").effects("a", "b", resamples=100)
    assert "100 bootstrap resamples, imputed anew" in gappy.note
    assert "imputed anew" not in full.note
    widths = []
    for table in (full, gappy):
        row = next(row for row in table if row["reaches"])
        widths.append(row["high"] - row["low"])
    assert 1.4 < widths[1] / widths[0] < 2.6


def test_only_data_settings_and_seed_decide(optima, data, tmp_path):
    table = optima.effects("VENTALV", "CATECHOL", resamples=5)
    assert table == optima.effects("VENTALV", "CATECHOL", resamples=5)
    optima.save(tmp_path / "a.kes.json.gz")
    loaded = kes.load(tmp_path / "a.kes.json.gz")
    with refused(option="data"):
        loaded.effects("VENTALV", "CATECHOL")
    assert loaded.effects("VENTALV", "CATECHOL", resamples=5, data=data.to_pandas()) == table


def test_knowledge_leaves_fewer_sets_of_parents():
    """In the chain a - b - c, a variable of the first tier has no parents."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 500)
    b = a ^ (rng.random(500) < 0.1)
    frame = pd.DataFrame({"a": a, "b": b, "c": b ^ (rng.random(500) < 0.1)})
    free = kes.learn(frame, runs=5)
    assert {row["parents"] for row in free.effects("b", "c", within=0)} == {(), ("a",), ("c",)}
    known = kes.learn(frame, runs=5, knowledge=kes.Knowledge(roots=["b"]))
    assert [row["parents"] for row in known.effects("b", "c", within=0)] == [()]
    [arguments] = known.best.to_dowhy("b", "c")
    assert set(arguments["graph"].edges) == {("b", "a"), ("b", "c")}


def test_graphs_for_dowhy_are_networks_of_the_class(optima):
    every = optima.best.to_dowhy("VENTALV", "CATECHOL")
    for arguments in every:
        graph = arguments["graph"]
        assert (arguments["treatment"], arguments["outcome"]) == ("VENTALV", "CATECHOL")
        assert nx.is_directed_acyclic_graph(graph)
        assert kes.EssentialGraph.from_dag(optima.names, graph.edges) == optima.best.graph
    with refused("did you mean 'VENTALV'", column="VENTALF"):
        optima.best.to_dowhy("VENTALF", "CATECHOL")


def test_discrete_causes_of_continuous_outcomes():
    """The difference of means, in a table where nothing confounds them."""
    rng = np.random.default_rng(0)
    dose = np.array(["high", "low", "none"])[rng.integers(0, 3, 600)]
    shift = {"none": 0.0, "low": 1.0, "high": 3.0}
    frame = pd.DataFrame({"dose": dose, "level": rng.normal(size=600) + [shift[d] for d in dose]})
    optima = kes.learn(frame, runs=5)
    rows = {r["parents"]: r for r in optima.effects("dose", "level", states=("none", "high"))}
    means = frame.groupby("dose")["level"].mean()
    assert rows[()]["effect"] == pytest.approx(means["high"] - means["none"])
    assert rows["level",]["effect"] == 0
    back = optima.effects("level", "dose", outcome="high")
    found = {r["parents"]: r for r in back}[()]
    assert 0 < found["effect"] < 1
    assert "log-odds" in back.note


@pytest.mark.parametrize(
    ("arguments", "options", "fields", "word"),
    [
        (("HR", "HRX"), {}, {"column": "HRX"}, "did you mean 'HR'"),
        (("HR", "HR"), {}, {"column": "HR"}, "itself"),
        (("HR", "CO"), {"states": ("LOW", "SOME")}, {"column": "HR"}, "'SOME'"),
        (("HR", "CO"), {"states": "LOW"}, {"option": "states"}, "two"),
        (("HR", "CO"), {"outcome": 3}, {"column": "CO"}, "3"),
        (("HR", "CO"), {"within": -1}, {"option": "within"}, ""),
        (("HR", "CO"), {"resamples": -1}, {"option": "resamples"}, ""),
        (("HR", "CO"), {"resample": 5}, {"option": "resample"}, "did you mean resamples"),
    ],
)
def test_wrong_questions(optima, arguments, options, fields, word):
    with refused(word, **fields):
        optima.effects(*arguments, **options)


def test_continuous_variables_have_no_states():
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    optima = kes.learn(pd.DataFrame({"a": a, "b": a + rng.normal(size=200)}), runs=2)
    for options in ({"states": (0, 1)}, {"outcome": 1}):
        with refused("continuous", option=next(iter(options))):
            optima.effects("a", "b", **options)


def test_a_cause_that_its_parents_determine_has_no_slope():
    """Nothing varies that could be set: no number is given, neither in ranges nor in pictures."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300))
    frame = pd.DataFrame({"a": a, "b": b, "x": a + b, "y": a - b + rng.normal(size=300)})
    found = slope(encode(frame), Contrast("x", "y", None, None), ["a", "b"])
    assert np.isnan(found)
    table = Effects(
        {"optimum": [0, 0], "below": [0.0, 0.0], "effect": [None, 2.0]},
        note="",
        x="x",
        y="y",
        change="the mean of y",
        resamples=0,
    )
    assert list(table.summary()["width"]) == [0, 0]
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra plot)")
    kes.learn(frame.drop(columns="x"), runs=1).plot_effects(table).figure.clear()


def test_constant_variables_have_no_effect():
    frame = pd.DataFrame({"a": [0, 1] * 20, "b": [0, 1] * 20, "c": [1] * 40})
    with refused(column="c"):
        kes.learn(frame, runs=1).effects("c", "a")


def test_the_picture_has_a_dot_for_each_row(optima):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra plot)")
    for resamples in (0, 5):
        table = optima.effects("VENTALV", "CATECHOL", within=20, resamples=resamples)
        ax = optima.plot_effects(table)
        dots = [tuple(point) for dots in ax.collections for point in dots.get_offsets()]
        expected = {(row["effect"], row["below"]) for row in table}
        assert expected <= {(float(x), float(y)) for x, y in dots}
        assert table.change in ax.get_xlabel()
        assert ("resamples" in ax.get_title(loc="left")) == bool(resamples)
        ax.figure.clear()
