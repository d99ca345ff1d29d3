"""Distances under knowledge: what was told counts neither as learned nor as missed."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes import EssentialGraph, Knowledge, Mpdag
from kes.analysis.compare import Landscape
from kes.analysis.ground_truth import compare_to_truth

CHAIN = [("a", "b"), ("b", "c"), ("c", "d")]
FORWARD = Knowledge(tiers=[["a"], ["b"], ["c"], ["d"]])


def status(arcs, nodes):
    """Map each pair to the arcs between its ends that some DAGs of a set have."""
    return {
        pair: {arc for dag in arcs for arc in dag if set(arc) == set(pair)}
        for pair in combinations(nodes, 2)
    }


@pytest.fixture(scope="module")
def frame():
    """Noisy copies along the chain a -> b -> c -> d, whose class leaves all directions open."""
    rng = np.random.default_rng(0)
    columns = {"a": rng.integers(0, 2, 2000)}
    for cause, effect in CHAIN:
        columns[effect] = columns[cause] ^ (rng.random(2000) < 0.1)
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def optima(frame):
    return kes.learn(frame, runs=5, knowledge=FORWARD)


def test_the_truth_is_seen_under_the_same_knowledge(optima):
    best = optima.best
    assert best.mpdag.directed == set(CHAIN)
    assert best.graph.undirected == {frozenset(arc) for arc in CHAIN}
    table = optima.truth(CHAIN)
    assert (table["shd"][0], table["misdirected"][0], table["f1"][0]) == (0, 0, 1)
    assert "compared under the knowledge" in table.note
    assert best.compare(CHAIN).shd == optima.compare(CHAIN).shd == 0
    assert compare_to_truth(best.mpdag, CHAIN).shd == 0
    # Without knowledge nothing is noted, and all are essential graphs.
    assert compare_to_truth(best.graph, CHAIN).shd == 0
    assert compare_to_truth(best.graph, [*CHAIN, ("a", "c")]).shd == 1


def test_distances_are_those_of_the_admissible_networks():
    """By definition: pairs whose arcs, over all admissible DAGs of the class, differ."""
    known = Knowledge(tiers=[["a", "b"], ["c", "d"]], required=[("c", "d")])
    nodes = "abcd"
    models = {
        "fork": [("a", "b"), ("a", "c"), ("c", "d")],
        "collider": [("a", "c"), ("b", "c"), ("c", "d")],
        "chain": CHAIN,
        "arc": [("c", "d")],
    }
    # By hand: a - b stays open within the first tier, and nothing else can be turned.
    networks = {
        "fork": [models["fork"], [("b", "a"), ("a", "c"), ("c", "d")]],
        "collider": [models["collider"]],
        "chain": [models["chain"], [("b", "a"), ("b", "c"), ("c", "d")]],
        "arc": [models["arc"]],
    }
    for one, other in combinations(models, 2):
        mine, theirs = status(networks[one], nodes), status(networks[other], nodes)
        expected = sum(mine[pair] != theirs[pair] for pair in mine)
        graph = Mpdag(EssentialGraph.from_dag(nodes, models[one]), known)
        assert compare_to_truth(graph, models[other]).shd == expected


def test_all_against_all_under_knowledge():
    data = kes.datasets.alarm(rows=300)
    known = Knowledge(tiers=[["HYPOVOLEMIA", "LVFAILURE"], ["CVP", "PCWP"]], roots=["ANAPHYLAXIS"])
    optima = kes.learn(data, k=0.3, runs=20, knowledge=known)
    between, shown = optima.distances(), Landscape.of(optima)
    essential = np.zeros_like(between)
    for (i, one), (j, other) in combinations(enumerate(optima), 2):
        assert between[i, j] == between[j, i] == one.mpdag.shd(other.mpdag)
        assert optima[i].compare(other).shd == between[i, j]
        essential[i, j] = essential[j, i] = one.graph.shd(other.graph)
    assert (shown.distances == between).all()
    assert (between != essential).any()


def test_a_truth_that_does_not_obey_is_compared_as_a_class(optima):
    turned = [("b", "a"), ("c", "b"), ("d", "b")]  # d -> b <- c: no tier can turn it round
    table = optima.truth(turned)
    assert "violates the knowledge (" in table.note
    true = EssentialGraph.from_dag("abcd", turned)
    assert list(table["shd"]) == [optimum.graph.shd(true) for optimum in optima]
    assert optima.compare(turned).here == optima.best.graph


def test_other_variables_are_told_first(optima):
    with refused("'d', 'e'", column="d"):
        optima.truth(EssentialGraph.from_dag("abce", [("a", "b")]))
    with refused("'d', 'e'", column="d"):
        optima.compare(EssentialGraph.from_dag("abce", [("a", "b")]))


def test_held_out_cases_judge_networks_that_obey():
    """In mixed tables the networks of a class differ: a state given a number, or the reverse."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 2, 400)
    frame = pd.DataFrame({"g": group.astype(str), "x": rng.normal(size=400) ** 3 + 2 * group})
    train, test = frame[:200], frame[200:]
    found = {}
    for first, then in (("g", "x"), ("x", "g")):
        optima = kes.learn(train, runs=2, knowledge=Knowledge(tiers=[[first], [then]]))
        network = optima.best.fit(train)
        assert list(network.arcs) == [(first, then)]
        table = optima.validate(test)
        assert table["log_likelihood"][0] == pytest.approx(network.log_likelihood(test))
        found[first] = table["log_likelihood"][0]
    assert abs(found["g"] - found["x"]) > 1
