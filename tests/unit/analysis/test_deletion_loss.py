"""Losses of deletions, compared with the list of all neighbours that a search evaluates."""

import numpy as np
import pytest

import kes
from kes.analysis.deletion_loss import edge_worth


def tables():
    random = np.random.default_rng(3)
    for seed in range(4):
        yield kes.datasets.random_network(8, seed=seed).sample(300, seed=seed)
    base = random.normal(size=(200, 6))
    yield base @ random.normal(size=(6, 6)) + base


@pytest.mark.parametrize("data", list(tables()))
@pytest.mark.parametrize("k", [0.0, 1.0])
def test_it_is_the_least_loss_among_the_neighbours_without_the_edge(data, k):
    optima = kes.learn(data, k=k, runs=3, improve=False)
    for number, optimum in enumerate(optima):
        listed = {
            frozenset((row["x"], row["y"])): row["worth"] for row in optima.explain(number).edges()
        }
        assert edge_worth(optimum.graph, optima.problem) == pytest.approx(listed, abs=1e-9)


def test_a_dense_class_has_many_ways_to_lose_an_edge():
    """In an undirected clique of four, each edge can go given any part of the other two."""
    data = kes.datasets.random_network(4, seed=1).sample(200, seed=1)
    names = data.names
    clique = kes.EssentialGraph.from_dag(
        names, [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    )
    problem = kes.learn(data, runs=1).problem
    worth = edge_worth(clique, problem)
    at = {name: i for i, name in enumerate(names)}
    for pair in clique.undirected:
        x, y = sorted(pair)
        others = [at[z] for z in names if z not in pair]
        sets = [[], others[:1], others[1:], others]
        ways = [problem.core.delta((True, at[x], at[y], sorted(given))) for given in sets]
        assert worth[pair] == min(ways)
