"""Least squares by means of configurations against the same with a column for each state."""

import time

import numpy as np
import pandas as pd
import pytest

import kes
from kes.network import fitting
from kes.network.large_linear import fit_large_linear
from kes.network.regression import fit_linear
from kes.network.regressors import all_effects, main_effects, regressors


def table(levels, rows, seed):
    rng = np.random.default_rng(seed)
    given = [rng.integers(0, s, rows) if s else rng.gamma(2.0, size=rows) + 5 for s in levels]
    own = 3 + sum(rng.normal() * column for column in given) + rng.normal(size=rows)
    if len(levels) > 1:
        own = own + 0.5 * given[0] * given[1]
    return given, own, rng.integers(1, 4, rows).astype(float)


@pytest.mark.parametrize("levels", [[4], [3, 0], [2, 3], [0, 3, 2, 0], [2, 3, 2, 0]])
@pytest.mark.parametrize("count", [all_effects, main_effects])
def test_it_is_the_estimate_with_a_column_for_each_state(levels, count):
    given, own, weights = table(levels, 500, seed=len(levels))
    number = count(levels)
    x = regressors(given, levels, 500, number=number)
    names = [f"r{i}" for i in range(number)]
    plain = fit_linear("y", own, x, names, weights=weights, ess=1.0)
    found = fit_large_linear(own, given, levels, number=number, weights=weights, least=1e-9)
    assert found.intercept == pytest.approx(plain.intercept, rel=1e-8)
    assert found.coefficients == pytest.approx(plain.coefficients, rel=1e-7, abs=1e-8)
    assert found.deviation == pytest.approx(plain.deviation, rel=1e-9)
    assert found.errors == pytest.approx(plain.errors, rel=1e-6)


def test_collinear_numbers_share_their_effect():
    given, own, weights = table([3, 0], 300, seed=1)
    twins = [given[0], given[1], given[1]]
    how = {"weights": weights, "least": 1e-9}
    one = fit_large_linear(own, given, [3, 0], number=3, **how)
    both = fit_large_linear(own, twins, [3, 0, 0], number=4, **how)
    assert both.coefficients[2:] == pytest.approx([one.coefficients[2] / 2] * 2)
    assert both.deviation == pytest.approx(one.deviation)


def test_a_configuration_without_cases_has_the_mean_of_the_others():
    given, own, weights = table([2, 2], 400, seed=2)
    given[1][given[0] == 1] = 0  # never both
    found = fit_large_linear(own, given, [2, 2], number=3, weights=weights, least=1e-9)
    means = [
        np.average(own[cell], weights=weights[cell])
        for cell in (given[0] == 1, given[1] == 1, (given[0] == 0) & (given[1] == 0))
    ]
    assert found.intercept == pytest.approx(means[2])
    assert found.intercept + found.coefficients[:2] == pytest.approx(means[:2])
    mean = np.average(own, weights=weights)
    assert found.intercept + found.coefficients.sum() == pytest.approx(mean)


def test_too_few_cases():
    given, own, weights = table([30], 10, seed=3)
    assert fit_large_linear(own, given, [30], number=29, weights=weights / 3, least=1e-9) is None


def test_thousands_of_states_in_a_network(monkeypatch):
    """A matrix of rows and states would have 10^9 cells; a small one gives the same network."""
    rng = np.random.default_rng(4)
    plane = rng.permutation(np.arange(100_000) % 4000)
    frame = pd.DataFrame({"plane": [f"N{i}" for i in plane], "distance": rng.normal(size=100_000)})
    frame["distance"] += rng.normal(size=4000)[plane]
    start = time.process_time()
    network = kes.fit([("plane", "distance")], frame)
    assert time.process_time() - start < 10
    means = frame.groupby("plane")["distance"].mean()
    model = network.local("distance")
    found = model.intercept + np.array([0.0, *model.coefficients])
    assert found == pytest.approx(means[list(network.states["plane"])].to_numpy())
    some = frame[plane < 20]
    plain = kes.fit([("plane", "distance")], some).local("distance")
    monkeypatch.setattr(fitting, "_MANY_REGRESSORS", 0)
    again = kes.fit([("plane", "distance")], some).local("distance")
    assert again.coefficients == pytest.approx(plain.coefficients)
    assert again.errors == pytest.approx(plain.errors)
