"""Networks fitted to data: estimates, raw rows, preferred arcs."""

import pickle
from itertools import combinations, permutations, product
from math import log

import numpy as np
import pandas as pd
import pytest
from tests.unit.network.small_networks import sprinkler
from tests.unit.refused import refused

import kes
from kes.errors import KesError
from kes.graph import EssentialGraph
from kes.graph.dags import preferred_dag
from kes.network import fit

ARCS = [("season", "rain"), ("season", "sprinkler"), ("sprinkler", "wet"), ("rain", "wet")]


@pytest.fixture(scope="module")
def cases() -> pd.DataFrame:
    network = sprinkler()
    sample = network.sample(300, seed=5)
    return pd.DataFrame(
        {
            name: [states[c] for c in codes]
            for name, states, codes in zip(sample.names, sample.states, sample.codes, strict=True)
        }
    )


def counted(data, network, node, weight=None):
    """Count every cell of a table, row by row."""
    members = (*network.parents[node], node)
    counts = np.zeros([len(network.states[member]) for member in members])
    for i, row in enumerate(data.to_dict("records")):
        cell = tuple(network.states[member].index(row[member]) for member in members)
        counts[cell] += 1 if weight is None else weight[i]
    return counts


def test_maximum_likelihood_is_relative_frequency(cases):
    network = fit(ARCS, cases, prior="ml")
    assert network.nodes == tuple(cases.columns)
    assert network.arcs == tuple(sorted(ARCS))
    assert network.states["sprinkler"] == (False, True)
    for node in network.nodes:
        counts = counted(cases, network, node)
        totals = counts.sum(axis=-1, keepdims=True)
        expected = np.where(totals > 0, counts / np.maximum(totals, 1), 1 / counts.shape[-1])
        np.testing.assert_allclose(network.cpts[node], expected, rtol=1e-15)


