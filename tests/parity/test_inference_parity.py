"""Exact inference against pyAgrum, on the built-in ALARM network and on published ones."""

from pathlib import Path

import numpy as np
import pytest

import kes
from kes.network import BayesianNetwork

SHARED = Path(__file__).parents[2] / "../shared/data/bif"

NETWORKS = [
    kes.datasets.alarm_network,
    pytest.param(
        lambda: kes.read_network(SHARED / "andes.bif.gz"),
        marks=pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is absent"),
    ),
]


class Peer:
    """The same network in pyAgrum."""

    def __init__(self, network: BayesianNetwork) -> None:
        self.gum = pytest.importorskip("pyagrum", reason="pyagrum is not installed")
        self.model = network.to_pyagrum()
        self.place = {node: i for i, node in enumerate(network.nodes)}
        self.states = network.states

    def posteriors(self, evidence, nodes):
        inference = self.gum.LazyPropagation(self.model)
        for node, state in evidence.items():
            inference.addEvidence(self.place[node], self.states[node].index(state))
        inference.makeInference()
        return {node: inference.posterior(self.place[node]).toarray() for node in nodes}


@pytest.mark.parametrize("make", NETWORKS)
def test_posteriors_and_marginals(make):
    network = make()
    peer = Peer(network)
    rng = np.random.default_rng(0)
    for number, case in enumerate(network.sample(6, seed=3).to_pandas().to_dict("records")):
        observed = rng.choice(list(network.nodes), 3 * number, replace=False).tolist()
        evidence = {node: case[node] for node in observed}
        theirs = peer.posteriors(evidence, network.nodes)
        ours = network.marginals(evidence)
        for node in network.nodes:
            np.testing.assert_allclose(list(ours[node].values()), theirs[node], atol=1e-9)
        for node in rng.choice(list(network.nodes), 5, replace=False).tolist():
            found = network.probability(node, evidence)
            np.testing.assert_allclose(list(found.values()), theirs[node], atol=1e-9)


@pytest.mark.parametrize("make", NETWORKS)
def test_predictions_with_hidden_columns(make):
    network = make()
    peer = Peer(network)
    rng = np.random.default_rng(1)
    target, *hidden = rng.choice(list(network.nodes), 12, replace=False).tolist()
    table = network.sample(20, seed=4).to_pandas().drop(columns=hidden)
    found = network.predict(table, target, probabilities=True)
    for row, ours in zip(table.drop(columns=target).to_dict("records"), found, strict=True):
        np.testing.assert_allclose(ours, peer.posteriors(row, [target])[target], atol=1e-9)
