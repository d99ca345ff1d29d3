"""Criteria of continuous and mixed tables against their definitions, and the engine on them."""

from functools import cache
from itertools import pairwise
from math import inf, log

import numpy as np
import pytest

from kes import _core

from . import brute, engine
from .gaussian import DirectGaussian, predictive_bge, regression_score

SEEDS = range(50)


def linear(rng, n, rows):
    """Columns of a random linear model."""
    columns = []
    for y in range(n):
        noise = rng.normal(size=rows) if rng.random() < 0.5 else rng.exponential(size=rows)
        parents = [x for x in range(y) if rng.random() < 0.6]
        columns.append(noise + sum((rng.normal() * columns[x] for x in parents), np.zeros(rows)))
    return columns


def awkward(rng, columns):
    """The same in units from 1e-12 to 1e12, some far from zero."""
    return [
        (column + rng.choice([0.0, 0.0, 1e3, 1e5])) * 10.0 ** rng.integers(-12, 13)
        for column in columns
    ]


def mixed(rng, n, rows):
    """Some columns cut into states, one code that never occurs."""
    columns = linear(rng, n, rows)
    for v in range(n):
        if rng.random() < 0.6:
            cuts = np.quantile(columns[v], np.sort(rng.random(rng.integers(1, 4))))
            codes = np.searchsorted(cuts, columns[v] + 0.3 * rng.normal(size=rows))
            columns[v] = np.where(codes >= 2, codes + 1, codes).astype(np.int32)
    return columns


def random_dags(rng, n, count):
    dags = brute.all_dags(n)
    return [dags[i] for i in rng.integers(len(dags), size=count)]


def score(problem, dag):
    return problem.score(brute.arcs_of(dag))