def test_parents_never_seen_together_get_the_uniform_distribution():
    data = pd.DataFrame({"a": [0, 0, 1], "b": [0, 1, 0], "c": [0, 1, 2]})
    network = fit([("a", "c"), ("b", "c")], data, prior="ml")
    np.testing.assert_array_equal(network.cpts["c"][1, 1], [1 / 3, 1 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("options", "cases_in_cell"),
    [
        ({"prior": 1.0}, lambda size: 1.0),
        ({"prior": 0.25}, lambda size: 0.25),
        ({"prior": "bdeu"}, lambda size: 1 / size),
        ({"prior": "bdeu", "ess": 10}, lambda size: 10 / size),
        ({}, lambda size: 1 / size),
    ],
)
def test_dirichlet_priors_add_cases(cases, options, cases_in_cell):
    network = fit(ARCS, cases, **options)
    for node in network.nodes:
        counts = counted(cases, network, node)
        counts += cases_in_cell(counts.size)
        expected = counts / counts.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(network.cpts[node], expected, rtol=1e-14)


def test_constant_columns_keep_their_declared_states():
    """A new row may have what the sample happened not to have."""
    kind = pd.CategoricalDtype(["low", "mid", "high"])
    data = pd.DataFrame(
        {"a": pd.Series(["mid"] * 8, dtype=kind), "b": ["x", "y"] * 4, "c": ["z"] * 8}
    )
    network = fit([("a", "b")], data)
    assert network.states == {"a": ("low", "mid", "high"), "b": ("x", "y"), "c": ("z",)}
    np.testing.assert_allclose(network.cpts["a"], np.array([1, 25, 1]) / 27)  # + 1/3 each
    new = pd.DataFrame({"a": ["high"], "b": ["x"], "c": ["z"]})
    assert network.log_likelihood(new) == pytest.approx(log(1 / 27) + log(1 / 2))


# --- raw rows ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def raw() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age = rng.normal(50, 15, 400)
    return pd.DataFrame({"age": age, "ill": np.where(age + rng.normal(0, 10, 400) > 55, "y", "n")})


def test_networks_keep_the_cuts_and_take_raw_rows(raw, tmp_path):
    discretizer = kes.Discretizer(3).fit(raw)
    cut = discretizer.transform(raw)
    network = fit([("age", "ill")], raw, discretize=discretizer)
    plain = fit([("age", "ill")], cut)
    assert network.states == plain.states
    assert network.cpts["ill"].tolist() == plain.cpts["ill"].tolist()
    assert fit([("age", "ill")], raw, discretize=kes.Discretizer(3)) == network
    for rows in (raw, cut):  # intervals are left as they are
        np.testing.assert_array_equal(
            network.log_likelihood(rows, per_row=True), plain.log_likelihood(cut, per_row=True)
        )
    np.testing.assert_array_equal(network.predict(raw, "ill"), plain.predict(cut, "ill"))
    interval = cut["age"][0]
    assert network.probability("ill", {"age": raw["age"][0]}) == plain.probability(
        "ill", {"age": interval}
    )
    network.save(tmp_path / "n.json")
    for other in (pickle.loads(pickle.dumps(network)), kes.read_network(tmp_path / "n.json")):
        assert other == network
        assert other.discretizer.cuts == discretizer.cuts
    assert network != plain


def test_networks_keep_the_ranks_and_take_raw_rows(raw, tmp_path):
    """A skewed copy of the data, seen through its ranks, is the same to the network."""
    skewed = raw.assign(age=np.exp(raw["age"] / 10))
    one = fit([("age", "ill")], raw, transform="ranks")
    other = fit([("age", "ill")], skewed, transform="ranks")
    assert one.models["age"] == other.models["age"]
    np.testing.assert_allclose(
        one.log_likelihood(raw, per_row=True), other.log_likelihood(skewed, per_row=True)
    )
    assert one.predict(raw, "ill").tolist() == other.predict(skewed, "ill").tolist()
    value = float(raw["age"][3])
    assert one.probability("ill", {"age": value}) == other.probability(
        "ill", {"age": np.exp(value / 10)}
    )
    low, high = skewed["age"].min(), skewed["age"].max()
    drawn = other.sample(100).to_pandas()["age"]
    assert drawn.between(low, high).all()
    assert other.predict(skewed, "age").min() >= low  # the median, in the units of the column
    other.save(tmp_path / "n.json")
    for again in (pickle.loads(pickle.dumps(other)), kes.read_network(tmp_path / "n.json")):
        assert again == other
    with refused(option="transform"):
        fit([], raw, transform="rank")


def test_weights_are_cases(cases):
    weights = np.random.default_rng(0).integers(0, 4, len(cases))
    repeated = cases.loc[cases.index.repeat(weights)]
    network = fit(ARCS, cases, weights=weights)
    for node in network.nodes:
        np.testing.assert_allclose(network.cpts[node], fit(ARCS, repeated).cpts[node], rtol=1e-14)
    network = fit(ARCS, cases, weights=weights, prior="ml")
    again = fit(ARCS, cases, weights=weights * 0.7, prior="ml")
    np.testing.assert_allclose(again.cpts["wet"], network.cpts["wet"], rtol=1e-12)


def test_likelihood_of_the_fit_is_that_of_the_criterion(cases):
    # BIC is ln P(data | maximum-likelihood network) - 1/2 ln N x parameters.
    graph = EssentialGraph.from_dag(cases.columns, ARCS)
    network = fit(graph, cases, prior="ml")
    bic = network.log_likelihood(cases) - 0.5 * log(len(cases)) * network.n_parameters
    assert kes.score(graph, cases, criterion="bic") == pytest.approx(bic, rel=1e-12)


def test_networks_of_one_class_are_equally_likely(cases):
    graph = EssentialGraph.from_dag(cases.columns, ARCS)
    one = fit(graph, cases, prefer=[("season", "rain")])
    other = fit(graph, cases, prefer=[("rain", "season")])
    assert one.arcs != other.arcs
    assert one.graph == other.graph == graph
    np.testing.assert_allclose(
        one.log_likelihood(cases, per_row=True),
        other.log_likelihood(cases, per_row=True),
        rtol=1e-9,
    )


def test_the_canonical_dag_is_the_default(cases):
    graph = EssentialGraph.from_dag(cases.columns, ARCS)
    assert fit(graph, cases).arcs == tuple(graph.to_dag())
    assert fit(graph, cases).nodes == graph.nodes


def all_dags(nodes):
    """Yield the arcs of every DAG over the nodes."""
    pairs = list(combinations(nodes, 2))
    for choice in product((None, False, True), repeat=len(pairs)):
        arcs = [
            (b, a) if back else (a, b)
            for (a, b), back in zip(pairs, choice, strict=True)
            if back is not None
        ]
        try:
            yield frozenset(arcs), EssentialGraph.from_dag(nodes, arcs)
        except KesError:
            continue


@pytest.fixture(scope="module")
def classes():
    """Every class over four nodes, with its DAGs."""
    found: dict[EssentialGraph, list[frozenset]] = {}
    for arcs, graph in all_dags("abcd"):
        found.setdefault(graph, []).append(arcs)
    assert len(found) == 185
    assert sum(map(len, found.values())) == 543
    return found


def test_preferred_arcs_are_taken_wherever_a_dag_of_the_class_has_them(classes):
    """Against the list of all DAGs of each class over four nodes, for all pairs of preferences."""
    for graph, dags in classes.items():
        assert frozenset(preferred_dag(graph)) in dags
        edges = [tuple(sorted(pair)) for pair in graph.skeleton]
        arcs = [*edges, *((b, a) for a, b in edges)]
        for prefer in [(arc,) for arc in arcs] + list(permutations(arcs, 2)):
            matching = [dag for dag in dags if dag.issuperset(prefer)]
            if matching:
                assert frozenset(preferred_dag(graph, prefer)) in matching
            else:
                with refused(option="prefer"):
                    preferred_dag(graph, prefer)


def test_contradicting_preferences_are_named():
    collider = EssentialGraph.from_dag("abc", [("a", "b"), ("c", "b")])
    with refused("b -> a .*a -> b", option="prefer"):
        preferred_dag(collider, [("b", "a")])
    chain = EssentialGraph.from_dag("abc", [("a", "b"), ("b", "c")])
    with refused("c -> b .*b -> c", option="prefer"):
        preferred_dag(chain, [("a", "b"), ("c", "b")])
    with refused(option="prefer", column="x"):
        preferred_dag(chain, [("a", "x")])
    assert preferred_dag(chain, [("a", "c"), ("c", "b")]) == [("b", "a"), ("c", "b")]


@pytest.mark.parametrize(
    ("structure", "options", "fields", "word"),
    [
        ([("season", "x")], {}, {"option": "structure", "column": "x"}, ""),
        (["season"], {}, {"option": "structure"}, "pair"),
        (
            [("rain", "wet"), ("wet", "rain")],
            {},
            {"column": "wet"},
            "wet -> rain -> wet",
        ),
        (
            EssentialGraph.from_dag("ab", []),
            {},
            {"column": "a"},
            "'a', 'b'",
        ),
        (
            ARCS,
            {"prior": "laplace"},
            {"option": "prior"},
            "'bdeu' or 'ml'",
        ),
        (ARCS, {"prior": None}, {"option": "prior"}, "None"),
        (ARCS, {"prior": 0}, {"option": "prior"}, "greater than 0"),
        (ARCS, {"prior": True}, {"option": "prior"}, "True"),
        (ARCS, {"prior": "bdeu", "ess": -1}, {"option": "ess"}, "greater than 0"),
    ],
)
def test_what_cannot_be_fitted(cases, structure, options, fields, word):
    with refused(word, **{"option": None, "column": None, **fields}):
        fit(structure, cases, **options)


def test_tables_beyond_memory_are_refused():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.integers(0, 10, (200, 11)), columns=[f"x{i}" for i in range(11)])
    with refused("10 parents", option="max_parents", column="x0"):
        fit([(f"x{i}", "x0") for i in range(1, 11)], data)
