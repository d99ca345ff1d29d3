"""Shared fixtures: a table as other libraries represent it."""

import os

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from kes.cli import run

FRAMES = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "polars": pl.DataFrame,
    "polars lazy": lambda columns: pl.DataFrame(columns).lazy(),
    "pyarrow": pa.table,
}


@pytest.fixture(params=FRAMES)
def frame(request):
    """Make a data frame of a dictionary of columns."""
    return FRAMES[request.param]


@pytest.fixture
def printed(capsys):
    """Give a command; return its exit code, and what it says on both outputs."""
    capsys.readouterr()

    def call(*words):
        code = run([str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture(scope="session")
def cli_home(tmp_path_factory):
    """A folder with tables of all kinds, and results that were learned from them."""
    folder = tmp_path_factory.mktemp("home")
    random = np.random.default_rng(1)
    smoker = random.choice(["no", "yes"], 400, p=[0.6, 0.4])
    cancer = np.where(random.random(400) < np.where(smoker == "yes", 0.5, 0.1), "yes", "no")
    dose = random.normal(size=400) + 2 * (smoker == "yes")
    effect = 3 * dose + random.normal(size=400)
    frame = pd.DataFrame({"smoker": smoker, "cancer": cancer, "dose": dose, "effect": effect})
    frame["noise"] = random.choice(["a", "b"], 400)
    frame[["smoker", "cancer", "noise"]].to_csv(folder / "data.csv", index=False)
    frame[["dose", "effect"]].to_csv(folder / "numbers.csv", index=False)
    frame[["smoker", "dose", "effect"]].to_csv(folder / "mixed.csv", index=False)
    holes = frame[["smoker", "cancer", "noise"]].astype(object)
    holes.iloc[:5, 0] = "?"
    holes.assign(times=2).to_csv(folder / "holes.csv", sep=";", index=False)
    old = os.getcwd()
    os.chdir(folder)
    try:
        for name in ("data", "numbers", "mixed"):
            assert _learn(f"{name}.csv", "--runs", 5, "--out", f"{name}.kes.json.gz") == 0
        reading = ("--missing", "drop,?", "--weights", "times", "--drop", "noise")
        assert _learn("holes.csv", *reading, "--runs", 5, "--out", "holes.kes.json.gz") == 0
        cuts = ("--discretize", "dose=3", "--runs", 5)
        assert _learn("mixed.csv", *cuts, "--out", "cut.kes.json.gz") == 0
    finally:
        os.chdir(old)
    return folder


def _learn(*words):
    return run(["learn", *map(str, words)])
