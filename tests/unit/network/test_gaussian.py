"""Gaussian networks against scipy's normal distribution, samples, and formulas written out here."""

import copy
import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.random import PCG64, SeedSequence
from scipy.special import ndtri
from scipy.stats import multivariate_normal
from tests.unit.refused import refused

import kes
from kes.data import Continuous, Dataset
from kes.network import GaussianNetwork, Linear, fit


def random_network(seed=0, nodes=5) -> GaussianNetwork:
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(nodes)]
    parents = {
        name: [str(p) for p in rng.permutation(names[:i])[: rng.integers(0, 4)]]
        for i, name in enumerate(names)
    }
    models = {
        name: Linear(rng.normal(), rng.normal(size=len(parents[name])), deviation=rng.uniform(1, 2))
        for name in names
    }
    return GaussianNetwork([str(n) for n in rng.permutation(names)], parents, models)


def equations(network):
    """Mean and covariance of x = c + B x + noise, that is, of (I - B)^-1 (c + noise)."""
    n = len(network.nodes)
    place = {node: i for i, node in enumerate(network.nodes)}
    b = np.zeros((n, n))
    for node, parents in network.parents.items():
        for parent, coefficient in zip(parents, network.models[node].coefficients, strict=True):
            b[place[node], place[parent]] = coefficient
    c = np.array([network.models[node].intercept for node in network.nodes])
    d = np.array([network.models[node].deviation for node in network.nodes])
    inverse = np.linalg.inv(np.eye(n) - b)
    return inverse @ c, inverse @ np.diag(d**2) @ inverse.T


def frame(network, n=50, seed=1) -> pd.DataFrame:
    return network.sample(n, seed).to_pandas()


SEEDS = pytest.mark.parametrize("seed", range(5))


# --- the joint distribution ----------------------------------------------------------------------


@SEEDS
def test_joint_moments(seed):
    network = random_network(seed)
    mean, covariance = equations(network)
    np.testing.assert_allclose(network.joint.mean, mean, rtol=1e-10)
    np.testing.assert_allclose(network.joint.covariance, covariance, rtol=1e-10)


@SEEDS
def test_log_likelihood_is_that_of_the_joint_distribution(seed):
    network = random_network(seed)
    data = frame(network)[sorted(network.nodes)]  # the order of the columns does not matter
    expected = multivariate_normal(*equations(network)).logpdf(data[list(network.nodes)])
    np.testing.assert_allclose(network.log_likelihood(data, per_row=True), expected, rtol=1e-9)
    assert network.log_likelihood(data) == pytest.approx(expected.sum())
    weights = np.arange(50.0)
    assert network.log_likelihood(data, weights=weights) == pytest.approx(weights @ expected)


@SEEDS
def test_gaps_are_integrated_out(seed):
    """With any columns unknown, the density is that of the margin of the rest."""
    network = random_network(seed)
    data = frame(network, 40)
    gaps = np.random.default_rng(seed).random(data.shape) < 0.4
    gaps[:2] = [[True] * 5, [False] * 5]
    holed = data.mask(gaps)
    mean, covariance = equations(network)
    place = [network.nodes.index(name) for name in data]
    found = network.log_likelihood(holed, per_row=True, unseen="missing")
    for row, gap, value in zip(data.to_numpy(), gaps, found, strict=True):
        known = [p for p, g in zip(place, gap, strict=True) if not g]
        margin = multivariate_normal(mean[known], covariance[np.ix_(known, known)]) if known else 0
        assert value == pytest.approx(margin.logpdf(row[~gap]) if known else 0.0, abs=1e-9)
    with refused(option="unseen"):
        network.log_likelihood(holed)


@SEEDS
def test_conditionals_are_those_of_the_normal_distribution(seed):
    """m_a + S_ab S_bb^-1 (b - m_b), and S_aa - S_ab S_bb^-1 S_ba, for all pairs of evidence."""
    network = random_network(seed)
    mean, covariance = equations(network)
    for given in combinations(range(5), 2):
        asked = [i for i in range(5) if i not in given]
        evidence = {network.nodes[i]: 0.5 + i for i in given}
        found = network.conditional([network.nodes[i] for i in asked], evidence)
        weights = covariance[np.ix_(asked, given)] @ np.linalg.inv(covariance[np.ix_(given, given)])
        expected = mean[asked] + weights @ ([0.5 + i for i in given] - mean[list(given)])
        rest = covariance[np.ix_(asked, asked)] - weights @ covariance[np.ix_(given, asked)]
        np.testing.assert_allclose(found.mean, expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.covariance, rest, rtol=1e-9, atol=1e-12)
        assert not found.error.any()


