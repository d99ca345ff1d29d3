"""The basis of comparisons with peers: processes with a time limit, and stored results."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kes

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def benchmark_modules(monkeypatch):
    """Modules of benchmarks can be imported; they are forgotten afterwards."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(BENCHMARKS)):
            del sys.modules[name]


@pytest.fixture
def results(benchmark_modules):
    return importlib.import_module("results")


@pytest.fixture
def classify(benchmark_modules):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    return importlib.import_module("classify")


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


# --- classification ---


def test_probabilities_that_come_true_have_no_calibration_error(classify):
    """Ten groups of ten predictions: a share of k / 10 comes true in k of them."""
    shares = np.repeat(np.arange(10) / 10, 10)
    hits = np.concatenate([np.arange(10) < k for k in range(10)])
    order = np.random.default_rng(0).permutation(100)
    right = classify.grouped(shares[order], hits[order])
    assert classify.error_of(right) == pytest.approx(0.0, abs=1e-12)
    assert classify.error_of(classify.grouped(shares + 0.1, hits)) == pytest.approx(0.1)
    sums = np.array(classify.binned(shares[order] + 0.05, hits[order]))
    assert (sums[:, 0] == 10).all()
    assert (sums[:, 2] == np.arange(10)).all()


def test_values_that_a_peer_refuses_become_known_ones(classify):
    known = pd.DataFrame({"x": [1.0, 2.0, 4.0], "w": ["a", "b", "b"]})
    assert list(classify.nearest(pd.Series([0.0, 2.9, 9.0]), known["x"])) == [1.0, 2.0, 4.0]
    assert list(classify.nearest(pd.Series(["a", "z"]), known["w"])) == ["a", "b"]


def test_naive_bayes_multiplies_the_factors_of_its_columns(classify):
    """By hand: a normal density of x, and shares of w with one case added to each category."""
    X = pd.DataFrame({"x": [0.0, 2.0, 3.0, 5.0], "w": ["a", "a", "a", "b"]})
    y = np.array([0, 0, 1, 1])
    found = classify.NaiveBayes().fit(X, y).predict_proba(pd.DataFrame({"x": [2.0], "w": ["b"]}))
    # Both have variance 1, and three categories are possible: new ones count as a third.
    weights = np.exp(-np.array([1.0, 4.0]) / 2) * [1 / 5, 2 / 5]
    assert found[0] == pytest.approx(weights / weights.sum(), rel=1e-6)
