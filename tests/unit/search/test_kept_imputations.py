"""Imputed values that result files keep, so that nothing is imputed again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import kes


def test_imputed_values_are_kept_and_nothing_is_imputed_again(tmp_path, monkeypatch):
    frame = _gappy_frame()
    optima = kes.learn(frame, missing="em", runs=3, improve=False)
    expected = optima.best.fit(optima.problem.dataset)
    average = optima.ensemble(members=2)
    optima.save(tmp_path / "a.kes.json")
    loaded = kes.load(tmp_path / "a.kes.json")
    loaded.save(tmp_path / "b.kes.json")
    assert (tmp_path / "a.kes.json").read_bytes() == (tmp_path / "b.kes.json").read_bytes()
    monkeypatch.setattr("kes.search.problem.complete", None)
    monkeypatch.setattr("kes.network.fitting.impute", None)
    shuffled = frame.sample(frac=1, random_state=3).reset_index(drop=True)
    assert loaded.best.fit(shuffled) == expected
    assert loaded.ensemble(frame, members=2) == average
    assert len(loaded.extend(2, frame).runs) == 5


def test_imputed_values_may_be_left_out(tmp_path):
    frame = _gappy_frame()
    bare = kes.learn(frame, missing="em", runs=3, improve=False, keep_imputed=False)
    full = kes.learn(frame, missing="em", runs=3, improve=False)
    assert bare == full
    assert bare.record.completion.imputed == ()
    bare.save(tmp_path / "a.kes.json")
    full.save(tmp_path / "b.kes.json")
    assert b'"imputed"' not in (tmp_path / "a.kes.json").read_bytes()
    assert b'"imputed"' in (tmp_path / "b.kes.json").read_bytes()
    assert kes.load(tmp_path / "a.kes.json").extend(1, frame).run_scores == pytest.approx(
        full.extend(1).run_scores
    )


def test_networks_are_the_same_whether_imputed_values_are_kept_or_not(tmp_path):
    frame = _gappy_frame()
    full = kes.learn(frame, missing="em", runs=3, improve=False)
    found = kes.learn(frame, missing="em", runs=3, improve=False, keep_imputed=False)
    expected = full.best.fit(full.problem.dataset)
    found.save(tmp_path / "a.kes.json")
    for bare in (found, kes.load(tmp_path / "a.kes.json")):
        assert bare.best.fit(frame) == expected
        assert bare.best.fit(frame, ess=1.0) == expected


def test_other_data_are_imputed_anew(tmp_path):
    frame = _gappy_frame()
    best = kes.learn(frame, missing="em", runs=2, improve=False).best
    network = best.fit(frame.iloc[:150])
    assert network.nodes == best.names


def _gappy_frame():
    rng = np.random.default_rng(4)
    a = rng.integers(0, 2, 200)
    x = a + rng.normal(size=200)
    frame = pd.DataFrame({"a": np.array(["n", "y"])[a], "x": x, "y": x + rng.normal(size=200)})
    return frame.mask(rng.random(frame.shape) < 0.15)