def test_evidence_on_the_query_itself():
    network = random_network()
    found = network.conditional(["v0", "v1"], {"v0": 3.0})
    assert found.mean[0] == 3
    assert not found.covariance[0].any()
    alone = network.conditional("v1", {"v0": 3.0})
    assert found.mean[1] == alone.mean[0]
    assert repr(alone).splitlines()[0].split() == ["node", "mean", "deviation"]


@pytest.mark.parametrize("hidden", [[], ["v0"], ["v1", "v3"], ["v0", "v1", "v3", "v4"]])
def test_predictions_are_conditional_means(hidden):
    network = random_network(7)
    data = frame(network, 10)
    means, deviations = network.predict(data.drop(columns=hidden), "v2", deviations=True)
    for i, row in enumerate(data.drop(columns=[*hidden, "v2"]).to_dict("records")):
        one = network.conditional("v2", row)
        assert means[i] == pytest.approx(one.mean[0])
        assert deviations[i] == pytest.approx(one.deviation[0])
    holed = data.copy()
    holed.loc[::2, hidden] = np.nan
    mixed = network.predict(holed, "v2", unseen="missing")
    np.testing.assert_allclose(mixed[::2], means[::2])
    np.testing.assert_allclose(mixed[1::2], network.predict(data, "v2")[1::2])


def test_far_away_origins_lose_no_digits():
    network = GaussianNetwork(
        ["a", "b"],
        {"b": ["a"]},
        {"a": Linear(1e9, deviation=1.0), "b": Linear(0.0, [1.0], deviation=1.0)},
    )
    rows = pd.DataFrame({"a": [np.nan], "b": [1e9 + 2]})
    expected = multivariate_normal(0, 2).logpdf(2.0)  # b is a + noise: variance 2
    assert network.log_likelihood(rows, unseen="missing") == pytest.approx(expected, rel=1e-6)


# --- cases ---------------------------------------------------------------------------------------


def test_samples_follow_the_rule_that_is_documented():
    network = random_network()
    sample = network.sample(200, seed=7)
    assert sample.names == network.nodes
    bits = PCG64(SeedSequence(7, spawn_key=(0x53414D50,))).random_raw(200 * 5)
    numbers = (bits.reshape(200, 5) >> np.uint64(11)) / 2**53
    noise = dict(zip(network.nodes, ndtri(numbers).T, strict=True))
    drawn = {n: c.values for n, c in zip(sample.names, sample.columns, strict=True)}
    for node, parents in network.parents.items():
        model = network.models[node]
        expected = model.intercept + model.deviation * noise[node]
        for coefficient, parent in zip(model.coefficients, parents, strict=True):
            expected = expected + coefficient * drawn[parent]
        np.testing.assert_allclose(drawn[node], expected, rtol=1e-12)
    shorter = network.sample(20, seed=7).columns[0].values
    np.testing.assert_array_equal(shorter, sample.columns[0].values[:20])


def test_moments_of_a_sample():
    """Off by less than 5 standard errors, which are sqrt(S_ii / n) of means and at most
    sqrt(2 S_ii S_jj / n) of covariances: by chance less often than once in 10 000 tests."""
    network, n = random_network(2), 40_000
    values = frame(network, n).to_numpy()
    mean, covariance = equations(network)
    spread = np.sqrt(np.diag(covariance))
    assert (np.abs(values.mean(axis=0) - mean) < 5 * spread / n**0.5).all()
    apart = np.abs(np.cov(values.T) - covariance)
    assert (apart < 5 * np.outer(spread, spread) * (2 / n) ** 0.5).all()


def test_the_smallest_number_is_drawn_as_a_number(monkeypatch):
    lowest = np.array([[0]], dtype=np.uint64)
    monkeypatch.setattr(
        "kes.data.random_stream.PCG64",
        lambda seed: type("Bits", (), {"random_raw": lambda s, n: lowest})(),
    )
    network = GaussianNetwork(["a"], {}, {"a": Linear(0.0, deviation=1.0)})
    assert network.sample(1).columns[0].values[0] == pytest.approx(ndtri(2.0**-54))


# --- estimation ----------------------------------------------------------------------------------

ARCS = [("v0", "v1"), ("v0", "v2"), ("v1", "v3"), ("v2", "v3")]


