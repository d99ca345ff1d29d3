"""Laws of the criteria, on random tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import brute, engine
from oracle.scores import DirectScore

from .strategies import covered_arcs, dags, renamed_dag, tables, with_reversed

CRITERIA = st.sampled_from(
    (*(("bdeu", ess) for ess in (0.01, 1.0, 60.0, 1e9)), ("bic", 1.0), ("aic", 1.0), ("qnml", 1.0))
)


@given(dags(most=6), CRITERIA, st.data())
def test_score_is_the_sum_of_its_families(dag, criterion, data):
    codes, cardinalities, weights = data.draw(tables(len(dag)))
    problem = engine.problem(codes, cardinalities, weights, *criterion)
    direct = DirectScore(codes, cardinalities, weights, *criterion)
    assert close(problem.score(brute.arcs_of(dag)), direct.of(dag), direct.total)


@given(dags(least=2, most=6), CRITERIA, st.data())
def test_equivalent_dags_score_alike(dag, criterion, data):
    codes, cardinalities, weights = data.draw(tables(len(dag)))
    problem = engine.problem(codes, cardinalities, weights, *criterion)
    for x, y in covered_arcs(dag):
        other = with_reversed(dag, x, y)
        ours, theirs = (problem.score(brute.arcs_of(d)) for d in (dag, other))
        assert close(ours, theirs, problem.total_weight)


@settings(max_examples=60)
@given(dags(least=2, most=6), CRITERIA, st.data())
def test_gain_is_the_difference_of_scores(dag, criterion, data):
    codes, cardinalities, weights = data.draw(tables(len(dag)))
    problem = engine.problem(codes, cardinalities, weights, *criterion)
    before = problem.score(brute.arcs_of(dag))
    for x, y in brute.arcs_of(dag):
        others = list(brute.members(dag[y] & ~(1 << x)))
        after = problem.score(brute.arcs_of(brute.without_arc(dag, x, y)))
        gain = problem.delta((False, min(x, y), max(x, y), others))
        assert close(gain, after - before, problem.total_weight)


@given(dags(most=6), CRITERIA, st.data())
def test_order_of_rows_changes_no_bit(dag, criterion, data):
    codes, cardinalities, weights = data.draw(tables(len(dag)))
    order = np.random.default_rng(data.draw(st.integers(0, 999))).permutation(codes.shape[1])
    arcs = brute.arcs_of(dag)
    plain = engine.problem(codes, cardinalities, weights, *criterion)
    shuffled_weights = None if weights is None else weights[order]
    shuffled = engine.problem(codes[:, order], cardinalities, shuffled_weights, *criterion)
    assert plain.score(arcs) == shuffled.score(arcs)
    assert plain.fingerprint == shuffled.fingerprint


@given(dags(most=6), CRITERIA, st.data())
def test_names_of_variables_and_states_do_not_matter(dag, criterion, data):
    codes, cardinalities, weights = data.draw(tables(len(dag)))
    n = len(dag)
    places = data.draw(st.permutations(range(n)))
    moved, moved_cardinalities = np.empty_like(codes), [0] * n
    for i, place in enumerate(places):
        states = np.array(data.draw(st.permutations(range(cardinalities[i]))))
        moved[place], moved_cardinalities[place] = states[codes[i]], cardinalities[i]
    plain = engine.problem(codes, cardinalities, weights, *criterion)
    other = engine.problem(moved, moved_cardinalities, weights, *criterion)
    ours = plain.score(brute.arcs_of(dag))
    theirs = other.score(brute.arcs_of(renamed_dag(dag, places)))
    assert close(ours, theirs, plain.total_weight)


@settings(max_examples=40)
@given(dags(least=2, most=6), CRITERIA, st.floats(0, 1), st.integers(0, 2**63), st.data())
def test_every_run_climbs_to_a_local_optimum(dag, criterion, k, seed, data):
    codes, cardinalities, weights = data.draw(tables(len(dag)))
    n = len(dag)
    problem = engine.problem(codes, cardinalities, weights, *criterion)
    start = engine.essential_graph(n, brute.arcs_of(dag))
    steps, end = engine.trace(problem, 3, k=k, seed=seed, start=start)
    assert all(delta > problem.tolerance for _, delta, _, _ in steps)
    graph = start
    for triple, delta, _, _ in steps:
        assert delta == problem.delta(triple)
        graph = engine.apply(n, graph, engine.key(triple))
    assert graph == end
    left = [problem.delta(engine.core_triple(t)) for t in engine.boundary(n, end)]
    assert max(left) <= problem.tolerance
    assert problem.is_local_optimum(end, None)


def close(a, b, total):
    """Equal up to the rounding of sums of the size N ln N."""
    return a == pytest.approx(b, rel=1e-11, abs=1e-12 * (total + 60) * 20)
