"""Built-in data: is it what its description says, and do the readers refuse anything else?"""

import itertools
import json
import math
import re
import subprocess
import sys
import time
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from tests.unit.datasets.frequencies import counts, z_of_chi_square
from tests.unit.refused import refused

from kes import datasets
from kes.network import BayesianNetwork

SHARED = Path(__file__).parents[4] / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not there")

# ALARM


def test_alarm_network_has_the_published_size():
    network = datasets.alarm_network()
    assert (len(network.nodes), len(network.arcs), network.n_parameters) == (37, 46, 509)
    assert {len(states) for states in network.states.values()} == {2, 3, 4}


def test_alarm_provenance_is_stated():
    source = Path(datasets.__file__).with_name("alarm.json")
    assert "Beinlich" in json.loads(source.read_text())["provenance"]


@needs_shared
def test_alarm_network_agrees_with_the_distributed_one():
    text = (SHARED / "alarm.bif").read_text()
    network = datasets.alarm_network()
    declared = re.findall(r"variable (\w+) \{\s*type discrete \[ \d+ \] \{ (.*?) \}", text)
    assert network.nodes == tuple(name for name, _ in declared)
    assert network.states == {name: tuple(states.split(", ")) for name, states in declared}
    for head, body in re.findall(r"probability \( (.*?) \) \{\n(.*?)\n\}", text, re.DOTALL):
        node, _, parents = head.partition(" | ")
        assert network.parents[node] == tuple(parents.split(", ") if parents else ())
        entries = re.findall(r"(?:\((.*)\)|table) (.*);", body)
        assert len(entries) == network.cpts[node][..., 0].size
        for configuration, probabilities in entries:
            values = configuration.split(", ") if configuration else ()
            index = tuple(
                network.states[parent].index(value)
                for parent, value in zip(network.parents[node], values, strict=True)
            )
            expected = [float(p) for p in probabilities.split(", ")]
            np.testing.assert_allclose(network.cpts[node][index], expected, rtol=0, atol=1e-7)


@needs_shared
def test_alarm_arcs_agree_with_the_distributed_ones():
    arcs = json.loads((SHARED / "alarm_true_arcs.json").read_text())
    assert datasets.alarm_network().arcs == tuple(sorted(map(tuple, arcs["arcs"])))


def test_alarm_sample_fits_every_table():
    # Given the parents as drawn, the children's counts are multinomial, so Pearson's statistic
    # summed over all tables is chi-square distributed with one degree per free parameter used.
    network, data = datasets.alarm_network(), datasets.alarm(200_000, seed=1)
    assert data.rows == 200_000
    assert data.names == network.nodes
    column = dict(zip(data.names, data.codes, strict=True))
    total_observed, total_expected, degrees = [], [], 0
    for node in network.nodes:
        family = (*network.parents[node], node)
        observed = counts([column[v] for v in family], network.cpts[node].shape)
        expected = observed.sum(axis=-1, keepdims=True) * network.cpts[node]
        complete = (expected >= 5).all(axis=-1)  # rows without any rare state
        total_observed.append(observed[complete].ravel())
        total_expected.append(expected[complete].ravel())
        degrees += complete.sum() * (len(network.states[node]) - 1)
    assert degrees > 509 / 2  # most parameters are judged; the others concern rare parents
    observed, expected = np.concatenate(total_observed), np.concatenate(total_expected)
    assert abs(z_of_chi_square(observed, expected, degrees)) < 3.5


def test_alarm_sample_is_quick():
    datasets.alarm(rows=10)  # reads the network
    seconds = []
    for _ in range(3):
        start = time.process_time()  # not the time that other processes take
        datasets.alarm()
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.1  # 20 ms measured; the rest is for slow machines


def test_longer_sample_begins_with_the_shorter():
    long, short = datasets.alarm(rows=500, seed=3), datasets.alarm(rows=20, seed=3)
    np.testing.assert_array_equal(long.codes[:, :20], short.codes)
    long, short = datasets.trap(rows=500, seed=3), datasets.trap(rows=20, seed=3)
    np.testing.assert_array_equal(long.codes[:, :20], short.codes)


def test_seeds_give_different_samples():
    assert (datasets.alarm(100, seed=0).codes != datasets.alarm(100, seed=1).codes).any()
    assert (datasets.trap(rows=100, seed=0).codes != datasets.trap(rows=100, seed=1).codes).any()


