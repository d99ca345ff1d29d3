"""Gaussian scores and searches against the package `ges`, where it is installed."""

import numpy as np
import pytest
from oracle import engine
from oracle.brute import arcs_of
from oracle.distributions import random_dag
from oracle.test_gaussian_scores import linear

ges = pytest.importorskip("ges")
l0 = pytest.importorskip("ges.scores.gauss_obs_l0_pen")


def adjacency(dag, n):
    matrix = np.zeros((n, n))
    for a, b in arcs_of(dag):
        matrix[a, b] = 1
    return matrix


@pytest.mark.parametrize("seed", range(50))
def test_differences_of_gaussian_bic(seed):
    """`ges` counts neither means nor 2 pi, which all DAGs of a table have in common."""
    rng = np.random.default_rng([20, seed])
    n, rows = int(rng.integers(2, 9)), int(rng.integers(50, 500))
    columns = linear(rng, n, rows)
    problem, peer = engine.gaussian(columns), l0.GaussObsL0Pen(np.array(columns).T)
    first, *others = [random_dag(n, rng.random(), rng) for _ in range(5)]
    for dag in others:
        found = problem.score(arcs_of(dag)) - problem.score(arcs_of(first))
        direct = peer.full_score(adjacency(dag, n)) - peer.full_score(adjacency(first, n))
        assert found == pytest.approx(direct, abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_two_phases_end_where_ges_ends(seed):
    rng = np.random.default_rng([21, seed])
    columns = linear(rng, 7, 1000)
    _, (directed, undirected) = engine.trace(engine.gaussian(columns), 0, k=1.0, two_phase=True)
    peer, _ = ges.fit_bic(np.array(columns).T, phases=["forward", "backward"])
    both = {(int(a), int(b)) for a, b in np.argwhere(peer)}
    assert {(a, b) for a, b in both if (b, a) not in both} == set(directed)
    assert {(a, b) for a, b in both if (b, a) in both and a < b} == set(undirected)