@pytest.mark.parametrize("seed", SEEDS)
def test_gaussian_scores_are_exact(seed):
    rng = np.random.default_rng([1, seed])
    n, rows = int(rng.integers(2, 5)), int(rng.integers(20, 80))
    columns = awkward(rng, linear(rng, n, rows))
    for criterion, penalty in (("bic", 1.0), ("aic", 1.0), ("bic", 2.5)):
        problem = engine.gaussian(columns, criterion=criterion, penalty=penalty)
        direct = DirectGaussian(columns, criterion=criterion, penalty=penalty)
        for dag in random_dags(rng, n, 8):
            assert score(problem, dag) == pytest.approx(direct.of(dag), abs=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_differences_are_those_of_regressions(seed):
    rng = np.random.default_rng([2, seed])
    n, rows = 5, int(rng.integers(30, 400))
    columns = linear(rng, n, rows)
    problem = engine.gaussian(columns)
    dags = random_dags(rng, n, 6)
    for a, b in pairwise(dags):
        found = score(problem, a) - score(problem, b)
        penalty = log(rows) / 2
        direct = regression_score(columns, a, penalty) - regression_score(columns, b, penalty)
        assert found == pytest.approx(direct, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_degenerate_gaussian_scores_are_exact(seed):
    rng = np.random.default_rng([3, seed])
    n, rows = int(rng.integers(2, 5)), int(rng.integers(60, 100))
    columns = mixed(rng, n, rows)
    weights = None if seed % 2 else rng.integers(0, 4, rows).astype(float)
    criterion = "aic" if seed % 3 == 0 else "bic"
    problem = engine.gaussian(columns, weights, criterion)
    direct = DirectGaussian(columns, weights, criterion)
    for dag in random_dags(rng, n, 5):
        found = score(problem, dag)
        if found > -inf:  # a state of one variable may happen to tell one of another
            assert found == pytest.approx(direct.of(dag), abs=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_bge_predicts_case_by_case(seed):
    rng = np.random.default_rng([4, seed])
    n, rows = int(rng.integers(2, 6)), int(rng.integers(2, 120))
    columns = linear(rng, n, rows)
    problem = engine.gaussian(columns, criterion="bge")
    for dag in random_dags(rng, n, 5):
        direct = sum(
            predictive_bge(columns, parents | 1 << y)
            - (predictive_bge(columns, parents) if parents else 0.0)
            for y, parents in enumerate(dag)
        )
        assert score(problem, dag) == pytest.approx(direct, abs=1e-7)


def test_real_weights():
    rng = np.random.default_rng(5)
    columns = mixed(rng, 4, 80)
    weights = rng.exponential(20.0, 80)
    problem = engine.gaussian(columns, weights)
    direct = DirectGaussian(columns, weights)
    assert problem.total_weight == pytest.approx(float(direct.total), rel=1e-14)
    for dag in random_dags(rng, 4, 20):
        assert score(problem, dag) == pytest.approx(direct.of(dag), abs=1e-7)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs an extended format")
def test_many_rows_keep_six_digits_after_the_point():
    """A million rows with heavy tails and an offset; the direct formula in 64-bit mantissas."""
    rng = np.random.default_rng(6)
    rows = 1_000_000
    a = rng.standard_t(3, rows)
    b = 1e6 + 0.5 * a + rng.normal(size=rows)
    c = 1e-9 * (b - 1e6 + a + 0.1 * rng.normal(size=rows))
    found = score(engine.gaussian([a, b, c]), (0, 0b1, 0b11))
    data = np.array([a, b, c], dtype=np.longdouble)
    data -= data.mean(axis=1, keepdims=True)
    covariance = [[np.sum(x * y) / rows for y in data] for x in data]
    (p, q, r), (_, s, t), (_, _, u) = covariance
    det = p * (s * u - t * t) - q * (q * u - t * r) + r * (q * t - s * r)
    likelihood = -np.longdouble(rows) / 2 * (np.log(det) + 3 * np.log(2 * np.pi * np.exp(1.0)))
    direct = likelihood - np.longdouble(log(rows)) / 2 * 9
    # The constant of the direct formula is a double; its rounding is worth rows/2 * 3 * 4e-16.
    assert abs(float(found - direct)) < 1e-6


@pytest.mark.parametrize("criterion", ["bic", "aic", "bge"])
def test_equivalent_dags_score_the_same_to_the_bit(criterion):
    rng = np.random.default_rng(7)
    columns = linear(rng, 4, 500) if criterion == "bge" else mixed(rng, 4, 500)
    problem = engine.gaussian(columns, criterion=criterion)
    for dags in brute.models(4).classes:
        assert len({score(problem, dag) for dag in dags}) == 1


@pytest.mark.parametrize("criterion", ["bic", "bge"])
def test_the_order_of_rows_and_columns_changes_no_bit(criterion):
    rng = np.random.default_rng(8)
    columns = linear(rng, 6, 300)
    if criterion == "bic":
        columns[2] = (columns[2] > 0.2).astype(np.int32)
    weights = rng.exponential(3.0, 300)
    problem = engine.gaussian(columns, weights, criterion)
    rows = rng.permutation(300)
    shuffled = engine.gaussian([c[rows] for c in columns], weights[rows], criterion)
    assert shuffled.fingerprint == problem.fingerprint
    assert engine.trace(shuffled, 0) == engine.trace(problem, 0)
    # Column v of the table becomes column places[v], and is still the v-th in the order of names.
    places = rng.permutation(6)
    moved = [columns[v] for v in np.argsort(places)]
    moved = engine.gaussian(moved, weights, criterion, order=places)
    for dag in random_dags(rng, 5, 50):
        there = [(int(places[a]), int(places[b])) for a, b in brute.arcs_of(dag)]
        assert moved.score(there) == score(problem, dag)


def test_a_weight_is_a_number_of_rows():
    rng = np.random.default_rng(9)
    columns = mixed(rng, 5, 80)
    times = rng.integers(0, 5, 80)
    weighted = engine.gaussian(columns, times.astype(float))
    repeated = engine.gaussian([np.repeat(c, times) for c in columns])
    assert repeated.fingerprint == weighted.fingerprint
    assert engine.trace(repeated, 3) == engine.trace(weighted, 3)
    for dag in random_dags(rng, 5, 50):
        assert score(repeated, dag) == score(weighted, dag)


@pytest.mark.parametrize("criterion", ["bic", "aic", "bge"])
def test_gains_are_differences_of_full_scores_on_the_whole_boundary(criterion):
    rng = np.random.default_rng(10)
    columns = linear(rng, 4, 200) if criterion == "bge" else mixed(rng, 4, 200)
    problem = engine.gaussian(columns, criterion=criterion)
    models = brute.models(4)
    scores = [score(problem, dags[0]) for dags in models.classes]
    for m, reached in enumerate(models.boundary):
        for triple, (neighbour,) in reached.items():
            delta = problem.delta(engine.core_triple(triple))
            # A gain is a sum of a few terms, all multiples of one number: no rounding at all.
            assert delta == scores[neighbour] - scores[m]


@pytest.mark.parametrize("criterion", ["bic", "aic", "bge"])
@pytest.mark.parametrize("seed", range(5))
def test_the_exact_optimum_is_that_of_brute_force(criterion, seed):
    rng = np.random.default_rng([11, seed])
    columns = linear(rng, 4, 60) if criterion == "bge" else mixed(rng, 4, 60)
    problem = engine.gaussian(columns, criterion=criterion)
    families = problem.families(lambda _: True, max_parents=None, n_jobs=2, memory_mb=100)
    arcs, best = families.optimum(lambda _: True, n_jobs=2, memory_mb=100)
    assert best == max(score(problem, dag) for dag in brute.all_dags(4))
    assert problem.score(arcs) == best


def best_of_all_orders(term, n):
    """Highest score of any DAG, by dynamic programming over all sets and all families."""
    everything = (1 << n) - 1
    choice = {}  # the best family of y with parents in a set
    for y in range(n):
        for allowed in sorted(brute.subsets(everything & ~(1 << y)), key=int.bit_count):
            own = term(allowed | 1 << y) - term(allowed) if term(allowed | 1 << y) > -inf else -inf
            smaller = [choice[y, allowed & ~(1 << x)] for x in brute.members(allowed)]
            choice[y, allowed] = max([own, *smaller])
    best = {0: 0.0}
    for nodes in range(1, everything + 1):
        sinks = [(y, nodes & ~(1 << y)) for y in brute.members(nodes)]
        best[nodes] = max(best[rest] + choice[y, rest] for y, rest in sinks)
    return best[everything]


@pytest.mark.parametrize("criterion", ["bic", "aic"])
@pytest.mark.parametrize("seed", range(6))
def test_exact_search_with_inadmissible_sets(criterion, seed):
    """Eight variables; too few rows for large families, or a column that depends on others."""
    rng = np.random.default_rng([17, seed])
    n, rows = 8, [14, 60, 1000][seed % 3]
    columns = linear(rng, n, rows)
    if seed % 3 == 1:
        columns[5] = columns[0] - 2 * columns[3]
    correlation = np.corrcoef(columns)
    alone = [-rows / 2 * (log(2 * np.pi * np.var(column)) + 1) for column in columns]
    unit = log(rows) / 2 if criterion == "bic" else 1.0

    @cache
    def term(nodes):
        part = list(brute.members(nodes))
        if len(part) > 1 and 2 * len(part) >= rows:
            return -inf
        determinant = np.linalg.det(correlation[np.ix_(part, part)])
        if determinant < 1e-9:  # the only dependence here is exact
            return -inf
        likelihood = sum(alone[v] for v in part) - rows / 2 * log(determinant)
        return likelihood - unit * len(part) * (len(part) + 3) / 2

    problem = engine.gaussian(columns, criterion=criterion)
    families = problem.families(lambda _: True, max_parents=None, n_jobs=1, memory_mb=100)
    arcs, best = families.optimum(lambda _: True, n_jobs=1, memory_mb=100)
    assert best == pytest.approx(best_of_all_orders(term, n), abs=1e-6)
    assert problem.score(arcs) == best


@pytest.mark.parametrize("criterion", ["bic", "bge"])
def test_runs_end_in_local_optima(criterion):
    rng = np.random.default_rng(12)
    columns = linear(rng, 8, 200)
    problem = engine.gaussian(columns, criterion=criterion)
    for run in range(5):
        steps, end = engine.trace(problem, run, k=0.5)
        assert steps
        assert problem.is_local_optimum(end, None)


def test_a_dependent_set_is_noted_and_never_entered():
    """c is a + b: any two of them are fine, no family holds all three."""
    rng = np.random.default_rng(13)
    a, b, d = rng.normal(size=(3, 200))
    problem = engine.gaussian([a, b, a + b, d])
    assert problem.excluded == []
    assert problem.dependent is None
    _, (directed, undirected) = engine.trace(problem, 0, k=1.0)
    assert problem.dependent == [0, 1, 2]
    assert directed == []
    assert len([edge for edge in undirected if 3 not in edge]) == 2
    assert problem.delta((True, 0, 1, [2])) == -inf
    assert problem.score([(0, 2), (1, 2)]) == -inf


def test_twins_are_found_before_the_search():
    rng = np.random.default_rng(14)
    celsius = rng.normal(20.0, 5.0, 100)
    codes = rng.integers(0, 3, 100).astype(np.int32)
    columns = [celsius, codes, 32 + 1.8 * celsius, (2 - codes).astype(np.int32), 0.9 * celsius**3]
    assert engine.gaussian(columns).excluded == [(0, 2, "twins"), (1, 3, "twins")]


def test_constant_columns_stay_alone():
    rng = np.random.default_rng(15)
    varying, constant, one_state = rng.normal(size=50), np.full(50, 7.5), np.zeros(50, np.int32)
    for criterion, columns in (
        ("bic", [varying, constant, one_state]),
        ("bge", [varying, constant]),
    ):
        problem = engine.gaussian(columns, None, criterion)
        assert problem.score([]) == engine.gaussian([varying], None, criterion).score([])
        assert engine.trace(problem, 0) == ([], ([], []))


@pytest.mark.parametrize("criterion", ["bic", "aic", "bge"])
def test_fewer_cases_than_columns(criterion):
    rng = np.random.default_rng(16)
    columns = list(rng.normal(size=(30, 12)))
    problem = engine.gaussian(columns, None, criterion)
    _, end = engine.trace(problem, 0)
    dag = brute.dag_from_arcs(30, _core.extension(30, end))
    assert np.isfinite(score(problem, dag))
    assert criterion == "bge" or brute.max_in_degree(dag) < 12 / 2 - 1
    one_row = engine.gaussian([column[:1] for column in columns], None, criterion)
    assert engine.trace(one_row, 0) == ([], ([], []))
    assert one_row.score([]) == 0.0
