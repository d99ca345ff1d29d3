"""Everything that takes long stops soon after Ctrl-C, and at its budget, whatever the size."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from tests.clock import slowness

import kes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="signals as of Unix"),
]

SOON = 1.0
"""Seconds, on a machine that has nothing else to do."""
SIZES = [4, 37, 300]
WORK = {
    "certify": lambda data: kes.certify(data, budget="10m"),
    "learn": lambda data: kes.learn(data, runs=10**6, prove=False),
    "prove": lambda data: kes.learn(data, runs=3, improve=False, prove=True),
    "improve": lambda data: kes.learn(data, runs=3, improve=10**6, prove=False),
    "stability": lambda data: kes.stability(data, resamples=10**4),
    "sweep": lambda data: kes.sweep(data, runs=10**6),
    "cross_validate": lambda data: kes.cross_validate(data, runs=10**6),
}


def table(variables):
    """Some of ALARM, or a random tree of as many variables with three states."""
    if variables <= 37:
        alarm = kes.datasets.alarm(rows=2000)
        return alarm.select(alarm.names[:variables])
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (2000, variables))
    for child in range(1, variables):
        same = rng.random(2000) < 0.7
        codes[same, child] = codes[same, rng.integers(max(0, child - 4), child)]
    return codes


@pytest.mark.parametrize("after", [0.2, 2.0])
@pytest.mark.parametrize("variables", SIZES)
@pytest.mark.parametrize("name", WORK)
def test_interrupts(name, variables, after):
    """Where the work is done before the signal comes, there is nothing to stop."""
    data = table(variables)
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, interrupt)
    timer.start()
    try:
        WORK[name](data)
        timer.cancel()
        timer.join()
        assert not sent
        assert (name, variables) in {("certify", 4), ("prove", 4)}
    except KeyboardInterrupt:
        took = time.monotonic() - sent[0]
        assert took < SOON * slowness()


@pytest.mark.parametrize("variables", SIZES)
@pytest.mark.parametrize("name", ["certify", "learn", "improve", "sweep"])
def test_budgets(name, variables):
    """A search ends at least one run, and that of GES; that is known to take longer at times."""
    data = table(variables)
    began = time.monotonic()
    found = kes.learn(data, runs=1, improve=False, prove=False)
    runs = time.monotonic() - began
    work = {
        "certify": lambda: kes.certify(data, budget=2),
        "learn": lambda: kes.learn(data, budget=2),
        "improve": lambda: found.improve(2),
        "sweep": lambda: kes.sweep(data, ks=[0.8], budget=2),
    }
    began = time.monotonic()
    work[name]()
    took = time.monotonic() - began
    assert took < 2 + SOON * slowness() + (2 * runs if name in ("learn", "sweep") else 0)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("arguments", "made"),
    [
        ("paper --only table1,alarm --runs 1000000 --progress --out paper", None),
        ("certify --example alarm --rows 5000 --progress", None),
        (
            "learn --example alarm --rows 2000 --runs 1000000 --checkpoint 0.2s --out a.json",
            "a.json",
        ),
    ],
    ids=["paper", "certify", "learn"],
)
def test_commands(tmp_path, arguments, made, number):
    """In the midst of it: a file is there, or something was said."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "kes", *arguments.split()],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    while made is not None and not (tmp_path / made).exists():
        time.sleep(0.1)
    shown = "" if made is not None else process.stderr.readline()
    time.sleep(1)
    process.send_signal(number)
    sent = time.monotonic()
    shown += process.communicate(timeout=60)[1]
    took = time.monotonic() - sent
    assert took < SOON * slowness()
    assert process.returncode == 128 + number, shown
    assert "Traceback" not in shown
    if "--out" in arguments:
        assert "resumes from there" in shown
