"""A look at a table before anything is learned from it."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import kes
from kes.cli import run

ROWS = 60


@pytest.fixture
def messy():
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "id": range(1, ROWS + 1),
            "when": pd.date_range("2024-01-01", periods=ROWS).strftime("%d.%m.%Y"),
            "dose": [f"{x:.2f}".replace(".", ",") for x in rng.normal(5, 1, ROWS)],
            "mass": rng.normal(70, 9, ROWS),
            "sex": rng.choice(["f", "m", None], ROWS, p=[0.5, 0.4, 0.1]),
            "site": ["north"] * ROWS,
            "empty": [None] * ROWS,
            "odd": [1, "x"] * (ROWS // 2),
        }
    )


def test_every_column_gets_a_verdict(messy):
    table = kes.audit(messy)
    assert table.columns == (
        "column",
        "kind",
        "values",
        "missing",
        "examples",
        "verdict",
        "what to do",
    )
    assert table["column"] == tuple(messy.columns)
    assert table["kind"] == (
        "identifier",
        "date",
        "continuous",
        "continuous",
        "discrete",
        "constant",
        "empty",
        "unusable",
    )
    verdicts = dict(zip(table["column"], table["verdict"], strict=True))
    assert verdicts["id"].startswith("left out")
    assert verdicts["dose"] == "taken as continuous: text read as numbers with decimal commas"
    assert verdicts["empty"].startswith("refused")
    rows = {row["column"]: row for row in table}
    assert rows["sex"]["missing"] == messy["sex"].isna().mean()
    assert rows["mass"]["values"] == ROWS
    assert rows["when"]["examples"].startswith("01.01.2024")
    assert "mixes values of different types" in rows["odd"]["what to do"]


def test_it_is_what_learn_decides(messy):
    used = messy.drop(columns=["odd", "empty"])
    table = kes.audit(used)
    optima = kes.learn(used, runs=2, missing="drop", improve=False)
    taken = {row["column"]: row["kind"] for row in table if row["verdict"].startswith("taken")}
    assert set(optima.names) == set(taken)
    for name, kind in optima.kinds.items():
        assert taken[name] in (kind, "constant")


def test_the_command_shows_all_of_it(messy, tmp_path, capsys):
    path = tmp_path / "messy.csv"
    messy.to_csv(path, index=False, sep=";")
    assert run(["audit", str(path)]) == 0
    shown = capsys.readouterr().out
    for part in ("id", "identifier", "left out", "decimal commas", "constant", "missing"):
        assert part in shown
    assert run(["audit", str(path), "--discrete", "id", "--columns", "id,sex"]) == 0
    shown = capsys.readouterr().out
    assert "identifier" not in shown
    assert "dose" not in shown
    assert run(["audit", str(path), "--columns", "ids"]) == 2
    assert "did you mean 'id'?" in capsys.readouterr().err
    assert run(["audit", str(path), "--rows", "3"]) == 2


def test_it_can_be_read_on_a_narrow_terminal(messy):
    """Verdicts and advice are what the table is for, so they must not be cut off."""
    text = str(kes.audit(messy))
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    for row in kes.audit(messy):
        if row["kind"] not in ("discrete", "continuous"):
            assert f"{row['column']}: {row['verdict']}" in words
            assert row["what to do"] in words
    assert "mass:" not in text  # nothing to say that the table does not


def test_long_audits_are_cut_in_the_middle():
    wide = pd.DataFrame({f"id{i}": range(100) for i in range(50)})
    assert "... and 30 more remarks" in str(kes.audit(wide))
    assert "id31: left out" in kes.audit(wide).to_text()


def test_the_same_is_said_once_of_all_columns():
    rng = np.random.default_rng(3)
    prices = {f"p{i}": [f"{x:.2f}".replace(".", ",") for x in rng.normal(5, 1, 60)] for i in "abc"}
    table = pd.DataFrame({**prices, "one": ["x"] * 60, "two": ["y"] * 60})
    table.loc[3, "pb"] = None
    assert str(kes.audit(table)).splitlines()[-3:] == [
        "pa, pb, pc: taken as continuous: text read as numbers with decimal commas",
        "one, two: taken as discrete; isolated in every model; leave it out if you like",
        "missing values: see missing",
    ]


def test_whole_numbers_that_may_be_codes_are_named_together():
    """Of three columns of whole numbers, two have few enough values for codes."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"a": rng.integers(0, 900, 300), "b": np.arange(300) % 20, "c": np.arange(300) % 30}
    )
    text = " ".join(str(kes.audit(table)).split())
    assert text.count("codes without an order") == 1
    assert "b, c: taken as continuous: whole numbers with more than 12 values; if these" in text
    assert 'kinds={"b": "discrete", "c": "discrete"}' in text
    [note] = (note for note in kes.learn(table, runs=1).notes if "codes" in note)
    assert note.endswith(
        "'a', 'b', 'c'; if some of these are codes without an order: "
        'kinds={"b": "discrete", "c": "discrete"}'
    )


