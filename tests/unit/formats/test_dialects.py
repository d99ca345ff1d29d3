"""Files of networks and graphs as other programs and people write them."""

import json

import numpy as np
import pytest
from tests.unit.formats.written import ASIA_LIKE, LUNG, NET, XMLBIF, read_network_from, small

from kes.graph import EssentialGraph
from kes.network import read_graph

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
