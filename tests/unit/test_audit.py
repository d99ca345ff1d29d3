"""A look at a table before anything is learned from it."""

from __future__ import annotations

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
