"""Run i depends on the data, the settings, the seed and i: on nothing else."""

import numpy as np
import pytest

import kes

from . import engine
from .distributions import random_dag
from .tables import sample

RUNS = 60


def table(seed=0, n=9, rows=250):
    """Few cases from a dense DAG: a landscape with many optima."""
    rng = np.random.default_rng([17, seed])
    cardinalities = [int(r) for r in rng.integers(2, 4, n)]
    codes = sample(random_dag(n, 0.6, rng), cardinalities, rows, rng, noise=0.5)
    return codes.T  # as a user has it: one row per case


@pytest.fixture(scope="module")
def data():
    return table()


def learn(data, runs=RUNS, n_jobs=1, k=0.5, **options):
    return kes.learn(data, k=k, runs=runs, random_state=42, n_jobs=n_jobs, **options)


def outcome(optima):
    """Everything a user can see of the search; scores to the last bit."""
    found = [(o.graph, o.score, o.hits, o.origin, o.is_local_optimum) for o in optima]
    return found, list(optima.run_scores), optima.ges.graph, optima.ges.score


@pytest.fixture(scope="module")
def reference(data):
    optima = learn(data)
    assert len(optima) > 5  # else the tests below would prove nothing
    return outcome(optima)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_number_of_threads_does_not_matter(data, reference, n_jobs):
    assert outcome(learn(data, n_jobs=n_jobs)) == reference


def test_same_call_same_answer(data, reference):
    assert outcome(learn(data)) == reference


def test_seed_matters(data, reference):
    other = kes.learn(data, k=0.5, runs=RUNS, random_state=43, n_jobs=1)
    assert list(other.run_scores) != reference[1]


@pytest.mark.parametrize("parts", [(1, 59), (30, 30), (20, 1, 39)])
def test_runs_in_parts_are_the_runs_at_once(data, reference, parts):
    first, *others = parts
    optima = learn(data, runs=first)
    for runs in others:
        optima = optima.extend(runs=runs)
    assert outcome(optima) == reference


def test_result_survives_file_and_extension(data, reference, tmp_path):
    path = tmp_path / "part.kes.json.gz"
    learn(data, runs=25).save(path)
    assert outcome(kes.load(path).extend(runs=RUNS - 25, data=data)) == reference


@pytest.mark.parametrize("seed", [0, 1])
def test_order_of_rows_does_not_matter(data, reference, seed):
    rows = np.random.default_rng(seed).permutation(len(data))
    assert outcome(learn(data[rows])) == reference


@pytest.mark.parametrize("criterion", ["bic", "aic", "bdeu"])
def test_weighted_rows_are_repeated_rows(data, criterion):
    distinct, counts = np.unique(data, axis=0, return_counts=True)
    weighted = learn(distinct, weights=counts.astype(float), criterion=criterion)
    assert outcome(weighted) == outcome(learn(data, criterion=criterion))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_order_of_columns_does_not_matter_without_ties(seed):
    """Ranks decide, and ranks have no names: the runs end in the same models, renamed.

    Enough cases that no two gains tie; the canonical DAGs of the scores differ, so these may
    differ by rounding.
    """
    data = table(seed=seed + 1, n=7, rows=3000)
    order = np.random.default_rng(seed).permutation(data.shape[1])
    plain, permuted = learn(data), learn(data[:, order])
    np.testing.assert_allclose(plain.run_scores, permuted.run_scores, rtol=1e-12)
    renamed = {f"x{i}": f"x{old}" for i, old in enumerate(order)}
    for ours, theirs in zip(plain.of_runs, permuted.of_runs, strict=True):
        arcs = [(renamed[a], renamed[b]) for a, b in theirs.graph.to_dag()]
        assert kes.EssentialGraph.from_dag(ours.graph.nodes, arcs) == ours.graph


def test_cache_size_does_not_matter():
    """A cache that is full long before the end: terms are counted again, with the same bits."""
    rng = np.random.default_rng(40)
    codes = sample(random_dag(60, 0.2, rng), [2] * 60, 150, rng, noise=0.5)
    small, large = (engine.problem(codes, [2] * 60, criterion="aic", cache_mb=mb) for mb in (1, 64))
    for run in range(4):
        assert engine.trace(small, run, k=0.1) == engine.trace(large, run, k=0.1)
    assert small.cached_terms < large.cached_terms / 2


def test_search_of_any_runs_agrees_with_their_traces(data):
    """The engine's own border: runs in any order, from any subset of the run numbers."""
    codes, cardinalities = np.ascontiguousarray(data.T), [int(c.max()) + 1 for c in data.T]
    runs = [31, 2, 77, 5, 1000, 4]
    settings = {"k": 0.3, "seed": 8, "max_parents": None, "two_phase": False}
    settings |= {"start": None, "sampled": None}
    problem = engine.problem(codes, cardinalities)
    ends, models = {}, []

    counts = []

    def on_batch(done, numbers, new, steps, unfinished):
        models.extend(new)
        ends.update(zip(done, numbers, strict=True))
        counts.append(steps)
        assert unfinished is None
        return True

    problem.search(runs, on_batch, n_jobs=2, **settings)
    assert sorted(ends) == sorted(runs)
    assert counts[-1] == sum(len(problem.trace(run, **settings)[0]) for run in runs)
    fresh = engine.problem(codes, cardinalities)  # its cache has another history
    for run in runs:
        graph, score, optimal = models[ends[run]]
        _, end = fresh.trace(run, **settings)
        assert engine.graph(graph) == engine.graph(end)
        assert optimal
        assert score == fresh.score([(a, b) for a, b in kes._core.extension(len(codes), end)])
