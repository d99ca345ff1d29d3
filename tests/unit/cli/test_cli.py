"""The command line as a user meets it: output, exit codes, resuming, interrupts, crashes."""

import inspect
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from tests.clock import within

import kes
from kes.cli import run

posix = pytest.mark.skipif(os.name != "posix", reason="signals and pipes as Unix has them")
KES = [sys.executable, "-m", "kes"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def table():
    """Something for a few runs to disagree about."""
    alarm = kes.datasets.alarm(rows=300)
    values = {
        name: [states[code] for code in codes]
        for name, states, codes in zip(alarm.names, alarm.states, alarm.codes, strict=True)
    }
    return pd.DataFrame(values).iloc[:, :15]


@pytest.fixture
def csv(table):
    table.to_csv("data.csv", index=False)
    return "data.csv"


def learn(*arguments):
    return run(["learn", *map(str, arguments)])


# --- what it does --------------------------------------------------------------------------------


def test_learn_is_the_same_as_in_python(csv, capsys):
    assert learn(csv, "--k", 0.3, "--runs", 30, "--seed", 5, "--jobs", 2, "--out", "a.json.gz") == 0
    optima = kes.learn(csv, k=0.3, runs=30, random_state=5)
    assert kes.load("a.json.gz") == optima
    shown = capsys.readouterr()
    assert shown.out.startswith(repr(optima))
    assert re.search(r"^  seconds       \d+\.\d\d\n\nThe best network, ", shown.out, re.M)
    assert (
        "\nSaved to a.json.gz\nNext:\n  how sure each edge is  kes edges a.json.gz\n" in shown.out
    )
    assert shown.err == "", "plain and quiet when not on a terminal"


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ("--criterion BDEU --ess 2.5", {"criterion": "bdeu", "ess": 2.5}),
        ("--criterion aic --max-parents 2", {"criterion": "aic", "max_parents": 2}),
        ("--two-phase --cache-mb 64", {"two_phase": True}),
        ("--neighbourhood sampled", {"neighbourhood": "sampled"}),
        (
            "--neighbourhood sampled --reversals 4 --failures 2",
            {"neighbourhood": kes.Sampled(reversals=4, failures=2)},
        ),
        ("--patience 3", {"patience": 3}),
        ("--budget 1h", {}),
    ],
)
def test_options(csv, arguments, options):
    assert (
        learn(csv, "--runs", 10, "--no-prove", "--quiet", "--out", "a.json", *arguments.split())
        == 0
    )
    assert kes.load("a.json") == kes.learn(csv, runs=10, prove=False, **options)


def test_weights(table):
    small = table[["CVP", "PCWP", "LVEDVOLUME"]]
    small.value_counts().rename("times").reset_index().to_csv("counts.csv", index=False)
    assert learn("counts.csv", "--weights", "times", "--runs", 5, "--out", "a.json") == 0
    assert list(kes.load("a.json").run_scores) == list(kes.learn(small, runs=5).run_scores)


@pytest.mark.parametrize(
    ("arguments", "states"),
    [
        (["--missing", "drop", "--missing", "NA,?"], 2),
        (["--missing", "state,NA,?"], 3),
        (["--missing", "state", "--missing", "NA", "--missing", "?"], 3),
    ],
)
def test_missing(arguments, states):
    pd.DataFrame({"x": ["a", "?", "b", "NA", "a"], "y": [1, 2, 1, 2, 2]}).to_csv(
        "holes.csv", index=False
    )
    assert learn("holes.csv", "--runs", 2, "--out", "a.json", *arguments) == 0
    assert len(kes.load("a.json").states["x"]) == states
    assert learn("holes.csv", "--missing", "NA,?") == 2, "markers alone do not say what to do"


def test_example(capsys):
    assert learn("--example", "alarm", "--rows", 200, "--runs", 5, "--out", "a.json") == 0
    assert kes.load("a.json") == kes.learn(kes.datasets.alarm(rows=200), runs=5)
    assert "37 variables, 200 cases" in capsys.readouterr().out


def test_without_out_nothing_is_written(csv, folder, capsys):
    assert learn(csv, "--runs", 2) == 0
    assert [file.name for file in folder.iterdir()] == ["data.csv"]
    assert "give --out FILE to keep the result" in capsys.readouterr().err


def test_notes_are_shown(table, capsys):
    table[["CVP"]].assign(same=1).to_csv("same.csv", index=False)
    assert learn("same.csv", "--runs", 2) == 0
    shown = capsys.readouterr()
    assert re.search("^Note: .*same", shown.err, re.M)


def test_help_names_every_option_of_learn(capsys):
    assert learn("--help") == 0
    shown = capsys.readouterr().out
    for option in inspect.signature(kes.learn).parameters:
        elsewhere = {"data": "[DATA]", "random_state": "--seed", "n_jobs": "--jobs"}
        name = {**elsewhere, "kinds": "--discrete"}.get(option, option)
        if option not in ("start", "client"):  # a graph, and --cluster
            assert name.replace("_", "-") in shown
    for option in ("--example", "--rows", "--out", "--checkpoint", "--cluster", "--no-progress"):
        assert option in shown
    assert "kes learn data.csv --runs 1000" in shown
    assert run(["--help"]) == 0
    assert re.search(r"^  learn +\w", capsys.readouterr().out, re.M)


def test_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"kes {kes.__version__}\n"


# --- resuming ------------------------------------------------------------------------------------


