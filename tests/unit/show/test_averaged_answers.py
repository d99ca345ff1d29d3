"""Predictions on the page: an average beside the best network."""

import re

import numpy as np
import pandas as pd
import pytest

import kes
from kes.network import AveragedNetwork, GaussianNetwork
from kes.network.cpds import Linear
from kes.show.report.averaged_answers import (
    _averaged,
    averaged_answers,
    members_of,
    report_average,
)
from kes.show.report.prediction import prediction_text


@pytest.fixture(scope="module")
def optima():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 200)
    x = a + rng.normal(size=200)
    frame = pd.DataFrame({"a": np.array(["no", "yes"])[a], "x": x, "y": x + rng.normal(size=200)})
    return {target: kes.learn(frame, runs=2, improve=False, target=target) for target in ("a", "y")}


def answers_of(optima):
    """The table of a report."""
    problem = optima.problem
    return averaged_answers(optima, problem, report_average(optima, problem))


def test_answers_of_the_average_stand_beside_those_of_the_best_network(optima):
    own = optima["a"]
    network, average = own.best.fit(own.problem.dataset), own.ensemble(members=10)
    text = answers_of(own)
    assert f"<td>{float(network.probability({'a': 'yes'})):.4g}" in text
    mean, spread = float(average.probability({"a": "yes"})), average.spread({"a": "yes"})
    assert f"<td>{mean:.4g} ± {spread:.2g}</td>" in text
    assert "P(a = yes)" in text


def test_numbers_have_answers_too(optima):
    own = optima["y"]
    average = own.ensemble(members=10)
    assert f"<td>{average.conditional('y').mean[0]:.4g} ±" in answers_of(own)


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
    loaded.report(tmp_path / "r.html")
    assert '"average":null' in (tmp_path / "r.html").read_text()
    plain = kes.learn(kes.datasets.alarm(rows=50), runs=1, improve=False)
    assert report_average(plain, plain.problem) is None


def test_transformed_numbers_are_mapped_back_and_spread_by_shares():
    rng = np.random.default_rng(2)
    x = rng.normal(size=150)
    frame = pd.DataFrame({"x": x, "y": 1000 + 50 * x + 40 * rng.normal(size=150)})
    own = kes.learn(frame, runs=2, improve=False, target="y", transform="ranks")
    text = answers_of(own)
    assert "centre of y (its mean normal score, mapped back)" in text
    means = [float(cell) for cell in re.findall(r"<td>([\d.]+)</td>", text)]
    assert means
    assert all(800 < mean < 1200 for mean in means)


def test_members_that_did_not_expect_the_evidence_hardly_count():
    def network(mean, x_mean):
        cpds = {"x": Linear(x_mean, deviation=1.0), "y": Linear(mean, deviation=1.0)}
        return GaussianNetwork(["x", "y"], {}, cpds)

    average = AveragedNetwork([network(0.0, 0.0), network(10.0, 50.0)])
    assert _averaged(average, "y", {})[1] == pytest.approx(5.0)
    assert _averaged(average, "y", {"x": 0.0})[1] == pytest.approx(0.0, abs=1e-9)


def test_members_on_the_page_are_those_of_the_average():
    data = kes.datasets.alarm(rows=200)
    own = kes.learn(data, runs=1, improve=False, target="HYPOVOLEMIA")
    average = report_average(own, own.problem)
    sent = members_of(average, own.problem)
    assert sent["ess"] == 5
    for number, member in enumerate(average.members):
        for family, node in zip(sent["of"][number], member.nodes, strict=True):
            child, parents, kind, counts = sent["families"][family]
            assert (member.nodes[child], kind) == (node, "cases")
            assert tuple(member.nodes[p] for p in parents) == member.parents[node]
            shares = np.reshape(counts, member.cpts[node].shape) + 5 / len(counts)
            shares /= shares.sum(axis=-1, keepdims=True)
            assert shares == pytest.approx(member.cpts[node], abs=1e-12)


def test_curves_have_no_members_on_the_page():
    rng = np.random.default_rng(3)
    x = rng.normal(size=150)
    frame = pd.DataFrame({"x": x, "y": x**2 + 0.3 * rng.normal(size=150)})
    own = kes.learn(frame, runs=2, improve=False, target="y", basis=3)
    average = report_average(own, own.problem)
    assert members_of(average, own.problem) is None
