"""Certificates against brute force over all DAGs, and against exact searches of other libraries."""

import numpy as np
import pandas as pd
import pytest

import kes

from . import brute
from .scores import DirectScore
from .tables import noisy_copies, sample

CRITERIA = [("bic", 1.0), ("aic", 1.0), ("bdeu", 1.0), ("bdeu", 10.0), ("qnml", 1.0)]


def frame(codes):
    return pd.DataFrame({f"v{i}": column for i, column in enumerate(codes)})


def cardinalities(codes):
    return [len(np.unique(column)) for column in codes]


def best_models(codes, criterion, ess, max_parents):
    """Brute force: the highest score of all DAGs, and the essential graphs that reach it."""
    direct = DirectScore(codes, cardinalities(codes), criterion=criterion, ess=ess)
    models = brute.models(len(codes))
    # All DAGs of a model have one score and one maximal in-degree (test_brute, test_deltas).
    scores = {
        number: direct.of(dags[0])
        for number, dags in enumerate(models.classes)
        if max_parents is None or brute.max_in_degree(dags[0]) <= max_parents
    }
    best = max(scores.values())
    ties = [number for number, score in scores.items() if score > best - 1e-8]
    names = [f"v{i}" for i in range(len(codes))]
    graphs = []
    for number in ties:
        directed, undirected = models.essential[number]
        graphs.append(
            kes.EssentialGraph(
                names,
                [(names[a], names[b]) for a, b in directed],
                [(names[a], names[b]) for a, b in undirected],
            )
        )
    return best, graphs


def tables(n):
    rng = np.random.default_rng(n)
    dags = brute.all_dags(n)
    for rows in (30, 300):
        dag = dags[rng.integers(len(dags))]
        yield sample(dag, [int(r) for r in rng.integers(2, 4, n)], rows, rng)
    yield noisy_copies(n, 200, rng)


@pytest.mark.parametrize("max_parents", [None, 1, 2])
@pytest.mark.parametrize(("criterion", "ess"), CRITERIA)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_certified_model_is_the_best_of_all(n, criterion, ess, max_parents):
    for codes in tables(n):
        best, graphs = best_models(codes, criterion, ess, max_parents)
        certificate = kes.certify(
            frame(codes), criterion=criterion, ess=ess, max_parents=max_parents
        )
        assert certificate.proven
        assert certificate.score == pytest.approx(best, abs=1e-8)
        assert certificate.upper_bound == certificate.score
        assert certificate.graph in graphs


def test_ties_are_counted_as_far_as_they_were_seen():
    """Each variable is the parity of the other two: three colliders that nothing tells apart."""
    codes = np.repeat([[x, y, x ^ y] for x in (0, 1) for y in (0, 1)], 25, axis=0).T
    _, graphs = best_models(codes, "bic", 1.0, None)
    assert len(graphs) > 1
    data = frame(codes)
    alone = kes.certify(data)
    assert alone.graph in graphs
    assert alone.ties == 1
    assert "one of possibly several" in repr(alone)
    other = next(graph for graph in graphs if graph != alone.graph)
    both = kes.certify(data, optima=other)
    assert both.ties == 2
    assert "one of at least 2" in repr(both)
    assert both.compared["gap"] == (pytest.approx(0.0, abs=1e-9),)


@pytest.mark.parametrize(("criterion", "ess"), CRITERIA)
def test_no_model_of_a_search_scores_higher(criterion, ess):
    data = kes.datasets.alarm(rows=200)
    names = data.names[:12]
    table = pd.DataFrame({name: data.codes[i] for i, name in enumerate(names)})
    optima = kes.learn(table, k=0.3, runs=100, criterion=criterion, ess=ess)
    certificate = kes.certify(table, criterion=criterion, ess=ess, optima=optima)
    assert certificate.proven
    assert certificate.score == pytest.approx(
        kes.score(certificate.graph, table, criterion=criterion, ess=ess), abs=1e-9
    )
    gaps = np.array(certificate.compared["gap"])
    assert gaps.min() >= -1e-9
    assert len(gaps) == len(optima), "whatever found them"


def test_agrees_with_the_exhaustive_search_of_pgmpy():
    """Another implementation, which scores every DAG by its own BIC."""
    pytest.importorskip("pgmpy")
    from pgmpy.estimators import BIC, ExhaustiveSearch

    rng = np.random.default_rng(7)
    for _ in range(2):
        dag = brute.all_dags(4)[rng.integers(543)]
        data = frame(sample(dag, [2, 3, 2, 2], 150, rng)).astype("category")
        score = BIC(data)
        theirs = ExhaustiveSearch(data, scoring_method=score).estimate()
        certificate = kes.certify(data)
        assert certificate.score == pytest.approx(score.score(theirs), rel=1e-9)


# --- what a search proves by itself ---------------------------------------------------------------


@pytest.mark.parametrize("max_parents", [None, 1])
@pytest.mark.parametrize("criterion", ["bic", "aic", "bdeu"])
@pytest.mark.parametrize("n", [3, 4])
def test_a_search_ends_in_the_best_of_all_models(n, criterion, max_parents):
    for codes in tables(n):
        best, graphs = best_models(codes, criterion, 1.0, max_parents)
        optima = kes.learn(frame(codes), criterion=criterion, max_parents=max_parents)
        assert optima.proven
        assert optima.best.score == pytest.approx(best, abs=1e-8)
        assert optima.best.graph in graphs


def test_a_model_that_only_a_proof_finds_is_the_best_of_all():
    """Of 60 tables, GES misses the best model of some; a proof finds it for each."""
    missed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        codes = rng.integers(2, size=(4, 40)).astype(np.int32)
        codes[3] = codes[0] ^ codes[1]  # of no use one by one
        best, graphs = best_models(codes, "aic", 1.0, None)
        optima = kes.learn(frame(codes), k=1, runs=1, improve=False, prove=True, criterion="aic")
        assert optima.best.score == pytest.approx(best, abs=1e-8)
        assert optima.best.graph in graphs
        missed += optima.best.origin == "exact"
    assert missed > 0
