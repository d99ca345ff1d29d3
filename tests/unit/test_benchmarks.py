"""The basis of comparisons with peers: processes with a time limit, and stored results."""

import sys
from pathlib import Path

import numpy as np
import pytest

import kes

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def results(monkeypatch):
    """The module of this name; those it imports are forgotten afterwards."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    import results

    yield results
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", "").startswith(str(BENCHMARKS)):
            del sys.modules[name]


def sample(results, number):
    network = kes.datasets.random_network(6, seed=2)
    cases = network.sample(600, seed=number)
    old, new = cases.take(np.arange(300)), cases.take(np.arange(300, 600))
    return results.Sample(old, network.graph, new)


def test_a_search_is_judged_by_score_truth_and_new_cases(results, tmp_path):
    """The same by direct calls: what a process found, scored, compared and fitted here."""
    kept = results.Results(tmp_path / "kept.jsonl")
    draw = lambda number: sample(results, number)  # noqa: E731
    found = list(results.measure(kept, "random", draw, 2, ["kes GES"], limit=60))
    assert [cell.sample for cell in found] == [0, 1]
    for cell in found:
        each = draw(cell.sample)
        best = kes.learn(each.data, k=1, runs=1, improve=False).best
        assert cell.score == pytest.approx(best.score)
        assert cell.shd == best.graph.shd(each.truth)
        fitted = kes.fit(best.graph, each.data)
        assert cell.per_case == pytest.approx(fitted.log_likelihood(each.new) / 300)


def test_what_is_kept_is_not_done_again(results, tmp_path):
    path = tmp_path / "kept.jsonl"
    draw = lambda number: sample(results, number)  # noqa: E731
    first = list(results.measure(results.Results(path), "random", draw, 1, ["kes GES"], limit=60))
    again = results.Results(path)
    assert again.cells == first
    more = list(results.measure(again, "random", draw, 2, ["kes GES"], limit=60))
    assert [cell.sample for cell in more] == [1]
    assert again.gaps("random", "kes GES", "kes GES") == [0.0, 0.0]


def test_a_search_that_takes_too_long_is_stopped_and_tried_again_with_more_time(results, tmp_path):
    """A thousand tasks on ALARM take a tenth of a second at least, more than the first limit."""
    kept = results.Results(tmp_path / "kept.jsonl")
    draw = lambda number: results.Sample(kes.datasets.alarm(rows=2000, seed=number))  # noqa: E731
    search = ["kes, improved, k=0.4"]
    (stopped,) = results.measure(kept, "ALARM", draw, 1, search, limit=0.02)
    assert stopped.score is None
    assert list(results.measure(kept, "ALARM", draw, 1, search, limit=0.02)) == []
    (ended,) = results.measure(kept, "ALARM", draw, 1, search, limit=60)
    assert ended.score is not None
    assert kept.of("ALARM", *search) == [ended]