@pytest.fixture(scope="module")
def cases() -> Dataset:
    models = {
        "v0": Linear(1.0, deviation=1.0),
        "v1": Linear(0.0, [2.0], deviation=1.0),
        "v2": Linear(5.0, [-1.0], deviation=2.0),
        "v3": Linear(1.0, [0.5, 0.5], deviation=0.5),
    }
    parents = {"v1": ["v0"], "v2": ["v0"], "v3": ["v1", "v2"]}
    return GaussianNetwork(list(models), parents, models).sample(300, seed=4)


def test_fit_is_least_squares_for_each_node(cases):
    network = fit(ARCS, cases)
    assert isinstance(network, GaussianNetwork)
    data = cases.to_pandas()
    for node, parents in network.parents.items():
        design = np.column_stack([np.ones(300), data[list(parents)]])
        b, rss, *_ = np.linalg.lstsq(design, data[node])
        model = network.models[node]
        np.testing.assert_allclose([model.intercept, *model.coefficients], b, rtol=1e-9)
        assert model.deviation == pytest.approx(np.sqrt(rss[0] / (300 - len(b))))
    shown = network.coefficients("v3")
    assert shown["term"] == ("(intercept)", "v1", "v2")
    assert shown["standard_error"] == tuple(network.models["v3"].errors)


def test_networks_of_one_class_are_equally_likely_at_the_maximum(cases):
    """The likelihood of the maximum-likelihood network is that of the class, whatever the DAG."""
    graph = kes.EssentialGraph.from_dag(cases.names, ARCS)
    one = fit(graph, cases, prior="ml", prefer=[("v0", "v1")])
    other = fit(graph, cases, prior="ml", prefer=[("v1", "v0")])
    assert one.arcs != other.arcs
    np.testing.assert_allclose(
        one.log_likelihood(cases, per_row=True), other.log_likelihood(cases, per_row=True)
    )


def test_columns_may_come_in_any_order(cases):
    one, other = fit(ARCS, cases), fit(ARCS, cases.select(["v3", "v1", "v0", "v2"]))
    assert other.nodes == ("v3", "v1", "v0", "v2")
    assert one == other


def test_weights_are_cases_and_rows_of_weight_zero_none(cases):
    weights = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    repeated = cases.take(np.repeat(np.arange(300), weights.astype(int)))
    one, other = fit(ARCS, cases.reweighted(weights)), fit(ARCS, repeated)
    for node in one.nodes:
        assert one.models[node].deviation == pytest.approx(other.models[node].deviation)
        np.testing.assert_allclose(one.models[node].errors, other.models[node].errors, rtol=1e-9)


def test_constant_columns(cases):
    """They are known without being told, tell nothing, and differ from their value never."""
    columns = [*cases.columns, Continuous(np.full(300, 0.1))]
    data = Dataset.of([*cases.names, "c"], columns)
    network, plain = fit([*ARCS, ("v0", "c"), ("c", "v3")], data), fit(ARCS, cases)
    rows = data.to_pandas()
    per_row = network.log_likelihood(rows, per_row=True)
    np.testing.assert_allclose(per_row, plain.log_likelihood(cases, per_row=True))
    np.testing.assert_allclose(network.predict(rows, "v0"), plain.predict(cases, "v0"))
    assert (network.predict(rows, "c") == 0.1).all()
    assert network.conditional("c", {"v0": 5.0}).covariance.item() == 0
    assert network.conditional("v0", {"c": 0.1}).mean == pytest.approx(network.joint.mean[:1])
    with refused(r"0\.2", column="c"):
        network.conditional("v0", {"c": 0.2})
    assert network.log_likelihood(rows.assign(c=0.2)) == -np.inf
    assert network.log_likelihood(rows.assign(c=np.nan), unseen="missing") == pytest.approx(
        per_row.sum()
    )


def test_few_rows_give_numbers():
    columns = [Continuous([0.5, 1.5]), Continuous([2.0, 1.0]), Continuous([1.0, 1.5])]
    network = fit([("a", "c"), ("b", "c")], Dataset.of(["a", "b", "c"], columns))
    assert np.isfinite(network.log_likelihood(pd.DataFrame({"a": [9.0], "b": [9.0], "c": [9.0]})))
    assert np.isfinite(network.joint.covariance).all()


# --- a value among others ------------------------------------------------------------------------


