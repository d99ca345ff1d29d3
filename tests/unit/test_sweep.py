"""Sweeps over k: the same runs as single searches, and a recommendation with its doubts."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import kes
from kes.optima import Optima


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=500)


@pytest.fixture(scope="module")
def swept(data):
    return kes.sweep(data, ks=(0.2, 0.6, 1), runs=25, random_state=3)


def made(optima, **ends):
    """Return a sweep whose runs end in models of given ranks, 0 being the best."""
    record, best_first = optima._record, list(optima._order)
    models = tuple(record.models[number] for number in best_first)
    results = {}
    for k, ranks in ends.items():
        order = {rank: place for place, rank in enumerate(dict.fromkeys(ranks))}
        results[float(k[1:]) / 10] = Optima(
            replace(
                record,
                models=tuple(models[rank] for rank in order),
                runs=tuple(order[rank] for rank in ranks),
            )
        )
    return kes.Sweep(results, f"{len(ranks)} runs")


@pytest.fixture(scope="module")
def models(data):
    return kes.learn(data, k=0.4, runs=30)


def test_each_k_is_learned_as_alone(swept, data):
    for k, optima in swept.optima.items():
        assert optima == kes.learn(data, k=k, runs=25, random_state=3)


def test_same_runs_same_result(swept, data):
    again = kes.sweep(data, ks=(0.2, 0.6, 1), runs=25, random_state=3, n_jobs=1)
    assert again.table() == swept.table()
    assert again.recommendation == swept.recommendation


def test_a_drawn_seed_is_the_same_for_all_k(data):
    swept = kes.sweep(data, ks=(0.5, 0.7), runs=2, random_state=None)
    assert len({optima.seed for optima in swept.optima.values()}) == 1


def test_table(swept):
    table = swept.table()
    assert table["k"] == (0.2, 0.6, 1.0)
    assert table["runs"] == (25, 25, 25)
    top = max(optima.best.score for optima in swept.optima.values())
    for row, optima in zip(table, swept.optima.values(), strict=True):
        assert row["best_score"] == optima.best.score
        assert row["below_best"] == top - optima.best.score
        assert row["mean_score"] == pytest.approx(np.mean(optima.run_scores))
        better = np.mean(optima.run_scores > optima.ges.score + 1e-6)
        assert row["better_than_ges"] == pytest.approx(better)


def test_wins_are_those_of_all_possible_draws(models):
    """Three runs for each of three k, drawn anew: go through all 27 ** 3 equally likely draws."""
    ranks = {"k2": (0, 3, 4), "k5": (1, 1, 0), "k9": (2, 2, 2)}
    swept = made(models, **ranks)
    tops = {k: [min(draw) for draw in itertools.product(own, repeat=3)] for k, own in ranks.items()}
    counts = dict.fromkeys(ranks, 0)
    for draw in itertools.product(*tops.values()):
        for k, top in zip(ranks, draw, strict=True):
            counts[k] += top == min(draw)
    for k, count in counts.items():
        assert swept.wins[int(k[1:]) / 10] == pytest.approx(count / 27**3)


@pytest.mark.parametrize(
    ("ends", "best"),
    [
        ({"k2": (0, 5, 5), "k8": (1, 1, 1)}, 0.2),  # the highest score, though but once
        ({"k2": (0, 5, 5), "k8": (0, 0, 5)}, 0.8),  # of equals, the more often hit
        ({"k2": (0, 5, 5), "k8": (0, 9, 9)}, 0.2),  # then, the better runs
        ({"k2": (0, 1, 2), "k8": (0, 1, 2)}, 0.8),  # then, the shorter runs
    ],
)
def test_recommended(models, ends, best):
    assert made(models, **ends).recommended == best


def test_recommendation_says_how_sure_it_is(models):
    single = made(models, k2=(0, 5, 5), k8=(1, 1, 1)).recommendation
    assert "k=0.2 found the best score" in single
    assert "in 1 of 3 runs" in single
    assert "A single run made the difference" in single
    assert "drawn anew" in single
    level = made(models, k2=(0, 0, 5), k8=(0, 0, 0)).recommendation
    assert "Also found by k=0.2 (2 runs)" in level
    assert "the choice hardly matters" in level
    sure = made(models, k2=(0, 0, 0), k8=(1, 1, 1)).recommendation
    assert "best or level in 100% of cases" in sure
    assert "single run" not in sure


def test_budget_in_time(data):
    """More runs than the default where there is time, and a prefix of what learn would do."""
    swept = kes.sweep(data, ks=[0.5], budget="0.3s")
    assert swept.recommended == 0.5
    optima = swept.optima[0.5]
    assert optima == kes.learn(data, k=0.5, runs=len(optima.runs))
    assert 0.3 <= optima.seconds < 3
    assert "0.3 s for each k" in repr(swept)


def test_smallest():
    swept = kes.sweep(np.array([[0, 1], [1, 0], [0, 0], [1, 1]] * 3), ks=[1], runs=1)
    assert swept.recommended == 1
    assert swept.wins == {1.0: 1.0}
    assert len(swept.table()) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ks": []}, "ks is empty"),
        ({"ks": 0.4}, "ks must be several numbers"),
        ({"ks": [0.4, 0.4]}, "more than once"),
        ({"ks": [0, 2]}, "k must be a number from 0 to 1"),
        ({"runs": 5, "budget": "1s"}, "either runs or budget"),
        ({"runs": 0}, "runs must be a whole number"),
        ({"budget": "soon"}, "no length of time"),
    ],
)
def test_errors(data, options, message):
    with pytest.raises(kes.KesError, match=message):
        kes.sweep(data, **options)
