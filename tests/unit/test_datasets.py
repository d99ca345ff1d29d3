"""Built-in data: is it what its description says, and do the readers refuse anything else?"""

import csv
import gzip
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

from kes import datasets
from kes.data import Dataset
from kes.errors import KesError
from kes.network import BayesianNetwork

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not there")

# The first numbers of PCG64(0), as published in countless examples of numpy's default_rng(0).
PCG64_0 = [
    0.6369616873214543,
    0.2697867137638703,
    0.04097352393619469,
    0.016527635528529094,
    0.8132702392002724,
    0.9127555772777217,
    0.6066357757671799,
    0.7294965609839984,
    0.5436249914654229,
]


def z_of_chi_square(observed, expected, degrees):
    """Standardise Pearson's statistic: about normal when there are many degrees of freedom."""
    assert expected.min() >= 5  # or the statistic would not be chi-square distributed
    statistic = ((observed - expected) ** 2 / expected).sum()
    return (statistic - degrees) / math.sqrt(2 * degrees)


def counts(codes, cardinalities):
    table = np.zeros(cardinalities)
    np.add.at(table, tuple(codes), 1)
    return table


def assert_well_formed(data, rows):
    assert isinstance(data, Dataset)
    assert data.codes.dtype == np.int32
    assert data.codes.flags.c_contiguous
    assert data.codes.shape == (len(data.names), rows)
    assert len(data.states) == len(data.names)
    for states, column in zip(data.states, data.codes, strict=True):
        assert column.min() >= 0
        assert column.max() < len(states)


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
    assert_well_formed(data, 200_000)
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
    # Case by case in plain Python, from the file's figures and the numbers of PCG64(0): one per
    # node, row by row; a node takes the first state whose cumulative probability exceeds its own.
    numbers = np.random.default_rng(0).random((50, 37))
    assert numbers.ravel()[:9].tolist() == PCG64_0
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
    assert_well_formed(data, 12)
    assert data.names == ("C", "A", "B")
    assert data.codes.T.tolist() == [
        list(cell) for cell in itertools.product(*map(range, (3, 2, 2)))
    ]
    p = small.cpts
    expected = [1000 * p["A"][a] * p["B"][a, b] * p["C"][a, b, c] for c, a, b in data.codes.T]
    np.testing.assert_allclose(data.weights, expected, rtol=1e-14, atol=0)
    assert data.weights.sum() == pytest.approx(1000, rel=1e-14)


def test_exact_refuses_what_cannot_be_written_out():
    with pytest.raises(
        KesError, match=r"37 nodes has \d+ configurations.*up to 1048576.*network.sample"
    ):
        datasets.exact(datasets.alarm_network())


@pytest.mark.parametrize("cases", [1, 0, -5, math.nan, math.inf])
def test_exact_refuses_a_senseless_number_of_cases(small, cases):
    with pytest.raises(KesError, match="cases must be a number greater than 1"):
        datasets.exact(small, cases=cases)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.alarm(rows=0), "rows must be a whole number of at least 1, not 0"),
        (lambda: datasets.alarm(rows=2.5), "rows must be a whole number of at least 1, not 2.5"),
        (lambda: datasets.alarm(seed=-1), "seed must be a whole number of at least 0, not -1"),
        (lambda: datasets.alarm(seed=None), "seed must be a whole number of at least 0, not None"),
        (lambda: datasets.trap(groups=0), "groups must be a whole number of at least 1, not 0"),
        (lambda: datasets.trap(rows=0), "rows must be a whole number of at least 1, not 0"),
        (lambda: datasets.random_network(0), "nodes must be a whole number of at least 1, not 0"),
        (lambda: datasets.random_network(3, 2.5), "expected_degree must lie between 0 and"),
        (
            lambda: datasets.random_network(3, states=1),
            "states must be a whole number of at least 2, not 1",
        ),
    ],
)
def test_senseless_arguments_are_named(call, message):
    with pytest.raises(KesError, match=message):
        call()


# Trap, Example 1, Example 2

PRINTED_XY = np.array([[0.22, 0.03, 0.22, 0.03], [0.03, 0.22, 0.03, 0.22]])  # rows Y, columns X
PRINTED_XU = np.array([[0.22, 0.22, 0.03, 0.03], [0.03, 0.03, 0.22, 0.22]])  # rows U, columns X
PRINTED_YZ = np.array([[0.35, 0.15], [0.15, 0.35]])


def joint_of(**options):
    return datasets.example1(cases=2, **options).weights.reshape(4, 2, 2, 2) / 2


