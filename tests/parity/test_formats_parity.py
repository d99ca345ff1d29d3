"""Our files read by pgmpy and pyAgrum, theirs by us, and the networks handed over directly."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from kes.formats import write_network
from kes.network import BayesianNetwork, read_network

SHARED = Path(__file__).parents[3] / "shared" / "data" / "bif"

NASTY_NODES = ["plain", "two words", 'say "no"', "naïve", "table", "3rd", "a.b-c"]
# At least two states each, as pyAgrum's readers of BIF and NET refuse fewer.
NASTY_STATES = [
    ["yes", "no"],
    [1, 2, 10],
    [True, False],
    ["a b", 'c"d', "é", "x,y"],
    [-1, 0],
    ["1.5", "<5", "node"],
    ["always", "never"],
]


def random_network(nodes, states, seed=0) -> BayesianNetwork:
    """Up to three parents each, in an order other than that of the nodes."""
    rng = np.random.default_rng(seed)
    known = dict(zip(nodes, states, strict=True))
    parents, cpts = {}, {}
    for i, node in enumerate(nodes):
        parents[node] = [str(p) for p in rng.permutation(nodes[:i])[:3]]
        shape = [len(known[p]) for p in parents[node]]
        cpts[node] = rng.dirichlet(np.ones(len(known[node])), size=shape)
    return BayesianNetwork(nodes, known, parents, cpts)


PLAIN = random_network(
    [f"x{i}" for i in range(6)], [["a", "b", "c"][: 2 + i % 2] for i in range(6)]
)
NASTY = random_network(NASTY_NODES, NASTY_STATES)
NETWORKS = pytest.mark.parametrize("network", [PLAIN, NASTY], ids=["plain", "nasty"])


class PyAgrum:
    """Networks as pyAgrum has them, nodes numbered in the order of the file."""

    suffixes = (".bif", ".bifxml", ".net")
    # It reads BIF and NET in single precision, and writes XMLBIF with six digits.
    tolerance = 1e-6

    def __init__(self):
        self.gum = pytest.importorskip("pyagrum", reason="pyagrum is not installed")

    def read(self, path):
        return self.gum.loadBN(str(path))

    def write(self, network, path):
        self.gum.saveBN(network.to_pyagrum(), str(path))

    def names(self, model):
        return [model.variable(i).name() for i in sorted(model.nodes())]

    def labels(self, model, name):
        return list(model.variable(name).labels())

    def cpt(self, model, name, parents):
        table = model.cpt(name)
        axes = [table.names[::-1].index(member) for member in (*parents, name)]
        array = table.toarray()  # its axes are those of `names` in reverse
        return array.transpose(axes).reshape(-1, array.shape[-1])

    def parents(self, model, name):
        return {model.variable(i).name() for i in model.parents(name)}


class Pgmpy:
    """Networks as pgmpy has them."""

    suffixes = (".bif", ".xmlbif", ".net")
    tolerance = 1e-8  # it writes NET with eight digits

    def __init__(self):
        pytest.importorskip("pgmpy", reason="pgmpy is not installed")
        from pgmpy import readwrite

        self.readers = {
            ".bif": readwrite.BIFReader,
            ".xmlbif": readwrite.XMLBIFReader,
            ".net": readwrite.NETReader,
        }
        self.writers = {
            ".bif": readwrite.BIFWriter,
            ".xmlbif": readwrite.XMLBIFWriter,
            ".net": readwrite.NETWriter,
        }

    def read(self, path):
        return self.readers[path.suffix](str(path)).get_model()

    def write(self, network, path):
        self.writers[path.suffix](network.to_pgmpy()).write(str(path))

    def names(self, model):
        return list(model.nodes())

    def labels(self, model, name):
        return model.get_cpds(name).state_names[name]

    def cpt(self, model, name, parents):
        cpd = model.get_cpds(name)
        axes = [cpd.variables.index(member) for member in (*parents, name)]
        return cpd.values.transpose(axes).reshape(-1, cpd.values.shape[0])

    def parents(self, model, name):
        return set(model.get_parents(name))


LIBRARIES = pytest.mark.parametrize("library", [PyAgrum, Pgmpy])


def assert_same(network, library, model, names, tolerance):
    """Compare a network with a model in which its nodes go by other names."""
    word = dict(zip(network.nodes, names, strict=True))
    for node, parents in network.parents.items():
        assert library.parents(model, word[node]) == {word[p] for p in parents}
        expected = network.cpts[node].reshape(-1, len(network.states[node]))
        found = library.cpt(model, word[node], [word[p] for p in parents])
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


@LIBRARIES
@pytest.mark.parametrize("form", range(3))
@NETWORKS
def test_they_read_our_files(tmp_path, library, form, network):
    library = library()
    path = tmp_path / f"ours{library.suffixes[form]}"
    write_network(network, path)
    model = library.read(path)
    names = library.names(model)
    assert len(names) == len(network.nodes)
    assert_same(network, library, model, names, library.tolerance)
    for node, name in zip(network.nodes, names, strict=True):
        labels = library.labels(model, name)
        assert len(set(labels)) == len(network.states[node])
        if network is PLAIN or path.suffix.endswith(("xml", "xmlbif")):
            assert name == node  # XML carries all names as they are
            assert list(labels) == [str(state) for state in network.states[node]]


@LIBRARIES
@pytest.mark.parametrize("form", range(3))
def test_we_read_their_files(tmp_path, library, form):
    library = library()
    path = tmp_path / f"theirs{library.suffixes[form]}"
    library.write(PLAIN, path)
    network = read_network(path)
    assert set(network.nodes) == set(PLAIN.nodes)
    assert dict(network.states) == dict(PLAIN.states)
    assert network.arcs == PLAIN.arcs
    model = library.read(path)
    assert_same(network, library, model, network.nodes, library.tolerance)
    assert_same(PLAIN, library, model, PLAIN.nodes, library.tolerance)


def test_pgmpy_hands_our_properties_on(tmp_path):
    """Types survive even a detour through a program that keeps the properties."""
    pytest.importorskip("pgmpy", reason="pgmpy is not installed")
    write_network(NASTY, tmp_path / "a.bif")
    from pgmpy.readwrite import BIFReader, BIFWriter

    model = BIFReader(str(tmp_path / "a.bif"), include_properties=True).get_model()
    BIFWriter(model).write(str(tmp_path / "b.bif"))
    again = read_network(tmp_path / "b.bif")
    assert set(again.nodes) == set(NASTY.nodes)
    assert {n: repr(s) for n, s in again.states.items()} == {
        n: repr(s) for n, s in NASTY.states.items()
    }


@LIBRARIES
@NETWORKS
def test_networks_handed_over_directly(library, network):
    library = library()
    model = network.to_pyagrum() if isinstance(library, PyAgrum) else network.to_pgmpy()
    assert library.names(model) == list(network.nodes)
    assert_same(network, library, model, network.nodes, 0)
    for node in network.nodes:
        states = network.states[node]
        expected = states if isinstance(library, Pgmpy) else map(str, states)
        assert list(library.labels(model, node)) == list(expected)


def test_probabilities_agree_with_variable_elimination_of_pgmpy():
    pytest.importorskip("pgmpy", reason="pgmpy is not installed")
    from pgmpy.inference import VariableElimination

    elimination = VariableElimination(NASTY.to_pgmpy())
    evidence = {"3rd": "<5", "two words": 2}
    for node in ("plain", 'say "no"', "naïve", "table"):
        theirs = elimination.query([node], evidence=evidence, show_progress=False)
        ours = NASTY.probability(node, evidence)
        np.testing.assert_allclose(list(ours.values()), theirs.values, rtol=1e-12)
        assert list(ours) == theirs.state_names[node]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the networks of ../shared/data are absent")
@pytest.mark.parametrize(
    ("library", "name"),
    [
        *((Pgmpy, name) for name in ("asia", "cancer", "sachs")),
        *((PyAgrum, path.name.partition(".")[0]) for path in sorted(SHARED.glob("*.bif.gz"))),
    ],
)
def test_published_networks_are_read_alike(tmp_path, library, name):
    library = library()
    plain = tmp_path / "a.bif"
    plain.write_bytes(gzip.decompress((SHARED / f"{name}.bif.gz").read_bytes()))
    network, model = read_network(plain), library.read(plain)
    assert set(network.nodes) == set(library.names(model))
    for node in network.nodes:
        assert list(network.states[node]) == list(library.labels(model, node))
    # They keep distributions as written, which are rounded; we scale them to a sum of 1.
    assert_same(network, library, model, network.nodes, 1e-6)
