"""Networks whose exact answers need huge tables are refused before any table is made.

Any elimination order of a network has a clique with at least treewidth + 1 variables. The moral
graph of the networks here has a minor of minimum degree 13 or more, a lower bound on the treewidth,
so every exact method needs a table of 4**14 cells, 2 GB, or more.
"""

import resource

import networkx as nx
import numpy as np
import pytest

import kes
from kes.network import BayesianNetwork, MixedNetwork, fit

STATES = ("a", "b", "c", "d")
LARGEST_MB = 200


def peak_mb():
    """Return the largest memory so far of the process, in which Python and the core allocate."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def dense(nodes=60, parents=4, states=STATES, seed=2):
    """Each node depends strongly on some of those before it, wherever they are."""
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(nodes)]
    given = {
        name: [names[j] for j in sorted(rng.choice(i, min(i, parents), replace=False))]
        for i, name in enumerate(names)
    }
    k = len(states)
    cpts = {n: rng.dirichlet(np.full(k, 0.2), size=[k] * len(given[n])) for n in names}
    return BayesianNetwork(names, dict.fromkeys(names, states), given, cpts)


def least_treewidth(network):
    """Contract the vertex of least degree into its neighbour of least degree, again and again."""
    graph = nx.Graph()
    for node, parents in network.parents.items():
        family = [node, *parents]
        graph.add_edges_from((a, b) for a in family for b in family if a != b)
    bound = 0
    while graph.number_of_edges():
        node = min(graph, key=graph.degree)
        bound = max(bound, graph.degree(node))
        near = min(graph[node], key=graph.degree, default=None)
        if near is None:
            graph.remove_node(node)
        else:
            graph = nx.contracted_nodes(graph, near, node, self_loops=False, copy=False)
    return bound


@pytest.fixture(scope="module")
def network():
    return dense()


@pytest.fixture(scope="module")
def rows(network):
    return network.sample(20, seed=1).to_pandas().astype(str)


@pytest.fixture(autouse=True)
def little_memory():
    before = peak_mb()
    yield
    assert peak_mb() - before < LARGEST_MB


def refused(question):
    with pytest.raises(kes.KesError) as error:
        question()
    assert error.value.column in {f"v{i}" for i in range(60)}
    assert "too large" in str(error.value)


def test_these_networks_need_huge_tables(network):
    assert least_treewidth(network) >= 13


def test_queries_are_refused(network):
    refused(lambda: network.probability("v59"))
    refused(lambda: network.probability({"v3": "a"}, {"v59": "b"}))
    refused(network.marginals)


def test_predictions_are_refused_only_where_too_much_is_unknown(network, rows):
    refused(lambda: network.predict(rows[["v0", "v1"]], "v59"))
    refused(
        lambda: network.log_likelihood(
            rows.assign(**dict.fromkeys(network.nodes[5:55])), unseen="missing"
        )
    )
    assert len(network.predict(rows, "v59")) == 20
    few = rows.assign(v40=None, v59=None)
    assert np.isfinite(network.log_likelihood(few, unseen="missing"))


def test_mixed_networks_refuse_as_well(network):
    frame = network.sample(2000, seed=1).to_pandas()
    frame["z"] = (frame["v3"] == "a") + np.random.default_rng(1).normal(size=2000)
    mixed = fit([*network.arcs, ("v3", "z"), ("v9", "z")], frame)
    assert isinstance(mixed, MixedNetwork)
    refused(lambda: mixed.probability("v59", {"z": 0.3}))
    refused(lambda: mixed.predict(frame[["v0", "v1", "z"]].head(), "v59", unseen="missing"))


def test_commands_refuse(network, rows, tmp_path, printed):
    network.save(tmp_path / "n.json")
    rows[["v0", "v1"]].to_csv(tmp_path / "few.csv", index=False)
    predict = ("predict", tmp_path / "n.json", tmp_path / "few.csv", "--target", "v59")
    for command in (("query", tmp_path / "n.json", "P(v59)"), predict):
        status, shown, said = printed(*command)
        assert status == 2
        assert not shown
        assert "too large" in said


def test_the_report_is_written_without_these_tables(tmp_path, monkeypatch):
    """Its probabilities are those of single families, and its model check draws cases."""
    monkeypatch.setattr("kes.analysis.target._FOLDS", 2)  # few searches: the networks are large
    monkeypatch.setattr("kes.analysis.target.MEMBERS", 2)
    table = dense(parents=3, states=STATES[:3], seed=5).sample(4000, seed=1)
    optima = kes.learn(table, runs=1, improve=False, prove=False, target="v59")
    fitted = optima.best.fit(table)
    refused(fitted.marginals)
    optima.report(tmp_path / "r.html", data=table, evidence=False)
    assert (tmp_path / "r.html").stat().st_size > 2**16
