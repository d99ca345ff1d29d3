"""The search among thousands of columns: the same bits as with few, and the whole product."""

import itertools

import numpy as np
import pytest
from tests.unit.refused import refused

import kes
from kes import _core
from kes.errors import KesError

NETWORKS = 300


def _arcs(n, rng):
    pairs = rng.integers(0, n, size=(3 * n // 2, 2))
    return sorted({(int(min(a, b)), int(max(a, b))) for a, b in pairs if a != b})


def _numbers(n, arcs, rows, rng):
    values = rng.normal(size=(n, rows))
    for parent, child in arcs:  # sorted by parent: those of a child come one after the other
        values[child] += rng.uniform(0.3, 1) * rng.choice([-1, 1]) * values[parent]
    return values


def _problems(n, arcs, rng):
    """Return the problem with sets of bits, and with lists."""
    rows = int(rng.integers(30, 300))
    values = _numbers(n, arcs, rows, rng)
    weights = rng.integers(1, 4, rows) * 0.7 if rng.random() < 0.3 else None
    price = (-float(rng.uniform(0.5, 1) * np.log(n)), [], []) if rng.random() < 0.5 else None
    if rng.random() < 0.5:
        order = [int(v) for v in rng.permutation(n)]
        name = str(rng.choice(["bic", "aic"])) if rows > 10 * n else "bic"
        return [
            _core.Problem.gaussian(
                list(values), order, weights, name, 1.0, 16, 1, price, sparse=sparse
            )
            for sparse in (False, True)
        ]
    states = [int(number) for number in rng.integers(2, 5, n)]
    cuts = [np.quantile(row, np.arange(1, r) / r) for row, r in zip(values, states, strict=True)]
    codes = [np.searchsorted(*both).astype(np.uint8) for both in zip(cuts, values, strict=True)]
    name = str(rng.choice(["bic", "bdeu"]))
    return [
        _core.Problem(codes, states, weights, name, 1.0, 16, price, sparse=sparse)
        for sparse in (False, True)
    ]


def _knowledge(n, arcs, rng):
    """Return knowledge that a network obeys: tiers, required and forbidden arcs."""
    tiers = None
    kind = rng.integers(4)
    if kind in (1, 2):
        some = rng.random(n) < (1 if kind == 1 else 0.6)
        tiers = [3 * v // n if some[v] else None for v in range(n)]
    required = [arcs[int(i)] for i in rng.integers(0, len(arcs), 2)] if kind > 1 else []
    others = [(int(b), int(a)) for a, b in arcs[::7]] if kind > 1 else []
    return None if kind == 0 else (tiers, required, others)


def _ends(problem, options):
    batches = []
    problem.search(
        list(range(20)),
        lambda runs, ends, models, *_: batches.append((runs, ends, models)) or True,
        n_jobs=2,
        **options,
    )
    models = [model for _, _, new in batches for model in new]
    return {
        run: models[end] for runs, ends, _ in batches for run, end in zip(runs, ends, strict=True)
    }


def _compare(seed, n):
    """Compare every step of GES, its |B| and gain, and the ends and certificates of 20 runs."""
    rng = np.random.default_rng(seed)
    arcs = _arcs(n, rng)
    dense, sparse = _problems(n, arcs, rng)
    options = {
        "k": 1.0,
        "seed": seed,
        "max_parents": [None, None, 4, 5][rng.integers(4)],
        "two_phase": False,
        "start": None,
        "sampled": None,
        "knowledge": _knowledge(n, arcs, rng),
    }
    assert dense.trace(0, **options) == sparse.trace(0, **options), seed
    if n <= 25:
        options["k"] = float(rng.choice([0.4, 0.8]))
        assert _ends(dense, options) == _ends(sparse, options), seed
    assert dense.fingerprint == sparse.fingerprint
    assert dense.score(arcs) == sparse.score(arcs)


def test_lists_and_sets_of_bits_give_the_same_bits():
    for seed in range(16):
        _compare(seed, 10 + seed % 6)
    _compare(100, 80)


@pytest.mark.slow
def test_three_hundred_networks():
    for seed in range(NETWORKS):
        _compare(seed, 100 + seed if seed % 10 == 0 else 10 + seed % 16)


def test_one_column_more_than_sets_of_bits_can_hold_is_learned():
    n = _core.MAX_VARIABLES + 1
    values = np.random.default_rng(0).normal(size=(20, n))
    values[:, -1] += 9 * values[:, 0]
    optima = kes.learn(values, runs=1, improve=False)
    assert optima.best.is_local_optimum
    graph = optima.best.graph
    found = {frozenset(arc) for arc in graph.directed} | graph.undirected
    assert frozenset({"x0", f"x{n - 1}"}) in found


@pytest.mark.parametrize("kind", ["continuous", "discrete"])
def test_the_memory_that_a_wide_table_needs_depends_on_its_kind(monkeypatch, kind):
    rows, n = 8, _core.MAX_VARIABLES + 4
    values = np.random.default_rng(0).normal(size=(rows, n))
    table = values if kind == "continuous" else np.where(values > 0, "high", "low")
    needed = {"continuous": 4 * n**2 + 32 * n * rows, "discrete": 4 * n * rows}[kind]
    monkeypatch.setattr("kes.native.available", lambda: needed - 1)
    with refused("GB of memory", option="columns"):
        kes.learn(table, runs=1, improve=False)


@pytest.fixture(scope="module")
def wide():
    """A table of more columns than sets of bits can hold, in groups of five that form chains."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4200, 60))
    for v in range(4200):
        if v % 5:
            values[v] += 2 * values[v - 1]
    return values.T


@pytest.fixture(scope="module")
def optima(wide):
    return kes.learn(wide, runs=2, improve=1)


@pytest.mark.slow
def test_a_wide_table_is_learned_by_default_means(wide, optima, tmp_path):
    best = optima.best
    assert best.is_local_optimum
    # By the price of edges, chains are found and hardly anything else.
    true = {frozenset({f"x{v - 1}", f"x{v}"}) for v in range(4200) if v % 5}
    found = {frozenset(arc) for arc in best.graph.directed} | best.graph.undirected
    assert len(found & true) > 0.9 * len(true), "sixty cases show nearly all of them"
    assert len(found - true) < 0.2 * len(true)
    file = tmp_path / "wide.kes.json.gz"
    optima.save(file)
    assert kes.load(file) == optima
    assert optima.extend(1, data=wide).runs[:2] == optima.runs


@pytest.mark.slow
def test_what_needs_sets_of_bits_is_refused(wide):
    with refused("up to 4096 variables", option="prove"):
        kes.learn(wide, runs=1, improve=False, prove=True)
    with refused("at most 4096", option="criterion"):
        kes.learn(wide, criterion="bge")
    with pytest.raises(KesError, match="up to 4096 variables"):
        kes.inclusion_boundary(kes.EssentialGraph([f"x{v}" for v in range(4200)], [], []), wide)


@pytest.mark.slow
def test_what_does_not_fit_is_refused(wide, monkeypatch):
    monkeypatch.setattr("kes.native.available", lambda: 10**6)
    with refused("GB of memory", option="columns"):
        kes.learn(wide)


@pytest.mark.slow
def test_discrete_states_of_many_columns(wide):
    states = np.where(wide > 0, "high", "low")
    optima = kes.learn(states, runs=1, improve=False, prove=False)
    pairs = itertools.pairwise(f"x{v}" for v in range(4200))
    true = {frozenset(pair) for v, pair in enumerate(pairs, 1) if v % 5}
    found = {frozenset(arc) for arc in optima.best.graph.directed} | optima.best.graph.undirected
    assert len(found & true) > 0.9 * len(found)
    assert optima.best.is_local_optimum
