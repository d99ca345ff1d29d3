"""Files of networks and graphs: nothing is lost, dialects are understood, mistakes are located."""

import gzip
import json
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kes.data.cuts import interval_labels
from kes.errors import KesError
from kes.formats import write_graph, write_network
from kes.formats.names import (
    labels,
    plain_words,
    read_literals,
    same,
    state_words,
    write_literals,
)
from kes.graph import EssentialGraph
from kes.network import BayesianNetwork, convert, read_graph, read_network

SHARED = Path(__file__).parents[3] / "shared" / "data" / "bif"
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


def small() -> BayesianNetwork:
    return BayesianNetwork(
        ["smoke", "lung"],
        {"smoke": ["yes", "no"], "lung": [True, False]},
        {"lung": ["smoke"]},
        {"smoke": [0.25, 0.75], "lung": [[0.5, 0.5], [0.125, 0.875]]},
    )


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


# --- dialects ------------------------------------------------------------------------------------

ASIA_LIKE = """\
network unknown {
}
variable smoke {
  type discrete [ 2 ] { yes, no };
}
variable lung {
  type discrete [ 3 ] { none, some, much };
}
probability ( smoke ) {
  table 0.25, 0.75;
}
probability ( lung | smoke ) {
  (yes) 0.5, 0.25, 0.25;
  (no) 0.125, 0.125, 0.75;
}
"""
LUNG = [[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]]


def read_network_from(folder: Path, suffix: str, content: str) -> BayesianNetwork:
    path = folder / f"file{suffix}"
    path.write_text(content, encoding="utf-8")
    return read_network(path)


BIF_DIALECTS = {
    "bnlearn": ASIA_LIKE,
    "rows and blocks in any order": """\
probability ( lung | smoke ) { (no) 0.125, 0.125, 0.75; (yes) 0.5, 0.25, 0.25; }
variable smoke { type discrete [ 2 ] { yes, no }; }
probability ( smoke ) { table 0.25, 0.75; }
variable lung { type discrete [ 3 ] { none, some, much }; }
""",
    # As JavaBayes writes: no commas, quotes, a table with the variable's own states slowest.
    "JavaBayes": """\
// Bayesian network
network "Dog-Problem" { //2 variables and 2 probability distributions
	property "credal-set constant-density-bounded 1.1" ;
}
variable  "smoke" { //2 values
	type discrete[2] {  "yes"  "no" };
	property "position = (73, 165)" ;
}
variable  "lung" {
	type discrete[3] {  "none" "some" "much" };
}
probability (  "smoke" ) { //1 variable(s) and 2 values
	table 0.25 0.75 ;
}
probability (  "lung"  "smoke" ) {
	table 0.5 0.125 /* of none */ 0.25 0.125 // of some
		0.25 0.75 ;
}
""",
    "default row": ASIA_LIKE.replace("(no) 0.125", "default 0.125"),
    "numbers in other forms": ASIA_LIKE.replace("0.125, 0.125, 0.75", "+1.25e-1,.125 , 75E-2"),
    "no newlines": " ".join(ASIA_LIKE.split()),
    "byte order mark": "\ufeff" + ASIA_LIKE,
    "properties": ASIA_LIKE.replace(
        "};\n", '};\n  property a = "semi;colon" ;\n  property 5" pipe;\n'
    ),
}


@pytest.mark.parametrize("content", BIF_DIALECTS.values(), ids=BIF_DIALECTS)
def test_bif_dialects(tmp_path, content):
    network = read_network_from(tmp_path, ".bif", content)
    assert dict(network.states) == {"smoke": ("yes", "no"), "lung": ("none", "some", "much")}
    assert network.arcs == (("smoke", "lung"),)
    np.testing.assert_array_equal(network.cpts["smoke"], [0.25, 0.75])
    np.testing.assert_array_equal(network.cpts["lung"], LUNG)


def test_bif_names_of_many_words_without_quotes(tmp_path):
    network = read_network_from(
        tmp_path,
        ".bif",
        """\
network unknown {
}
variable does smoke {
  type discrete [ 2 ] { now and then, no };
}
variable lung {
  type discrete [ 1 ] { only one };
}
probability ( does smoke ) {
  table 0.5, 0.5;
}
probability ( lung | does smoke ) {
  ( now and then ) 1.0;
  ( no ) 1;
}
""",
    )
    assert network.arcs == (("does smoke", "lung"),)
    assert network.states["does smoke"] == ("now and then", "no")
    assert network.states["lung"] == ("only one",)


