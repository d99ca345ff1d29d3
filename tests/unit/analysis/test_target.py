"""Targets: how well they are predicted, in cases that were not used to learn."""

import json

import numpy as np
import pandas as pd
import pytest

import kes
from kes.analysis.target import INTERVALS, Predictions, area, predictions, quality
from kes.errors import KesError
from kes.results.summary import blanket_of, text


def cancer(rows=600, seed=0):
    """age -> smoker -> cancer -> cough, and noise."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 3, rows)
    smoker = rng.random(rows) < np.array([0.1, 0.5, 0.8])[age]
    ill = rng.random(rows) < np.where(smoker, 0.7, 0.1)
    cough = rng.random(rows) < np.where(ill, 0.8, 0.2)
    noise = rng.integers(0, 2, rows)
    columns = {"age": age, "smoker": smoker, "cancer": ill, "cough": cough, "noise": noise}
    return pd.DataFrame(columns)


# --- measures ------------------------------------------------------------------------------------


def test_the_area_is_the_share_of_pairs_in_order():
    """All pairs of a hit and another case, one by one; ties count half."""
    rng = np.random.default_rng(1)
    scores, hits = rng.integers(0, 6, 60) / 5, rng.integers(0, 2, 60).astype(float)
    weights = rng.integers(1, 4, 60).astype(float)
    above = total = 0.0
    for i in np.flatnonzero(hits == 1):
        for j in np.flatnonzero(hits == 0):
            pair = weights[i] * weights[j]
            total += pair
            above += pair * ((scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j]))
    assert area(scores, hits, weights) == pytest.approx(above / total)
    assert area(scores, np.ones(60), weights) is None


def test_measures_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    rng = np.random.default_rng(2)
    for states in (2, 3):
        values = rng.dirichlet(np.ones(states), 200)
        truth = rng.integers(0, states, 200)
        weights = rng.integers(1, 4, 200).astype(float)
        shares = np.bincount(truth, weights) / weights.sum()
        found = Predictions(values, np.zeros((200, 0, 2)))
        measures, calibration = quality(found, truth, weights, shares)
        given = {"sample_weight": weights}
        loss = metrics.log_loss(truth, values, **given)
        assert measures["log_loss"] == pytest.approx(loss)
        assert measures["log_loss_alone"] == pytest.approx(-(shares @ np.log(shares)))
        right = metrics.accuracy_score(truth, values.argmax(axis=1), **given)
        assert measures["accuracy"] == pytest.approx(right)
        if states == 2:
            auc = metrics.roc_auc_score(truth, values[:, 1], **given)
            assert measures["brier"] == pytest.approx(
                2 * metrics.brier_score_loss(truth, values[:, 1], **given)
            )
        else:
            auc = metrics.roc_auc_score(
                truth, values, multi_class="ovr", average="weighted", **given
            )
        assert measures["auc"] == pytest.approx(auc)
        assert sum(cases for *_, cases in calibration) == pytest.approx(
            len(truth) * (states if states > 2 else 1)
        )


def test_numbers_are_measured_by_r2_and_intervals():
    rng = np.random.default_rng(3)
    means = rng.normal(size=4000)
    truth = means + 0.5 * rng.normal(size=4000)
    reach = np.array([0.67448975, 1.28155157, 1.95996398]) * 0.5  # tables of the normal quantile
    intervals = np.stack([means[:, None] - reach, means[:, None] + reach], axis=2)
    found = Predictions(means[:, None], intervals)
    measures, calibration = quality(found, truth, np.ones(4000), None)
    assert measures["rmse"] == pytest.approx(np.sqrt(((truth - means) ** 2).mean()))
    assert measures["r2"] == pytest.approx(1 - measures["rmse"] ** 2 / truth.var())
    for (level, share, cases), expected in zip(calibration, INTERVALS, strict=True):
        assert (level, cases) == (expected, 4000)
        assert share == pytest.approx(expected, abs=5 * (level * (1 - level) / 4000) ** 0.5)


# --- learn ---------------------------------------------------------------------------------------


def test_a_target_does_not_change_the_search(tmp_path):
    data = cancer()
    plain, aimed = kes.learn(data, runs=5), kes.learn(data, runs=5, target="cancer")
    assert aimed.record == plain.record
    assert (plain.target, aimed.target) == (None, "cancer")
    aimed.save(tmp_path / "a.kes.json")
    assert kes.load(tmp_path / "a.kes.json").evaluation == aimed.evaluation
    assert aimed.extend(runs=2).evaluation == aimed.improve(tasks=3).evaluation == aimed.evaluation


def test_predictions_are_about_as_good_as_the_truth_allows():
    """By the network that made the cases, on many new ones: the best that anybody can do."""
    found = kes.learn(cancer(3000), runs=5, target="cancer").evaluation
    new = cancer(200_000, seed=1)
    groups = new.groupby(["smoker", "cough"])["cancer"]
    best = area(
        groups.transform("mean").to_numpy(), new["cancer"].to_numpy() * 1.0, np.ones(200_000)
    )
    assert found.cases == 3000
    assert found.measures["auc"] == pytest.approx(best, abs=0.02)
    assert found.miscalibration < 0.03


def test_held_out_cases_are_not_used_to_learn():
    """Noise that a network fits well, and predicts no better than a coin."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (60, 25)), columns=[f"v{i}" for i in range(25)])
    optima = kes.learn(frame, runs=5, criterion="aic", target="v0")
    network = optima.best.fit(frame)
    known = predictions(network, frame, "v0", "error").values[:, 1]
    seen = area(known, frame["v0"].to_numpy() * 1.0, np.ones(60))
    assert seen > 0.85
    assert optima.evaluation.measures["auc"] < 0.75


