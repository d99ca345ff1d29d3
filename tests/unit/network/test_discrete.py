"""Discrete networks: what they are, how likely cases are, and samples."""

import copy
import pickle
from math import exp, inf, log

import numpy as np
import pytest
from numpy.random import PCG64, SeedSequence
from tests.unit.network.small_networks import frame, joint, mass, random_network, sprinkler
from tests.unit.refused import refused

from kes.graph import EssentialGraph
from kes.network import BayesianNetwork

# --- what a network is ---------------------------------------------------------------------------


def test_structure():
    network = sprinkler()
    assert network.arcs == (
        ("rain", "wet"),
        ("season", "rain"),
        ("season", "sprinkler"),
        ("sprinkler", "wet"),
    )
    assert network.n_parameters == 1 + 2 * 1 + 2 * 2 + 6 * 1
    assert network.graph == EssentialGraph.from_dag(network.nodes, network.arcs)
    assert network.markov_blanket("rain") == {"season", "wet", "sprinkler"}
    assert network.markov_blanket("season") == {"rain", "sprinkler"}
    assert repr(network) == "BayesianNetwork(4 nodes, 4 arcs, 13 parameters)"


def test_tables_for_reading():
    table = sprinkler().cpt("wet")
    assert table.columns == ("sprinkler", "rain", "P(no)", "P(yes)")
    assert len(table) == 6
    assert dict(list(table)[4]) == {"sprinkler": True, "rain": 1, "P(no)": 0.25, "P(yes)": 0.75}
    root = sprinkler().cpt("season")
    assert root.to_dict() == {"P(dry)": [0.5], "P(rainy)": [0.5]}


def test_networks_are_values():
    network = sprinkler()
    assert network == sprinkler()
    assert hash(network) == hash(sprinkler())
    for other in (pickle.loads(pickle.dumps(network)), copy.deepcopy(network)):
        assert other == network
        assert other.nodes == network.nodes
        assert not other.cpts["wet"].flags.writeable
    with pytest.raises(AttributeError):
        network.nodes = ()
    with pytest.raises(TypeError):
        network.states["wet"] = ("a", "b")
    with pytest.raises(ValueError, match="read-only"):
        network.cpts["wet"][0] = 0.5


def test_equality_ignores_the_order_of_nodes_but_not_types():
    parts = {"parents": {}, "cpts": {"a": [0.5, 0.5], "b": [1.0]}}
    network = BayesianNetwork(["a", "b"], {"a": [0, 1], "b": ["x"]}, **parts)
    assert network == BayesianNetwork(["b", "a"], {"a": [0, 1], "b": ["x"]}, **parts)
    assert network != BayesianNetwork(["a", "b"], {"a": [False, True], "b": ["x"]}, **parts)
    assert network != BayesianNetwork(["a", "b"], {"a": ["0", "1"], "b": ["x"]}, **parts)
    assert network != "network"


def test_the_constructor_copies_and_takes_numpy_scalars():
    table = np.array([0.5, 0.5])
    network = BayesianNetwork(["a"], {"a": np.array([3, 4])}, {}, {"a": table})
    table[:] = 0
    assert network.cpts["a"].tolist() == [0.5, 0.5]
    assert [type(state) for state in network.states["a"]] == [int, int]


def test_html_escapes_names():
    network = BayesianNetwork(["<b>"], {"<b>": ["&"]}, {}, {"<b>": [1.0]})
    html = network._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "1 node, 0 arcs, 0 parameters" in html


GOOD = {
    "nodes": ["a", "b"],
    "states": {"a": [0, 1], "b": [0, 1]},
    "parents": {"b": ["a"]},
    "cpts": {"a": [0.5, 0.5], "b": [[0.5, 0.5], [0.1, 0.9]]},
}


@pytest.mark.parametrize(
    ("change", "fields", "word"),
    [
        ({"nodes": ["a", "b", "a"]}, {"option": "nodes"}, "'a'"),
        ({"nodes": []}, {"option": "nodes"}, ""),
        ({"nodes": "ab"}, {"option": "nodes"}, "'ab'"),
        ({"nodes": ["a", 2]}, {"option": "nodes"}, "text"),
        ({"states": {"a": [0, 1]}}, {"option": "states", "column": "b"}, "missing"),
        ({"states": GOOD["states"] | {"c": [1]}}, {"option": "states", "column": "c"}, ""),
        ({"states": {"a": [0, 1], "b": []}}, {"column": "b"}, "no states"),
        ({"states": {"a": [0, 1], "b": [1, True]}}, {"column": "b"}, "distinct"),
        ({"states": {"a": [0, 1], "b": [0.5, 1.5]}}, {"column": "b"}, "booleans"),
        ({"states": {"a": [0, 1], "b": "xy"}}, {"column": "b"}, "list"),
        ({"parents": {"b": ["c"]}}, {"column": "b"}, "'c'"),
        ({"parents": {"b": ["a", "a"]}}, {"column": "b"}, "distinct"),
        ({"parents": {"b": "a"}}, {"column": "b"}, "list"),
        ({"parents": {"a": ["b"], "b": ["a"]}}, {}, "cycle"),
        ({"parents": {"b": ["b"]}}, {"column": "b"}, "b -> b"),
        ({"cpts": {"a": [0.5, 0.5]}}, {"option": "cpts", "column": "b"}, "missing"),
        ({"cpts": GOOD["cpts"] | {"b": [0.5, 0.5]}}, {"column": "b"}, r"\(2,\).*\(2, 2\)"),
        ({"cpts": GOOD["cpts"] | {"a": [0.5, 0.6]}}, {"column": "a"}, "sum to 1"),
        ({"cpts": GOOD["cpts"] | {"a": [-0.5, 1.5]}}, {"column": "a"}, "probabilities"),
        ({"cpts": GOOD["cpts"] | {"a": [float("nan"), 1]}}, {"column": "a"}, "probabilities"),
        ({"cpts": GOOD["cpts"] | {"a": ["x", "y"]}}, {"column": "a"}, "array"),
    ],
)
def test_wrong_parts_are_refused(change, fields, word):
    with refused(word, **fields):
        BayesianNetwork(**(GOOD | change))