def test_alarm_follows_the_documented_rule():
    # Case by case in plain Python, from the file's figures and the documented numbers: one per
    # node, row by row; a node takes the first state whose cumulative probability exceeds its own.
    seed = np.random.SeedSequence(0, spawn_key=(0x53414D50,))
    numbers = np.random.default_rng(seed).random((50, 37))
    source = Path(datasets.__file__).with_name("alarm.json")
    entries = json.loads(source.read_text())["nodes"]
    expected = []
    for row in numbers.tolist():
        number, case = dict(zip(entries, row, strict=True)), {}
        while len(case) < len(entries):
            for node, entry in entries.items():
                if node in case or not case.keys() >= set(entry["parents"]):
                    continue
                index = 0
                for parent in entry["parents"]:
                    index = index * len(entries[parent]["states"]) + case[parent]
                sums = list(itertools.accumulate(entry["cpt"][index]))
                case[node] = next(
                    s for s, part in enumerate(sums) if part / sums[-1] > number[node]
                )
        expected.append([case[node] for node in entries])
    np.testing.assert_array_equal(datasets.alarm(50, seed=0).codes.T, expected)


# Exact tables of any network


@pytest.fixture
def small():
    """C has three states and the parents A and B, A is a parent of B; the child comes first."""
    c_given_ab = [[[0.2, 0.3, 0.5], [0.0, 0.6, 0.4]], [[0.7, 0.1, 0.2], [0.1, 0.9, 0.0]]]
    return BayesianNetwork(
        nodes=("C", "A", "B"),
        states={"C": ("c0", "c1", "c2"), "A": ("a0", "a1"), "B": ("b0", "b1")},
        parents={"C": ("A", "B"), "B": ("A",)},
        cpts={"C": c_given_ab, "A": [0.3, 0.7], "B": [[0.5, 0.5], [0.9, 0.1]]},
    )


def test_exact_is_the_product_of_the_tables(small):
    data = datasets.exact(small, cases=1000)
    assert data.rows == 12
    assert data.names == ("C", "A", "B")
    assert data.codes.T.tolist() == [
        list(cell) for cell in itertools.product(*map(range, (3, 2, 2)))
    ]
    p = small.cpts
    expected = [1000 * p["A"][a] * p["B"][a, b] * p["C"][a, b, c] for c, a, b in data.codes.T]
    np.testing.assert_allclose(data.weights, expected, rtol=1e-14, atol=0)
    assert data.weights.sum() == pytest.approx(1000, rel=1e-14)


def test_exact_refuses_what_cannot_be_written_out():
    with refused(r"1048576.*network\.sample", option="network"):
        datasets.exact(datasets.alarm_network())


@pytest.mark.parametrize("cases", [1, 0, -5, math.nan, math.inf])
def test_exact_refuses_a_senseless_number_of_cases(small, cases):
    with refused(option="cases"):
        datasets.exact(small, cases=cases)


@pytest.mark.parametrize(
    ("call", "option", "word"),
    [
        (lambda: datasets.alarm(rows=0), "rows", "not 0"),
        (lambda: datasets.alarm(rows=2.5), "rows", "not 2.5"),
        (lambda: datasets.alarm(seed=-1), "seed", "not -1"),
        (lambda: datasets.alarm(seed=None), "seed", "not None"),
        (lambda: datasets.trap(groups=0), "groups", "not 0"),
        (lambda: datasets.trap(rows=0), "rows", "not 0"),
        (lambda: datasets.random_network(0), "nodes", "not 0"),
        (lambda: datasets.random_network(3, 2.5), "expected_degree", "between 0 and"),
        (
            lambda: datasets.random_network(3, states=1),
            "states",
            "not 1",
        ),
    ],
)
def test_senseless_arguments_are_named(call, option, word):
    with refused(word, option=option):
        call()


# Random networks


def test_random_network_has_the_degree_and_the_names_asked_for():
    networks = [datasets.random_network(9, 3, states=3, seed=seed) for seed in range(200)]
    assert networks[0].nodes == tuple(f"X{i}" for i in range(1, 10))
    assert {states for net in networks for states in net.states.values()} == {("0", "1", "2")}
    degrees = [2 * len(network.arcs) / 9 for network in networks]
    # 36 pairs, each joined with probability 3/8: a degree of 3 with this standard error
    error = 2 / 9 * math.sqrt(36 * 3 / 8 * 5 / 8 / 200)
    assert abs(np.mean(degrees) - 3) < 4 * error
    upwards = sum(parent < child for network in networks for parent, child in network.arcs)
    arcs = sum(len(network.arcs) for network in networks)
    assert abs(upwards - arcs / 2) < 4 * math.sqrt(arcs / 4)  # both directions are as likely