def test_a_table_is_read_with_the_last_parent_changing_fastest(tmp_path):
    # P(c = first) is 0.1 for (a1, b1), 0.2 for (a1, b2), 0.3 for (a2, b1), 0.4 for (a2, b2).
    content = """\
variable a { type discrete [2] { a1, a2 }; }
variable b { type discrete [2] { b1, b2 }; }
variable c { type discrete [2] { c1, c2 }; }
probability ( a ) { table 0.5, 0.5; }
probability ( b ) { table 0.5, 0.5; }
probability ( c | a, b ) { table 0.1 0.2 0.3 0.4  0.9 0.8 0.7 0.6; }
"""
    network = read_network_from(tmp_path, ".bif", content)
    np.testing.assert_array_equal(network.cpts["c"][..., 0], [[0.1, 0.2], [0.3, 0.4]])


XMLBIF = """\
<?xml version="1.0" encoding="US-ASCII"?>
<!-- as in the definition of version 0.3 -->
<!DOCTYPE BIF [
	<!ELEMENT BIF ( NETWORK )*>
		<!ATTLIST BIF VERSION CDATA #REQUIRED>
	<!ELEMENT PROPERTY (#PCDATA)>
]>
<BIF VERSION="0.3">
<NETWORK>
<NAME>Dog-Problem</NAME>
<VARIABLE TYPE="nature">
	<NAME> smoke </NAME>
	<OUTCOME>yes</OUTCOME>
	<OUTCOME>no</OUTCOME>
	<PROPERTY>position = (73, 165)</PROPERTY>
</VARIABLE>
<VARIABLE TYPE="nature"><NAME>lung</NAME>
	<OUTCOME>none</OUTCOME><OUTCOME>some</OUTCOME><OUTCOME>much</OUTCOME>
</VARIABLE>
<DEFINITION>
	<FOR>lung</FOR>
	<GIVEN>smoke</GIVEN>
	<TABLE>0.5 0.25 0.25 <!-- smokers first --> 0.125 0.125 0.75</TABLE>
</DEFINITION>
<DEFINITION><FOR>smoke</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
</NETWORK>
</BIF>
"""
NET = """\
% HUGIN writes comments like this
net
{
  node_size = (80 40);
  HR_Desc = "semi;colon % and } brace";
}
node smoke
{
  label = "Smoker?";
  position = (10 20);
  states = ("yes" "no");
}
discrete node lung
{
  states = ("none"
            "some" "much");
}
potential (smoke)
{
  data = (0.25 0.75);
}
potential (lung | smoke)
{
  data = ((0.5 0.25 0.25)      % yes
          (0.125 0.125 0.75)); % no
}
"""


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".xml", XMLBIF),
        (".net", NET),
        (".net", "class asia\n{\n  inputs = ();\n" + NET.partition("}\n")[2] + "}\n"),
        (".net", NET.replace('("yes" "no")', "(yes no)")),
    ],
    ids=["XMLBIF", "HUGIN", "HUGIN class", "states without quotes"],
)
def test_other_formats(tmp_path, suffix, content):
    network = read_network_from(tmp_path, suffix, content)
    assert dict(network.states) == {"smoke": ("yes", "no"), "lung": ("none", "some", "much")}
    np.testing.assert_array_equal(network.cpts["smoke"], [0.25, 0.75])
    np.testing.assert_array_equal(network.cpts["lung"], LUNG)


def test_a_potential_without_data_is_uniform(tmp_path):
    content = NET.replace("data = (0.25 0.75);", "")
    np.testing.assert_array_equal(
        read_network_from(tmp_path, ".net", content).cpts["smoke"], [0.5, 0.5]
    )


def test_rounded_distributions_are_scaled_and_exact_ones_are_not(tmp_path):
    content = ASIA_LIKE.replace("0.25, 0.75;\n}\nprob", "0.333, 0.666;\n}\nprob")
    network = read_network_from(tmp_path, ".bif", content)
    np.testing.assert_allclose(network.cpts["smoke"], [1 / 3, 2 / 3], rtol=1e-15)
    content = ASIA_LIKE.replace("0.25, 0.75;\n}\nprob", "0.1, 0.9000000000001;\n}\nprob")
    network = read_network_from(tmp_path, ".bif", content)
    np.testing.assert_array_equal(network.cpts["smoke"], [0.1, 0.9000000000001])


DOT = """\
/* a graph */ strict digraph "my graph" {
  rankdir=LR; node [shape=box]
# a line of the preprocessor
  a -> b -> c [color=red, weight=2]; // a chain
  "d e":port:n -> c;
  subgraph cluster_x { label="group"; f; g } -> c
  c -> { h i } ;
  h -> j [dir=back]
  "k" + "l";
  "quoted \\"name\\"" -> a
  a -> b
}
"""


