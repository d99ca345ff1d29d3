"""Exact inference: probabilities, marginals, predictions, rows with missing values."""

import sys
from itertools import combinations, permutations, product
from math import inf, log

import numpy as np
import pandas as pd
import pytest
from tests.unit.network.small_networks import frame, joint, mass, random_network, sprinkler
from tests.unit.refused import refused

from kes.errors import KesError
from kes.network import BayesianNetwork


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


def test_evidence_on_the_query_itself():
    network = sprinkler()
    assert network.probability("wet", {"wet": "yes"}) == {"no": 0, "yes": 1}
    assert network.probability({"wet": "yes"}, {"wet": "yes"}) == 1
    assert network.probability({"wet": "no"}, {"wet": "yes"}) == 0


def test_states_may_be_given_as_text_or_as_numpy_scalars():
    network = sprinkler()
    expected = network.probability("wet", {"rain": 1, "sprinkler": True})
    assert network.probability("wet", {"rain": "1", "sprinkler": "True"}) == expected
    assert network.probability("wet", {"rain": np.int64(1), "sprinkler": np.True_}) == expected


def test_impossible_evidence_is_refused_even_where_it_is_irrelevant():
    network = sprinkler()
    impossible = {"season": "rainy", "sprinkler": True}
    assert mass(network, **impossible) == 0
    for query in ("rain", "wet", "season", {"wet": "yes"}):
        with refused("impossible", column="sprinkler"):
            network.probability(query, impossible)
    with refused("rain = 2 .* season = 'dry'", column="rain"):
        network.probability("wet", {"season": "dry", "rain": 2})
    for ask in (network.marginals, lambda known: network.probability("rain", {**known, "rain": 0})):
        with pytest.raises(KesError) as caught:
            ask(impossible)
        assert caught.value.column == "sprinkler"
    lone = BayesianNetwork(
        ["a", "b"], {"a": [0, 1], "b": [0, 1]}, {}, {"a": [1.0, 0.0], "b": [0.5, 0.5]}
    )
    with refused("impossible", column="a"):
        lone.probability("b", {"a": 1})


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


def test_unknown_nodes_and_states_are_named():
    network = sprinkler()
    with refused("did you mean 'rain'", column="rian"):
        network.probability("rian")
    with pytest.raises(KesError) as caught:
        network.probability("rain", {"x": 1})
    assert caught.value.column == "x"
    with refused("3, only 0, 1, 2", column="rain"):
        network.probability({"rain": 3})
    for ask in (network.cpt, network.markov_blanket, lambda node: network.predict(frame([]), node)):
        with pytest.raises(KesError) as caught:
            ask("x")
        assert caught.value.column == "x"


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


def test_equal_rows_have_equal_answers_wherever_they_stand():
    network = random_network(5)
    rows = frame([row for row, p in joint(network) if p > 0]).drop(columns="v1")
    once = network.predict(rows, "v0", probabilities=True)
    many = network.predict(pd.concat([rows] * 3), "v0", probabilities=True)
    np.testing.assert_array_equal(many, np.tile(once, (3, 1)))


def test_predictions_have_the_type_of_the_states():
    network = sprinkler()
    data = frame([row for row, p in joint(network) if p > 0])
    assert network.predict(data, "rain").dtype.kind == "i"
    assert network.predict(data, "sprinkler").dtype.kind == "b"
    assert network.predict(data, "wet").dtype.kind == "U"
    assert network.predict(network.sample(10), "wet").shape == (10,)


def test_impossible_rows_are_named():
    network = sprinkler()
    data = frame([{"sprinkler": True, "rain": 1}, {"sprinkler": True, "rain": 2}])
    with refused("1 of 2 rows", row=1):
        network.predict(data, "season")


@pytest.mark.parametrize(
    ("package", "use"),
    [
        ("pyagrum", BayesianNetwork.to_pyagrum),
        ("pgmpy", BayesianNetwork.to_pgmpy),
        ("networkx", BayesianNetwork.to_networkx),
    ],
)
def test_missing_packages_are_named_with_the_command_to_install_them(monkeypatch, package, use):
    for module in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)  # Python then finds no such module
    with refused(f"pip install {package}"):
        use(sprinkler())


