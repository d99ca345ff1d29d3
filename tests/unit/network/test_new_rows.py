"""Rows as they come, all the way: what was decided about columns stays with result and network."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.cli import run

ROWS = 300
HOW = {"runs": 3, "improve": False}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """A chain dose -> effect -> weight with a group, an identifier, a date, and gaps."""
    rng = np.random.default_rng(8)
    group = rng.choice(["a", "b"], ROWS)
    dose = rng.gamma(2.0, 2.0, ROWS).round(3)
    effect = (np.log(dose) + (group == "b") + 0.3 * rng.normal(size=ROWS)).round(3)
    weight = (70 + 10 * effect + 3 * rng.normal(size=ROWS)).round(1)
    frame = pd.DataFrame(
        {
            "id": range(ROWS),
            "when": pd.date_range("2024-01-01", periods=ROWS),
            "group": group,
            "dose": dose,
            "effect": effect,
            "weight": weight,
        }
    )
    frame.loc[rng.random(ROWS) < 0.1, "weight"] = np.nan
    return frame


@pytest.fixture(scope="module", params=["mixed", "cut", "ranks"])
def optima(request, frame) -> kes.Optima:
    more = {"mixed": {}, "cut": {"discretize": 3}, "ranks": {"transform": "ranks"}}
    return kes.learn(frame, missing="em", **HOW, **more[request.param])


def test_a_fitted_network_takes_raw_rows(optima, frame):
    """New rows with a gap, other columns and unseen numbers: nothing has to be said again."""
    network = optima.best.fit(frame)
    assert tuple(network.nodes) == ("group", "dose", "effect", "weight")
    new = frame.iloc[:5].assign(dose=[0.1234, 5.5, 40.0, 2.2, 1.0])
    per_row = [network.log_likelihood(new.iloc[[i]], unseen="missing") for i in range(5)]
    assert np.isfinite(per_row).all()
    assert network.log_likelihood(new, unseen="missing") == pytest.approx(sum(per_row))
    assert len(network.predict(new.drop(columns="group"), "group", unseen="missing")) == 5


def test_so_does_one_of_a_stored_result(optima, frame, tmp_path):
    optima.save(tmp_path / "a.kes.json")
    loaded = kes.load(tmp_path / "a.kes.json")
    one, other = optima.best.fit(frame), loaded.best.fit(frame)
    rows = frame.dropna().iloc[:20]
    assert one.log_likelihood(rows) == other.log_likelihood(rows)
    loaded.extend(1, data=frame)  # the data are recognised
    assert str(loaded.explain(data=frame)) == str(optima.explain())


def test_so_does_a_stored_network(optima, frame, tmp_path):
    network = optima.best.fit(frame)
    network.save(tmp_path / "network.json")
    again = kes.read_network(tmp_path / "network.json")
    rows = frame.dropna().iloc[:20]
    assert again.log_likelihood(rows) == network.log_likelihood(rows)
    assert list(again.predict(rows, "effect")) == list(network.predict(rows, "effect"))


def test_what_is_said_holds(frame):
    """Options of `fit` go before what is remembered."""
    optima = kes.learn(frame, missing="em", discretize=3, **HOW)
    dropped = optima.best.fit(frame, missing="drop", prior="ml")
    whole = optima.best.fit(frame.dropna(), prior="ml")
    assert dropped.log_likelihood(frame.dropna()) == whole.log_likelihood(frame.dropna())


def test_files_are_read_as_they_were(frame, tmp_path):
    path = tmp_path / "odd.csv"
    frame.to_csv(path, index=False, sep="|", decimal=",", na_rep="?")
    out = tmp_path / "a.kes.json"
    options = ["--sep", "|", "--missing", "?", "--missing", "em", "--drop", "dose"]
    assert run(["learn", str(path), *options, "--runs", "3", "--out", str(out)]) == 0
    network = kes.load(out).best.fit(str(path))
    assert set(network.nodes) == {"group", "effect", "weight"}
    assert np.isfinite(network.log_likelihood(frame.dropna()))


@pytest.mark.parametrize("more", [{}, {"discretize": 3}, {"transform": "ranks"}])
def test_everything_else_takes_the_same_table(frame, more):
    options = {**HOW, "missing": "em", **more}
    validated = kes.cross_validate(frame, folds=2, **options)
    by_model = dict(zip(validated["model"], validated["per_case"], strict=True))
    assert by_model["optimum 0"] > by_model["no edges"]
    stability = kes.stability(frame, resamples=2, **options)
    assert all(len(best.graph.skeleton) >= 2 for best in stability.best)
    swept = kes.sweep(frame, (0.5, 1.0), runs=2, missing="em", **more)
    assert "0.5" in str(swept)


def test_the_estimator(frame):
    pytest.importorskip("sklearn")
    from kes import KES

    for more in ({}, {"discretize": 3}, {"transform": "ranks"}):
        model = KES(runs=2, missing="em", **more).fit(frame)
        assert np.isfinite(model.score(frame.dropna()))


def test_states_that_are_called_as_intervals_take_numbers(frame):
    """In whatever way the table was cut before; what is no number is none of the states."""
    chosen = frame[["dose", "effect"]].dropna()
    cut = kes.discretize(chosen, bins=3)
    network = kes.fit(kes.EssentialGraph.from_dag(["dose", "effect"], [("dose", "effect")]), cut)
    assert network.discretizer is None
    assert network.log_likelihood(chosen) == network.log_likelihood(cut)
    assert network.predict(chosen, "effect").tolist() == network.predict(cut, "effect").tolist()
    odd = pd.DataFrame({"dose": ["much"], "effect": cut["effect"].astype(str).iloc[:1]})
    with refused("'much'", column="dose", row=0):
        network.log_likelihood(odd)
    assert np.isfinite(network.log_likelihood(odd, unseen="missing"))


@pytest.mark.parametrize(
    ("dose", "word"),
    [
        (["0.5", "1.5", "much"], "'much'"),
        ([0.5, 1.5, np.inf], "infinite"),
    ],
)
def test_numbers_are_not_unknown_for_the_sake_of_others(dose, word):
    """Even if what is none of the states is unknown: the others are numbers, and so known."""
    states = {"dose": ["<= 1", "> 1"]}
    network = kes.BayesianNetwork(["dose"], states, {"dose": []}, {"dose": [0.25, 0.75]})
    table = pd.DataFrame({"dose": dose})
    assert network.log_likelihood(table[:2]) == pytest.approx(np.log(0.25 * 0.75))
    with refused(word, column="dose"):
        network.log_likelihood(table, unseen="missing")


@pytest.mark.parametrize(
    ("states", "numbers"),
    [
        (("<= 1", "> 1"), {1: "<= 1", 1.5: "> 1"}),
        (("<= 1", "> 1", "<missing>"), {1: "<= 1", 1.5: "> 1"}),
        (("<missing>", "<= 1", "> 1"), {}),  # nobody here would write them so
    ],
)
def test_a_number_means_its_interval_or_nothing(states, numbers):
    cpt = [(2 + i) / sum(range(2, 2 + len(states))) for i in range(len(states))]
    network = kes.BayesianNetwork(["dose"], {"dose": states}, {"dose": []}, {"dose": cpt})
    for number, state in numbers.items():
        assert network.probability({"dose": number}) == network.probability({"dose": state})
    for number in (np.nan, np.inf, -np.inf, *(() if numbers else (1, 1.5))):
        with refused(column="dose"):
            network.probability({"dose": number})