def test_printed_variant_has_the_marginals_printed_in_the_paper():
    joint = joint_of(variant="printed")
    np.testing.assert_allclose(joint.sum(axis=(2, 3)).T, PRINTED_XY, rtol=0, atol=1e-12)
    np.testing.assert_allclose(joint.sum(axis=(1, 2)).T, PRINTED_XU, rtol=0, atol=1e-12)
    np.testing.assert_allclose(joint.sum(axis=(0, 3)), PRINTED_YZ, rtol=0, atol=1e-12)
    np.testing.assert_allclose(joint.sum(axis=(0, 1)).T, PRINTED_YZ, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "abc"),
    [
        ({"variant": "printed"}, (0.12, 0.30, 0.0)),
        ({"variant": "deceptive"}, (0.12, 0.30, 0.05)),
        ({"parameters": (0.11, 0.31, 0.02)}, (0.11, 0.31, 0.02)),
        ({"parameters": (0.4, 0.1, -0.05)}, (0.4, 0.1, -0.05)),
    ],
)
def test_cycle_has_its_edge_marginals_and_independences(options, abc):
    a, b, c = abc
    joint = joint_of(**options)
    x, y, z, u = np.indices(joint.shape)
    expected_x = [0.25 + c, 0.25 - c, 0.25 - c, 0.25 + c]
    np.testing.assert_allclose(joint.sum(axis=(1, 2, 3)), expected_x, rtol=0, atol=1e-12)
    for state in range(4):  # the error rates do not depend on X
        at = x == state
        assert joint[at & (y != x % 2)].sum() == pytest.approx(a * expected_x[state], abs=1e-12)
        assert joint[at & (u != x // 2)].sum() == pytest.approx(a * expected_x[state], abs=1e-12)
    for first, second in ((y, z), (u, z)):
        for value in range(2):
            disagree = joint[(first == value) & (second != value)].sum()
            agree = joint[(first == value) & (second == value)].sum()
            assert disagree == pytest.approx(b / 2, abs=1e-12)
            assert agree == pytest.approx((1 - b) / 2, abs=1e-12)

    def margin(*summed):
        return joint.sum(axis=summed, keepdims=True)

    x_z_given_yu = joint * margin(0, 2) - margin(2) * margin(0)
    y_u_given_xz = joint * margin(1, 3) - margin(3) * margin(1)
    np.testing.assert_allclose(x_z_given_yu, 0, atol=1e-14)
    np.testing.assert_allclose(y_u_given_xz, 0, atol=1e-14)


def test_no_other_independence_holds_in_the_cycle():
    joint = joint_of(variant="deceptive")

    def information(first, second, given):
        """I(first; second | given), from entropies."""

        def entropy(axes):
            p = joint.sum(axis=tuple(set(range(4)) - set(axes)))
            return -(p * np.log(p)).sum()

        return (
            entropy({first, *given})
            + entropy({second, *given})
            - entropy({first, second, *given})
            - entropy(given)
        )

    independent = {(0, 2, (1, 3)), (1, 3, (0, 2))}
    for first, second in itertools.combinations(range(4), 2):
        rest = sorted(set(range(4)) - {first, second})
        for size in range(3):
            for given in itertools.combinations(rest, size):
                found = information(first, second, given)
                if (first, second, given) in independent:
                    assert abs(found) < 1e-13
                else:
                    assert found > 1e-4


def test_erratum_collider_beats_the_second_arc_for_printed_marginals():
    # With X - Y in place, joining U to X as a collider is worth I(X;U|Y), as a fork I(X;U).
    def information(pair):
        rows, columns = pair.sum(axis=1, keepdims=True), pair.sum(axis=0, keepdims=True)
        return (pair * np.log(pair / (rows * columns))).sum()

    joint = joint_of(variant="printed").sum(axis=2)  # axes X, Y, U
    given_y = sum(
        part.sum() * information(part / part.sum()) for part in (joint[:, y] for y in range(2))
    )
    assert given_y > information(joint.sum(axis=1)) + 1e-3


def test_example1_is_a_weighted_table():
    data = datasets.example1()
    assert_well_formed(data, 32)
    assert data.names == ("X", "Y", "Z", "U")
    assert data.weights.sum() == pytest.approx(1_000_000, rel=1e-12)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_example2_is_the_product_of_independent_copies(groups):
    data = datasets.example2(groups, cases=1000, variant="deceptive")
    assert_well_formed(data, 32**groups)
    one = joint_of(variant="deceptive")
    cells = data.codes.reshape(groups, 4, -1)
    expected = 1000 * np.prod([one[tuple(cell)] for cell in cells], axis=0)
    np.testing.assert_allclose(data.weights, expected, rtol=1e-12, atol=0)
    assert len(np.unique(data.codes, axis=1).T) == 32**groups


def test_example2_refuses_more_than_four_groups():
    with pytest.raises(KesError, match=r"5 groups has 33554432 configurations.*trap\(groups"):
        datasets.example2(5)


@pytest.mark.parametrize("variant", ["deceptive", "printed"])
def test_trap_sample_fits_the_distribution(variant):
    data = datasets.trap(variant=variant, seed=1)
    assert_well_formed(data, 20_000)
    assert data.names[:5] == ("X1", "Y1", "Z1", "U1", "X2")
    assert data.names[-1] == "U10"
    joint = joint_of(variant=variant)
    observed = np.array([counts(group, (4, 2, 2, 2)) for group in data.codes.reshape(10, 4, -1)])
    expected = np.broadcast_to(20_000 * joint, observed.shape)
    assert abs(z_of_chi_square(observed, expected, degrees=10 * 31)) < 3.5


def test_trap_groups_are_independent():
    cells = datasets.trap(groups=4, seed=2).codes.reshape(4, 4, -1)
    pairs = [2 * group[0] + group[2] for group in cells]  # X and Z: eight well-filled cells
    for first, second in itertools.combinations(pairs, 2):
        observed = counts((first, second), (8, 8))
        expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum()
        assert abs(z_of_chi_square(observed, expected, degrees=49)) < 3.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "printd"}, r"unknown variant 'printd' \(did you mean 'printed'\?\)"),
        ({"parameters": (0.1, 0.3)}, r"must be three numbers \(a, b, c\), not \(0.1, 0.3\)"),
        ({"parameters": (0.0, 0.3, 0.0)}, r"\(0.0, 0.3, 0.0\) are out of range"),
        ({"parameters": (0.1, 0.3, 0.25)}, "c lies strictly between -1/4 and 1/4"),
        # Y and U follow two independent bits and differ half of the time, so no Z can differ
        # from either of them in one case out of a hundred only.
        ({"parameters": (0.01, 0.01, 0.0)}, "contradict each other around the cycle"),
    ],
)
def test_impossible_trap_is_refused(options, message):
    with pytest.raises(KesError, match=message):
        datasets.trap(rows=10, **options)


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