def test_dot_as_people_write_it(tmp_path):
    (tmp_path / "a.gv").write_text(DOT)
    graph = read_graph(tmp_path / "a.gv")
    arcs = [("a", "b"), ("b", "c"), ("d e", "c"), ("f", "c"), ("g", "c"), ("c", "h"), ("c", "i")]
    arcs += [("j", "h"), ('quoted "name"', "a")]
    nodes = ["a", "b", "c", "d e", "f", "g", "h", "i", "j", "kl", 'quoted "name"']
    assert graph == EssentialGraph.from_dag(nodes, arcs)


def test_edges_without_direction_in_dot_and_graphml(tmp_path):
    chain = EssentialGraph.from_dag("abc", [("a", "b"), ("b", "c")])
    (tmp_path / "a.dot").write_text("graph { a -- b -- c }")
    (tmp_path / "b.dot").write_text("digraph { edge [dir=none]; a -> b; c -> b }")
    (tmp_path / "c.graphml").write_text(
        '<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/>'
        '<edge source="a" target="b"/><edge source="b" target="c"/></graph></graphml>'
    )
    for name in ("a.dot", "b.dot", "c.graphml"):
        assert read_graph(tmp_path / name) == chain


def test_networkx_reads_the_graphml_of_a_network(tmp_path):
    nx = pytest.importorskip("networkx")
    small().save(tmp_path / "a.graphml")
    graph = nx.read_graphml(tmp_path / "a.graphml")
    assert set(graph.edges) == set(small().arcs)
    assert graph.nodes["lung"]["kes_states"] == "true, false"


def test_json_is_plain_data(tmp_path):
    small().save(tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text())
    assert document["nodes"][1] == {
        "name": "lung",
        "states": [True, False],
        "parents": ["smoke"],
        "cpt": [[0.5, 0.5], [0.125, 0.875]],
    }


# --- mistakes ------------------------------------------------------------------------------------


def changed(old: str, new: str, content: str = ASIA_LIKE) -> str:
    assert content.count(old) == 1
    return content.replace(old, new)


HERE = "§"
"""Marks the place where the mistake is; not part of the file."""