def test_the_same_command_adds_only_what_is_lacking(csv, capsys):
    assert learn(csv, "--k", 0.3, "--runs", 10, "--out", "a.json") == 0
    assert learn(csv, "--k", 0.3, "--runs", 25, "--out", "a.json") == 0
    assert "a.json holds 10 of 25 runs: resuming from there" in capsys.readouterr().err
    assert kes.load("a.json") == kes.learn(csv, k=0.3, runs=25)
    before = os.stat("a.json").st_mtime_ns
    assert learn(csv, "--k", 0.3, "--runs", 25, "--out", "a.json") == 0
    shown = capsys.readouterr()
    assert "a.json holds 25 runs already." in shown.err
    assert "from 25 runs" in shown.out
    assert "all of this was in a.json already" in shown.out
    assert "Saved" not in shown.out
    assert os.stat("a.json").st_mtime_ns == before


def test_other_settings_are_refused_with_a_list(csv, folder, capsys):
    assert learn(csv, "--k", 0.3, "--runs", 3, "--out", "a.json") == 0
    content = (folder / "a.json").read_bytes()
    capsys.readouterr()
    assert learn(csv, "--k", 0.5, "--max-parents", 2, "--out", "a.json") == 2
    shown = capsys.readouterr().err
    assert "a.json holds a result with other settings:\n  --k: 0.3 there, 0.5 here\n" in shown
    assert "\n  --max-parents: none there, 2 here\n" in shown
    assert "or give another --out" in shown
    assert (folder / "a.json").read_bytes() == content


def test_other_data_are_refused(csv, table, capsys):
    assert learn(csv, "--runs", 3, "--out", "a.json") == 0
    table[1:].to_csv(csv, index=False)
    assert learn(csv, "--runs", 5, "--out", "a.json") == 2
    assert "a.json: these are not the data that the result comes from" in capsys.readouterr().err


def test_a_file_that_is_no_result_is_not_overwritten(csv, capsys):
    assert learn(csv, "--runs", 3, "--out", csv) == 2
    shown = capsys.readouterr().err
    assert "data.csv: a result is a file of kes; call it" in shown
    Path("data").write_bytes(Path(csv).read_bytes())
    assert learn(csv, "--runs", 3, "--out", "data") == 2
    shown = capsys.readouterr().err
    assert "data is not a kes result file; give a file that kes learn --out wrote" in shown
    assert "remove" not in shown
    assert kes.learn(csv, runs=1), "the data are still there"


@pytest.mark.parametrize("improve", ["--improve", "--no-improve"])
def test_a_result_that_cannot_be_saved_is_shown_before_it_fails(csv, capsys, monkeypatch, improve):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert learn(csv, "--runs", 3, improve, "--out", "a.json", "--checkpoint", "0.001s") == 2
    shown = capsys.readouterr()
    assert "from 3 runs" in shown.out
    assert "Saved" not in shown.out
    assert shown.err.endswith("Error: cannot write a.json: No space left on device\n")


# --- processes: terminals, pipes, signals --------------------------------------------------------


def long_job(*arguments):
    return subprocess.Popen(
        [*KES, "learn", "data.csv", "--k", "0", "--runs", "1000000", "--jobs", "1", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path, process):
    for _ in range(300):
        if path.exists() or process.poll() is not None:
            return
        time.sleep(0.05)


@posix
def test_ctrl_c_saves_what_is_done(csv, folder):
    process = long_job("--out", "a.json", "--checkpoint", "0.1")
    wait_for(folder / "a.json", process)
    process.send_signal(signal.SIGINT)
    with within(2):
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    done = int(re.search(r"Interrupted after (\d+) runs\.", err)[1])
    assert "a.json" in err
    assert "Traceback" not in err
    optima = kes.load("a.json")
    assert len(optima.runs) == done
    assert optima == kes.learn(csv, k=0, runs=done, improve=False)


@posix
def test_kill_loses_at_most_what_came_after_the_checkpoint(csv, folder):
    process = long_job("--out", "a.json.gz", "--checkpoint", "0.1")
    wait_for(folder / "a.json.gz", process)
    process.kill()
    process.communicate(timeout=30)
    done = len(kes.load("a.json.gz").runs)
    assert done >= 1
    more = done + 10
    assert learn(csv, "--k", 0, "--runs", more, "--out", "a.json.gz") == 0
    assert kes.load("a.json.gz") == kes.learn(csv, k=0, runs=more)


@posix
def test_a_pipe_that_closes_is_no_news(csv):
    process = long_job("--budget", "0.2s")
    process.stdout.close()
    assert (
        process.stderr.read().replace("Not saved: give --out FILE to keep the result.\n", "") == ""
    )
    assert process.wait(timeout=30) == 1


def test_bar_on_a_terminal_only(csv, folder):
    pty = pytest.importorskip("pty", reason="only Unix has pseudo-terminals")
    termios = pytest.importorskip("termios")
    main, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 100))
    done = subprocess.run(
        [*KES, "learn", csv, "--runs", "50", "--out", "a.json"],
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
        check=True,
    )
    os.close(terminal)
    shown = b""
    while chunk := _read(main):
        shown += chunk
    os.close(main)
    assert b"50/50 runs, best -" in shown
    assert b"\r" in shown
    assert "\r" not in done.stdout
    assert "\x1b" not in done.stdout


def _read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:  # how Linux says that the other side has closed
        return b""


def test_progress_without_a_terminal_is_lines(csv, capsys, monkeypatch):
    monkeypatch.setattr("kes.progress._EVERY", 0.0)
    assert learn(csv, "--runs", 30, "--progress") == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "of 30 runs" in line]
    assert re.fullmatch(r"30 of 30 runs, best -\d+\.\d, \d+ optima, 00:00 left", lines[-1])
