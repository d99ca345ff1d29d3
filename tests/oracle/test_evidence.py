"""Evidence against brute force: the best of all networks with a part, and of all without it."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import kes
from kes.analysis import constrained_search, evidence_work
from kes.analysis.constrained_search import Candidate, Side, moved
from kes.graph.core_graph import CoreGraph
from kes.graph.dags import descendants, parent_sets

from . import brute, knowledge
from .gaussian import DirectGaussian
from .scores import DirectScore
from .tables import noisy_copies, sample

ROUNDING = 1e-8


def table(codes, cardinalities):
    names = tuple("abcdefgh"[: len(codes)])
    return kes.Dataset(names, [range(r) for r in cardinalities], codes)


def drawn(n, seed, rows=150):
    """A dependent table: of a random network, or copies of a hidden variable, which has many
    optima."""
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        return table(noisy_copies(n, rows, rng), [2] * n)
    cardinalities = [int(r) for r in rng.integers(2, 4, n)]
    dag = brute.all_dags(n)[rng.integers(len(brute.all_dags(n)))]
    return table(sample(dag, cardinalities, rows, rng), cardinalities)


def scored(data):
    """All DAGs with their scores by the textbook formula."""
    score = DirectScore(data.codes, data.cardinalities)
    return [(dag, score.of(dag)) for dag in brute.all_dags(len(data.names))]


def best(networks, having):
    return max((score for dag, score in networks if having(dag)), default=-np.inf)


def has_arc(x, y):
    return lambda dag: bool(dag[y] >> x & 1)


def is_collision(dag, x, c, y):
    joined = dag[x] >> y & 1 or dag[y] >> x & 1
    return bool(dag[c] >> x & 1 and dag[c] >> y & 1 and not joined)


# --- the best models -----------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "seed"), [*((4, seed) for seed in range(8)), (5, 0), (5, 1), (5, 3)])
def test_edges_and_directions(n, seed):
    data = drawn(n, seed)
    check_edges(kes.learn(data, k=0.3, runs=20), scored(data))


@pytest.mark.parametrize("kind", ["continuous", "mixed"])
@pytest.mark.parametrize("seed", range(4))
def test_edges_of_continuous_and_mixed_tables(kind, seed):
    """The best of all networks by the criterion's definition, in exact fractions."""
    frame, columns = numbers(seed, kind)
    score = DirectGaussian(columns)
    networks = [(dag, score.of(dag)) for dag in brute.all_dags(4)]
    gaussian = {"criterion": "degenerate-bic", "transform": "none"} if kind == "mixed" else {}
    optima = kes.learn(frame, k=0.3, runs=20, **gaussian)
    assert optima.kind == kind
    check_edges(optima, networks)
    assert len(optima.evidence()) > 1


def numbers(seed, kind):
    """A dependent table, and its columns as the oracle takes them; every other may be cut."""
    rng = np.random.default_rng([seed, 5])
    hidden, columns = rng.normal(size=60), []
    for v in range(4):
        column = (hidden if v % 2 else sum(columns, hidden)) + rng.normal(size=60)
        if kind == "mixed" and v % 2 == seed % 2:
            column = np.digitize(column, np.quantile(column, [0.3, 0.6])).astype(np.int32)
        columns.append(column)
    texts = [c.astype(str) if c.dtype == np.int32 else c for c in columns]
    return pd.DataFrame(dict(zip("abcd", texts, strict=True))), columns


def check_edges(optima, networks):
    """Compare the evidence of edges with the best of all networks on each side."""
    place = {name: i for i, name in enumerate(optima.names)}
    found = optima.evidence()
    joined = {edge for optimum in optima for edge in optimum.graph.skeleton}
    assert {frozenset((row["x"], row["y"])) for row in found} >= joined
    for row in found:
        x, y = place[row["x"]], place[row["y"]]
        forth, back = best(networks, has_arc(x, y)), best(networks, has_arc(y, x))
        without = best(networks, lambda dag, x=x, y=y: not (dag[y] >> x | dag[x] >> y) & 1)
        assert row["how"] == "exact"
        assert row["best_with"] == pytest.approx(max(forth, back), abs=ROUNDING)
        assert row["best_without"] == pytest.approx(without, abs=ROUNDING)
        assert row["evidence"] == pytest.approx(max(forth, back) - without, abs=ROUNDING)
        assert row["direction"] == pytest.approx(forth - back, abs=ROUNDING)
    assert list(found["evidence"]) == sorted(found["evidence"], reverse=True)