MISTAKES = [
    (".bif", changed("lung {\n  type discrete [", f"lung type discrete {HERE}["), "expected '{'"),
    (".bif", changed("no };\n", f"no }}\n{HERE}"), "expected ';' after the states, found '}'"),
    (".bif", changed("[ 2 ]", f"[ {HERE}two ]"), "expected the number of states, found 'two'"),
    (".bif", changed("[ 2 ] ", f"[ 3 ] {HERE}"), "'smoke' is said to have 3 states, but has 2"),
    (
        ".bif",
        changed("smoke {\n", f"{HERE}smoke {{\n").replace("no }", "yes }"),
        "state 'yes' twice",
    ),
    (".bif", changed("variable lung", f"variable {HERE}smoke"), "'smoke' is declared twice"),
    (".bif", changed("variable lung", f"{HERE}varable lung"), "expected network, variable or prob"),
    (".bif", changed("discrete [ 2 ]", f"{HERE}continuous [ 2 ]"), "'smoke' is not discrete"),
    (
        ".bif",
        changed("variable lung {", f"variable {HERE}lung {{ }} variable x {{"),
        "has no states",
    ),
    (".bif", changed("0.25, 0.75", f"0.25, {HERE}x.75"), "expected a probability, found 'x.75'"),
    (".bif", changed("table 0.25, 0.75;", f"table {HERE}0.25, 0.75"), "probabilities that end in"),
    (".bif", changed("table 0.25, 0.75", f"table {HERE}0.25, 0.5"), "0.25, 0.5, with sum 0.75"),
    (".bif", changed("table 0.25, 0.75", f"table {HERE}1.25, -.25"), "must be at least 0"),
    (".bif", changed("table 0.25, 0.75", f"table {HERE}nan, 0.75"), "must be at least 0"),
    (".bif", changed("table 0.25, 0.75", f"table {HERE}1"), "2 = 2 numbers, not 1"),
    (
        ".bif",
        changed("(yes) 0.5, 0.25, 0.25", f"(yes) {HERE}0.5, 0.5"),
        "has 3 states, but here are 2",
    ),
    (
        ".bif",
        changed("(yes)", f"({HERE}yse)"),
        "'smoke' has no state 'yse'; its states are yes, no",
    ),
    (".bif", changed("(no) ", f"(yes) {HERE}"), "this row of 'lung' is given twice"),
    (".bif", changed("(no) ", f"(no, no) {HERE}"), "must name 1 states"),
    (
        ".bif",
        changed("(no) 0.125, 0.125, 0.75;", "").replace(
            "probability ( l", f"{HERE}probability ( l"
        ),
        "lack 1 of 2 rows, the first one with the parents' states number 2",
    ),
    (".bif", changed("(no) 0.125", f"(no) {HERE}0.525"), "with sum 1.4"),
    (".bif", changed("lung | smoke", f"lung | {HERE}smok"), "there is no variable 'smok'"),
    (
        ".bif",
        changed("probability ( lung | s", f"{HERE}probability ( lung | smoke, s"),
        "not distinct",
    ),
    (
        ".bif",
        changed("probability ( lung | smoke", f"{HERE}probability ( lung, smoke |"),
        "joint table",
    ),
    (".bif", ASIA_LIKE + f"probability ( smoke ) {{ table {HERE}0.5, 0.5; }}", "are given twice"),
    (
        ".bif",
        changed("variable lung", f"variable {HERE}lung").partition("probability ( lung")[0],
        "gives no probabilities for the variable 'lung'",
    ),
    (".bif", changed("( smoke ) ", f"( smoke {HERE}"), "expected '\\)' after the variable"),
    (".bif", changed("smoke {\n", f'{HERE}"smoke {{\n'), "a string that does not end"),
    (
        ".bif",
        changed("variable smoke {\n", f"variable {HERE}smoke {{ property kes_states = 1 ;\n"),
        "does not list its 2 states: 1",
    ),
    (
        ".bif",
        changed("variable smoke {\n", f"variable {HERE}smoke {{ property kes_name = 1 ;\n"),
        "not a text in single quotes: 1",
    ),
    (
        ".bif",
        changed("}\nvariable smoke", f"}}\n/* no end {HERE}\nvariable smoke")
        .replace("/*", f"{HERE}/*")
        .replace(f"end {HERE}", "end"),
        "found '/\\*'",
    ),
    (
        ".xml",
        changed("</NETWORK>\n</BIF>", f"</{HERE}BIF>", XMLBIF),
        "not well-formed XML: mismatched",
    ),
    (".xml", HERE, "not well-formed XML: no element found"),
    (".xml", f"{HERE}<html/>", "expected <BIF>, found <html>"),
    (
        ".xml",
        changed("<DEFINITION><FOR>smoke</FOR>", f"{HERE}<DEFINITION>", XMLBIF),
        "a joint table of n",
    ),
    (".xml", changed("<GIVEN>smoke", f"{HERE}<GIVEN>smok", XMLBIF), "there is no variable 'smok'"),
    (".xml", changed("<TABLE>0.25 ", f"{HERE}<TABLE>O.25 ", XMLBIF), "numbers: .*'O.25'"),
    (".xml", changed("<TABLE>0.5 ", f"{HERE}<TABLE>", XMLBIF), "2 x 3 = 6 numbers, not 5"),
    (
        ".xml",
        changed('<VARIABLE TYPE="nature">\n\t<NAME> smoke </NAME>', f"{HERE}<VARIABLE>", XMLBIF),
        "expected one <NAME> in <VARIABLE>, found 0",
    ),
    (
        ".xml",
        changed('<VARIABLE TYPE="nature"><', f'{HERE}<VARIABLE TYPE="decision"><', XMLBIF),
        "'lung' is a decision node",
    ),
    (".net", changed("potential (smoke)", f"potential {HERE}smoke", NET), "expected '\\(' before"),
    (".net", changed("0.25 0.75)", f"0.25 {HERE}O.75)", NET), "found 'O.75'"),
    (
        ".net",
        changed("potential (lung |", f"{HERE}potential (lung", NET),
        "joint table of lung, smo",
    ),
    (".net", changed("discrete node", f"{HERE}continuous node", NET), "a continuous node"),
    (".net", changed("discrete node", f"{HERE}discrete decision", NET), "expected a discrete node"),
    (
        ".net",
        changed("potential (smoke)\n{\n  data", f"{HERE}potential (smoke)\n{{\n  model_data", NET),
        "a formula",
    ),
    (
        ".net",
        changed("position = (10 20);", f"position {HERE}(10 20);", NET),
        "expected '=' after pos",
    ),
    (".net", changed("node smoke\n{", f"node {HERE}smoke {{ }} node x {{", NET), "has no states"),
    (".net", f"{HERE}hello", "expected net, node or potential, found 'hello'"),
    (".json", f'{{"format": "kes-network",\n "version" {HERE}1}}', "Expecting ':' delimiter"),
]


