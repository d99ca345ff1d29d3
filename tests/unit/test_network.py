"""Networks against brute force over all configurations, and against formulas written out here."""

import copy
import pickle
import sys
from itertools import combinations, permutations, product
from math import exp, inf, log

import numpy as np
import pandas as pd
import pytest
from numpy.random import PCG64

import kes
from kes.errors import KesError
from kes.graph import EssentialGraph
from kes.graph.orientation import preferred_dag
from kes.network import BayesianNetwork, fit
from kes.network.inference import Engine


def sprinkler() -> BayesianNetwork:
    """Four nodes with states of all types, one of them impossible."""
    return BayesianNetwork(
        nodes=["wet", "rain", "sprinkler", "season"],
        states={
            "season": ["dry", "rainy"],
            "sprinkler": [False, True],
            "rain": [0, 1, 2],
            "wet": ["no", "yes"],
        },
        parents={"sprinkler": ["season"], "rain": ["season"], "wet": ["sprinkler", "rain"]},
        cpts={
            "season": [0.5, 0.5],
            "sprinkler": [[0.25, 0.75], [1.0, 0.0]],
            "rain": [[0.75, 0.25, 0.0], [0.25, 0.25, 0.5]],
            "wet": [[[0.875, 0.125], [0.5, 0.5], [0.25, 0.75]], [[0.5, 0.5], [0.25, 0.75], [0, 1]]],
        },
    )


def joint(network):
    """Yield every configuration of the nodes with its probability, by the chain rule."""
    for codes in product(*(range(len(network.states[node])) for node in network.nodes)):
        code = dict(zip(network.nodes, codes, strict=True))
        probability = 1.0
        for node, parents in network.parents.items():
            probability *= network.cpts[node][(*(code[p] for p in parents), code[node])]
        yield {node: network.states[node][c] for node, c in code.items()}, probability


def mass(network, **known):
    return sum(p for row, p in joint(network) if all(row[n] == s for n, s in known.items()))


def random_network(seed, nodes=5) -> BayesianNetwork:
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(nodes)]
    states = {name: list(range(rng.integers(1, 4))) for name in names}
    parents = {
        name: [str(p) for p in rng.permutation(names[:i])[: rng.integers(0, 4)]]
        for i, name in enumerate(names)
    }
    cpts = {}
    for name in names:
        shape = [len(states[p]) for p in parents[name]]
        cpts[name] = rng.dirichlet(np.ones(len(states[name])), size=shape)
    return BayesianNetwork([str(n) for n in rng.permutation(names)], states, parents, cpts)


def frame(rows) -> pd.DataFrame:
    return pd.DataFrame(list(rows))


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
    ("change", "message"),
    [
        ({"nodes": ["a", "b", "a"]}, "more than once: 'a'"),
        ({"nodes": []}, "at least one node"),
        ({"nodes": "ab"}, "a list of names, not the text 'ab'"),
        ({"nodes": ["a", 2]}, "must be text"),
        ({"states": {"a": [0, 1]}}, "states are missing for 'b'"),
        ({"states": GOOD["states"] | {"c": [1]}}, "nodes that do not exist: 'c'"),
        ({"states": {"a": [0, 1], "b": []}}, "'b' has no states"),
        ({"states": {"a": [0, 1], "b": [1, True]}}, "'b' are not distinct"),
        ({"states": {"a": [0, 1], "b": [0.5, 1.5]}}, "'b' must be text, integers or booleans"),
        ({"states": {"a": [0, 1], "b": "xy"}}, "'b' must be a list"),
        ({"parents": {"b": ["c"]}}, "unknown parent of 'b': 'c'"),
        ({"parents": {"b": ["a", "a"]}}, "parents of 'b' are not distinct"),
        ({"parents": {"b": "a"}}, "must be a list of names"),
        ({"parents": {"a": ["b"], "b": ["a"]}}, "directed cycle"),
        ({"parents": {"b": ["b"]}}, "directed cycle b -> b"),
        ({"cpts": {"a": [0.5, 0.5]}}, "cpts are missing for 'b'"),
        ({"cpts": GOOD["cpts"] | {"b": [0.5, 0.5]}}, r"'b' has shape \(2,\), .* \(2, 2\) states"),
        ({"cpts": GOOD["cpts"] | {"a": [0.5, 0.6]}}, "'a' must hold probabilities that sum to 1"),
        ({"cpts": GOOD["cpts"] | {"a": [-0.5, 1.5]}}, "'a' must hold probabilities"),
        ({"cpts": GOOD["cpts"] | {"a": [float("nan"), 1]}}, "'a' must hold probabilities"),
        ({"cpts": GOOD["cpts"] | {"a": ["x", "y"]}}, "'a' must be an array of numbers"),
    ],
)
def test_wrong_parts_are_refused(change, message):
    with pytest.raises(KesError, match=message):
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
    with pytest.raises(KesError, match="rain"):
        network.log_likelihood(data.drop(columns="rain"))
    data["wet"] = "perhaps"
    with pytest.raises(KesError, match=r"wet.*perhaps"):
        network.log_likelihood(data)


