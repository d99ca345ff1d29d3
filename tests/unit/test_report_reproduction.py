"""Whether the network reproduces the data, as the report tells it."""

from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

import kes
from kes.show.report.page import page
from kes.show.report.reproduction import gaps, gaps_words


def test_a_column_that_is_mostly_zero_is_found_out():
    rng = np.random.default_rng(0)
    visits = np.where(rng.random(2000) < 0.7, 0.0, rng.exponential(8, 2000))
    frame = pd.DataFrame({"visits <h>": visits, "height": rng.normal(170, 8, 2000)})
    optima = kes.learn(frame, runs=2)
    [gap] = gaps(optima, optima.problem)
    assert gap.names == ("visits <h>",)
    # 70 % are at most 0; of a normal distribution with its mean and deviation, less than half.
    normal = NormalDist(visits.mean(), visits.std()).cdf(0)
    assert gap.size == pytest.approx((visits <= 0).mean() - normal, abs=0.02)
    assert "70% of the data" in gap.words
    assert "--discretize &#x27;visits &lt;h&gt;=3&#x27;" in gap.words
    assert gap.words in page(optima, problem=optima.problem)


def test_data_that_are_of_its_kind_are_reproduced():
    rng = np.random.default_rng(1)
    x = rng.normal(size=3000)
    frame = pd.DataFrame({"x": x, "y": x + rng.normal(size=3000)})
    frame["z"] = np.where(rng.random(3000) < 0.3, "a", "b")
    frame["u"] = np.where(rng.random(3000) < 0.1, "a", frame["z"])
    optima = kes.learn(frame, runs=2)
    assert gaps(optima, optima.problem) == []
    assert gaps_words([]).startswith("<p>Yes, as far as")


def test_weights_count():
    frame = pd.DataFrame({"x": ["a", "b"] * 50, "times": [9, 1] * 50})
    optima = kes.learn(frame, runs=2, weights="times")
    assert gaps(optima, optima.problem) == []


def test_what_cannot_be_compared_is_said():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=99), "y": rng.normal(size=99)})
    optima = kes.learn(frame, runs=2, transform="ranks")
    assert gaps(optima, optima.problem) is None
    assert "not looked at" in gaps_words(None)
