"""Contexts, interventions and series on the command line."""

import io

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes


@pytest.fixture(autouse=True)
def tables(tmp_path, monkeypatch):
    """A table of experiments, their targets, and a table of series."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    condition = rng.choice(["none", "a", "b"], 500)
    x = rng.normal(size=500) + 2 * (condition == "a")
    y = x + rng.normal(size=500) + 2 * (condition == "b")
    pd.DataFrame({"condition": condition, "x": x, "y": y}).to_csv("tests.csv", index=False)
    with open("targets.toml", "w") as file:
        file.write('[condition]\na = "x"\nb = ["y"]\nnone = []\n')
    rows = []
    for patient in "abcdefgh":
        value = 0.0
        for week in range(20):
            value = 0.8 * value + rng.normal()
            rows.append((patient, week, value, value + rng.normal()))
    names = ["patient", "week", "u", "v"]
    pd.DataFrame(rows, columns=names).to_csv("series.csv", index=False)


def test_interventions_are_read_from_a_file(printed):
    words = ("learn", "tests.csv", "--interventions", "targets.toml", "--runs", 5)
    code, out, _ = printed(*words, "--out", "a.kes.json.gz")
    assert code == 0
    assert "condition[a] -> x" in out
    targets = {"condition": {"a": "x", "b": "y", "none": None}}
    assert kes.load("a.kes.json.gz") == kes.learn("tests.csv", interventions=targets, runs=5)
    for command in ("edges", "fit", "certify"):
        more = ("--out", "network.json") if command == "fit" else ()
        assert printed(command, "a.kes.json.gz", *more)[0] == 0


def test_contexts_are_columns(printed):
    code, out, _ = printed("learn", "tests.csv", "--contexts", "condition", "--runs", 5)
    assert code == 0
    assert "1 exogenous variable" in out
    code, _, err = printed("learn", "tests.csv", "--contexts", "conditon", "--runs", 5)
    assert code == 2
    assert "--contexts: the data have no column 'conditon' (did you mean 'condition'?)" in err
    code, _, err = printed("learn", "--example", "alarm", "--contexts", "HRr", "--runs", 5)
    assert (code, "--contexts: the data have no column 'HRr'" in err) == (2, True)


def test_series_have_earlier_rows(printed):
    words = ("learn", "series.csv", "--lags", 1, "--by", "patient", "--time", "week", "--runs", 5)
    code, out, _ = printed(*words, "--out", "a.kes.json.gz")
    assert code == 0
    assert "u[t-1] -> u" in out
    series = kes.lagged("series.csv", 1, by="patient", time="week")
    assert kes.load("a.kes.json.gz") == kes.learn(series, runs=5)
    assert printed("edges", "a.kes.json.gz")[0] == 0
    code, out, _ = printed("certify", *words[1:-2])
    assert code == 0


def test_the_same_command_extends_a_result(printed):
    words = ("learn", "series.csv", "--lags", 1, "--by", "patient", "--time", "week")
    for runs in (3, 6):
        assert printed(*words, "--runs", runs, "--out", "a.kes.json.gz")[0] == 0
    assert len(kes.load("a.kes.json.gz").runs) == 6


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["series.csv", "--by", "patient"], "--lags"),
        (["series.csv", "--lags", "1", "--by", "patent"], "patent"),
        (["series.csv", "--lags", "0"], "--lags"),
        (["series.csv", "--lags", "1", "--time", "week"], "--by"),
        (["tests.csv", "--interventions", "none.toml"], "none.toml"),
        (["tests.csv", "--interventions", "tests.csv"], "tests.csv"),
        (["series.csv", "--interventions", "targets.toml"], "condition"),
    ],
)
def test_what_cannot_be_used_is_named(printed, words, said):
    code, _, err = printed("learn", *words, "--runs", 1)
    assert code in (1, 2)
    assert said in err
    assert "Traceback" not in err


def test_a_recipe_repeats_the_result():
    from kes.show.report.recipe import command_line, python_call

    series = kes.lagged("series.csv", 1, by="patient", time="week")
    targets = {"condition": {"a": "x", "none": None}}
    for optima in (
        kes.learn(series, runs=3),
        kes.learn("tests.csv", interventions=targets, runs=3),
        kes.learn("tests.csv", contexts=["condition"], runs=3),
    ):
        found = {}
        exec(python_call(optima), found)
        assert found["optima"] == optima
    assert "--lags 1 --by patient --time week" in command_line(kes.learn(series, runs=3))


def test_forecasts(printed):
    """A result knows how its series are stored; a network has to be told."""
    how = ("--by", "patient", "--time", "week")
    printed("learn", "series.csv", "--lags", 1, *how, "--runs", 5, "--out", "a.kes.json.gz")
    code, out, _ = printed("forecast", "a.kes.json.gz", "series.csv", "--steps", 2)
    assert code == 0
    network = kes.load("a.kes.json.gz").best.fit("series.csv")
    expected = network.forecast("series.csv", 2, by="patient", time="week")
    rows = pd.read_csv(io.StringIO(out))
    assert [*rows] == [*expected.columns]
    assert len(rows) == len(expected) == 8 * 2 * 2
    assert rows["forecast"].tolist() == pytest.approx(expected["forecast"])
    printed("fit", "a.kes.json.gz", "--out", "n.json")
    assert printed("forecast", "n.json", "series.csv", "--steps", 2, *how)[1] == out
    code, _, err = printed("forecast", "n.json", "series.csv")
    assert code == 0, "one series, in the order of its rows"
    printed("learn", "tests.csv", "--runs", 1, "--out", "b.kes.json.gz")
    code, _, err = printed("forecast", "b.kes.json.gz", "tests.csv")
    assert (code, "kes.lagged" in err) == (2, True)
    printed("fit", "b.kes.json.gz", "--average", "--members", 2, "--out", "mean.json")
    assert printed("forecast", "mean.json", "tests.csv")[0] == 2


def test_what_earlier_values_lack_is_said(printed):
    how = ("--by", "patient", "--time", "week")
    printed("learn", "series.csv", "--lags", 1, *how, "--runs", 5, "--out", "a.kes.json.gz")
    network = kes.load("a.kes.json.gz").best.fit("series.csv")
    with refused("kes.lagged"):
        network.log_likelihood("series.csv")
    code, _, err = printed("learn", "series.csv", "--lags", 1, "--time", "wek")
    assert code == 2
    assert "Error: --time: the data have no column 'wek'" in err
