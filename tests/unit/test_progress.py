"""Progress while learning, and interrupts, which keep what was found."""

import itertools
import time

import pytest

import kes
from kes.progress import Progress, RunCounter, reporting


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=400)


def test_progress_reports(data):
    seen, times = [], []

    def show(progress):
        seen.append(progress)
        times.append(time.monotonic())

    optima = kes.learn(data, k=0.5, runs=1500, progress=show, n_jobs=1)
    runs = [progress for progress in seen if progress.unit == "runs"]
    tasks = [progress for progress in seen if progress.unit == "tasks"]
    steps = [progress for progress in seen if progress.unit == "steps"]
    assert seen == [*steps, *runs, *tasks]
    assert steps[-1].done >= len(optima.ges.graph.skeleton)
    for part, wanted in ((runs, 1500), (tasks, 1000)):
        assert all(a.done <= b.done for a, b in itertools.pairwise(part))
        assert {progress.wanted for progress in part} == {wanted}
        assert (part[-1].done, part[-1].left) == (wanted, 0)
    ends = optima.of_runs
    assert (runs[-1].best, runs[-1].optima) == (optima.best_run.score, len(ends))
    assert tasks[-1].best == optima.best.score
    for start, stop in zip(times, times[10:], strict=False):
        assert stop - start >= 1, "eleven reports within a second"


def test_the_time_left_is_no_longer_than_the_budget(data):
    seen = []
    kes.learn(data, k=0.5, runs=10**6, budget=0.5, improve=False, progress=seen.append)
    assert len(seen) > 1
    assert all(now.left is None or now.left <= max(0.0, 0.5 - now.seconds) for now in seen)


def test_progress_bar(data, capsys):
    kes.learn(data, runs=20, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "20/20 runs" in shown.err
    assert "best -" in shown.err
    assert "optima" in shown.err
    assert "left" in shown.err


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupt_keeps_what_is_done(data, n_jobs):
    def impatient(progress):
        if progress.unit == "runs" and progress.done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(kes.Interrupted) as caught:
        kes.learn(data, k=0.5, runs=10**6, progress=impatient, n_jobs=n_jobs)
    optima = caught.value.optima
    assert 1 <= len(optima.runs) < 10**6
    assert optima == kes.learn(data, k=0.5, runs=len(optima.runs), improve=False)
    assert optima.extend(5) == kes.learn(data, k=0.5, runs=len(optima.runs) + 5)


def test_interrupt_while_improving_keeps_runs_and_what_was_found(data):
    def impatient(progress):
        if progress.unit == "tasks" and progress.done > 40:
            raise KeyboardInterrupt

    with pytest.raises(kes.Interrupted, match="in the attribute 'optima'") as caught:
        kes.learn(data, k=0.5, runs=30, improve=10**9, progress=impatient)
    optima = caught.value.optima
    assert len(optima.runs) == 30
    assert optima.tasks > 40
    assert optima == kes.learn(data, k=0.5, runs=30, improve=optima.tasks)


def test_interrupt_before_ges_has_moved(data):
    def at_once(_):
        raise KeyboardInterrupt

    with pytest.raises(kes.Interrupted) as caught:
        kes.learn(data, progress=at_once)
    found = caught.value.optima
    assert found is None or len(found.runs) == 0, "it is quick"


def test_errors_of_a_callback_come_through(data):
    def broken(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        kes.learn(data, progress=broken)


def test_progress_counts_the_steps_of_runs():
    """A run starts without edges, and no step adds more than one."""
    shown = []
    data = kes.datasets.alarm(rows=500)
    optima = kes.learn(data, runs=3, improve=False, prove=False, progress=shown.append)
    ends = [len(optima[end].graph.skeleton) for end in optima.run_optima]
    assert shown[-1].unit == "runs"
    assert shown[-1].steps >= sum(ends) > 0


def test_work_at_a_pace_has_a_time_left():
    progress = Progress.at_a_pace(30, 40, time.monotonic() - 6.0, "members")
    assert progress.left == pytest.approx(2.0, abs=0.1)
    assert Progress.at_a_pace(0, 40, time.monotonic(), "members").left is None
    assert str(progress) == "30 of 40 members, 00:02 left"
    assert str(Progress(1234, 0, None, 0, 65.0, None, "sets")) == "1234 sets, 01:05"


def test_imputing_a_further_table_is_no_work_of_its_runs():
    """EM comes before the runs on a table: the count must not run ahead of them."""
    shown = []
    counter = RunCounter(10, 100)
    each = counter.after(3, lambda progress: shown.append(progress.done))
    for unit in ("rounds", "steps", "runs", "tasks", "sets"):
        each(Progress(5, 20, None, 0, 1.0, None, unit))
    assert shown == [30, 30, 35, 40, 40]


def test_a_bar_leaves_room_for_the_echo_of_an_interrupt_and_clears_it(capsys, monkeypatch):
    """A terminal writes ^C behind the bar; in the next line it would keep the bar on the screen."""
    monkeypatch.setattr("kes.progress._width", lambda: 40)
    with reporting(True) as report:
        report(Progress(10**6, 10**7, None, 0, 100.0, 900.0, "sets"))
        report(Progress(10**6, 0, None, 0, 100.0, None, "sets"), final=True)
    lines = capsys.readouterr().err.split("\r")
    assert any("15:00 left"[:5] in line for line in lines)
    assert any(line.startswith("1000000 sets, 01:40") for line in lines)
    assert max(len(line) for line in lines if line.strip()) <= 40
    assert lines[-2:] == [" " * 42, ""]
