"""Classes under knowledge: what their admissible DAGs share, in graphs, pictures and files."""

import pickle
from itertools import product

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes import EssentialGraph, Knowledge, Mpdag
from kes.formats import write_graph
from kes.graph.dags import preferred_dag

mpl.use("Agg")

# d -> e <- f is compelled; a - b - c, and b - c - a by a triangle, are open.
CLASS = EssentialGraph.from_dag(
    "abcdef", [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e"), ("f", "e")]
)
KNOWN = Knowledge(tiers=[["a"], ["b", "c"]])


def dags(graph):
    """All DAGs of a class, by trying all directions."""
    edges = [tuple(sorted(pair)) for pair in graph.undirected]
    for turns in product((False, True), repeat=len(edges)):
        arcs = [(b, a) if turn else (a, b) for (a, b), turn in zip(edges, turns, strict=True)]
        try:
            if EssentialGraph.from_dag(graph.nodes, [*graph.directed, *arcs]) == graph:
                yield {*graph.directed, *arcs}
        except kes.KesError:
            continue


@pytest.mark.parametrize(
    "known",
    [
        KNOWN,
        Knowledge(tiers=[["c"], ["a", "b"]]),
        Knowledge(required=[("b", "a")]),
        Knowledge(forbidden=[("a", "b"), ("a", "c")]),
        Knowledge(required=[("a", "b")], forbidden=[("a", "c")]),
        Knowledge(roots=["b"], leaves=["a"]),
        Knowledge(apart=[("a", "d")]),
    ],
)
def test_it_is_what_the_admissible_dags_share(known):
    tiers, required, forbidden = known.to_core(CLASS.nodes)
    tier = dict(zip(CLASS.nodes, tiers or [None] * 6, strict=True))
    must = {(CLASS.nodes[a], CLASS.nodes[b]) for a, b in required}
    may_not = {(CLASS.nodes[a], CLASS.nodes[b]) for a, b in forbidden}
    may_not |= {(a, b) for a in "abc" for b in "abc" if tier[a] and tier[a] > (tier[b] or 0)}
    admissible = [dag for dag in dags(CLASS) if must <= dag and not may_not & dag]
    shared = set.intersection(*admissible)
    mpdag = Mpdag(CLASS, known)
    assert mpdag.directed == shared
    assert mpdag.skeleton == CLASS.skeleton
    assert mpdag.by_knowledge == shared - CLASS.directed
    assert set(mpdag.to_dag()) in admissible
    assert mpdag.v_structures() == CLASS.v_structures()
    assert mpdag.essential == CLASS
    assert (mpdag == CLASS) == (len(admissible) == len(list(dags(CLASS))))


def test_a_class_that_does_not_obey_is_refused():
    with refused("a -> d .* adjacent", option="knowledge"):
        Mpdag(CLASS, Knowledge(required=[("a", "d")]))
    with refused("d -> e", option="knowledge"):
        Mpdag(CLASS, Knowledge(tiers=[["e"], ["d"]]))
    with pytest.raises(kes.KesError) as caught:
        Mpdag(CLASS, Knowledge(roots=["z"]))
    assert caught.value.column == "z"


def test_it_compares_and_pickles_like_other_graphs():
    mpdag = Mpdag(CLASS, KNOWN)
    assert mpdag.shd(CLASS) == len(mpdag.by_knowledge) == 2
    copy = pickle.loads(pickle.dumps(mpdag))
    assert copy == mpdag
    assert copy.by_knowledge == mpdag.by_knowledge
    turned = EssentialGraph(CLASS.nodes[::-1], CLASS.directed, CLASS.undirected)
    assert Mpdag(turned, KNOWN) == mpdag
    assert hash(Mpdag(turned, KNOWN)) == hash(mpdag)
    assert repr(mpdag) == "Mpdag(6 nodes: a -> b, a -> c, d -> e, f -> e, b - c)"


def test_networkx_tells_where_directions_come_from():
    graph = Mpdag(CLASS, KNOWN).to_networkx()
    assert {(a, b) for a, b, known in graph.edges(data="by_knowledge") if known} == {
        ("a", "b"),
        ("a", "c"),
    }
    assert graph.has_edge("b", "c")
    assert graph.has_edge("c", "b")


def test_dot_files_show_it_and_are_read_as_the_class(tmp_path):
    mpdag = Mpdag(CLASS, KNOWN)
    write_graph(mpdag, tmp_path / "a.dot")
    assert '"a" -> "b" [kes_by_knowledge=true, style=dotted' in (tmp_path / "a.dot").read_text()
    assert kes.read_graph(tmp_path / "a.dot") == CLASS
    for name in ("a.json", "a.graphml"):
        with refused(r"\.dot", file=tmp_path / name):
            write_graph(mpdag, tmp_path / name)
        write_graph(mpdag.essential, tmp_path / name)
        assert kes.read_graph(tmp_path / name) == CLASS


def test_pictures_tell_known_from_compelled_directions():
    axes = Mpdag(CLASS, KNOWN).plot()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "compelled",
        "by knowledge",
        "reversible",
    ]
    assert "by knowledge" not in [t.get_text() for t in CLASS.plot().get_legend().get_texts()]
    html = Mpdag(CLASS, KNOWN)._repr_html_()
    assert "2 compelled, 2 directed by knowledge and 1 reversible edges" in html
    assert html.count(", by knowledge</title>") == 2
    assert "Dotted arrows are directed by the knowledge." in html
    assert "Dotted" not in CLASS._repr_html_()


