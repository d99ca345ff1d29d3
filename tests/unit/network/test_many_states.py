"""Parents with thousands of states, whose effects are looked up instead of multiplied."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import kes
from kes.network import gibbs, regressors
from kes.network.cpds import Linear, Logistic
from kes.network.regressors import SparseRegressors, all_effects, main_effects


@pytest.mark.parametrize("levels", [[5], [0, 4], [4, 0, 3], [2, 3, 0, 2]])
@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_the_effects_are_the_products_with_the_table_of_regressors(levels, degree, columns):
    rng = np.random.default_rng(0)
    given = [rng.integers(n, size=50) if n else rng.normal(size=50) for n in levels]
    for number in {main_effects(levels, degree), all_effects(levels, degree)}:
        coefficients = rng.normal(size=(number, *columns))
        table = regressors.regressors(given, levels, 50, number=number, degree=degree)
        found = SparseRegressors(given, levels, 50, degree) @ coefficients
        assert found == pytest.approx(table @ coefficients)


def test_large_nodes_take_them(monkeypatch):
    """With the same densities and draws as small ones."""
    rng = np.random.default_rng(1)
    codes, numbers, own = rng.integers(300, size=5000), rng.normal(size=5000), rng.normal(size=5000)
    linear = Linear(0.3, rng.normal(size=300), deviation=0.7)
    logistic = Logistic(rng.normal(size=(2, 301)))
    found = []
    for model in (linear, logistic):
        inputs = model.inputs([codes, numbers], [300, 0], 5000)
        assert isinstance(inputs, SparseRegressors)
        found.append(inputs)
    monkeypatch.setattr(regressors, "MANY", 1000)
    for model, few, values in zip((linear, logistic), found, (own, codes % 3), strict=True):
        table = model.inputs([codes, numbers], [300, 0], 5000)
        assert isinstance(table, np.ndarray)
        uniforms = rng.random(5000)
        assert model.draw(few, uniforms) == pytest.approx(model.draw(table, uniforms))
        wanted = model.log_probability(table, values)
        assert model.log_probability(few, values) == pytest.approx(wanted)


def test_gaps_are_drawn_the_same_by_blocks_of_rows(monkeypatch):
    """Each row is drawn by its own random number, so the size of a block has no effect."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    word = np.array([*"abcdef"])[np.digitize(x + rng.normal(size=300), [-1, -0.5, 0, 0.5, 1])]
    frame = pd.DataFrame({"x": x, "word": word, "y": x + (word == "a") + rng.normal(size=300)})
    frame.loc[rng.random(300) < 0.3, "word"] = None
    whole = kes.learn(frame, missing="em", runs=2)
    monkeypatch.setattr("kes.network.gibbs._CELLS", 50)
    assert kes.learn(frame, missing="em", runs=2) == whole


def test_many_states_of_a_parent_are_drawn_as_few(monkeypatch):
    """A child of a word is normal around a mean that each word shifts: drawn with the others."""
    rng = np.random.default_rng(3)
    word = rng.integers(5, size=400)
    frame = pd.DataFrame({"word": np.array([*"abcde"])[word], "x": rng.normal(size=400)})
    frame["y"] = 3.0 * word + frame["x"] + rng.normal(size=400)
    frame.loc[rng.random(400) < 0.3, "word"] = None
    one = kes.learn(frame, missing="em", runs=2)
    used = []
    own = gibbs._shifted
    monkeypatch.setattr(gibbs, "MANY", 2)
    monkeypatch.setattr(gibbs, "_shifted", lambda *given: used.append(1) or own(*given))
    other = kes.learn(frame, missing="em", runs=2)
    assert used
    assert other.record.completion.imputed == one.record.completion.imputed
