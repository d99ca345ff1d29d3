"""Predictions on the page: an average beside the best network."""

import numpy as np
import pandas as pd
import pytest

import kes
from kes.show.report.averaged_answers import averaged_answers
from kes.show.report.prediction import prediction_text


@pytest.fixture(scope="module")
def optima():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 200)
    x = a + rng.normal(size=200)
    frame = pd.DataFrame({"a": np.array(["no", "yes"])[a], "x": x, "y": x + rng.normal(size=200)})
    return {target: kes.learn(frame, runs=2, improve=False, target=target) for target in ("a", "y")}


def test_answers_of_the_average_stand_beside_those_of_the_best_network(optima):
    own = optima["a"]
    network, average = own.best.fit(own.problem.dataset), own.ensemble(members=10)
    text = averaged_answers(own)
    assert f"<td>{float(network.probability({'a': 'yes'})):.4g}" in text
    mean, spread = float(average.probability({"a": "yes"})), average.spread({"a": "yes"})
    assert f"<td>{mean:.4g} ± {spread:.2g}</td>" in text
    assert "P(a = yes)" in text


def test_numbers_have_answers_too(optima):
    own = optima["y"]
    average = own.ensemble(members=10)
    assert f"<td>{average.conditional('y').mean[0]:.4g} ±" in averaged_answers(own)


def test_both_are_measured_with_their_reliability_curves(optima):
    for own in optima.values():
        text = prediction_text(own)
        found = own.evaluation
        for measures in (found.measures, found.average.measures):
            for value in measures.values():
                assert f"<td>{value:.4g}</td>" in text
        assert text.count("<polyline") == 2
        assert "an average of networks" in text


def test_without_data_or_target_there_are_no_answers(optima, tmp_path):
    optima["a"].save(tmp_path / "r.kes.json")
    loaded = kes.load(tmp_path / "r.kes.json")
    assert loaded.evaluation == optima["a"].evaluation
    assert averaged_answers(loaded) == ""
    assert averaged_answers(kes.learn(kes.datasets.alarm(rows=50), runs=1, improve=False)) == ""