def test_the_summary_and_the_result_keep_what_was_decided(messy, tmp_path):
    optima = kes.learn(messy.drop(columns=["odd", "empty"]), runs=2, missing="drop")
    shown = str(optima)
    assert "left out: 'id' (whole numbers without a gap, all different" in shown
    assert "'when' (dates; to use them: dates=" in shown
    assert "'dose': text read as numbers with decimal commas" in shown
    assert "constant, so isolated in every model: 'site'" in shown
    assert "dropped" in shown
    optima.save(tmp_path / "a.kes.json")
    assert str(kes.load(tmp_path / "a.kes.json")) == shown


def test_the_command_tells_each_note_once(messy, tmp_path, capsys):
    path = tmp_path / "messy.csv"
    messy.drop(columns=["odd", "empty"]).to_csv(path, index=False)
    assert run(["learn", str(path), "--runs", "2", "--missing", "drop"]) == 0
    out, err = capsys.readouterr()
    assert (out + err).count("left out: 'id'") == 1
    assert "to use it: --continuous id" in err


def test_all_that_is_wrong_is_said_at_once(messy, tmp_path, capsys):
    """Unusable, empty and incomplete columns: one round of mending, not three."""
    with pytest.raises(kes.KesError) as caught:
        kes.learn(messy)
    for part in ("column 'odd' mixes", "single value: 'empty'", "column 'sex' ("):
        assert part in str(caught.value)
    path = tmp_path / "empty.csv"
    messy.drop(columns="odd").to_csv(path, index=False)
    assert run(["learn", str(path)]) == 2
    told = capsys.readouterr().err
    for part in ("--drop empty", "--missing em", "--missing drop", "--missing state"):
        assert part in told


@pytest.mark.parametrize("rows", [16, 17])
def test_numbers_with_a_value_for_each_case(rows):
    """As states they say the same, whatever they measure: to be taken as numbers."""
    rng = np.random.default_rng(rows)
    values = {name: rng.permutation(100)[:rows] * 2 for name in "ab"}
    table = pd.DataFrame({**values, "c": rng.normal(size=rows)})
    advice = r'take numbers as continuous with kinds={"a": "continuous", "b": "continuous"}'
    states = {"a": "discrete", "b": "discrete"}
    with pytest.raises(kes.KesError) as caught:
        kes.learn(table, kinds=states, criterion="degenerate-bic")
    assert advice in str(caught.value)
    few = kes.learn(table.drop(columns="c"), kinds=states, runs=1)
    [note] = [n for n in few.notes if "many states" in n]
    assert advice in note
    assert kes.learn(table, runs=1).kind == "continuous"


def test_isolated_numbers_with_many_states_get_a_hint():
    """An edge between two columns of 30 values costs 841 parameters as states, one as numbers."""
    rng = np.random.default_rng(2)
    x = rng.integers(0, 30, 2000)
    table = pd.DataFrame({"x": x, "y": np.clip(x + rng.integers(-20, 21, 2000), 0, 29)})
    optima = kes.learn(table, runs=2, kinds={"x": "discrete", "y": "discrete"})
    shown = str(optima)
    assert re.search(r"isolated +'x', 'y'\n", shown)
    assert "'x' has no edge, but depends on 'y' (G² test, p = " in shown
    assert "with 30 and 30 states, an edge costs more than it gains; try " in shown
    assert shown.count("has no edge") == 1
    optima.problem = None  # as after loading, without the table
    advice = "isolated      'x', 'y'; edges of 'x', 'y' cost less if they are taken as continuous"
    assert advice in str(optima)
    numbers = kes.learn(table, runs=2)
    assert len(numbers.best.graph.skeleton) == 1
    audit = kes.audit(table)
    assert audit["kind"] == ("continuous", "continuous")
    assert 'kinds={"x": "discrete"}' in audit["what to do"][0]
    with pytest.raises(kes.KesError) as refused:
        kes.learn(table, criterion="bdeu")
    assert 'kinds={"x": "discrete", "y": "discrete"}' in str(refused.value)