def test_the_blanket_is_that_of_the_network():
    optima = kes.learn(kes.datasets.alarm(rows=1000), runs=5)
    network = optima.best.fit(kes.datasets.alarm(rows=1000))
    for name in optima.names:
        assert set(blanket_of(optima.best, name)) == network.markov_blanket(name)


def test_the_summary_begins_with_the_blanket():
    optima = kes.learn(cancer(), runs=5, target="cancer")
    rows = dict(line.strip().split("  ", 1) for line in text(optima).splitlines()[1:])
    assert rows["target"].strip() == "cancer, from 'smoker', 'cough'"
    assert f"AUC {optima.evaluation.measures['auc']:.3f}" in rows["predictions"]


def test_continuous_targets_and_ranks():
    rng = np.random.default_rng(4)
    a = rng.normal(size=800)
    frame = pd.DataFrame(
        {"a": a, "b": np.exp(a + 0.3 * rng.normal(size=800)), "c": rng.normal(size=800)}
    )
    for options in ({}, {"transform": "ranks"}):
        found = kes.learn(frame, runs=3, target="b", **options).evaluation
        assert 0.3 < found.measures["r2"] < 1
        assert len(found.calibration) == len(INTERVALS)
    assert found.miscalibration < 0.05  # the ranks are normal, the values are not


def test_gaps_in_the_target_and_elsewhere():
    frame = cancer(800).astype(object)
    rng = np.random.default_rng(0)
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    found = kes.learn(frame, runs=3, missing="em", target="cancer").evaluation
    assert found.cases == frame["cancer"].notna().sum()
    assert found.measures["auc"] > 0.7


def test_many_cases_are_split_once():
    found = kes.learn(cancer(30_000), runs=2, target="cancer").evaluation
    assert found.cases == 6000


@pytest.mark.parametrize("weights", [np.full(600, 0.5), None])
def test_cases_that_cannot_be_held_out(weights):
    data = cancer() if weights is not None else cancer(15)
    optima = kes.learn(data, runs=2, target="cancer", weights=weights)
    assert optima.evaluation.cases == 0
    assert "not evaluated" in text(optima)


def test_unknown_targets():
    with pytest.raises(KesError) as caught:
        kes.learn(cancer(), runs=2, target="cancr")
    assert (caught.value.option, caught.value.column) == ("target", "cancr")


def test_a_file_keeps_one_target(tmp_path):
    path = tmp_path / "a.kes.json"
    first = kes.learn(cancer(), runs=3, target="cancer", out=path)
    before = path.read_bytes()
    again = kes.learn(cancer(), runs=3, target="cancer", out=path)
    assert (again.evaluation, path.read_bytes()) == (first.evaluation, before)
    assert kes.learn(cancer(), runs=3, out=path).target == "cancer"
    kes.learn(cancer(), runs=3, target="cough", out=path)
    assert kes.load(path).target == "cough"
    forged = json.loads(path.read_text())
    forged["evaluation"]["target"] = "x"
    path.write_text(json.dumps(forged))
    with pytest.raises(KesError) as caught:
        kes.load(path)
    assert caught.value.file == str(path)


def test_the_report_opens_with_the_target(tmp_path):
    optima = kes.learn(cancer(), runs=3, target="cancer")
    optima.report(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    place = optima.names.index("cancer")
    assert f'"target":{place}' in page
    assert "Prediction of cancer" in page
    assert f"AUC {optima.evaluation.measures['auc']:.3f}" in page
    assert "target=&#x27;cancer&#x27;" in page