# CoIL


def coil_values():
    """Make a table that passes for CoIL: random numbers, 348 buyers."""
    values = np.random.default_rng(0).integers(0, 6, size=(5822, 86))
    values[:, -1] = np.arange(5822) < 348
    return values


def coil_header():
    names = [f"A{i}" for i in range(1, 87)]
    names[1], names[42], names[64], names[85] = "MAANTHUI", "MKOOPKLA", "AWAPART", "CARAVAN"
    # fmt: off
    names[65:85] = [
        "AWABEDR", "AWALAND", "APERSAUT", "ABESAUT", "AMOTSCO", "AVRAAUT", "AAANHANG", "ATRACTOR",
        "AWERKT", "ABROM", "ALEVEN", "APERSONG", "AGEZONG", "AWAOREG", "ABRAND", "AZEILPL",
        "APLEZIER", "AFIETS", "AINBOED", "ABYSTAND",
    ]
    # fmt: on
    return names


def write_table(path, values, delimiter=","):
    path.write_text("".join(delimiter.join(map(str, row)) + "\n" for row in values.tolist()))
    return path


def test_coil_binarises_as_described(tmp_path):
    values = coil_values()
    data = datasets.coil(write_table(tmp_path / "ticdata2000.txt", values, delimiter="\t"))
    assert_well_formed(data, 5822)
    header = coil_header()
    kept = [2, 43, *range(65, 87)]
    assert data.names == tuple(header[attribute - 1] for attribute in kept)
    for attribute, column in zip(kept, data.codes, strict=True):
        limit = {2: 1, 43: 3}.get(attribute, 0)
        expected = [int(value > limit) for value in values[:, attribute - 1]]
        assert column.tolist() == expected


def test_coil_reads_every_form_alike(tmp_path, monkeypatch):
    values = coil_values()
    original = write_table(tmp_path / "ticdata2000.txt", values, delimiter="\t")
    windows = tmp_path / "windows.txt"
    windows.write_bytes(original.read_bytes().replace(b"\n", b"\r\n"))
    numbers = original.read_text().replace("\t", ",")
    named = tmp_path / "named.csv"
    named.write_text(",".join(coil_header()) + "\n" + numbers)
    zipped = tmp_path / "quoted.csv.gz"
    quoted_header = ",".join(f'"{name}"' for name in coil_header())
    zipped.write_bytes(gzip.compress(f"{quoted_header}\n{numbers}".encode(), compresslevel=1))
    expected = datasets.coil(original)
    for path in (windows, str(named), zipped):
        np.testing.assert_array_equal(datasets.coil(path).codes, expected.codes)
    monkeypatch.setenv("KES_COIL", str(named))
    np.testing.assert_array_equal(datasets.coil().codes, expected.codes)


