"""Networks with curves: estimates, answers, files, and the page."""

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.polynomial.legendre import legvander
from tests.unit.refused import refused

import kes
from kes import _core
from kes.network import GaussianNetwork, Linear, MixedNetwork
from kes.show.report.families import FittedNetworks, families


def parabola(rows=2000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    y = x**2 + 0.3 * rng.normal(size=rows)
    far = np.where(rng.random(rows) < 1 / (1 + np.exp(4 - 4 * np.abs(x))), "far", "near")
    return pd.DataFrame({"x": x, "y": y, "s": far})


@pytest.fixture(scope="module")
def data():
    return parabola()


@pytest.fixture(scope="module")
def network(data):
    return kes.fit([("x", "y"), ("x", "s")], data, basis=4)


def test_estimates_are_least_squares_on_the_polynomials(data, network):
    """The mean of the normal score of y, by numpy."""
    ranks = network.transform
    x, y = (ranks.transform(name, data[name].to_numpy()) for name in "xy")
    clipped = np.clip(x / _core.SCORE_CLIP, -1, 1)
    expected, rss, *_ = np.linalg.lstsq(legvander(clipped, 4), y)
    model = network.local("y")
    assert [model.intercept, *model.coefficients] == pytest.approx(expected, abs=1e-9)
    assert model.deviation == pytest.approx(float(np.sqrt(rss[0] / (len(y) - 5))))
    assert model.degree == 4
    assert model.n_parameters == 6
    terms = network.coefficients("y")["term"]
    assert terms == ("(intercept)", "P1(x)", "P2(x)", "P3(x)", "P4(x)")


def test_predictions_follow_the_curve(network):
    new = pd.DataFrame({"x": [-1.2, -0.7, 0.0, 0.7, 1.2]})
    assert network.predict(new, "y") == pytest.approx(new["x"] ** 2, abs=0.4)
    shares = network.predict(new, "s", probabilities=True)[:, network.states["s"].index("far")]
    assert shares == pytest.approx(1 / (1 + np.exp(4 - 4 * new["x"].abs())), abs=0.15)


def test_a_parent_is_predicted_from_its_child_by_drawing(network):
    """Given y = 2.25, x is about 1.5 or -1.5, and its mean is 0."""
    low, high = (
        network.probability({"x": kes.Range(above=a, at_most=b)}, {"y": 2.25})
        for a, b in ((-2.0, -1.0), (1.0, 2.0))
    )
    assert float(low) + float(high) > 0.8
    assert abs(float(low) - float(high)) < 0.15
    assert low.error > 0
    moments = network.conditional("x", {"y": 2.25})
    assert abs(moments.mean[0]) < 0.3
    assert moments.error[0] > 0


def test_draws_agree_with_a_fine_grid(network):
    """p(x | y, s) by summing over a grid of normal scores instead of drawing."""
    grid = np.linspace(-4, 4, 4001)
    given = {"y": 1.0, "s": "far"}
    observed = {"y": network.transform.transform("y", np.array([1.0]))[0], "s": 0}
    logs = network.local("x").log_probability(np.empty((len(grid), 0)), grid)
    for node in ("y", "s"):
        model = network.local(node)
        inputs = model.inputs([grid], [0], len(grid))
        own = np.full(len(grid), observed[node])
        logs = logs + model.log_probability(inputs, own if node == "y" else own.astype(np.int32))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ grid
    deviation = np.sqrt(weights @ (grid - mean) ** 2)
    found = network.conditional("x", given, draws=20_000)
    assert found.mean[0] == pytest.approx(mean, abs=5 * found.error[0] + 0.01)
    assert found.deviation[0] == pytest.approx(deviation, rel=0.05)


def test_hidden_parents_are_averaged_over(data, network):
    """ln p(y) without x, against the mean of p(y | x) over many draws of x."""
    row = pd.DataFrame({"x": [np.nan], "y": [1.0], "s": [None]})
    found = network.log_likelihood(row, unseen="missing")
    drawn = np.random.default_rng(1).normal(0, network.local("x").deviation, 200_000)
    model, own = network.local("y"), network.transform.transform("y", np.array([1.0]))
    logs = model.log_probability(
        model.inputs([drawn], [0], len(drawn)), np.full(len(drawn), own[0])
    )
    assert found == pytest.approx(np.log(np.exp(logs).mean()), abs=0.1)


def test_the_direction_is_the_one_that_fits(data):
    """x - y is one class; given y, x has hardly a mean, so x -> y is estimated."""
    graph = kes.EssentialGraph.from_dag(["x", "y"], [("x", "y")])
    table = data[["x", "y"]]
    assert kes.fit(graph, table, basis=3).arcs == (("x", "y"),)
    assert kes.fit(graph, table.rename(columns={"x": "y", "y": "x"}), basis=3).arcs == (("y", "x"),)
    assert kes.fit(graph, table, basis=3, prefer=[("y", "x")]).arcs == (("y", "x"),)


def test_samples_have_the_curve(data, network):
    drawn = network.sample(4000, seed=1).to_pandas()
    for name in "xy":
        assert drawn[name].quantile([0.1, 0.5, 0.75]).tolist() == pytest.approx(
            data[name].quantile([0.1, 0.5, 0.75]).tolist(), abs=0.25
        )
    middle, ends = drawn["x"].abs() < 0.5, drawn["x"].abs() > 1.5
    assert drawn["y"][ends].median() - drawn["y"][middle].median() > 2


def test_cases_can_be_drawn_given_a_cause(data, network):
    """Values of a cause are in its own unit, and become normal scores for the curve."""
    rows = pd.DataFrame({"x": np.repeat([-1.2, 0.0, 1.2], 500)})
    given = kes.data.encode(rows, kinds={"x": "continuous"})
    drawn = network.sample_given(given, seed=1).to_pandas()
    assert drawn["x"].to_numpy() == pytest.approx(rows["x"].to_numpy(), abs=0.02)
    medians = drawn["y"].groupby(drawn["x"].round(1)).median()
    assert medians.tolist() == pytest.approx([1.44, 0.0, 1.44], abs=0.4)


def test_held_out_cases_are_more_probable_with_curves(data):
    new, arcs = parabola(seed=1), [("x", "y"), ("x", "s")]
    lines = kes.fit(arcs, data, transform="ranks")
    curves = kes.fit(arcs, data, basis=3)
    assert curves.log_likelihood(new) > lines.log_likelihood(new) + 500


def test_files_and_pickles_keep_it(network, tmp_path):
    network.save(tmp_path / "a.json")
    assert kes.read_network(tmp_path / "a.json") == network
    assert pickle.loads(pickle.dumps(network)) == network
    assert "degree" not in json.dumps(Linear(0.0, deviation=1.0).describe())
    continuous = kes.fit([("x", "y")], parabola()[["x", "y"]], basis=2)
    continuous.save(tmp_path / "b.json")
    again = kes.read_network(tmp_path / "b.json")
    assert isinstance(again, MixedNetwork)
    assert again == continuous


def test_missing_values_are_imputed_along_the_curve(data):
    gaps = np.random.default_rng(0).random(data.shape) < 0.1
    fitted = kes.fit([("x", "y"), ("x", "s")], data.mask(gaps), basis=4, missing="em")
    assert fitted.local("y").deviation == pytest.approx(
        kes.fit([("x", "y"), ("x", "s")], data, basis=4).local("y").deviation, rel=0.25
    )


def test_a_learned_network_takes_the_basis_of_the_search(data):
    optima = kes.learn(data, basis=3, runs=5)
    network = optima.best.fit(data)
    assert {network.local(node).degree for node in network.nodes} == {1, 3}
    assert network.predict(pd.DataFrame({"x": [1.5]}), "y")[0] == pytest.approx(2.25, abs=0.5)


def test_averages_and_validation_use_curves(data):
    table = data[["x", "y"]].head(400)
    average = kes.ensemble(table, members=4, basis=3)
    assert average.predict(pd.DataFrame({"x": [1.5]}), "y")[0] > 1.2
    found = kes.cross_validate(table, folds=2, runs=2, basis=3, top=1)
    assert found["difference"][-1] < -0.3  # without edges


@pytest.mark.parametrize(
    "options", [{"basis": "auto"}, {"basis": 2, "transform": "none"}], ids=["auto", "transform"]
)
def test_wrong_values_name_the_option(data, options):
    with refused(option="basis"):
        kes.fit([("x", "y")], data, **options)


def test_gaussian_networks_have_no_curves():
    models = {
        "a": Linear(0.0, deviation=1.0),
        "b": Linear(0.0, [1.0, 2.0], deviation=1.0, degree=2),
    }
    with refused("MixedNetwork", column="b"):
        GaussianNetwork(["a", "b"], {"b": ["a"]}, models)
    network = MixedNetwork(["a", "b"], {}, {"b": ["a"]}, models)
    assert "degree=2" in repr(network.local("b"))
    with refused(column="b"):
        MixedNetwork(
            ["a", "b"], {}, {"b": ["a"]}, {**models, "b": Linear(0.0, [1.0, 2.0], deviation=1.0)}
        )


def test_the_page_has_the_same_numbers(data, tmp_path):
    """The same degree, clip and scores as in Python; values between points are interpolated."""
    optima = kes.learn(data, basis=3, runs=3, improve=False)
    fitted = FittedNetworks(optima.problem.dataset, 3)
    sent = families({0: fitted.parents(optima[0])}, fitted)
    network = fitted.network(fitted.parents(optima.best))
    assert network == optima.best.fit(data)
    for node, parents, kind, numbers in (sent["families"][at] for at in sent["of"][0]):
        name = optima.names[node]
        assert [optima.names[parent] for parent in parents] == list(network.parents[name])
        if kind != "cases":
            assert (kind, numbers) == network.local(name).describe()
    at = optima.names.index("x")
    values = data["x"].to_numpy()
    shown = np.interp(values, sent["scores"][at]["values"], sent["scores"][at]["scores"])
    assert np.abs(shown - network.transform.transform("x", values)).max() < 0.1
    script = Path(kes.__file__).parent / "show/report/template/polynomials.js"
    text = script.read_text(encoding="utf-8")
    assert float(re.search(r"CLIP = ([\d.]+);", text)[1]) == _core.SCORE_CLIP
    optima.report(tmp_path / "report.html")
    assert '"degree":3' in (tmp_path / "report.html").read_text(encoding="utf-8")