@pytest.mark.parametrize("seed", range(6))
def test_v_structures(seed):
    data = drawn(4, seed)
    networks, place = scored(data), {name: i for i, name in enumerate(data.names)}
    optima = kes.learn(data, k=0.3, runs=20)
    found = optima.evidence("v_structures")
    assert len(found) == len(optima.v_structures())
    for row in found:
        nodes = [place[row[end]] for end in ("x", "collider", "y")]
        having = best(networks, lambda dag, nodes=nodes: is_collision(dag, *nodes))
        lacking = best(networks, lambda dag, nodes=nodes: not is_collision(dag, *nodes))
        assert row["how"] == "exact"
        assert row["evidence"] == pytest.approx(having - lacking, abs=ROUNDING)


@pytest.mark.parametrize("seed", range(6))
def test_estimates_are_scores_of_networks_on_the_right_side(seed, monkeypatch):
    """A search can miss the best network of a side, never exceed it; with this little it hits."""
    data = drawn(5, seed)
    optima = kes.learn(data, k=0.3, runs=20)
    exact = {(row["x"], row["y"]): row for row in optima.evidence()}
    monkeypatch.setattr(constrained_search, "_SECONDS", 0.0)
    for tasks, slack in ((0, np.inf), (30, 1e-6)):
        for row in optima.evidence(tasks=tasks):
            known = exact[row["x"], row["y"]]
            assert row["how"] == "estimate"
            for side in ("best_with", "best_without"):
                assert -ROUNDING <= known[side] - row[side] <= slack


@pytest.mark.parametrize("known", [None, kes.Knowledge(tiers=[["a", "b"], ["c", "d", "e"]])])
@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_where_nothing_is_searched(seed, known, monkeypatch):
    """Known models cannot beat the best network of a side; the side of the best model is exact."""
    data = drawn(5, seed)
    optima = kes.learn(data, k=0.3, runs=20, knowledge=known, prove=True)
    assert optima.proven
    exact = {(row["x"], row["y"]): row for row in optima.evidence()}
    monkeypatch.setattr(evidence_work, "_MOST_WORK", 0)
    for row in optima.evidence(posterior=False):
        nats = exact[row["x"], row["y"]]["evidence"]
        bound = row["evidence"]
        assert row["how"] == ("upper bound" if bound >= 0 else "lower bound")
        assert bound >= nats - ROUNDING if bound >= 0 else bound <= nats + ROUNDING


@pytest.mark.parametrize("seed", range(4))
def test_ancestors_are_never_beyond_the_best_network(seed):
    """They rest on models found for edges: lower bounds, and the side of the best is exact."""
    data = drawn(4, seed)
    networks, place = scored(data), {name: i for i, name in enumerate(data.names)}
    top = max(score for _, score in networks)
    for row in kes.learn(data, k=0.3, runs=20).evidence("ancestors"):
        x, y = place[row["ancestor"]], place[row["descendant"]]

        def is_ancestor(dag, x=x, y=y):
            return bool(brute.ancestral_set(dag, 1 << y) >> x & 1)

        having = best(networks, is_ancestor)
        lacking = best(networks, lambda dag, test=is_ancestor: not test(dag))
        assert row["how"] == "estimate"
        assert row["best_with"] <= having + ROUNDING
        assert row["best_without"] <= lacking + ROUNDING
        assert max(row["best_with"], row["best_without"]) == pytest.approx(top, abs=ROUNDING)


def test_max_parents_limits_both_sides():
    data = drawn(4, 1)
    optima = kes.learn(data, k=0.3, runs=20, max_parents=1)
    networks = [(d, s) for d, s in scored(data) if max(p.bit_count() for p in d) <= 1]
    place = {name: i for i, name in enumerate(data.names)}
    for row in optima.evidence():
        x, y = place[row["x"]], place[row["y"]]
        having = best(networks, lambda d, x=x, y=y: (d[y] >> x | d[x] >> y) & 1)
        lacking = best(networks, lambda d, x=x, y=y: not (d[y] >> x | d[x] >> y) & 1)
        assert row["evidence"] == pytest.approx(having - lacking, abs=ROUNDING)


def assert_as_enumerated_under(data, known, optima):
    """Evidence for edges is that of admissible networks, infinite where one side has none."""
    core = knowledge.Known(4, *known.to_core(data.names))
    networks = [(dag, score) for dag, score in scored(data) if core.admits(dag)]
    for row in optima.evidence():
        x, y = data.names.index(row["x"]), data.names.index(row["y"])
        forth, back = best(networks, has_arc(x, y)), best(networks, has_arc(y, x))
        without = best(networks, lambda dag, x=x, y=y: not (dag[y] >> x | dag[x] >> y) & 1)
        assert row["how"] == "exact"
        assert row["evidence"] == pytest.approx(max(forth, back) - without, abs=ROUNDING)
        if np.isinf([forth, back]).any():
            assert row["direction"] is None
        else:
            assert row["direction"] == pytest.approx(forth - back, abs=ROUNDING)


