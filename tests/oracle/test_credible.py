"""Models close to the best against all models, and against lists of networks for every subset."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import kes

from . import brute, engine
from .knowledge import mixture
from .scores import DirectScore
from .tables import sample


def key(edges):
    """Return a graph that can be compared and hashed."""
    return tuple(map(tuple, engine.graph(edges)))


def found(core, within, known=None, max_parents=None, most=100_000):
    return core.credible(
        lambda _: True,
        within=within,
        most=most,
        max_parents=max_parents,
        n_jobs=2,
        memory_mb=200,
        knowledge=known.core if known else None,
    )


def table(n, seed, rows, criterion):
    rng = np.random.default_rng([seed, n, rows])
    cardinalities = [int(r) for r in rng.integers(2, 4, n)]
    dags = brute.all_dags(min(n, 5))
    dag = (*dags[rng.integers(len(dags))], *([1, 2, 6, 9, 48, 65][: n - 5] if n > 5 else []))
    codes = sample(dag, cardinalities, rows, rng)
    core = engine.problem(codes, cardinalities, criterion=criterion)
    return core, DirectScore(codes, cardinalities, criterion=criterion), codes


def expected(n, score, within, known=None, max_parents=None):
    """Essential graphs and scores of all admissible models within the distance."""
    models = brute.models(n)
    scores = {}
    for number, dags in enumerate(models.classes):
        limit = n if max_parents is None else max_parents
        if brute.max_in_degree(dags[0]) <= limit and (
            known is None or any(known.admits(dag) for dag in dags)
        ):
            scores[number] = score(dags[0])
    best = max(scores.values())
    return {
        key(models.essential[number]): own
        for number, own in scores.items()
        if own >= best - within - 1e-9
    }


def check(core, n, score, within, **more):
    models, complete = found(core, within, **more)
    right = expected(n, score, within, **more)
    assert complete
    assert {key(graph) for graph, _ in models} == right.keys()
    assert all(own == pytest.approx(right[key(graph)]) for graph, own in models)
    scores = [core.level(own) for _, own in models]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("criterion", ["bic", "bdeu", "aic", "qnml"])
@pytest.mark.parametrize("rows", [15, 150, 1500])
def test_all_models_of_four_variables(criterion, rows):
    core, direct, _ = table(4, 1, rows, criterion)
    for within in (0.0, 1.0, 4.0, 1e4):
        check(core, 4, direct.of, within)
    check(core, 4, direct.of, 6.0, max_parents=1)


@pytest.mark.parametrize("seed", range(10))
def test_all_models_of_four_variables_with_knowledge(seed):
    core, direct, _ = table(4, seed, 80, "bic")
    check(core, 4, direct.of, 5.0, known=mixture(4, np.random.default_rng(seed)))


@pytest.mark.parametrize(("criterion", "within"), [("bic", 8.0), ("bdeu", 5.0), ("bic", 1e5)])
def test_all_models_of_five_variables(criterion, within):
    core, direct, _ = table(5, 2, 120, criterion)
    check(core, 5, direct.of, within)
    assert within < 1e5 or len(found(core, within)[0]) == 8782


def lists_by_subset(n, family, within):
    """All DAGs over all variables within the distance, from those of every subset.

    A DAG within the distance of the best, less a sink, is within the distance of the best DAG over
    the rest: otherwise that one with the sink would be better by more [Tian, He & Ram 2010].
    """
    parents = {y: list(brute.subsets((1 << n) - 1 & ~(1 << y))) for y in range(n)}
    near = {0: {(): 0.0}}
    for nodes in sorted(range(1, 1 << n), key=int.bit_count):
        own = {}
        for y in brute.members(nodes):
            rest = nodes & ~(1 << y)
            choices = [(family(y, p), p) for p in parents[y] if not p & ~rest]
            top = max(choices)[0]
            choices = [(score, p) for score, p in choices if score >= top - within]
            for dag, score in near[rest].items():
                for more, p in choices:
                    own[tuple(sorted((*dag, (y, p))))] = score + more
        best = max(own.values())
        near[nodes] = {dag: score for dag, score in own.items() if score >= best - within}
    return near[(1 << n) - 1]


@pytest.mark.parametrize(
    ("n", "rows", "criterion", "within"), [(8, 400, "bic", 2.0), (9, 600, "bdeu", 1.0)]
)
def test_models_of_larger_tables(n, rows, criterion, within):
    core, direct, _ = table(n, 3, rows, criterion)
    models, complete = found(core, within)
    right = {}
    for pairs, score in lists_by_subset(n, direct.family, within).items():
        dag = tuple(p for _, p in pairs)
        right[brute.equivalence_key(dag)] = score
    keys = set()
    for (directed, undirected), score in models:
        arcs = kes._core.extension(n, (directed, undirected))
        own = brute.equivalence_key(brute.dag_from_arcs(n, arcs))
        assert score == pytest.approx(right[own])
        keys.add(own)
    assert complete
    assert keys == right.keys()


def test_more_than_a_number():
    core, _, _ = table(5, 4, 60, "bic")
    models, complete = found(core, 1e5, most=100)
    assert (len(models), complete) == (100, False)


def test_local_optima_and_hits_as_users_see_them():
    _, direct, codes = table(5, 5, 200, "bic")
    names = [f"v{i}" for i in range(5)]
    data = pd.DataFrame(dict(zip(names, codes, strict=True)))
    optima = kes.learn(data, runs=200, k=0.3, improve=False, prove=False)
    models = optima.credible(within=20.0)
    assert models.complete
    assert len(models) == len(expected(5, direct.of, 20.0))
    hits = {optimum.graph: optimum.hits for optimum in optima}
    for model in models:
        better = [n for n in kes.inclusion_boundary(model.graph, data) if n.delta > 1e-9]
        assert model.is_local_optimum == (not better)
        assert model.hits == hits.get(model.graph, 0)
    counts = models.counts()
    local = [model for model in models if model.is_local_optimum]
    assert counts["local_optima"][-1] == len(local) == len(models.local_optima)
    assert counts["found"][-1] == sum(bool(model.hits) for model in local)
    for a, b in combinations(counts["models"], 2):
        assert a <= b
