"""Sweeps over k: the same runs as single searches, and a recommendation with its doubts."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import kes
from kes.results.optima import Optima


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=500)


@pytest.fixture(scope="module")
def swept(data):
    return kes.sweep(data, ks=(0.2, 0.6, 1), runs=25, random_state=3)


def made(optima, **ends):
    """Return a sweep whose runs end in models of given ranks, 0 being the best."""
    record = optima.record
    models = sorted(record.models, key=lambda model: -model.score)
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
    return kes.learn(data, k=0.4, runs=30, improve=False)


def test_each_k_is_learned_as_alone(swept, data):
    for k, optima in swept.optima.items():
        assert optima == kes.learn(data, k=k, runs=25, random_state=3, improve=False)


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
    top = max(optima.run_scores.max() for optima in swept.optima.values())
    for row, optima in zip(table, swept.optima.values(), strict=True):
        assert row["best_score"] == optima.run_scores.max()  # of runs, whatever GES reaches
        assert row["below_best"] == top - optima.run_scores.max()
        assert row["mean_score"] == pytest.approx(np.mean(optima.run_scores))
        better = np.mean(optima.run_scores > optima.ges.score + 1e-6)
        assert row["better_than_ges"] == pytest.approx(better)


def test_halves_by_plain_loops(models):
    """Other random halves, 3000 of them, one by one: the two must agree but for chance."""
    ranks = {"k2": (0, 3, 4, 9, 9, 2), "k5": (1, 1, 0, 7, 1, 3), "k9": (2, 2, 2, 2, 2, 2)}
    swept = made(models, **ranks)
    scores = {k: [models.of_runs[rank].score for rank in own] for k, own in ranks.items()}
    rng = np.random.default_rng(0)
    agreed, best = [], {k: [] for k in ranks}
    for _ in range(3000):
        split = {k: rng.integers(0, 2, 6) for k in ranks}
        one, other = (
            {
                k: [s for s, bit in zip(own, split[k], strict=True) if bit == half] or [-np.inf]
                for k, own in scores.items()
            }
            for half in (0, 1)
        )
        chosen = max(
            one, key=lambda k: (max(one[k]), one[k].count(max(one[k])), np.mean(one[k]), k)
        )
        top = max(max(own) for own in other.values())
        agreed.append(max(other[chosen]) == top)
        for k, own in other.items():
            best[k].append(max(own) == top)
    assert swept.repeatability == pytest.approx(np.mean(agreed), abs=0.1)
    for found, own in zip(swept.table()["best_in_halves"], best.values(), strict=True):
        assert found == pytest.approx(np.mean(own), abs=0.1)


def test_repeatability_tells_how_often_another_seed_agrees():
    """The figure is the promise: compare it with what other seeds really say.

    Most do not agree. Judging the recommended k by the very runs that recommended it would claim
    that 73 % do.
    """
    data = kes.datasets.alarm(rows=1000)
    every = [kes.sweep(data, (0.2, 0.4, 0.6, 0.8, 1), runs=50, random_state=s) for s in range(12)]
    agreed = [
        max(o.run_scores.max() for o in other.optima.values()) - other.optima[k].run_scores.max()
        < 1e-6
        for one, other in itertools.permutations(every, 2)
        for k in [one.recommended]
    ]
    claimed = np.mean([swept.repeatability for swept in every])
    assert claimed == pytest.approx(np.mean(agreed), abs=0.25)


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
    unsure = made(models, k2=(0, 5, 5, 5), k8=(1, 1, 1, 1))
    assert "k=0.2 found the best score" in unsure.recommendation
    assert "in 1 of 4 runs" in unsure.recommendation
    assert "is uncertain" in unsure.recommendation
    assert unsure.repeatability < 0.2  # the half without the lucky run always disagrees
    level = made(models, k2=(0, 0, 5), k8=(0, 0, 0)).recommendation
    assert "Also found by k=0.2 (2 runs)" in level
    assert "the choice hardly matters" in level
    sure = made(models, k2=(0,) * 20, k8=(1,) * 20)
    assert sure.repeatability == 1
    assert "100% of the time." in sure.recommendation
    assert "is uncertain" not in sure.recommendation
    single = made(models, k2=(0,), k8=(1,))
    assert single.repeatability is None
    assert "not enough to tell" in single.recommendation


def test_budget_in_time(data):
    """More runs than the default where there is time, and a prefix of what learn would do."""
    swept = kes.sweep(data, ks=[0.5], budget="0.3s")
    assert swept.recommended == 0.5
    optima = swept.optima[0.5]
    assert optima == kes.learn(data, k=0.5, runs=len(optima.runs), improve=False)
    assert 0.3 <= optima.seconds < 3
    assert "0.3 s for each k" in repr(swept)


def test_smallest():
    swept = kes.sweep(np.array([[0, 1], [1, 0], [0, 0], [1, 1]] * 3), ks=[1], runs=1)
    assert swept.recommended == 1
    assert swept.repeatability is None
    assert swept.table()["best_in_halves"] == (None,)
    assert len(swept.table()) == 1


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"ks": []}, "ks"),
        ({"ks": 0.4}, "ks"),
        ({"ks": [0.4, 0.4]}, "ks"),
        ({"ks": [0, 2]}, "k"),
        ({"runs": 5, "budget": "1s"}, "budget"),
        ({"runs": 0}, "runs"),
        ({"budget": "soon"}, "budget"),
    ],
)
def test_errors_name_the_option(data, options, option):
    with pytest.raises(kes.KesError) as caught:
        kes.sweep(data, **options)
    assert caught.value.option == option
