"""Laws of essential graphs and their boundary, on DAGs too large to enumerate."""

from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import brute, engine

from kes import _core

from .strategies import (
    covered_arcs,
    dags,
    renamed_dag,
    renamed_graph,
    renamed_triple,
    with_reversed,
)


def essential_graph(dag):
    return engine.essential_graph(len(dag), brute.arcs_of(dag))


@given(dags(), st.data())
def test_renaming_commutes_with_the_essential_graph(dag, data):
    names = data.draw(st.permutations(range(len(dag))))
    assert essential_graph(renamed_dag(dag, names)) == renamed_graph(essential_graph(dag), names)


@settings(max_examples=60)
@given(dags(most=7), st.data())
def test_renaming_commutes_with_the_boundary(dag, data):
    names = data.draw(st.permutations(range(len(dag))))
    plain = engine.boundary(len(dag), essential_graph(dag))
    renamed = engine.boundary(len(dag), essential_graph(renamed_dag(dag, names)))
    assert sorted(renamed) == sorted(renamed_triple(triple, names) for triple in plain)


@given(dags(most=14))
def test_extension_is_a_dag_of_the_class(dag):
    n, graph = len(dag), essential_graph(dag)
    _core.check_essential(n, graph)
    extension = brute.dag_from_arcs(n, _core.extension(n, graph))
    assert brute.equivalence_key(extension) == brute.equivalence_key(dag)


@given(dags(least=2, most=14), st.data())
def test_reversing_covered_arcs_stays_in_the_class(dag, data):
    """[Chickering 1995]; and an arc is directed iff no DAG on the way reverses it."""
    directed, _ = graph = essential_graph(dag)
    for _ in range(10):
        if choices := covered_arcs(dag):
            dag = with_reversed(dag, *data.draw(st.sampled_from(choices)))
        assert essential_graph(dag) == graph
        assert set(directed) <= set(brute.arcs_of(dag))


@settings(max_examples=150)
@given(dags(least=2, most=10), st.data())
def test_one_arc_more_or_less_in_any_dag_is_a_neighbour(dag, data):
    """The definition of the boundary, walked at random through DAGs of the class."""
    n, graph = len(dag), essential_graph(dag)
    for _ in range(data.draw(st.integers(0, 6))):
        if choices := covered_arcs(dag):
            dag = with_reversed(dag, *data.draw(st.sampled_from(choices)))
    x, y = data.draw(st.permutations(range(n)))[:2]
    if dag[y] >> x & 1:
        insertion, other = False, brute.without_arc(dag, x, y)
    elif dag[x] >> y & 1 or brute.ancestral_set(dag, 1 << x) >> y & 1:
        return  # joined the other way round, or the arc would close a cycle
    else:
        insertion, other = True, brute.with_arc(dag, x, y)
    conditioning = brute.members(dag[y] & ~(1 << x))
    triple = insertion, min(x, y), max(x, y), conditioning
    assert triple in engine.boundary(n, graph)
    assert engine.apply(n, graph, triple) == essential_graph(other)


@settings(max_examples=60)
@given(dags(least=2, most=7))
def test_boundary_is_symmetric(dag):
    """The deletion of a triple undoes its insertion, and the other way round."""
    n, graph = len(dag), essential_graph(dag)
    reached = []
    for triple in engine.boundary(n, graph):
        neighbour = engine.apply(n, graph, triple)
        reached.append(neighbour)
        back = (not triple[0], *triple[1:])
        assert back in engine.boundary(n, neighbour)
        assert engine.apply(n, neighbour, back) == graph
    assert len({str(neighbour) for neighbour in reached}) == len(reached)


@settings(max_examples=60)
@given(dags(least=2, most=8), st.integers(0, 4))
def test_limit_on_parents_only_leaves_out_insertions(dag, limit):
    n, graph = len(dag), essential_graph(dag)
    expected = [t for t in engine.boundary(n, graph) if not t[0] or len(t[3]) < limit]
    assert engine.boundary(n, graph, limit) == expected
