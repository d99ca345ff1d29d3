"""Five thousand columns, as a user meets them: read, searched, asked and reported from the shell.

Limits are processor seconds with a wide margin: what grew with the square of the number of columns
took minutes here.
"""

import resource
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

COLUMNS, CASES = 5000, 100


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table in which every column but the first depends on an earlier one."""
    folder = tmp_path_factory.mktemp("wide")
    rng = np.random.default_rng(1)
    values = rng.standard_normal((COLUMNS, CASES))
    for child in range(1, COLUMNS):
        values[child] += 2 * values[max(0, child - 1 - child % 5)]
        values[child] /= values[child].std()
    names = [f"v{i}" for i in range(COLUMNS)]
    pd.DataFrame(values.T, columns=names).to_parquet(folder / "data.parquet")
    return folder


def run(folder, *arguments):
    """Run a command; return its processor seconds and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "kes", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, done.stdout


def test_learn_edges_and_report(folder):
    seconds, _ = run(folder, "audit", "data.parquet")
    assert seconds < 30
    search = ["--runs", "1", "--k", "1", "--no-improve", "--jobs", "1", "--out", "a.kes"]
    seconds, said = run(folder, "learn", "data.parquet", *search)
    assert seconds < 120
    assert f"{COLUMNS} variables" in said
    seconds, said = run(folder, "report", "a.kes", "--out", "a.html")
    assert seconds < 180
    assert (folder / "a.html").stat().st_size < 20e6