def test_samples_follow_the_rule_that_is_documented():
    network = sprinkler()
    sample = network.sample(200, seed=7)
    assert sample.names == network.nodes
    assert sample.states == tuple(network.states[node] for node in network.nodes)
    bits = iter(PCG64(7).random_raw(200 * 4).tolist())
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
        "kes.data.stream.PCG64",
        lambda seed: type("Bits", (), {"random_raw": lambda s, n: largest})(),
    )
    assert network.sample(1).codes.tolist() == [[2]]


@pytest.mark.parametrize(("n", "seed"), [(0, 0), (-1, 0), (2.5, 0), (True, 0), (1, -1), (1, "x")])
def test_samples_need_whole_numbers(n, seed):
    with pytest.raises(KesError, match=r"must be a whole number of at least"):
        sprinkler().sample(n, seed)


# --- questions -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def _pyagrum():
    pytest.importorskip("pyagrum", reason="pyagrum is not installed")


@pytest.mark.usefixtures("_pyagrum")
@pytest.mark.parametrize("seed", range(4))
def test_probabilities_are_sums_over_the_joint_distribution(seed):
    network = random_network(seed)
    nodes = sorted(network.nodes)
    for query, given in permutations(nodes, 2):
        for state in network.states[given]:
            evidence = {given: state}
            distribution = network.probability(query, evidence)
            assert list(distribution) == list(network.states[query])
            for value, p in distribution.items():
                expected = mass(network, **{query: value}, **evidence) / mass(network, **evidence)
                assert p == pytest.approx(expected, rel=1e-9)
    pair = {node: network.states[node][-1] for node in nodes[:2]}
    evidence = {node: network.states[node][0] for node in nodes[3:]}
    expected = mass(network, **pair, **evidence) / mass(network, **evidence)
    assert network.probability(pair, evidence) == pytest.approx(expected, rel=1e-9)
    assert network.probability(pair) == pytest.approx(mass(network, **pair), rel=1e-9)
    assert network.probability({}) == 1


@pytest.mark.usefixtures("_pyagrum")
def test_evidence_on_the_query_itself():
    network = sprinkler()
    assert network.probability("wet", {"wet": "yes"}) == {"no": 0, "yes": 1}
    assert network.probability({"wet": "yes"}, {"wet": "yes"}) == 1
    assert network.probability({"wet": "no"}, {"wet": "yes"}) == 0


@pytest.mark.usefixtures("_pyagrum")
def test_states_may_be_given_as_text_or_as_numpy_scalars():
    network = sprinkler()
    expected = network.probability("wet", {"rain": 1, "sprinkler": True})
    assert network.probability("wet", {"rain": "1", "sprinkler": "True"}) == expected
    assert network.probability("wet", {"rain": np.int64(1), "sprinkler": np.True_}) == expected