def test_networkx():
    nx = pytest.importorskip("networkx")
    graph = sprinkler().to_networkx()
    assert set(graph.edges) == set(sprinkler().arcs)
    assert nx.is_directed_acyclic_graph(graph)
    assert graph.nodes["wet"]["parents"] == ("sprinkler", "rain")
    assert graph.nodes["wet"]["cpt"].shape == (2, 3, 2)


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
    for ask in (network.log_likelihood, lambda rows: network.predict(rows, "rain")):
        with refused("'perhaps'", column="wet", row=0):
            ask(data)
    expected = log(mass(network, season="dry", sprinkler=True, rain=1))
    assert network.log_likelihood(data, unseen="missing") == pytest.approx(expected)


def test_predictions_from_rows_with_gaps():
    """Variables beyond a gap in the Markov blanket influence the target."""
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
    with pytest.raises(KesError) as caught:
        network.log_likelihood(row, unseen="missing")
    assert caught.value.column in names


@pytest.mark.parametrize("seed", range(8))
def test_networks_with_zeros_against_the_joint_distribution(seed):
    """All marginals, posteriors and log-likelihoods under all evidence on three nodes."""
    network = with_zeros(seed)
    table = [(row, p) for row, p in joint(network) if p > 0]
    chosen = sorted(network.nodes)[::2]
    for states in product(*(network.states[node] for node in chosen)):
        evidence = dict(zip(chosen, states, strict=True))
        rows = [(row, p) for row, p in table if all(row[n] == s for n, s in evidence.items())]
        total = sum(p for _, p in rows)
        if total == 0:
            for ask in (network.marginals, lambda known: network.probability("v1", known)):
                with pytest.raises(KesError) as caught:
                    ask(evidence)
                assert caught.value.column in chosen
            continue
        marginals = network.marginals(evidence)
        for node in network.nodes:
            expected = [
                sum(p for r, p in rows if r[node] == s) / total for s in network.states[node]
            ]
            assert list(marginals[node].values()) == pytest.approx(expected, abs=1e-12)
            found = network.probability(node, evidence)
            assert list(found.values()) == pytest.approx(expected, abs=1e-12)


def with_zeros(seed):
    """A random network in which a third of the probabilities are zero, and some are certain."""
    network = random_network(seed, nodes=6)
    rng = np.random.default_rng(seed)
    cpts = {}
    for node, cpt in network.cpts.items():
        kept = np.where(rng.random(cpt.shape) < 0.35, 0.0, cpt)
        kept[..., 0] += kept.sum(axis=-1) == 0
        cpts[node] = kept / kept.sum(axis=-1, keepdims=True)
    return BayesianNetwork(network.nodes, network.states, network.parents, cpts)


def test_products_beyond_the_range_of_floats():
    """800 findings for one state, then 800 for the other: each half alone is below all floats."""
    n = 800
    findings = [f"y{i}" for i in range(2 * n)]
    cpts = {"x": [0.25, 0.75]}
    for i, y in enumerate(findings):
        rare, common = [1 - 1e-3, 1e-3], [0.5, 0.5]
        cpts[y] = [rare, common] if i < n else [common, rare]
    nodes = ["x", *findings]
    network = BayesianNetwork(
        nodes, {node: [0, 1] for node in nodes}, {y: ["x"] for y in findings}, cpts
    )
    evidence = dict.fromkeys(findings, 1)
    assert (1e-3 / 0.5) ** n == 0
    assert list(network.probability("x", evidence).values()) == pytest.approx([0.25, 0.75])
    assert list(network.marginals(evidence)["x"].values()) == pytest.approx([0.25, 0.75])
    row = frame([evidence | {"x": None}])
    expected = n * log(1e-3) + n * log(0.5)
    assert network.log_likelihood(row, unseen="missing") == pytest.approx(expected)


def test_marginals_of_everything_observed_or_nothing():
    network = sprinkler()
    row = next(row for row, p in joint(network) if p > 0)
    for node, distribution in network.marginals(row).items():
        assert distribution == {state: float(state == row[node]) for state in network.states[node]}
    for node, distribution in network.marginals().items():
        assert distribution == pytest.approx(network.probability(node))
