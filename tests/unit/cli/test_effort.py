"""Repeated searches that take long say so before they begin."""

from types import SimpleNamespace

import pytest

from kes.budget import Budget, Size
from kes.cli.effort import say_effort


def said(capsys, size, searches, **work):
    problem = SimpleNamespace(size=size, dataset=SimpleNamespace(names=range(size.variables)))
    say_effort(problem, searches, Budget.parse(**work), "--runs 1")
    return capsys.readouterr().err


def test_only_long_work_is_announced(capsys):
    wide = Size(20_000, 0.0, columns=20_000)
    assert said(capsys, Size(37, 20_000.0), 100, runs=10, improve=True) == ""
    note = said(capsys, wide, 100, runs=10, improve=True)
    assert "100 searches of 20000 variables; --runs 1 takes less" in note


@pytest.mark.parametrize("size", [Size(37, 1e4), Size(20_000, 0.0, columns=20_000)])
def test_the_estimate_adds_up_runs_and_tasks(size):
    """GES is a run more; improving by default does ten tasks for each run."""
    runs = Budget.parse(runs=3).processor_seconds(size)
    assert runs == pytest.approx(4 * size.run_seconds)
    both = Budget.parse(runs=3, improve=True).processor_seconds(size)
    assert both == pytest.approx(runs + 30 * size.task_seconds)
    asked = Budget.parse(runs=3, improve=7).processor_seconds(size)
    assert asked == pytest.approx(runs + 7 * size.task_seconds)
