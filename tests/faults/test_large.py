"""A thousand variables: Ctrl-C ends it at any moment, within a second of work.

What counts is the processor time from the signal to the end, as others may keep the machine busy.
"""

import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from tests.faults.tables import sparse

import kes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processor time as of Linux"),
]

LEARN = [sys.executable, "-m", "kes", "learn", "data.csv", "--jobs", "1", "--out", "a.json.gz"]
SEARCH = ["--runs", "3", "--improve-tasks", "40", "--checkpoint", "0.5"]
PROOF = ["--runs", "1", "--k", "1", "--no-improve", "--prove"]
OPTIONS = {"search": SEARCH, "proof": PROOF}
MOMENTS = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    sparse(1000, 500).to_csv(folder / "data.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def seconds(folder):
    """Return the processor time of each, of which moments are chosen."""
    took = {}
    for name, options in OPTIONS.items():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*LEARN, *options], cwd=folder, capture_output=True, check=True)
        (folder / "a.json.gz").unlink()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took[name] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took


def spent(pid):
    """Return the processor seconds of a process; None if it has ended."""
    with suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        if fields[0] not in "ZX":
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return None


@pytest.mark.parametrize("moment", range(MOMENTS))
@pytest.mark.parametrize("name", OPTIONS)
def test_interrupts(folder, seconds, name, moment):
    """The moments are spread over the time that it takes, at random within their parts."""
    out = folder / "a.json.gz"
    out.unlink(missing_ok=True)
    share = (moment + np.random.default_rng(moment).random()) / MOMENTS
    process = subprocess.Popen(
        [*LEARN, *OPTIONS[name]],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    before = 0.0
    while before is not None and before < max(1.0, share * seconds[name]):  # Python has started
        time.sleep(0.02)
        before = spent(process.pid)
    os.kill(process.pid, signal.SIGINT)  # Popen would ask first, and forget what it has used
    shown = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == 0:  # it was quicker
        return
    assert process.returncode == 130, shown
    assert "Traceback" not in shown
    assert before is not None
    assert usage.ru_utime + usage.ru_stime - before < 1.0, shown
    if out.exists():
        assert kes.load(out).best.score < 0


def test_budgets():
    """Of a search, what GES and the first run take may be more; of improving, what a check does."""
    data = sparse(1000, 1000)
    began = time.process_time()
    optima = kes.learn(data, runs=1, improve=False, n_jobs=1)
    runs = time.process_time() - began
    for seconds in (1, 5):
        began = time.process_time()
        improved = optima.improve(budget=seconds, n_jobs=1)
        assert time.process_time() - began < seconds + 1
        assert all(optimum.is_local_optimum for optimum in improved)
    began = time.process_time()
    kes.learn(data, budget=2 * runs + 5, n_jobs=1)
    assert time.process_time() - began < 2 * runs + 6