def test_preferences_are_taken_within_the_knowledge():
    mpdag = Mpdag(CLASS, KNOWN)
    for arc in (("b", "c"), ("c", "b")):
        assert {arc, ("a", "b"), ("a", "c")} <= set(preferred_dag(mpdag, [arc]))
    with refused("b -> a", option="prefer"):
        preferred_dag(mpdag, [("b", "a")])


@pytest.fixture(scope="module")
def optima():
    rng = np.random.default_rng(1)
    a = rng.integers(2, size=600)
    b = np.where(rng.random(600) < 0.8, a, 1 - a)
    c = np.where(rng.random(600) < 0.8, b, 1 - b)
    table = pd.DataFrame({"a": a, "b": b, "c": c})
    return kes.learn(table, runs=5, knowledge=Knowledge(leaves=["a"])), table


def test_tables_of_edges_tell_what_is_due_to_knowledge(optima):
    """The chain a - b - c; with a as a leaf b -> a, and c either way."""
    found, _ = optima
    rows = {(row["x"], row["y"]): row for row in found.edges()}
    assert rows["a", "b"]["search_y_to_x"] == rows["a", "b"]["search_by_knowledge"] == 1.0
    assert rows["b", "c"]["search_by_knowledge"] == 0.0
    assert found.consensus().directed == {("b", "a")}


def test_fitted_networks_obey(optima):
    found, table = optima
    assert ("b", "a") in found.best.fit(table).arcs
    assert ("c", "b") in found.best.fit(table, prefer=[("c", "b")]).arcs
    with refused("a -> b", option="prefer"):
        found.best.fit(table, prefer=[("a", "b")])


def test_reports_and_notebooks_show_it(optima, tmp_path):
    found, _ = optima
    found.report(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "Knowledge(leaves=" in page
    assert '"known":[0]' in page.replace(" ", "")
    assert "Dotted arrows" in found._repr_html_()


def test_directions_are_known_whether_or_not_the_class_has_them_too():
    """A v-structure directs its arcs without knowledge; tiers rule out the opposite of one."""
    graph = kes.EssentialGraph.from_dag("abcd", [("a", "c"), ("b", "c"), ("c", "d")])
    assert graph.known_directions == set()
    known = kes.Mpdag(graph, kes.Knowledge(tiers=[["a"], ["c"]]))
    assert (known.directed, known.by_knowledge) == (graph.directed, set())
    assert known.known_directions == {("a", "c")}
    path = kes.Mpdag(graph, kes.Knowledge(required=[("a", "c"), ("c", "d")]))
    assert path.known_directions == {("a", "c"), ("c", "d")}
    chain = kes.EssentialGraph.from_dag("abc", [("a", "b"), ("b", "c")])
    assert kes.Mpdag(chain, kes.Knowledge(roots=["a"])).known_directions == {("a", "b"), ("b", "c")}
