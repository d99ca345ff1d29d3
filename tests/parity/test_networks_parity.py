"""Gaussian networks handed to pgmpy say there what they say here."""

import numpy as np
import pytest

from kes.network import GaussianNetwork, Linear


@pytest.fixture(scope="module")
def network() -> GaussianNetwork:
    rng = np.random.default_rng(4)
    nodes = [f"v{i}" for i in range(6)]
    parents = {n: [str(p) for p in rng.permutation(nodes[:i])[:3]] for i, n in enumerate(nodes)}
    models = {
        node: Linear(rng.normal(), rng.normal(size=len(parents[node])), deviation=1 + rng.random())
        for node in nodes
    }
    return GaussianNetwork([str(n) for n in rng.permutation(nodes)], parents, models)


@pytest.fixture(scope="module")
def model(network):
    pytest.importorskip("pgmpy", reason="pgmpy is not installed")
    return network.to_pgmpy()


def test_pgmpy_has_the_same_joint_distribution(network, model):
    nx = pytest.importorskip("networkx")
    assert model.check_model()
    mean, covariance = model.to_joint_gaussian()  # in topological order, rounded to 8 digits
    ours = network.joint.of(list(nx.topological_sort(model)))
    np.testing.assert_allclose(ours.mean, mean, atol=1e-7)
    np.testing.assert_allclose(ours.covariance, covariance, atol=1e-7)


def test_pgmpy_holds_data_for_as_likely(network, model):
    data = network.sample(200, seed=1).to_pandas()
    assert network.log_likelihood(data) == pytest.approx(model.log_likelihood(data), rel=1e-6)


def test_pgmpy_predicts_the_same(network, model):
    data = network.sample(20, seed=2).to_pandas().drop(columns=["v1", "v4"])
    theirs = model.predict(data)
    for target in ("v1", "v4"):
        np.testing.assert_allclose(network.predict(data, target), theirs[target], atol=1e-5)
