"""Files of networks and graphs: nothing is lost, and they are converted into each other."""

import gzip
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.formats.written import ASIA_LIKE, read_network_from, small
from tests.unit.refused import refused

from kes.data.intervals import interval_labels
from kes.formats import write_graph, write_network
from kes.formats.escaping import (
    labels,
    plain_words,
    read_literals,
    same,
    state_words,
    write_literals,
)
from kes.graph import EssentialGraph
from kes.network import BayesianNetwork, convert, read_graph, read_network

SHARED = Path(__file__).parents[4] / "shared" / "data" / "bif"
NETWORK_SUFFIXES = [".bif", ".xmlbif", ".net", ".json"]
GRAPH_SUFFIXES = [".dot", ".graphml", ".json"]
NASTY = [
    "a b",
    " padded ",
    "",
    'say "no"',
    "it's",
    "a\\",
    "a\\nb",
    "tab\tnew\nline",
    "x,y;z",
    "{}()[]|",
    "% // /* */ #",
    "<&>",
    "naïve 名 😀",
    "\x00\x1f",
    "\ud800",
    "1",
    "-1",
    "1.5",
    "True",
    "a_b",
    "variable",
    "node",
    "kes_name",
    "=",
    "100%",
    "-",
]

texts = st.sampled_from(NASTY) | st.text(max_size=4)
states = st.lists(
    texts | st.integers(-3, 3) | st.booleans() | st.integers(), min_size=1, max_size=4, unique=True
)


@st.composite
def networks(draw):
    """Small networks with any names and states, some of them impossible."""
    nodes = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    known = {node: draw(states) for node in nodes}
    parents = {
        node: draw(st.permutations([p for p in nodes[:i] if draw(st.booleans())]))
        for i, node in enumerate(nodes)
    }
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cpts = {}
    for node in nodes:
        shape = [len(known[member]) for member in (*parents[node], node)]
        weights = rng.random(shape) * (rng.random(shape) < 0.8)
        weights[..., -1] += weights.sum(axis=-1) == 0
        cpts[node] = weights / weights.sum(axis=-1, keepdims=True)
    return BayesianNetwork(draw(st.permutations(nodes)), known, parents, cpts)


@st.composite
def graphs(draw):
    """Essential graphs of small DAGs with any names."""
    nodes = draw(st.lists(texts, min_size=1, max_size=5, unique=True))
    arcs = [(a, b) for i, b in enumerate(nodes) for a in nodes[:i] if draw(st.booleans())]
    return EssentialGraph.from_dag(nodes, arcs)


# --- nothing is lost -----------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", NETWORK_SUFFIXES)
@given(network=networks())
@settings(deadline=None, max_examples=60, derandomize=True)
def test_networks_survive_writing_and_reading(tmp_path_factory, suffix, network):
    path = tmp_path_factory.getbasetemp() / f"network{suffix}"
    write_network(network, path)
    again = read_network(path)
    assert again == network  # to the last bit of every probability, and in the types of states
    assert again.nodes == network.nodes


@pytest.mark.parametrize("suffix", GRAPH_SUFFIXES)
@given(graph=graphs())
@settings(deadline=None, max_examples=60, derandomize=True)
def test_graphs_survive_writing_and_reading(tmp_path_factory, suffix, graph):
    path = tmp_path_factory.getbasetemp() / f"graph{suffix}"
    write_graph(graph, path)
    again = read_graph(path)
    assert again == graph
    assert again.nodes == graph.nodes


@pytest.mark.parametrize("suffix", [*NETWORK_SUFFIXES, *GRAPH_SUFFIXES])
def test_the_graph_of_a_network_can_be_read_from_every_format(tmp_path, suffix):
    small().save(tmp_path / f"a{suffix}")
    assert read_graph(tmp_path / f"a{suffix}") == small().graph


def test_compressed_files_are_the_same_every_time_and_read_by_any_name(tmp_path):
    path = tmp_path / "a.bif.gz"
    small().save(path)
    first = path.read_bytes()
    time.sleep(0.01)
    small().save(path)
    assert path.read_bytes() == first
    assert gzip.decompress(first).startswith(b"network")
    (tmp_path / "b.bif").write_bytes(first)
    assert read_network(path) == read_network(tmp_path / "b.bif") == small()


def test_plain_networks_need_no_property_of_ours(tmp_path):
    network = read_network_from(tmp_path, ".bif", ASIA_LIKE)
    for suffix in (".bif", ".xmlbif", ".net"):
        network.save(tmp_path / f"b{suffix}")
        assert "kes_" not in (tmp_path / f"b{suffix}").read_text()


@given(st.lists(texts | st.integers() | st.booleans(), min_size=1))
def test_literals_are_read_as_written(values):
    text = write_literals(values)
    assert same(read_literals(text), values)
    assert text.isascii()
    assert not set(text) & set('";={}\n<>&\\/|')  # characters with a meaning somewhere


@pytest.mark.parametrize("text", ["", "x", "'a' 'b'", "'a',", "1.5", "'a", "None"])
def test_other_texts_are_no_literals(text):
    assert read_literals(text) is None


