"""Improving by the command line, and the highest scores known."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import kes
import kes.data
from kes.cli import run

SAMPLES = Path(__file__).parents[3] / "../shared/data/samples"
shared = pytest.mark.skipif(not SAMPLES.exists(), reason="needs ../shared/data")
posix = pytest.mark.skipif(os.name != "posix", reason="signals as Unix has them")


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=400)


@pytest.fixture
def csv(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = zip(data.names, data.codes, data.states, strict=True)
    table = pd.DataFrame({name: [states[c] for c in codes] for name, codes, states in columns})
    table.to_csv("data.csv", index=False)
    return "data.csv"


def learn(*arguments):
    return run(["learn", *map(str, arguments)])


def test_command_line(csv, capsys):
    common = (csv, "--k", 0.4, "--runs", 20)
    assert learn(*common, "--jobs", 1, "--out", "a.json.gz") == 0
    shown = capsys.readouterr()
    kept = kes.load("a.json.gz")
    python = kes.learn(csv, k=0.4, runs=20)
    assert kept == python
    python.save("python.json.gz")
    assert Path("a.json.gz").read_bytes() == Path("python.json.gz").read_bytes()
    assert kept.tasks == 200, "ten for each run"
    assert shown.out.startswith(repr(kept))
    assert "a higher score in 200 tasks\n" in shown.out
    assert shown.err == ""
    assert learn(*common, "--no-improve", "--out", "c.json") == 0
    assert kes.load("c.json").tasks == 0
    assert learn(*common, "--improve-budget", "0.2s", "--out", "c.json") == 0
    assert kes.load("c.json").tasks > 0
    assert learn(*common, "--improve-budget", "1s", "--improve-tasks", 5) == 2
    assert learn(*common, "--improve-budget", "soon") == 2


def test_how_much_was_improved_makes_no_other_settings(csv, capsys):
    common = (csv, "--k", 0.4, "--out", "a.json.gz", "--quiet")
    assert learn(*common, "--runs", 20) == 0
    changed = os.stat("a.json.gz").st_mtime_ns
    for same in ([], ["--no-improve"], ["--improve-tasks", 200], ["--improve-tasks", 30]):
        assert learn(*common, "--runs", 20, *same) == 0
        assert os.stat("a.json.gz").st_mtime_ns == changed, "there was nothing to do"
    assert learn(*common, "--runs", 20, "--improve-tasks", 230) == 0
    assert kes.load("a.json.gz").tasks == 230
    assert learn(*common, "--runs", 20, "--improve-budget", "0.01s") == 0
    assert kes.load("a.json.gz").tasks >= 230, "a short time takes nothing away"
    before = kes.load("a.json.gz")
    assert learn(*common, "--runs", 30, "--no-improve") == 0
    kept = kes.load("a.json.gz")
    assert {o.graph for o in kept} >= {o.graph for o in before}, "no model is lost"
    assert kept.of_runs == kes.learn(csv, k=0.4, runs=30, improve=False).of_runs
    assert learn(*common, "--runs", 30) == 0
    kes.learn(csv, k=0.4, runs=30).save("whole.json.gz")
    assert Path("a.json.gz").read_bytes() == Path("whole.json.gz").read_bytes()


@posix
def test_stopped_while_improving_and_resumed_it_ends_in_the_same_bytes(csv):
    """The runs are in the file before they are improved on, and improving starts again."""
    command = ["learn", csv, "--k", "0.4", "--runs", "30", "--improve-tasks", "20000"]
    assert run([*command, "--out", "whole.json.gz", "--quiet"]) == 0
    for signal_ in (signal.SIGINT, signal.SIGKILL):
        Path("a.json.gz").unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-m", "kes", *command, "--out", "a.json.gz", "--progress"],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        for _ in range(6000):  # on a busy machine it may take a minute to start
            if Path("a.json.gz").exists():
                break
            time.sleep(0.02)
        time.sleep(0.1)
        process.send_signal(signal_)
        _, shown = process.communicate(timeout=30)
        stopped = kes.load("a.json.gz")
        assert len(stopped.runs) == 30
        assert stopped.tasks < 20000, "it was stopped in time for this test"
        if signal_ == signal.SIGINT:
            assert process.returncode == 130
            assert f"Interrupted after 30 runs and {stopped.tasks} task" in shown
            assert "resumes from there" in shown
        assert run([*command, "--out", "a.json.gz", "--quiet"]) == 0
        assert Path("a.json.gz").read_bytes() == Path("whole.json.gz").read_bytes()


def test_stopped_when_all_tasks_are_done_it_is_complete_when_given_again(csv):
    command = ["learn", csv, "--k", "0.4", "--runs", "5", "--improve-tasks", "20"]
    assert run([*command, "--out", "a.json"]) == 0
    whole = Path("a.json").read_text(encoding="utf-8")
    assert whole.count('"complete":true') == 1
    Path("a.json").write_text(
        whole.replace('"complete":true', '"complete":false'), encoding="utf-8"
    )
    assert run([*command, "--out", "a.json"]) == 0
    assert Path("a.json").read_text(encoding="utf-8") == whole


# --- known best scores ---------------------------------------------------------------------------


def test_the_certified_optimum_of_twenty_variables_for_nearly_every_seed():
    """The certificate is exact: dynamic programming over all sets of variables."""
    alarm = kes.datasets.alarm(rows=1000)
    data = kes.Dataset(names=alarm.names[:20], states=alarm.states[:20], codes=alarm.codes[:20])
    best = kes.certify(data).score
    found = [kes.learn(data, k=0.4, runs=100, random_state=seed) for seed in range(20)]
    scores = [optima.best.score for optima in found]
    assert max(scores) <= best + 1e-6
    assert sum(score > best - 1e-6 for score in scores) >= 19


@shared
@pytest.mark.parametrize(
    ("name", "tasks", "score"),
    [
        ("alarm_1000", 1000, -11884.40),
        ("alarm_20000", 1000, -211586.35),
        ("insurance_10000", 1000, -134393.72),
        ("hailfinder_10000", 1000, -498982.63),
        ("win95pts_10000", 1000, -92485.51),
    ],
)
def test_scores_at_least_the_highest_known(name, tasks, score):
    """XGES, with a discrete score added to its C++ search, ends at these."""
    table = pd.read_csv(SAMPLES / f"{name}.csv.gz", dtype=str)
    best = kes.learn(table, k=0.4, runs=100, improve=tasks, edge_prior=0).best.score
    assert best > score - 0.006
    many = kes.learn(table, k=0.4, runs=1000, improve=False)
    assert best >= many.best.score - 1e-6, "never below 1000 runs"
