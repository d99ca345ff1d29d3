"""Contexts, interventions and series on the command line."""

import numpy as np
import pandas as pd
import pytest

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
    assert "conditon" in err


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
