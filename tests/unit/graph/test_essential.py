"""Essential graphs as users handle them: construction, comparison, conversion, messages."""

import copy
import itertools
import pickle
import subprocess
import sys

import networkx as nx
import pytest
from tests.unit.refused import refused

from kes.errors import KesError
from kes.graph import EssentialGraph

# a -> c <- b is a v-structure, which compels c -> d; e - f can point either way.
NODES = ("a", "b", "c", "d", "e", "f")
ARCS = [("a", "c"), ("b", "c"), ("c", "d"), ("f", "e")]
DIRECTED = {("a", "c"), ("b", "c"), ("c", "d")}
UNDIRECTED = {frozenset("ef")}


@pytest.fixture
def graph():
    return EssentialGraph(NODES, DIRECTED, UNDIRECTED)


def test_parts(graph):
    assert graph.nodes == NODES
    assert graph.directed == DIRECTED
    assert isinstance(graph.directed, frozenset)
    assert graph.undirected == UNDIRECTED
    assert isinstance(graph.undirected, frozenset)
    assert graph.skeleton == {frozenset(pair) for pair in ("ac", "bc", "cd", "ef")}
    assert graph.v_structures() == {("a", "c", "b")}


def test_from_dag_finds_the_class(graph):
    assert EssentialGraph.from_dag(NODES, ARCS) == graph
    assert EssentialGraph.from_dag(NODES, [*ARCS[:3], ("e", "f")]) == graph
    assert EssentialGraph.from_dag(NODES, ARCS[1:]) != graph


def test_edges_may_be_tuples_and_iterators(graph):
    assert EssentialGraph(iter(NODES), iter(DIRECTED), [("f", "e")]) == graph


def test_to_dag_is_a_dag_of_the_class(graph):
    arcs = graph.to_dag()
    assert arcs == sorted(arcs)
    assert EssentialGraph.from_dag(NODES, arcs) == graph


def test_order_of_nodes_does_not_matter(graph):
    other = EssentialGraph(reversed(NODES), DIRECTED, UNDIRECTED)
    assert other.nodes == NODES[::-1]
    assert other == graph
    assert hash(other) == hash(graph)
    assert other.to_dag() == graph.to_dag()
    assert other.shd(graph) == 0


@pytest.mark.parametrize(
    "other",
    [
        EssentialGraph(NODES, DIRECTED),
        EssentialGraph((*NODES, "g"), DIRECTED, UNDIRECTED),
        EssentialGraph(("a", "b", "c", "d", "f", "g"), DIRECTED, [("f", "g")]),
        "not a graph",
    ],
)
def test_graphs_that_differ(graph, other):
    assert graph != other


def test_graph_is_immutable(graph):
    for name in ("nodes", "directed", "undirected", "anything"):
        with pytest.raises(AttributeError):
            setattr(graph, name, ())


def test_copies_and_pickles_are_equal(graph):
    hash(graph)  # a cached hash may not travel: strings hash differently in every process
    for twin in (pickle.loads(pickle.dumps(graph)), copy.copy(graph), copy.deepcopy(graph)):
        assert twin == graph
        assert hash(twin) == hash(graph)
        assert twin.nodes == graph.nodes


def test_pickle_from_another_process_is_found_in_a_set(graph):
    program = (
        "import pickle, sys; from kes.graph.essential import EssentialGraph\n"
        f"g = EssentialGraph({NODES!r}, {sorted(DIRECTED)!r}, [('e', 'f')]); hash(g)\n"
        "sys.stdout.buffer.write(pickle.dumps(g))"
    )
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert pickle.loads(made.stdout) in {graph}


def test_markov_blanket(graph):
    # Parents, children, and b, the other parent of the child c.
    assert graph.markov_blanket("a") == {"b", "c"}
    assert graph.markov_blanket("c") == {"a", "b", "d"}
    assert graph.markov_blanket("d") == {"c"}
    assert graph.markov_blanket("e") == {"f"}
    assert EssentialGraph(["x"]).markov_blanket("x") == frozenset()


def test_markov_blanket_separates_from_all_others():
    """By networkx, in a DAG of the class: the blanket d-separates a node from everything else."""
    nodes = "abcdefgh"
    arcs = ["ac", "bc", "cd", "be", "de", "ef", "fg", "ag"]
    graph = EssentialGraph.from_dag(nodes, [tuple(arc) for arc in arcs])
    dag = nx.DiGraph(graph.to_dag())
    dag.add_nodes_from(nodes)
    for node in nodes:
        blanket = graph.markov_blanket(node)
        for other in set(nodes) - blanket - {node}:
            assert nx.is_d_separator(dag, {node}, {other}, set(blanket))
        for member in blanket:  # and no member of it can be left out
            assert not nx.is_d_separator(dag, {node}, {member}, set(blanket - {member}))


