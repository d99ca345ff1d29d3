"""Interrupts at any moment, and outputs that take no more: a short message, never a traceback."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

import kes
from kes.cli import signals

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and pipes as Unix has them")

KES = [sys.executable, "-m", "kes"]
LEARN = ["learn", "--example", "alarm", "--rows", "300", "--jobs", "1"]
LONG = [*LEARN, "--k", "0", "--runs", "10000000"]

STARTED = """
from kes.cli import signals, main
signals.quit_on_interrupt()
print("started", flush=True)
main()
"""
"""As the console script does, but it tells when our own first lines have been run: what comes
before, the start of Python itself, is not ours to handle."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def popen(*command, **options):
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def test_an_interrupt_while_numpy_gets_ready_is_no_panic():
    """The core asks numpy for its version by Python code, in which Ctrl-C may be raised."""
    code = """
import numpy.lib

def interrupted(version):
    raise KeyboardInterrupt

numpy.lib.NumpyVersion = interrupted
try:
    import kes._core
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2])
def test_an_early_interrupt_ends_in_a_line(delay):
    process = popen(sys.executable, "-c", STARTED, *LONG)
    assert process.stdout.readline() == "started\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert re.search(r"interrupted$|^Interrupted after \d+ runs?\.$", err, re.M), err


def test_little_is_imported_before_interrupts_are_handled():
    code = "import sys; before = set(sys.modules); import kes.cli; print(set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    new = {name for name in eval(done.stdout) if name.split(".")[0] != "encodings"}
    assert {name for name in new if name.startswith("kes")} == {
        "kes",
        "kes.cli",
        "kes.cli.signals",
    }
    assert not new & {"numpy", "click", "typing", "kes._core"}


def test_the_lazy_names_are_those_that_type_checkers_see():
    import ast
    from importlib import import_module
    from pathlib import Path

    tree = ast.parse(Path(kes.__file__).read_text(encoding="utf-8"))
    [checked] = [n for n in tree.body if isinstance(n, ast.If)]
    seen = {alias.name: node.module for node in checked.body for alias in node.names}
    assert set(seen) == {*kes.__all__, "data", "KES", "KESClassifier", "KESRegressor"}
    for name, module in seen.items():
        own = import_module(f"kes.{name}") if name in ("data", "datasets") else None
        assert getattr(kes, name) is (own or getattr(import_module(module), name))
    assert set(kes.__all__) <= set(dir(kes))
    with pytest.raises(AttributeError, match="has no attribute 'lern'"):
        kes.lern  # noqa: B018


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_terminating_saves_as_an_interrupt_does(folder, number):
    heeded = {"preexec_fn": lambda: signal.signal(number, signal.SIG_DFL)}  # even under nohup
    process = popen(*KES, *LONG, "--out", "a.json", "--checkpoint", "0.1", **heeded)
    for _ in range(600):
        if (folder / "a.json").exists():
            break
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    done = int(re.search(r"Interrupted after (\d+) runs\.", err)[1])
    assert len(kes.load("a.json").runs) == done


def test_what_the_parent_ignores_stays_ignored():
    """So that nohup does what it is for."""
    process = popen(
        *(sys.executable, "-c", STARTED, *LEARN, "--runs", "3"),
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGHUP)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "from 3 runs" in out


def test_an_interrupt_that_cannot_be_raised_comes_again():
    """Python drops what is raised in a destructor; the next moment is as good."""
    code = """
import signal, time
from kes.cli import signals
signals.quit_on_interrupt(); signals.raise_on_interrupt()
class Deaf:
    def __del__(self): signal.raise_signal(signal.SIGINT)
deaf = Deaf()
try:
    del deaf
    time.sleep(10)
except KeyboardInterrupt:
    print("heard", signals.exit_code())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("heard 130\n", "")


AT_THE_END = """
import os, signal, sys
from kes.cli import commands, main, signals

def run():
    signals.raise_on_interrupt()
    sys.settrace(trace)
    return 0

def trace(frame, event, _):
    if frame.f_code.co_filename in (signals.__file__, commands.__file__):
        left.pop()
        if not left:
            sys.settrace(None)
            os.kill(os.getpid(), signal.SIGINT)
        return trace

left = [None] * int(sys.argv[1])
commands.run = run
main()
"""
"""Sends the signal at a step that follows the command, in `ignore_interrupts`."""


@pytest.mark.parametrize("step", range(1, 9))
def test_an_interrupt_in_the_last_instant_ends_in_an_exit_code(step):
    """Python dies of the signal if the exception escapes; shells then see no exit code."""
    process = popen(sys.executable, "-c", AT_THE_END, str(step))
    _, err = process.communicate(timeout=60)
    assert process.returncode in (0, 130), err
    assert err == ""


def test_in_a_program_that_uses_it_nothing_is_changed():
    before = signal.getsignal(signal.SIGINT)
    signals.raise_on_interrupt()
    signals.ignore_interrupts()
    assert signal.getsignal(signal.SIGINT) is before


# --- outputs -------------------------------------------------------------------------------------


def shell(command):
    return subprocess.run(
        ["bash", "-c", f'set -o pipefail; kes() {{ {sys.executable} -m kes "$@"; }}; {command}'],
        capture_output=True,
        text=True,
        check=False,
    )


FEW = " ".join([*LEARN, "--runs", "2"])


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
@pytest.mark.parametrize("command", [FEW, "learn --help", "--version"])
def test_an_output_that_is_full_is_told_in_one_line(command):
    done = shell(f"kes {command} > /dev/full")
    assert done.returncode == 1
    assert done.stderr == "Error: cannot write the output: No space left on device\n"


def test_a_reader_that_has_enough_is_no_news():
    done = shell(f"kes {FEW} | head -1")
    assert "from 2 runs" in done.stdout
    assert done.stderr.replace("Not saved: give --out FILE to keep the result.\n", "") == ""


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_an_output_that_is_closed_is_no_matter(closed):
    done = shell(f"kes {FEW} --out a.json {closed}")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(kes.load("a.json").runs) == 2


def test_matrices_take_one_thread_unless_more_are_asked_for():
    code = (
        "import os, sys; from kes.cli import main; sys.argv = ['kes', '--version']\n"
        "try: main()\n"
        "finally: print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    plain = {key: text for key, text in os.environ.items() if not key.endswith("_NUM_THREADS")}
    for given, expected in (({}, "1"), ({"OMP_NUM_THREADS": "3"}, "3")):
        command, environment = [sys.executable, "-c", code], plain | given
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout.split()[-1] == expected, done.stderr
