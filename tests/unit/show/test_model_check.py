"""Whether the network reproduces the data, as the report tells it."""

from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

import kes
from kes.show.report.families import FittedNetworks
from kes.show.report.model_check import misfit_text, misfits
from kes.show.report.page import page


def test_a_column_that_is_mostly_zero_is_found_out():
    rng = np.random.default_rng(0)
    visits = np.where(rng.random(2000) < 0.7, 0.0, rng.exponential(8, 2000))
    frame = pd.DataFrame({"visits <h>": visits, "height": rng.normal(170, 8, 2000)})
    optima = kes.learn(frame, runs=2)
    [misfit] = misfits(optima, FittedNetworks(optima.problem.dataset))
    assert misfit.names == ("visits <h>",)
    # 70 % are at most 0; of a normal distribution with its mean and deviation, less than half.
    normal = NormalDist(visits.mean(), visits.std()).cdf(0)
    assert misfit.size == pytest.approx((visits <= 0).mean() - normal, abs=0.02)
    assert "70% of the data" in misfit.words
    assert "--discretize &#x27;visits &lt;h&gt;=3&#x27;" in misfit.words
    assert misfit.words in page(optima, problem=optima.problem)


def test_states_whose_shares_are_off_are_told():
    """The network draws x, which is far from normal, from a bell curve, and so too few low ones."""
    rng = np.random.default_rng(0)
    x = rng.exponential(4, 3000) ** 2
    frame = pd.DataFrame({"x": x, "c": np.where(x > 1 + rng.random(3000) * 9, "high", "low")})
    optima = kes.learn(frame, runs=2, knowledge=kes.Knowledge(required=[("x", "c")]))
    network = optima.best.fit(frame)
    share = (frame["c"] == "high").mean()
    off = abs(network.probability({"c": "high"}).value - share)
    assert 0.05 < off < 0.1, off
    [misfit] = [
        misfit
        for misfit in misfits(optima, FittedNetworks(optima.problem.dataset))
        if misfit.names == ("c",)
    ]
    assert misfit.size == pytest.approx(off, abs=0.02)
    assert any(f"{part:.0%} of the data" in misfit.words for part in (share, 1 - share))
    text = page(optima, problem=optima.problem)
    top = text[: text.index("</header>")]
    assert "does not reproduce the data for" in top
    assert "<bdi>c</bdi>" in top


def test_data_that_are_of_its_kind_are_reproduced():
    rng = np.random.default_rng(1)
    x = rng.normal(size=3000)
    frame = pd.DataFrame({"x": x, "y": x + rng.normal(size=3000)})
    frame["z"] = np.where(rng.random(3000) < 0.3, "a", "b")
    frame["u"] = np.where(rng.random(3000) < 0.1, "a", frame["z"])
    optima = kes.learn(frame, runs=2)
    assert misfits(optima, FittedNetworks(optima.problem.dataset)) == []
    assert misfit_text([]).startswith("<p>Yes, ")
    assert 'href="#reproduction"' not in page(optima, problem=optima.problem)


def test_weights_count():
    frame = pd.DataFrame({"x": ["a", "b"] * 50, "times": [9, 1] * 50})
    optima = kes.learn(frame, runs=2, weights="times")
    assert misfits(optima, FittedNetworks(optima.problem.dataset)) == []


def test_what_cannot_be_compared_is_said():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=99), "y": rng.normal(size=99)})
    optima = kes.learn(frame, runs=2, transform="ranks")
    assert misfits(optima, FittedNetworks(optima.problem.dataset)) is None
    assert "Not checked" in misfit_text(None)