@pytest.mark.usefixtures("_pyagrum")
def test_impossible_evidence_is_refused_even_where_it_is_irrelevant():
    network = sprinkler()
    impossible = {"season": "rainy", "sprinkler": True}
    assert mass(network, **impossible) == 0
    for query in ("rain", "wet", "season", {"wet": "yes"}):
        with pytest.raises(
            KesError, match=r"impossible evidence: s.* has probability zero given s"
        ):
            network.probability(query, impossible)
    with pytest.raises(KesError, match=r"rain = 2 has probability zero given season = 'dry'"):
        network.probability("wet", {"season": "dry", "rain": 2})
    lone = BayesianNetwork(
        ["a", "b"], {"a": [0, 1], "b": [0, 1]}, {}, {"a": [1.0, 0.0], "b": [0.5, 0.5]}
    )
    with pytest.raises(KesError, match=r"impossible evidence: a = 1 has probability zero;"):
        lone.probability("b", {"a": 1})


@pytest.mark.usefixtures("_pyagrum")
def test_much_evidence_is_improbable_but_not_impossible():
    n = 1200  # the probability of the evidence, 2^-1199, rounds to zero
    names = [f"x{i}" for i in range(n)]
    network = BayesianNetwork(
        names,
        {name: [0, 1] for name in names},
        {b: [a] for a, b in zip(names[1:], names, strict=False)},
        {name: [[0.5, 0.5], [0.5, 0.5]] if name != names[-1] else [0.5, 0.5] for name in names},
    )
    assert 2.0 ** -(n - 1) == 0
    evidence = dict.fromkeys(names[1:], 1)
    assert network.probability({"x0": 1}, evidence) == pytest.approx(0.5)


@pytest.mark.usefixtures("_pyagrum")
def test_unknown_nodes_and_states_are_named():
    network = sprinkler()
    with pytest.raises(KesError, match=r"unknown node 'rian' \(did you mean 'rain'\?\)"):
        network.probability("rian")
    with pytest.raises(KesError, match="unknown node 'x'"):
        network.probability("rain", {"x": 1})
    with pytest.raises(KesError, match=r"'rain' has no state 3, only 0, 1, 2"):
        network.probability({"rain": 3})
    for ask in (network.cpt, network.markov_blanket, lambda node: network.predict(frame([]), node)):
        with pytest.raises(KesError, match="unknown node 'x'"):
            ask("x")


@pytest.mark.usefixtures("_pyagrum")
@pytest.mark.parametrize("hidden", [[], ["v0"], ["v0", "v2"], ["v0", "v1", "v2", "v3"]])
def test_predictions_are_posteriors(hidden):
    network = random_network(2)
    data = frame([row for row, p in joint(network) if p > 0]).drop(columns=hidden)
    data = pd.concat([data, data.iloc[::-1]])
    target = "v4"
    probabilities = network.predict(data, target, probabilities=True)
    predicted = network.predict(data, target)
    assert probabilities.shape == (len(data), len(network.states[target]))
    for row, distribution, choice in zip(
        data.drop(columns=target).to_dict("records"), probabilities, predicted, strict=True
    ):
        expected = [mass(network, **row, **{target: s}) for s in network.states[target]]
        np.testing.assert_allclose(distribution, np.array(expected) / sum(expected), rtol=1e-9)
        assert choice == network.states[target][int(np.argmax(distribution))]


@pytest.mark.usefixtures("_pyagrum")
def test_rows_that_agree_in_the_markov_blanket_are_worked_out_once(monkeypatch):
    network = sprinkler()
    seen = []
    original = Engine._posteriors

    def counting(self, node, known, cases):
        seen.append((known, cases.shape[1]))
        return original(self, node, known, cases)

    monkeypatch.setattr(Engine, "_posteriors", counting)
    possible = frame([row for row, p in joint(network) if p > 0])
    network.predict(pd.concat([possible] * 50), "season")
    pairs = possible[["rain", "sprinkler"]].drop_duplicates()
    assert seen == [(["rain", "sprinkler"], len(pairs))]


@pytest.mark.usefixtures("_pyagrum")
def test_predictions_have_the_type_of_the_states():
    network = sprinkler()
    data = frame([row for row, p in joint(network) if p > 0])
    assert network.predict(data, "rain").dtype.kind == "i"
    assert network.predict(data, "sprinkler").dtype.kind == "b"
    assert network.predict(data, "wet").dtype.kind == "U"
    assert network.predict(network.sample(10), "wet").shape == (10,)


