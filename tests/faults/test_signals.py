"""Commands killed or interrupted at random moments from the start of the process, and given again.

A file that is killed again and again while it grows must end in the bytes of a search that nobody
disturbed, and be readable at every moment between.
"""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest
from tests.faults.tables import sparse

import kes

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills as Unix does")

COMMAND = [*(sys.executable, "-m", "kes", "learn", "data.csv"), *("--out", "a.json.gz")]
FAST = [
    *("--jobs", "1", "--k", "0", "--runs", "300"),
    *("--improve-tasks", "300", "--checkpoint", "0.05"),
]
WIDE = ["--jobs", "2", "--runs", "2", "--improve-tasks", "60", "--checkpoint", "0.2"]
QUICK, MANY = 2, 200


def whole(folder, table, options):
    """Return a folder with data, a command, the bytes that it ends in, and how long it takes."""
    table.to_csv(folder / "data.csv", index=False)
    began = time.monotonic()
    command = [*COMMAND, *options]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    seconds = time.monotonic() - began
    return folder, command, (folder / "a.json.gz").read_bytes(), seconds


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return whole(tmp_path_factory.mktemp("signals"), kes.datasets.alarm(rows=300).to_pandas(), FAST)


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """400 variables: orders are searched, and refinements sliced."""
    return whole(tmp_path_factory.mktemp("wide"), sparse(400, 500), WIDE)


def disturb(undisturbed, number, count, check):
    """Send a signal so many times, each at a random moment; return how long the ends took."""
    folder, command, whole, seconds = undisturbed
    rng = np.random.default_rng(number)
    out = folder / "a.json.gz"
    took = []
    while len(took) < count:
        out.unlink(missing_ok=True)
        ended = False
        while not ended:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=heed,  # noqa: PLW1509 - no threads here
            )
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=rng.uniform(0, seconds) if len(took) < count else None)
            ended = process.poll() is not None
            if not ended:
                process.send_signal(number)
                sent = time.monotonic()
            shown = process.communicate(timeout=60)
            if ended:
                assert process.returncode == 0, shown
            else:
                took.append(time.monotonic() - sent)
                check(process.returncode, *shown)
                readable(out)
        assert out.read_bytes() == whole
    return took


def heed():
    """Take interrupts, also if the tests run in the background of a shell, which ignores them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def readable(path):
    """Whatever is there is a result file, perhaps without a finished run."""
    if path.exists():
        kes.load(path)


BEGINNING = {"__init__.py", "__main__.py", "cli/__init__.py", "cli/signals.py"}
"""The modules of kes that are loaded before it handles signals: a millisecond or two."""


def check_killed(code, out, err):
    assert code in (-signal.SIGKILL, 0)
    assert "Traceback" not in err


def check_interrupted(number):
    def check(code, out, err):
        """Until kes handles signals it is Python that ends, in its own ways; from then on, kes.

        It may also have come to its end before the signal came.
        """
        assert set(re.findall(r".*[/\\]kes[/\\](\S+)\"", err)) <= BEGINNING, err
        if code == -number or "Traceback" in err:
            return
        assert code in (0, 128 + number), (code, err)
        assert code == 0 or "nterrupted" in err

    return check


def test_killed_at_a_few_random_moments_it_ends_in_the_same_bytes(undisturbed):
    disturb(undisturbed, signal.SIGKILL, QUICK, check_killed)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_killed_at_random_moments_it_ends_in_the_same_bytes_with_400_variables_too(wide):
    disturb(wide, signal.SIGKILL, 2 * QUICK, check_killed)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_killed_at_200_random_moments_it_ends_in_the_same_bytes(undisturbed):
    disturb(undisturbed, signal.SIGKILL, MANY, check_killed)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_at_200_random_moments_it_saves_and_goes_on(undisturbed, number):
    """From the first instruction of the interpreter on. How long it takes tells how busy it is."""
    took = disturb(undisturbed, number, MANY, check_interrupted(number))
    *_, seconds = undisturbed
    assert np.median(took) < 0.5 + seconds / 4
    assert max(took) < 3 + seconds
