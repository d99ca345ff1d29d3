"""The calls and settings by which a report can be made again."""

import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kes
from kes.cli import run
from kes.results.optima import Optima
from kes.show.report.page import page
from kes.show.report.recipe import command_line, python_call, settings_rows


@pytest.fixture(scope="module")
def optima():
    return kes.learn(kes.datasets.alarm(rows=500), k=0.5, runs=40, random_state=1)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"criterion": "bdeu", "ess": 2.5, "max_parents": 2},
        {"two_phase": True, "k": 0.0, "random_state": 2**63},
        {"neighbourhood": kes.Sampled(reversals=3, failures=50)},
        {"start": [("x0", "x1")]},
    ],
)
@pytest.mark.parametrize("improve", [False, True, 5])
def test_the_calls_give_the_same_result(tmp_path, monkeypatch, settings, improve):
    values = np.random.default_rng(1).integers(0, 3, (60, 4))
    values[:, 1] = values[:, 0]
    monkeypatch.chdir(tmp_path)
    np.savetxt("data.csv", values, fmt="%d", delimiter=",", header="x0,x1,x2,x3", comments="")
    optima = kes.learn("data.csv", runs=4, improve=improve, **settings)
    same_again(optima, is_command="start" not in settings)
    if not settings:
        same_again(optima.improve(tasks=7).improve(tasks=3), is_command=False)


def same_again(optima, *, is_command, data="data.csv", **given):
    """Do what the report says, and expect the same file."""
    space = {"data": data, **given}
    exec(python_call(optima), space)
    assert space["optima"] == optima
    command = command_line(optima)
    assert (command is not None) == is_command
    if command is not None:
        assert run(shlex.split(command)[1:]) == 0
        optima.save("expected.kes.json.gz")
        again, expected = (Path(f"{n}.kes.json.gz").read_bytes() for n in ("a", "expected"))
        assert again == expected


def test_the_calls_read_the_data_in_the_same_way(tmp_path, monkeypatch):
    """Weights and missing values are part of it."""
    import pandas as pd

    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.integers(0, 2, (80, 3)).astype(str), columns=list("abc"))
    frame["c"] = frame["a"]
    frame.loc[[1, 5], "b"] = None
    frame["times"] = rng.integers(1, 5, 80)
    monkeypatch.chdir(tmp_path)
    frame.to_csv("data.csv", index=False)
    for missing in ("drop", "state"):
        optima = kes.learn("data.csv", runs=4, weights="times", missing=missing)
        same_again(optima, is_command=True)
        Path("a.kes.json.gz").unlink()
        rows = dict(settings_rows(optima))
        assert rows["weights"] == "column 'times'"
    weights = frame.pop("times").to_numpy()
    optima = kes.learn(frame, runs=4, weights=weights, missing="drop")
    same_again(optima, is_command=False, data=frame, weights=weights)
    frame.loc[[7, 9], "b"] = "?"  # from here on: notes about it differ from Python to the shell
    frame.assign(times=weights).to_csv("data.csv", index=False)
    words = "learn data.csv --runs 4 --weights times --missing drop --missing ?,NA --out b.json"
    assert run(words.split()) == 0
    marked = kes.load("b.json")
    assert "--missing '?,NA,drop'" in command_line(marked), "as the README writes it"
    space = {"data": "data.csv"}
    exec(python_call(marked), space)
    assert space["optima"] == marked
    assert run([*shlex.split(command_line(marked))[1:-1], "c.json"]) == 0
    assert Path("b.json").read_bytes() == Path("c.json").read_bytes()


def test_the_version_named_is_the_one_that_made_the_result(optima):
    old = Optima(replace(optima.record, version="0.0.1"))
    assert dict(settings_rows(old))["version of kes"] == "0.0.1"
    assert "<dd>0.0.1</dd>" in page(old)


def test_all_settings_are_named(optima):
    rows, text = dict(settings_rows(optima)), page(optima)
    assert rows["fingerprint of the data"] == optima.record.fingerprint
    assert (rows["seed"], rows["runs"], rows["k"]) == ("1", "40", "0.5")
    for value in rows.values():
        assert f"<dd>{value}</dd>" in text