@pytest.mark.usefixtures("_pyagrum")
def test_impossible_rows_are_named():
    network = sprinkler()
    data = frame([{"sprinkler": True, "rain": 1}, {"sprinkler": True, "rain": 2}])
    with pytest.raises(KesError, match=r"1 of 2 rows for impossible.*row 1 \(counted from 0\)"):
        network.predict(data, "season")


@pytest.mark.parametrize(
    ("package", "use"),
    [
        ("pyagrum", lambda network: network.probability("wet")),
        ("pyagrum", BayesianNetwork.to_pyagrum),
        ("pgmpy", BayesianNetwork.to_pgmpy),
        ("networkx", BayesianNetwork.to_networkx),
    ],
)
def test_missing_packages_are_named_with_the_command_to_install_them(monkeypatch, package, use):
    for module in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)  # Python then finds no such module
    with pytest.raises(KesError, match=f"{package}.* pip install {package}"):
        use(sprinkler())


def test_networkx():
    nx = pytest.importorskip("networkx")
    graph = sprinkler().to_networkx()
    assert set(graph.edges) == set(sprinkler().arcs)
    assert nx.is_directed_acyclic_graph(graph)
    assert graph.nodes["wet"]["parents"] == ("sprinkler", "rain")
    assert graph.nodes["wet"]["cpt"].shape == (2, 3, 2)


# --- estimation ----------------------------------------------------------------------------------

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


# --- what is unknown -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_gaps_are_summed_out(seed):
    """Against sums over the whole joint distribution, for random gaps in rows."""
    network = random_network(seed)
    rows = [row for row, p in joint(network) if p > 0]
    rng = np.random.default_rng(seed)
    holed = [{n: v if rng.random() < 0.6 else None for n, v in row.items()} for row in rows]
    data = frame(holed).astype(object).where(lambda cells: cells.notna(), None)
    found = network.log_likelihood(data, per_row=True, unseen="missing")
    for row, value in zip(holed, found, strict=True):
        known = {node: state for node, state in row.items() if state is not None}
        assert value == pytest.approx(log(mass(network, **known)), abs=1e-9)


def test_gaps_in_impossible_rows():
    network = sprinkler()
    row = {"season": "rainy", "sprinkler": True, "rain": None, "wet": None}
    assert mass(network, season="rainy", sprinkler=True) == 0
    assert network.log_likelihood(frame([row]), unseen="missing") == -inf


def test_values_never_seen_are_named_or_unknown():
    network = sprinkler()
    data = frame([{"season": "dry", "sprinkler": True, "rain": 1, "wet": "perhaps"}])
    with pytest.raises(
        KesError, match=r"'wet' has values .* 'perhaps' .* unseen=\"missing\" takes"
    ):
        network.log_likelihood(data)
    with pytest.raises(KesError, match=r"'wet' has values .* 'perhaps'"):
        network.predict(data, "rain")
    expected = log(mass(network, season="dry", sprinkler=True, rain=1))
    assert network.log_likelihood(data, unseen="missing") == pytest.approx(expected)


@pytest.mark.usefixtures("_pyagrum")
def test_predictions_from_rows_with_gaps():
    """What lies beyond a gap in the Markov blanket bears on the target."""
    network = sprinkler()
    data = frame(
        [
            {"season": "dry", "sprinkler": None, "rain": 1, "wet": "yes"},
            {"season": "dry", "sprinkler": True, "rain": 7, "wet": None},
            {"season": None, "sprinkler": None, "rain": None, "wet": None},
        ]
    ).astype(object)
    found = network.predict(data, "season", probabilities=True, unseen="missing")[:, 0]
    for value, known in zip(
        found, [{"rain": 1, "wet": "yes"}, {"sprinkler": True}, {}], strict=True
    ):
        expected = mass(network, season="dry", **known) / mass(network, **known)
        assert value == pytest.approx(expected)