# --- cases ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_log_likelihood_is_the_chain_rule(seed):
    network = random_network(seed)
    rows, probabilities = zip(*joint(network), strict=True)
    assert sum(probabilities) == pytest.approx(1)
    data = frame(rows)[sorted(network.nodes)]  # the order of the columns does not matter
    per_row = network.log_likelihood(data, per_row=True)
    np.testing.assert_allclose(per_row, np.log(probabilities), rtol=1e-12)
    assert network.log_likelihood(data) == pytest.approx(np.log(probabilities).sum(), rel=1e-12)


def test_weights_count_rows():
    network = sprinkler()
    rows = [row for row, p in joint(network) if p > 0][:3]
    weights = [2.0, 0.5, 3.0]
    expected = sum(w * log(mass(network, **row)) for w, row in zip(weights, rows, strict=True))
    assert network.log_likelihood(frame(rows), weights=weights) == pytest.approx(expected)
    weighted = frame(rows).assign(n=weights)
    assert network.log_likelihood(weighted, weights="n") == pytest.approx(expected)
    per_row = network.log_likelihood(weighted, weights="n", per_row=True)
    assert exp(per_row[0]) == pytest.approx(mass(network, **rows[0]))


def test_impossible_rows_have_log_likelihood_minus_infinity():
    network = sprinkler()
    impossible = {"season": "rainy", "sprinkler": True, "rain": 0, "wet": "no"}
    possible = {**impossible, "sprinkler": False}
    data = frame([possible, impossible])
    assert network.log_likelihood(data) == -inf
    assert network.log_likelihood(data, per_row=True)[1] == -inf
    assert network.log_likelihood(data, weights=[2, 0]) == pytest.approx(
        2 * log(mass(network, **possible))
    )


def test_data_that_do_not_fit_are_named():
    network = sprinkler()
    data = frame([row for row, _ in joint(network)])
    with refused(column="rain"):
        network.log_likelihood(data.drop(columns="rain"))
    data["wet"] = "perhaps"
    with refused("wet.*perhaps", column="wet", row=0):
        network.log_likelihood(data)


def test_samples_follow_the_rule_that_is_documented():
    network = sprinkler()
    sample = network.sample(200, seed=7)
    assert sample.names == network.nodes
    assert sample.states == tuple(network.states[node] for node in network.nodes)
    bits = iter(PCG64(SeedSequence(7, spawn_key=(0x53414D50,))).random_raw(200 * 4).tolist())
    for case in sample.codes.T.tolist():
        number = {node: (next(bits) >> 11) / 2**53 for node in network.nodes}
        code = dict(zip(network.nodes, case, strict=True))
        for node, parents in network.parents.items():
            row = network.cpts[node][tuple(code[p] for p in parents)]
            assert code[node] == next(
                s for s in range(len(row)) if row[: s + 1].sum() > number[node]
            )


def test_longer_samples_begin_with_shorter_ones():
    network = random_network(3)
    long, short = network.sample(50, seed=1), network.sample(20, seed=1)
    np.testing.assert_array_equal(long.codes[:, :20], short.codes)
    assert not np.array_equal(network.sample(50, seed=2).codes, long.codes)


def test_frequencies_of_a_sample():
    # Of n draws with probability p, the share misses p by more than 5 standard deviations with a
    # probability below 1e-6.
    network, n = random_network(1), 20_000
    sample = network.sample(n, seed=0)
    for row, p in joint(network):
        code = [network.states[node].index(row[node]) for node in network.nodes]
        share = (sample.codes == np.array(code)[:, np.newaxis]).all(axis=0).mean()
        assert abs(share - p) <= 5 * (p * (1 - p) / n) ** 0.5 + 1e-12


def test_states_of_probability_zero_are_never_drawn_even_by_the_largest_number(monkeypatch):
    # The three numbers sum to less than 1, so the largest draw lies beyond their sum.
    row = np.array([0.1, 0.2, 0.7]) * (1 - 2e-16)
    network = BayesianNetwork(["a"], {"a": [0, 1, 2, 3]}, {}, {"a": [*row, 0.0]})
    assert row.sum() < 1
    largest = np.array([[2**64 - 1]], dtype=np.uint64)
    monkeypatch.setattr(
        "kes.data.random_stream.PCG64",
        lambda seed: type("Bits", (), {"random_raw": lambda s, n: largest})(),
    )
    assert network.sample(1).codes.tolist() == [[2]]


@pytest.mark.parametrize(("n", "seed"), [(0, 0), (-1, 0), (2.5, 0), (True, 0), (1, -1), (1, "x")])
def test_samples_need_whole_numbers(n, seed):
    with refused(option="seed" if n == 1 and n is not True else "n"):
        sprinkler().sample(n, seed)
