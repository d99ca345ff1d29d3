"""The search among thousands of columns: the same bits as with few, and the whole product."""

import numpy as np
import pytest
from tests.unit.refused import refused

import kes
from kes import _core

NETWORKS = 300
RUNS = 20
KINDS = {
    "discrete": ("bic", "bdeu"),
    "continuous": ("bic", "bge"),
    "mixed": ("bic",),
}


def _arcs(n, rng):
    pairs = rng.integers(0, n, size=(3 * n // 2, 2))
    return sorted({(int(min(a, b)), int(max(a, b))) for a, b in pairs if a != b})


def _numbers(n, arcs, rows, rng):
    values = rng.normal(size=(n, rows))
    for parent, child in arcs:  # sorted by parent: those of a child come one after the other
        values[child] += rng.uniform(0.3, 1) * rng.choice([-1, 1]) * values[parent]
    return values


def _columns(kind, values, rng):
    """Return the columns of a kind of table, some cut into states, and the numbers of states."""
    n = len(values)
    is_cut = {"discrete": np.ones(n), "continuous": np.zeros(n), "mixed": rng.random(n) < 0.5}[kind]
    states = [int(number) for number in rng.integers(2, 5, n)]
    cuts = [np.quantile(row, np.arange(1, r) / r) for row, r in zip(values, states, strict=True)]
    code = np.uint8 if kind == "discrete" else np.int32
    columns = [
        np.searchsorted(cut, row).astype(code) if here else row
        for cut, row, here in zip(cuts, values, is_cut, strict=True)
    ]
    return columns, states


def _make(kind, columns, states, order, weights, name, price, lists):
    if kind == "discrete":
        return _core.Problem(columns, states, weights, name, 1.0, 16, price, sparse=lists)
    more = (order, weights, name, 1.0, 16, 1, price)
    if kind == "mixed":
        return _core.Problem.location(columns, states, *more, sparse=lists)
    return _core.Problem.gaussian(columns, *more, sparse=lists)


def _problems(n, arcs, rng):
    """Return the problem with sets of bits, and with lists."""
    kind = str(rng.choice(list(KINDS)))
    name = str(rng.choice(KINDS[kind]))
    rows = int(rng.integers(30, 200 if n < 100 else 60))
    columns, states = _columns(kind, _numbers(n, arcs, rows, rng), rng)
    weights = rng.integers(1, 4, rows) * 0.7 if rng.random() < 0.3 else None
    has_price = n > 40 or rng.random() < 0.5
    pairs = [(*arcs[0], 3.0), (*arcs[-1], -3.0)] if rng.random() < 0.3 else []
    price = (-float(rng.uniform(0.5, 1) * np.log(n)), pairs, []) if has_price else None
    order = [int(v) for v in rng.permutation(n)]
    return [
        _make(kind, columns, states, order, weights, name, price, lists) for lists in (False, True)
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
        list(range(RUNS)),
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
        "two_phase": bool(rng.random() < 0.2),
        "start": None,
        "sampled": None,
        "knowledge": _knowledge(n, arcs, rng),
    }
    assert dense.trace(0, **options) == sparse.trace(0, **options), seed
    options["k"] = float(rng.choice([0.4, 0.8]))
    assert _ends(dense, options) == _ends(sparse, options), seed
    assert dense.fingerprint == sparse.fingerprint
    assert dense.excluded == sparse.excluded
    assert dense.score(arcs) == sparse.score(arcs)


@pytest.mark.parametrize("part", range(4))
def test_lists_and_sets_of_bits_give_the_same_bits(part):
    """Three hundred networks: most have ten to twenty variables, the largest 400."""
    for seed in range(part, NETWORKS, 4):
        _compare(seed, 10 + round(390 * ((seed * 7 % NETWORKS) / (NETWORKS - 1)) ** 40))


def _improved(problem, start):
    batches = []
    problem.improve(
        [start],
        lambda models, done: batches.extend(models) or True,
        tasks=20,
        seed=3,
        max_parents=None,
        n_jobs=1,
    )
    return sorted(map(repr, batches))


@pytest.mark.parametrize("kind", list(KINDS))
def test_what_lists_cannot_do_is_done_by_sets_of_bits(kind):
    rng = np.random.default_rng(1)
    columns, states = _columns(kind, _numbers(12, _arcs(12, rng), 80, rng), rng)
    order = list(range(12))[::-1]
    dense, sparse = (
        _make(kind, columns, states, order, None, "bic", None, lists) for lists in (False, True)
    )
    start = ([], [])
    assert _improved(dense, start) == _improved(sparse, start) != []
    assert dense.boundary(start, None) == sparse.boundary(start, None) != []


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
    assert list(optima.extend(1, data=wide).run_scores[:2]) == list(optima.run_scores)


@pytest.mark.slow
def test_what_needs_sets_of_bits_is_refused(wide):
    with refused("up to 4096 variables", option="prove"):
        kes.learn(wide, runs=1, improve=False, prove=True)
    with refused("up to 4096 variables"):
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
    found = {frozenset(arc) for arc in optima.best.graph.directed} | optima.best.graph.undirected
    groups = [{int(name[1:]) // 5 for name in edge} for edge in found]
    # Sixty cases in two states may take a neighbour's neighbour for a neighbour, but groups are
    # independent.
    assert sum(len(own) == 1 for own in groups) > 0.9 * 4 * (4200 // 5)
    assert sum(len(own) == 2 for own in groups) < 0.02 * 4200
    assert optima.best.is_local_optimum