def test_coil_says_where_to_get_the_data(monkeypatch):
    monkeypatch.delenv("KES_COIL", raising=False)
    with pytest.raises(KesError) as error:
        datasets.coil()
    for part in ("KES_COIL", "path=", "UCI", "(COIL 2000)", "ticdata2000.txt", "5822", "86"):
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda lines: [], "it is empty"),
        (lambda lines: lines[:-1], "expected 5822 cases x 86 attributes, found 5821 x 86"),
        (lambda lines: [line.rpartition(",")[0] for line in lines], "found 5822 x 85"),
        (lambda lines: [*lines[:9], "1,2", *lines[10:]], "not a table of whole numbers"),
        (lambda lines: [lines[0], "x" + lines[1], *lines[2:]], "not a table of whole numbers"),
        (
            lambda lines: [",".join(coil_header()[::-1]), *lines],
            "column 2 of the header should be ",
        ),
        (lambda lines: ["a,b", *lines], "column 2 of the header should be MAANTHUI, but is b"),
        (lambda lines: [lines[0][:-1] + "0", *lines[1:]], r"\(CARAVAN\) 1 for 348 cases"),
        (lambda lines: [lines[0][:-1] + "2", *lines[1:]], r"\(CARAVAN\) 1 for 348 cases"),
        (lambda lines: ["-" + lines[0], *lines[1:]], "should be non-negative"),
    ],
)
def test_coil_refuses_other_tables(tmp_path, spoil, message):
    path = write_table(tmp_path / "coil.csv", coil_values())
    path.write_text("\n".join(spoil(path.read_text().splitlines())))
    with pytest.raises(KesError, match=message) as error:
        datasets.coil(path)
    assert str(path) in str(error.value)
    assert "ticdata2000.txt" in str(error.value)


def test_unreadable_files_are_refused(tmp_path):
    with pytest.raises(KesError, match=r"nowhere\.csv: there is no such file.*UCI"):
        datasets.coil(tmp_path / "nowhere.csv")
    with pytest.raises(KesError, match="it cannot be read"):
        datasets.coil(tmp_path)
    (tmp_path / "broken.gz").write_bytes(gzip.compress(b"1,2,3" * 1000)[:-20])
    with pytest.raises(KesError, match="it cannot be read"):
        datasets.coil(tmp_path / "broken.gz")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(KesError, match="it is not a text file"):
        datasets.coil(tmp_path / "binary")


@needs_shared
def test_coil_data():
    data = datasets.coil(SHARED / "coil" / "ticdata2000.csv.gz")
    assert_well_formed(data, 5822)
    assert len(data.names) == 24
    assert data.names[-1] == "CARAVAN"
    assert data.codes[-1].sum() == 348


# Leukemia

LABELS = ["ALL"] * 27 + ["AML"] * 11 + ["ALL"] * 20 + ["AML"] * 14


def leukemia_lines(genes=7129):
    """Make a table in which every gene is high in 17 of ALL, low in the others, and middle in AML.

    The two cuts that separate these levels tell everything about the label that can be told, and
    no other pair of cuts does.
    """
    header = ["gene", *(f"{label}_{i:02d}" for i, label in enumerate(LABELS, start=1))]
    is_all = np.array(LABELS) == "ALL"
    high = is_all & (np.cumsum(is_all) > 30)
    levels = np.where(high, 2, np.where(is_all, 0, 1))
    noise = np.random.default_rng(0).integers(0, 50, size=(genes, 72))
    values = 100 * levels + noise
    lines = [",".join([f"g{gene}_at", *map(str, row)]) for gene, row in enumerate(values.tolist())]
    return [",".join(header), *lines], levels


