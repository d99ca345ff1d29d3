"""Mixed networks fitted to data: estimates, odd tables, copies and files."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from tests.unit.network.test_mixed import clinic
from tests.unit.refused import refused

import kes
from kes.data import Continuous, Dataset, Discrete
from kes.network import Linear, Logistic, MixedNetwork, fit


@pytest.fixture(scope="module")
def fitted():
    data = clinic().sample(20_000, seed=9)
    return fit(clinic().arcs, data), data


def test_fit_finds_what_the_data_were_drawn_from(fitted):
    """Every number within five of its standard errors."""
    network, _ = fitted
    truth = clinic()
    assert isinstance(network, MixedNetwork)
    assert network.states == dict(truth.states)
    assert network.parents["dose"] == ("age", "sex")
    np.testing.assert_allclose(network.models["level"].cpt, truth.models["level"].cpt, atol=0.03)
    for node in ("age", "dose", "cost", "ill"):
        ours, theirs = network.models[node], truth.models[node]
        if node == "cost":  # its parents come in another order
            theirs = Linear(3.0, [0.5, 2.0], deviation=1.0)
        if node != "ill":
            assert ours.deviation == pytest.approx(theirs.deviation, rel=0.03)
            apart = np.append(ours.intercept, ours.coefficients) - np.append(
                theirs.intercept, theirs.coefficients
            )
        else:
            apart = ours.coefficients - theirs.coefficients
        assert (np.abs(apart) < 5 * ours.errors).all()


def test_tables_for_reading(fitted):
    network, _ = fitted
    assert network.coefficients("dose")["term"] == ("(intercept)", "age", "sex = m")
    ill = network.coefficients("ill")
    assert ill["state"] == (True,) * 4
    assert ill["term"] == ("(intercept)", "dose", "level = 1", "level = 2")
    assert network.cpt("level").columns == ("sex", "P(0)", "P(1)", "P(2)")


def test_columns_may_come_in_any_order(fitted):
    network, data = fitted
    other = fit(clinic().arcs, data.select(sorted(data.names)))
    assert network == other


def test_every_configuration_of_discrete_parents_has_a_mean_of_its_own():
    """Means of x within cells, and log-odds, against counts: both parents act only together.

    One of the six cells never occurs; single states decide about it.
    """
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2, 5000), rng.integers(0, 3, 5000)
    b[(a == 1) & (b == 2)] = 0
    u = rng.normal(size=5000)
    x = 3.0 * (a ^ (b > 0)) + 0.5 * u + 0.1 * rng.normal(size=5000)
    c = rng.random(5000) < np.where(a ^ (b > 0), 0.9, 0.2)
    frame = pd.DataFrame({"a": a, "b": b, "u": u, "x": x, "c": np.where(c, "yes", "no")})
    arcs = [(p, y) for y in "xc" for p in "abu"]
    network = kes.fit(arcs, frame, prior=0.01)
    assert network.models["x"].n_parameters == 6 + 1 + 1
    assert network.coefficients("x")["term"][-2:] == ("a = 1, b = 1", "a = 1, b = 2")
    for (i, j), cell in frame.groupby(["a", "b"]):
        known = {"a": i, "b": j, "u": 0.0}
        assert network.conditional("x", known).mean[0] == pytest.approx(
            3.0 * (i ^ (j > 0)), abs=0.03
        )
        share = (cell["c"] == "yes").mean()
        found = network.probability({"c": "yes"}, {**known, "u": cell["u"].mean()}).value
        assert found == pytest.approx(share, abs=0.01)
    assert np.isfinite(network.conditional("x", {"a": 1, "b": 2, "u": 0.0}).mean[0])
    assert pickle.loads(pickle.dumps(network)) == network
    # Without a prior the empty cell has no estimate, so single states decide about all.
    plain = kes.fit(arcs, frame, prior="ml")
    assert plain.models["x"].n_parameters == 3 + 1 + 1 + 1


def test_weights_are_cases():
    data = clinic().sample(200, seed=0)
    weights = np.random.default_rng(0).integers(0, 3, 200).astype(float)
    repeated = data.take(np.repeat(np.arange(200), weights.astype(int)))
    one, other = fit(clinic().arcs, data.reweighted(weights)), fit(clinic().arcs, repeated)
    rows = data.take(np.arange(20))
    np.testing.assert_allclose(
        one.log_likelihood(rows, per_row=True), other.log_likelihood(rows, per_row=True), rtol=1e-7
    )


def test_odd_tables_give_numbers():
    """One state, a state that never occurs, a constant, two rows: all have finite answers."""
    data = Dataset.of(
        ["one", "never", "constant", "x", "y"],
        [
            Discrete(("a",), [0, 0]),
            Discrete(("a", "b", "c"), [0, 1]),
            Continuous([3.5, 3.5]),
            Continuous([0.5, 1.5]),
            Continuous([1.0, -1.0]),
        ],
    )
    arcs = [("x", "one"), ("x", "never"), ("never", "y"), ("constant", "y"), ("one", "y")]
    network = fit(arcs, data)
    assert np.isfinite(network.log_likelihood(data))
    new = pd.DataFrame(
        {"one": ["a"], "never": ["c"], "constant": [3.5], "x": [100.0], "y": [100.0]}
    )
    assert np.isfinite(network.log_likelihood(new))
    assert network.predict(new, "one").tolist() == ["a"]
    assert np.isfinite(network.predict(new, "y")).all()
    assert network == pickle.loads(pickle.dumps(network))


# --- a value among others ------------------------------------------------------------------------


def test_networks_are_values(tmp_path, fitted):
    network, _ = fitted
    network.save(tmp_path / "n.json")
    others = [pickle.loads(pickle.dumps(network)), copy.deepcopy(network)]
    others.append(kes.read_network(tmp_path / "n.json"))
    for other in others:
        assert other == network
        assert other.nodes == network.nodes
        assert not other.models["dose"].errors.flags.writeable
    assert network != clinic()
    assert repr(network).startswith("MixedNetwork(6 nodes, 7 arcs, ")
    assert "continuous" in network._repr_html_()
    graph = network.to_networkx()
    assert graph.nodes["level"]["cpt"].shape == (2, 3)
    assert graph.nodes["ill"]["coefficients"].shape == (1, 4)
    with refused("discrete", file=tmp_path / "n.bif"):
        network.save(tmp_path / "n.bif")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"ill": [0.5, 0.5]}, "Logistic"),
        ({"ill": Logistic([[0.0, 1.0]])}, "1 coefficient.* 3"),
        ({"ill": Logistic([[0.0] * 4] * 2)}, "2 rows"),
        ({"dose": Linear(0.0, [1.0], deviation=1.0)}, "1 coefficient.* 2"),
        ({"sex": [0.5, 0.6]}, "probabilities"),
        ({"sex": Linear(0.0, deviation=1.0)}, "array"),
    ],
)
def test_wrong_models_are_refused(change, word):
    good = clinic()
    with refused(word, column=next(iter(change))):
        MixedNetwork(good.nodes, good.states, good.parents, {**good.models, **change})