@pytest.mark.parametrize(
    "known",
    [
        kes.Knowledge(tiers=[["b"], ["a", "c"], ["d"]]),
        kes.Knowledge(required=[("d", "a")], forbidden=[("a", "b")]),
        kes.Knowledge(apart=[("a", "c")], leaves=["b"]),
    ],
    ids=["tiers", "arcs", "leaf"],
)
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_knowledge_holds_on_all_sides(seed, known, monkeypatch):
    data = drawn(4, seed)
    optima = kes.learn(data, k=0.3, runs=20, knowledge=known)
    assert_as_enumerated_under(data, known, optima)
    exact = {(row["x"], row["y"]): row for row in optima.evidence()}
    monkeypatch.setattr(constrained_search, "_SECONDS", 0.0)
    for row in optima.evidence():
        for side in ("best_with", "best_without"):
            other = exact[row["x"], row["y"]][side]
            assert row[side] == pytest.approx(other, abs=1e-6)


# --- what a model can be -------------------------------------------------------------------------


def names(n):
    return tuple("abcdefgh"[:n])


def assert_as_enumerated(graph, dags, known):
    """All that is read off a class is what its admissible DAGs say."""
    n = known.n
    model = Candidate(names(n), CoreGraph.of(graph), 0.0, known.core)
    assert model.arcs == {arc for dag in dags for arc in brute.arcs_of(dag)}
    for x in range(n):
        found = parent_sets(names(n), CoreGraph.of(graph), x, known.core)
        assert {brute.bits(one.members) for one in found} == {dag[x] for dag in dags}
        assert len(found) == len({one.members for one in found})
        for one in found:
            dag = brute.dag_from_arcs(n, one.dag)
            assert dag in dags
            assert dag[x] == brute.bits(one.members)
    lines = [{(a, b) for b in range(n) for a in range(n) if is_above(d, a, b)} for d in dags]
    assert model.descents == (set.union(*lines), set.intersection(*lines))


def is_above(dag, a, b):
    return a != b and brute.ancestral_set(dag, 1 << b) >> a & 1


@pytest.mark.parametrize("n", [3, 4])
def test_what_is_read_off_a_class(n):
    every = brute.models(n)
    for graph, dags in zip(every.essential, every.classes, strict=True):
        assert_as_enumerated(graph, dags, knowledge.Known(n, None, [], []))
        model = Candidate(names(n), CoreGraph.of(graph), 0.0, (None, [], []))
        for a, c, b in permutations(range(n), 3):
            if a < b:
                side = Side("collider", (a, c, b))
                assert side.holds(model) == all(is_collision(dag, a, c, b) for dag in dags)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_read_off_a_class_under_knowledge(seed):
    known = knowledge.mixture(5 if seed % 3 == 0 else 4, np.random.default_rng(seed))
    every = brute.models(known.n)
    found = [
        (graph, dags)
        for graph, dags in zip(every.essential, known.admissible(), strict=True)
        if dags
    ]
    assert found
    for graph, dags in found[:: max(1, len(found) // 60)]:
        assert_as_enumerated(graph, dags, known)


def test_a_network_moves_to_a_side_by_cutting_what_is_in_the_way():
    """All DAGs with four nodes, all sides: acyclic, on the side, and unchanged if it was there."""
    n = 4
    ways = [(a, b) for a in range(n) for b in range(n) if a != b]
    asked = [
        *(Side("arc", arc) for arc in ways),
        *(Side("apart", arc) for arc in ways if arc[0] < arc[1]),
        *(Side("collider", (a, c, b)) for a, b in ways if a < b for c in {*range(n)} - {a, b}),
    ]
    for dag in brute.all_dags(n):
        arcs = brute.arcs_of(dag)
        for side in asked:
            other = moved(arcs, side)
            assert brute.dag_from_arcs(n, other) in brute.models(n).number
            assert set(side.required) <= set(other)
            assert not set(side.forbidden) & set(other)
            if set(side.required) <= set(arcs) and not set(side.forbidden) & set(arcs):
                assert other == arcs


def test_descendants():
    assert descendants([(0, 1), (1, 2), (3, 1)], 0) == {1, 2}
    assert descendants([(0, 1)], 1) == set()