def test_long_chains_of_gaps_do_not_underflow():
    """300 hidden states in a row, each with a known child: 0.25^300 is below all floats squared."""
    n = 300
    names = [f"x{i}" for i in range(n)] + [f"y{i}" for i in range(n)]
    parents = {f"x{i}": [f"x{i - 1}"] for i in range(1, n)} | {f"y{i}": [f"x{i}"] for i in range(n)}
    cpts = {f"x{i}": [[0.5, 0.5], [0.5, 0.5]] for i in range(1, n)} | {"x0": [0.5, 0.5]}
    cpts |= {f"y{i}": [[1 - 1e-5, 1e-5]] * 2 for i in range(n)}
    network = BayesianNetwork(names, {name: [0, 1] for name in names}, parents, cpts)
    row = frame([{f"y{i}": 1 for i in range(n)} | {f"x{i}": None for i in range(n)}])
    assert 1e-5**n == 0
    assert network.log_likelihood(row, unseen="missing") == pytest.approx(n * log(1e-5))


def test_gaps_that_need_too_large_tables_are_refused():
    """Thirty causes of one known effect, all unknown: 2^30 cells, in pieces of chains."""
    names = [f"x{i}" for i in range(30)]
    pairs = {f"y{i}_{j}": [f"x{i}", f"x{j}"] for i, j in combinations(range(30), 2)}
    cpts = {name: [0.5, 0.5] for name in names} | {y: np.full((2, 2, 2), 0.5) for y in pairs}
    nodes = [*names, *pairs]
    network = BayesianNetwork(nodes, {node: [0, 1] for node in nodes}, pairs, cpts)
    row = frame([dict.fromkeys(names) | dict.fromkeys(pairs, 1)])
    with pytest.raises(KesError, match=rf"the 30 unknown variables .* table of {2**30} cells"):
        network.log_likelihood(row, unseen="missing")


# --- raw rows ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def raw() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age = rng.normal(50, 15, 400)
    return pd.DataFrame({"age": age, "ill": np.where(age + rng.normal(0, 10, 400) > 55, "y", "n")})


@pytest.mark.usefixtures("_pyagrum")
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
    with pytest.raises(KesError, match="unknown transform 'rank'"):
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
                with pytest.raises(KesError, match="the preferred arc"):
                    preferred_dag(graph, prefer)


def test_contradicting_preferences_are_named():
    collider = EssentialGraph.from_dag("abc", [("a", "b"), ("c", "b")])
    with pytest.raises(
        KesError, match=r"b -> a contradicts the graph, in which a -> b is compelled"
    ):
        preferred_dag(collider, [("b", "a")])
    chain = EssentialGraph.from_dag("abc", [("a", "b"), ("b", "c")])
    with pytest.raises(KesError, match=r"c -> b contradicts those before it.*compel b -> c"):
        preferred_dag(chain, [("a", "b"), ("c", "b")])
    with pytest.raises(KesError, match="unknown node 'x'"):
        preferred_dag(chain, [("a", "x")])
    assert preferred_dag(chain, [("a", "c"), ("c", "b")]) == [("b", "a"), ("c", "b")]


@pytest.mark.parametrize(
    ("structure", "options", "message"),
    [
        ([("season", "x")], {}, "unknown node 'x'"),
        (["season"], {}, "an arc is a pair"),
        ([("rain", "wet"), ("wet", "rain")], {}, "directed cycle"),
        (
            EssentialGraph.from_dag("ab", []),
            {},
            "no column for 'a', 'b'; the graph has no node for",
        ),
        (ARCS, {"prior": "laplace"}, 'prior must be "bdeu", "ml" or a number'),
        (ARCS, {"prior": None}, 'prior must be "bdeu", "ml" or a number'),
        (ARCS, {"prior": 0}, "prior must be a number greater than 0"),
        (ARCS, {"prior": True}, "prior must be"),
        (ARCS, {"prior": "bdeu", "ess": -1}, "ess must be a number greater than 0"),
    ],
)
def test_what_cannot_be_fitted(cases, structure, options, message):
    with pytest.raises(KesError, match=message):
        fit(structure, cases, **options)


def test_tables_beyond_memory_are_refused():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.integers(0, 10, (200, 11)), columns=[f"x{i}" for i in range(11)])
    with pytest.raises(KesError, match=r"'x0' given its 10 parents .* smaller max_parents"):
        fit([(f"x{i}", "x0") for i in range(1, 11)], data)