def test_random_tables_are_uniform_over_distributions():
    # Each probability of a uniform distribution over three states has density 2 (1 - p).
    tables = np.concatenate(
        [
            datasets.random_network(4, 0, states=3, seed=seed).cpts["X2"][None]
            for seed in range(2000)
        ]
    )
    bounds = 1 - np.sqrt(1 - np.arange(1, 10) / 10)  # deciles of that density
    for state in range(3):
        observed = np.bincount(np.searchsorted(bounds, tables[:, state]), minlength=10)
        assert abs(z_of_chi_square(observed, np.full(10, 200.0), degrees=9)) < 3.5


def test_random_network_extremes():
    assert datasets.random_network(1, 0).arcs == ()
    assert len(datasets.random_network(5, 4, seed=1).arcs) == 10
    first, again = (datasets.random_network(6, 2, seed=7) for _ in range(2))
    assert first.arcs == again.arcs
    np.testing.assert_array_equal(first.cpts["X3"], again.cpts["X3"])


def bic_agrees_with_d_separation(network, cases):
    """Judge every pair and set by networkx and by G = 2 N I(x;y|c), from the joint directly."""
    graph = nx.DiGraph(network.arcs)
    graph.add_nodes_from(network.nodes)
    table = datasets.exact(network, cases)
    shape, joint = table.cardinalities, table.weights.reshape(table.cardinalities) / cases
    for x, y in itertools.combinations(range(len(shape)), 2):
        rest = sorted(set(range(len(shape))) - {x, y})
        for given in itertools.chain.from_iterable(
            itertools.combinations(rest, size) for size in range(len(rest) + 1)
        ):
            outside = tuple(set(rest) - set(given))
            p = joint.sum(axis=outside, keepdims=True)
            p_x, p_y = p.sum(axis=y, keepdims=True), p.sum(axis=x, keepdims=True)
            p_c = p_x.sum(axis=x, keepdims=True)
            ratio = np.divide(p * p_c, p_x * p_y, out=np.ones_like(p), where=p > 0)
            information = (p * np.log(ratio)).sum()
            parameters = (shape[x] - 1) * (shape[y] - 1) * math.prod(shape[v] for v in given)
            joined = 2 * cases * information > math.log(cases) * parameters
            names = [network.nodes[v] for v in (x, y, *given)]
            if joined == nx.is_d_separator(graph, {names[0]}, {names[1]}, set(names[2:])):
                return False
    return True


@pytest.mark.parametrize("cases", [1e4, 1e10])
def test_is_faithful_agrees_with_a_direct_judgement(cases):
    verdicts = set()
    for seed in range(8):
        network = datasets.random_network(4, 2, states=2 + seed % 2, seed=seed)
        verdict = datasets.is_faithful(network, cases)
        assert verdict == bic_agrees_with_d_separation(network, cases)
        verdicts.add(verdict)
    assert verdicts == ({True} if cases == 1e10 else {True, False})


def test_parity_is_not_faithful():
    # C = A xor B with fair coins: A and C are independent although an arc joins them.
    fair, parity = (
        np.array([0.5, 0.5]),
        np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]),
    )
    network = BayesianNetwork(
        nodes=("A", "B", "C"),
        states=dict.fromkeys("ABC", ("0", "1")),
        parents={"C": ("A", "B")},
        cpts={"A": fair, "B": fair, "C": parity},
    )
    assert not datasets.is_faithful(network, cases=1e12)


def test_most_random_networks_of_eight_nodes_are_faithful():
    verdicts = [datasets.is_faithful(datasets.random_network(8, 2, seed=seed)) for seed in range(5)]
    assert sum(verdicts) >= 3


# The package


def test_import_reads_no_data_and_no_heavy_package():
    code = (
        "import sys, kes.datasets\n"
        "heavy = {'pandas', 'polars', 'pyarrow', 'matplotlib', 'networkx', 'sklearn', 'scipy'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