@given(st.lists(texts, unique=True))
def test_plain_words_are_plain_distinct_and_keep_what_is_plain(given_texts):
    plain = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
    words = plain_words(given_texts, plain, ["node"])
    assert len(set(words)) == len(words) == len(given_texts)
    assert all(plain.fullmatch(word) and word != "node" for word in words)
    for text, word in zip(given_texts, words, strict=True):
        if plain.fullmatch(text) and text != "node":
            assert word == text


def test_names_of_intervals_keep_sign_and_order():
    """The words are what one would say; what kes did not name stays as other names do."""
    plain = re.compile(r"-?[0-9]+|[0-9]+_[A-Za-z0-9_]*|[A-Za-z_][A-Za-z0-9_.-]*")
    states = [*interval_labels([-0.687, 0.638, 1e20]), "<missing>"]
    words = state_words(states, plain, ())
    assert words == ["le_m0_687", "m0_687_to_0_638", "0_638_to_1e20", "gt_1e20", "_missing_"]
    assert state_words(["<= -5", "> -5"], plain, ()) == ["le_m5", "gt_m5"]
    assert state_words(["<= 5", "> 6"], plain, ()) == plain_words(["<= 5", "> 6"], plain, ())
    assert state_words([1, "> 6"], plain, ()) == plain_words(["1", "> 6"], plain, ())


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4, unique=True)
)
def test_files_tell_intervals_apart_and_give_them_back(tmp_path_factory, cuts):
    states = interval_labels(sorted(cut + 0.0 for cut in cuts))
    share = np.full(len(states), 1 / len(states))
    network = BayesianNetwork(["x"], {"x": states}, {"x": []}, {"x": share})
    for suffix in (".bif", ".net"):
        path = tmp_path_factory.getbasetemp() / f"intervals{suffix}"
        network.save(path)
        again = read_network(path)
        assert again == network
        assert again.cuts == network.cuts


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif"])
def test_a_network_has_a_name_if_that_is_known(tmp_path, suffix):
    write_network(small(), tmp_path / f"a{suffix}", name="Ärzte 1")
    head = (tmp_path / f"a{suffix}").read_text("utf-8")[:200]
    assert ("network Arzte_1 {" if suffix == ".bif" else "<NAME>Ärzte 1</NAME>") in head
    assert read_network(tmp_path / f"a{suffix}") == small()
    convert(tmp_path / f"a{suffix}", tmp_path / "b.bif")
    assert (tmp_path / "b.bif").read_text().startswith("network a {")
    small().save(tmp_path / "c.bif")
    assert (tmp_path / "c.bif").read_text().startswith("network unknown {")


def test_labels_tell_an_integer_from_the_text_that_looks_like_it():
    assert labels([1, "1", True, "True"]) == ["1", "1_2", "True", "True_2"]


# --- conversion ----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", NETWORK_SUFFIXES)
@pytest.mark.parametrize("target", NETWORK_SUFFIXES)
def test_convert_keeps_networks(tmp_path, source, target):
    small().save(tmp_path / f"a{source}")
    assert convert(tmp_path / f"a{source}", tmp_path / f"b{target}") == repr(small())
    assert read_network(tmp_path / f"b{target}") == small()


def test_convert_keeps_graphs(tmp_path):
    graph = EssentialGraph.from_dag("abcd", [("a", "b"), ("c", "b"), ("c", "d")])
    write_graph(graph, tmp_path / "a.dot")
    for source, target in [("a.dot", "b.graphml"), ("b.graphml", "c.json"), ("c.json", "d.gv.gz")]:
        convert(tmp_path / source, tmp_path / target)
        assert read_graph(tmp_path / target) == graph
    with refused("fit", file=tmp_path / "e.net"):
        convert(tmp_path / "a.dot", tmp_path / "e.net")


def test_the_command_converts(tmp_path):
    from click.testing import CliRunner

    from kes.cli.models import convert as command

    small().save(tmp_path / "a.bif")
    result = CliRunner().invoke(command, [str(tmp_path / "a.bif"), str(tmp_path / "b.net.gz")])
    assert result.exit_code == 0
    assert "b.net.gz: BayesianNetwork(2 nodes, 1 arc, 3 parameters)" in result.output
    assert read_network(tmp_path / "b.net.gz") == small()


# --- the networks everybody uses -----------------------------------------------------------------

PUBLISHED = {  # nodes, arcs and parameters, as pyAgrum counts them in the same files
    "alarm": (37, 46, 509),
    "andes": (223, 338, 1157),
    "asia": (8, 8, 18),
    "cancer": (5, 4, 10),
    "hailfinder": (56, 66, 2656),
    "insurance": (27, 52, 1008),
    "link": (724, 1125, 14211),
    "munin": (1041, 1397, 80592),
    "pigs": (441, 592, 5618),
    "sachs": (11, 17, 178),
    "win95pts": (76, 112, 574),
}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the networks of ../shared/data are absent")
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_networks(tmp_path, name):
    start = time.process_time()
    network = read_network(SHARED / f"{name}.bif.gz")
    assert time.process_time() - start < 5
    assert (len(network.nodes), len(network.arcs), network.n_parameters) == PUBLISHED[name]
    for suffix in NETWORK_SUFFIXES if len(network.nodes) < 300 else [".bif"]:
        network.save(tmp_path / f"a{suffix}")
        assert read_network(tmp_path / f"a{suffix}") == network