@pytest.mark.parametrize(("suffix", "marked", "message"), MISTAKES)
def test_mistakes_are_located(tmp_path, suffix, marked, message):
    before, _, after = marked.partition(HERE)
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    where = f"file{suffix}: line {line}, column {column}: "
    with pytest.raises(KesError, match=f"{re.escape(where)}.*{message}") as caught:
        read_network_from(tmp_path, suffix, before + after)
    assert str(caught.value).startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "not a file of kes"),
        ('{"format": "kes-network", "version": 9}', "version 9"),
        ('{"format": "kes-network", "version": 1}', 'lacks the list of "nodes"'),
        ('{"format": "kes-network", "version": 1, "nodes": [{}]}', "a node lacks.*name"),
        (
            '{"format": "kes-network", "version": 1, '
            '"nodes": [{"name": "a", "states": ["x"], "parents": [["b"]], "cpt": [1]}]}',
            "'parents' of 'a' must be a plain list",
        ),
        ('{"format": "kes-graph", "version": 1, "nodes": []}', "not a file of kes.*kes-network"),
    ],
)
def test_json_of_other_kinds(tmp_path, content, message):
    with pytest.raises(KesError, match=message):
        read_network_from(tmp_path, ".json", content)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.dot", "digraph { a -- b }", "line 1, column 13: expected '->', found '--'"),
        ("a.dot", "digraph {\n a -> b; b -> a }", "line 2, column 10: b and a are joined twice"),
        ("a.dot", "digraph { a -> b", "line 1, column 17: expected a name, found the end"),
        ("a.dot", "digraph { a -> b -> c -> a }", "directed cycle"),
        ("a.dot", "digraph { a -> b [dir=both] }", "dir=both: an edge has one direction"),
        ("a.dot", "graph { a -- b -- c -- d -- a }", "not an essential graph"),
        ("a.dot", "tree { }", "line 1, column 1: expected graph or digraph"),
        ("a.graphml", "<graphml/>", "expected one <graph> in <graphml>, found 0"),
        (
            "a.graphml",
            '<graphml><graph><node id="a"/>\n<edge source="a" target="b"/></graph></graphml>',
            "line 2, column 1: there is no node 'b'",
        ),
        ("a.graphml", "<graphml><graph>\n<node/></graph></graphml>", "line 2, .* attribute id"),
    ],
)
def test_mistakes_in_graphs(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(KesError, match=message):
        read_graph(tmp_path / name)


def test_cyclic_networks_are_refused_with_the_cycle(tmp_path):
    content = ASIA_LIKE.replace(
        "probability ( smoke ) {\n  table 0.25, 0.75;",
        "probability ( smoke | lung ) {\n  default 0.25, 0.75;",
    )
    with pytest.raises(
        KesError, match=r"directed cycle (smoke -> lung -> smoke|lung -> smoke -> lu)"
    ):
        read_network_from(tmp_path, ".bif", content)


@pytest.mark.parametrize("suffix", [".bif", ".net"])
def test_empty_files_are_refused(tmp_path, suffix):
    with pytest.raises(KesError, match="declares no variables"):
        read_network_from(tmp_path, suffix, "")


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(KesError, match=r"there is no file .*none\.bif'"):
        read_network(tmp_path / "none.bif")
    with pytest.raises(KesError, match=r"'\.bfi' \(did you mean '\.bif'\?\); known: '\.bif'"):
        read_network(tmp_path / "a.bfi")
    with pytest.raises(KesError, match=r"DOT files hold graphs, not networks.*read_graph"):
        read_network(tmp_path / "a.dot")
    with pytest.raises(KesError, match="BIF files hold networks with probabilities"):
        write_graph(small().graph, tmp_path / "a.bif")
    with pytest.raises(KesError, match=r"cannot write .*folder\.bif: No such file"):
        small().save(tmp_path / "no" / "such" / "folder.bif")
    (tmp_path / "a.bif.gz").write_bytes(gzip.compress(ASIA_LIKE.encode())[:-20])
    with pytest.raises(KesError, match=r"cannot read .*a\.bif\.gz: it is damaged or incomplete"):
        read_network(tmp_path / "a.bif.gz")
    (tmp_path / "b.bif").write_bytes("network {\n}\nvariable é".encode("latin-1"))
    with pytest.raises(KesError, match="line 3, column 10: not UTF-8"):
        read_network(tmp_path / "b.bif")


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
    with pytest.raises(KesError, match="fit it to data first"):
        convert(tmp_path / "a.dot", tmp_path / "e.net")


def test_the_command_converts(tmp_path):
    from click.testing import CliRunner

    from kes.cli.convert import command

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