def write_lines(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def test_leukemia_cuts_where_the_label_is_best_told(tmp_path, monkeypatch):
    genes = 300
    monkeypatch.setattr("kes.datasets._leukemia._GENES", genes)  # 7129 take seconds
    lines, levels = leukemia_lines(genes)
    path = write_lines(tmp_path / "leukemia.csv", lines)
    monkeypatch.setenv("KES_LEUKEMIA", str(path))
    for data, group in ((datasets.leukemia(path), "ALL"), (datasets.leukemia(group="AML"), "AML")):
        assert_well_formed(data, genes)
        members = [i for i, label in enumerate(LABELS) if label == group]
        assert data.names == tuple(f"{group}_{i + 1:02d}" for i in members)
        assert data.states[0] == ("low", "middle", "high")
        expected = np.repeat(levels[members][:, np.newaxis], genes, axis=1)
        np.testing.assert_array_equal(data.codes, expected)


def test_leukemia_says_where_to_get_the_data(monkeypatch):
    monkeypatch.delenv("KES_LEUKEMIA", raising=False)
    with pytest.raises(KesError) as error:
        datasets.leukemia()
    for part in ("KES_LEUKEMIA", "path=", "Broad Institute", "golubEsets", "7129", "47", "25"):
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda lines: [], "expected 47 columns named ALL_..., found 0"),
        (lambda lines: [lines[0].replace("AML_60", "ALL_60"), *lines[1:]], "ALL_..., found 48"),
        (lambda lines: [lines[0] + ",x", *lines[1:]], "a column 'gene' and 72 patients"),
        (lambda lines: lines[:-2], "expected 7129 genes, found 7127"),
        (lambda lines: [*lines[:-1], lines[-1] + "?"], "not a table of numbers"),
        (lambda lines: [*lines[:-1], lines[-1].rpartition(",")[0]], "not a table of numbers"),
        (lambda lines: [*lines[:-1], lines[-1].rpartition(",")[0] + ",nan"], "missing or infinite"),
    ],
)
def test_leukemia_refuses_other_tables(tmp_path, spoil, message):
    path = write_lines(tmp_path / "leukemia.csv", spoil(leukemia_lines()[0]))
    with pytest.raises(KesError, match=message) as error:
        datasets.leukemia(path)
    assert str(path) in str(error.value)
    assert "golubEsets" in str(error.value)


def test_leukemia_refuses_an_unknown_group():
    with pytest.raises(KesError, match=r"unknown group 'CLL'.*; known: 'ALL', 'AML'"):
        datasets.leukemia(group="CLL")


@pytest.fixture(scope="module")
def leukemia_groups():
    path = SHARED / "golub" / "golub72_expression.csv.gz"
    return {group: datasets.leukemia(path, group) for group in ("ALL", "AML")}


@needs_shared
@pytest.mark.parametrize(("group", "patients"), [("ALL", 47), ("AML", 25)])
def test_leukemia_data(leukemia_groups, group, patients):
    data = leukemia_groups[group]
    assert_well_formed(data, 7129)
    assert len(data.names) == patients
    assert all(name.startswith(group) for name in data.names)
    assert list(data.names) == sorted(data.names)


@needs_shared
def test_leukemia_cuts_tell_as_much_as_any_others(leukemia_groups):
    # Brute force over all pairs of cuts, for every 2000th gene and all 72 patients.
    with gzip.open(SHARED / "golub" / "golub72_expression.csv.gz", "rt") as file:
        table = list(csv.reader(file))
    codes_of = {
        name: codes
        for data in leukemia_groups.values()
        for name, codes in zip(data.names, data.codes, strict=True)
    }
    patients = table[0][1:]
    is_aml = np.array([name.startswith("AML") for name in patients])
    for gene in range(0, 7129, 2000):
        values = np.array(table[gene + 1][1:], dtype=float)
        codes = np.array([codes_of[name][gene] for name in patients])
        order = np.argsort(values)
        assert (np.diff(codes[order]) >= 0).all()
        assert len(set(zip(values, codes, strict=True))) == len(set(values))  # equals stay together
        between = np.unique(values)[:-1]
        best = max(
            label_information(states, is_aml)
            for cuts in itertools.combinations(between, 2)
            if np.bincount(states := (values[:, None] > cuts).sum(axis=1), minlength=3).min() >= 5
        )
        assert np.bincount(codes, minlength=3).min() >= 5
        assert label_information(codes, is_aml) == pytest.approx(best, abs=1e-12)


def label_information(states, labels):
    """Mutual information of states and labels, from their table of counts."""
    p = counts((states, labels.astype(int)), (3, 2)) / len(states)
    product = np.outer(p.sum(axis=1), p.sum(axis=0))
    return (p[p > 0] * np.log(p[p > 0] / product[p > 0])).sum()


# The package


def test_import_reads_no_data_and_no_heavy_package():
    code = (
        "import sys, kes.datasets\n"
        "heavy = {'pandas', 'polars', 'pyarrow', 'matplotlib', 'networkx', 'sklearn', 'scipy'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