def test_shd_counts_pairs_whose_status_differs():
    chain = EssentialGraph.from_dag("abcd", [("a", "b"), ("b", "c"), ("c", "d")])
    collider = EssentialGraph.from_dag("abcd", [("a", "b"), ("c", "b"), ("a", "d")])
    # a-b becomes a->b, b-c becomes c->b, c-d goes, a-d comes.
    assert chain.shd(collider) == collider.shd(chain) == 4
    assert chain.shd(EssentialGraph("abcd")) == 3
    flipped = EssentialGraph.from_dag("abcd", [("a", "b"), ("d", "b"), ("b", "c")])
    other = EssentialGraph.from_dag("abcd", [("a", "b"), ("c", "b"), ("b", "d")])
    assert flipped.shd(other) == 2  # the arcs b-c and b-d point the other way


def test_shd_needs_the_same_nodes(graph):
    with refused(column="g"):
        graph.shd(EssentialGraph((*NODES, "g"), DIRECTED, UNDIRECTED))


def test_to_networkx_has_opposite_arcs_for_undirected_edges(graph):
    converted = graph.to_networkx()
    assert isinstance(converted, nx.DiGraph)
    assert list(converted.nodes) == list(NODES)
    assert set(converted.edges) == DIRECTED | {("e", "f"), ("f", "e")}


def test_to_networkx_without_networkx(graph, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with refused("pip install networkx"):
        graph.to_networkx()


def test_repr_shows_the_edges(graph):
    assert repr(graph) == "EssentialGraph(6 nodes: a -> c, b -> c, c -> d, e - f)"
    assert repr(EssentialGraph(["x"])) == "EssentialGraph(1 node: no edges)"
    nodes = [f"v{i}" for i in range(30)]
    chain = EssentialGraph.from_dag(nodes, itertools.pairwise(nodes))
    assert repr(chain).endswith("and 17 more edges)")


# --- messages ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("directed", "undirected", "fields", "word"),
    [
        ([("a", "X")], [], {"option": "directed", "column": "X"}, ""),
        ([], [("a", "X")], {"option": "undirected", "column": "X"}, ""),
        ([("a", "a")], [], {"option": "directed"}, "two"),
        ([], [{"a"}], {"option": "undirected"}, "two"),
        ([("a", "b", "c")], [], {"option": "directed"}, "two"),
        (["a"], [], {"option": "directed"}, "two"),
        ([("a", "b"), ("b", "a")], [], {"column": "a"}, "more than one edge"),
        ([("a", "b"), ("a", "b")], [], {"column": "a"}, "more than one edge"),
        ([("a", "b")], [("b", "a")], {"column": "a"}, "more than one edge"),
        ([], [("a", "b"), ("b", "a")], {"column": "a"}, "more than one edge"),
        ([("a", "b"), ("b", "c"), ("c", "a")], [], {}, "cycle"),
        # Nothing compels a lone arc.
        ([("a", "b")], [], {"option": "directed"}, "a -> b .* a - b"),
        # With b - c reversed there would be a new v-structure: the class directs it.
        ([("a", "b"), ("d", "b")], [("b", "c")], {"option": "directed"}, "b - c .* b -> c"),
        # A chordless cycle cannot be directed without a cycle or a v-structure.
        ([], ["ab", "bc", "cd", "da"], {"option": "undirected", "column": "a"}, "a, b, c, d"),
    ],
)
def test_graphs_that_are_refused(directed, undirected, fields, word):
    edges = [tuple(edge) for edge in undirected]
    with refused(word, **fields):
        EssentialGraph("abcd", directed, edges)


@pytest.mark.parametrize(("nodes", "column"), [((1, 2), None), (("a", "b", "a"), "a")])
def test_nodes_that_are_refused(nodes, column):
    for make in (EssentialGraph, lambda nodes: EssentialGraph.from_dag(nodes, [])):
        with pytest.raises(KesError) as caught:
            make(nodes)
        assert (caught.value.option, caught.value.column) == ("nodes", column)


@pytest.mark.parametrize(
    ("arcs", "word"),
    [
        ([("a", "b"), ("b", "X")], "'X'"),
        ([("a", "a")], "two"),
        ([("a", "b"), ("a", "b")], "a and b"),
        ([("a", "b"), ("b", "a")], "cycle (a -> b -> a|b -> a -> b)"),
        (
            [("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")],
            "cycle (b -> c -> d -> b|c -> d -> b -> c|d -> b -> c -> d)",
        ),
    ],
)
def test_dags_that_are_refused(arcs, word):
    with refused(word, option="arcs"):
        EssentialGraph.from_dag("abcd", arcs)


def test_unknown_node_comes_with_a_suggestion():
    with refused("did you mean 'smoking'", option="arcs", column="smokin"):
        EssentialGraph.from_dag(["smoking", "cancer"], [("smokin", "cancer")])


def test_markov_blanket_of_an_unknown_node(graph):
    with refused("'z'", option="node"):
        graph.markov_blanket("z")


def test_many_nodes():
    """Graphs have no limit: a chain of 5000 nodes, and one with a collider at its end."""
    nodes = [f"n{i}" for i in range(5000)]
    chain = list(itertools.pairwise(nodes))
    assert len(EssentialGraph.from_dag(nodes, chain).undirected) == 4999
    collider = EssentialGraph.from_dag(nodes, [*chain[:-1], ("n4999", "n4998")])
    assert collider.directed == {("n4997", "n4998"), ("n4999", "n4998")}
    assert EssentialGraph.from_dag(nodes, collider.to_dag()) == collider