def test_networks_are_values(tmp_path):
    network = random_network()
    assert repr(network).startswith("GaussianNetwork(5 nodes, ")
    assert set(network.kinds.values()) == {"continuous"}
    assert network.graph == kes.EssentialGraph.from_dag(network.nodes, network.arcs)
    others = [pickle.loads(pickle.dumps(network)), copy.deepcopy(network)]
    network.save(tmp_path / "n.json.gz")
    others.append(kes.read_network(tmp_path / "n.json.gz"))
    for other in others:
        assert other == network
        assert other.nodes == network.nodes
        assert hash(other) == hash(network)
        assert not other.models["v4"].coefficients.flags.writeable
    changed = {**network.models, "v0": Linear(9.0, deviation=1.0)}
    assert network != GaussianNetwork(network.nodes, network.parents, changed)
    assert "<svg" in network._repr_html_()


def test_stored_with_every_digit(tmp_path, cases):
    network = fit(ARCS, cases)
    network.save(tmp_path / "n.json")
    again = kes.read_network(tmp_path / "n.json")
    assert again == network
    assert again.models["v3"].errors.tolist() == network.models["v3"].errors.tolist()
    assert kes.read_graph(tmp_path / "n.json") == network.graph


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif", ".net"])
def test_formats_without_a_place_for_it_say_so(tmp_path, suffix):
    with refused(r"\.json", file=tmp_path / f"n{suffix}"):
        random_network().save(tmp_path / f"n{suffix}")


@pytest.mark.parametrize("suffix", [".dot", ".graphml"])
def test_graphs_can_be_written(tmp_path, suffix):
    random_network().save(tmp_path / f"n{suffix}")
    assert kes.read_graph(tmp_path / f"n{suffix}") == random_network().graph


def test_other_libraries():
    network = random_network()
    graph = network.to_networkx()
    assert set(graph.edges) == set(network.arcs)
    for node in network.nodes:
        assert graph.nodes[node]["kind"] == "continuous"
        assert graph.nodes[node]["deviation"] == network.models[node].deviation
        assert graph.nodes[node]["parents"] == network.parents[node]
    with refused(column="v2"):
        network.to_pyagrum()


@pytest.mark.parametrize(
    ("change", "column", "word"),
    [
        ({"models": {"a": Linear(0.0, deviation=1.0)}}, "b", "models"),
        (
            {"models": {"a": Linear(0, deviation=1), "b": Linear(0, deviation=1)}},
            "b",
            "0 coefficients",
        ),
        ({"models": {"a": Linear(0, deviation=1), "b": [0.5]}}, "b", "continuous"),
        ({"parents": {"a": ["b"], "b": ["a"]}}, "a", "cycle"),
        ({"nodes": ["a"]}, "b", "exist"),
    ],
)
def test_wrong_parts_are_refused(change, column, word):
    good = {
        "nodes": ["a", "b"],
        "parents": {"b": ["a"]},
        "models": {"a": Linear(0.0, deviation=1.0), "b": Linear(0.0, [1.0], deviation=1.0)},
    }
    GaussianNetwork(**good)
    with refused(word, column=column):
        GaussianNetwork(**(good | change))


@pytest.mark.parametrize(
    ("ask", "fields"),
    [
        (lambda n: n.conditional("x"), {"column": "x"}),
        (lambda n: n.conditional("v0", {"x": 1.0}), {"column": "x"}),
        (
            lambda n: n.conditional("v0", {"v1": "high"}),
            {"column": "v1", "word": "'high'"},
        ),
        (lambda n: n.conditional("v0", {"v1": float("nan")}), {"column": "v1", "word": "nan"}),
        (
            lambda n: n.predict(pd.DataFrame({"v1": [np.inf]}), "v0"),
            {"column": "v1", "word": "infinite"},
        ),
        (lambda n: n.predict(pd.DataFrame({"v1": ["a"]}), "v0"), {"column": "v1"}),
        (lambda n: n.log_likelihood(pd.DataFrame({"v1": [1.0]})), {"word": "lack"}),
        (lambda n: n.log_likelihood(frame(n), unseen="maybe"), {"option": "unseen"}),
    ],
)
def test_wrong_questions_are_named(ask, fields):
    with refused(**fields):
        ask(random_network())


def test_tables_without_any_column_of_the_network_are_refused():
    """Nothing bears on the answer then: the names are probably spelt otherwise."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(50, 2)), columns=["a", "b"])
    network = fit([("a", "b")], data)
    with refused("'A', 'B'", column="b"):
        network.predict(data.rename(columns=str.upper), "b")


def test_a_repr_has_six_digits():
    shown = repr(Linear(1 / 3, [2 / 3, 1e4 / 7], deviation=1 / 7))
    assert "intercept=0.333333, coefficients=[0.666667, 1428.57], deviation=0.142857" in shown
