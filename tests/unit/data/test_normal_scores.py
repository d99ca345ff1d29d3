"""Normal scores: ranks of weighted rows, whatever their order and however small a weight."""

from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

import kes
from kes.data.normal_scores import Scores, quantiles


def test_scores_are_the_normal_quantiles_of_middle_ranks():
    """The standard library has an independent quantile function."""
    values, weights = np.array([2.0, 5.0, 2.0, 9.0]), np.array([1.0, 2.0, 3.0, 2.0])
    scores = Scores.of(values, weights).scores
    assert scores == pytest.approx([NormalDist().inv_cdf(p) for p in (2 / 8, 5 / 8, 7 / 8)])


def test_a_weight_is_a_number_of_rows():
    rng = np.random.default_rng(0)
    values, times = rng.integers(0, 9, 40).astype(float), rng.integers(1, 5, 40)
    weighted = Scores.of(values, times.astype(float))
    assert weighted == Scores.of(np.repeat(values, times))


def test_the_order_of_rows_does_not_change_a_bit():
    """Sums of real weights depend on their order, unless it is fixed."""
    rng = np.random.default_rng(1)
    values = rng.integers(0, 5, 500) * 0.5
    weights = rng.random(500) * 10.0 ** rng.integers(-9, 9, 500)
    first = Scores.of(values, weights)
    for _ in range(20):
        order = rng.permutation(500)
        assert Scores.of(values[order], weights[order]) == first


def test_the_sign_of_zero_does_not_matter():
    one, other = (Scores.of(np.array(v)).values.tobytes() for v in ([0.0, -0.0, 1], [-0.0, 0.0, 1]))
    assert one == other


@pytest.mark.parametrize("small", [1e-17, 1e-40, 1e-300])
def test_a_small_weight_has_a_finite_score(small):
    """Its probability is half of its share, at either end."""
    values, weights = np.array([0.0, 1.0, 2.0]), np.array([small, 100.0, small])
    scores = Scores.of(values, weights).scores
    expected = quantiles([small / 200])[0]
    assert scores == pytest.approx([expected, 0.0, -expected])


def test_rows_of_weight_zero_alone_are_ranked_like_any():
    assert Scores.of(np.array([1.0, 2.0]), np.zeros(2)) == Scores.of(np.array([1.0, 2.0]))


def test_a_table_with_tiny_weights_can_be_learned_from():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    weights = np.ones(60)
    weights[table["a"].argmax()] = 1e-18
    optima = kes.learn(table, weights=weights, transform="ranks", runs=1, improve=False)
    order = rng.permutation(60)
    again = kes.learn(
        table.iloc[order], weights=weights[order], transform="ranks", runs=1, improve=False
    )
    assert again.best.score == optima.best.score
