"""Every criterion against sixty digits: weights from 1e-12 to 1e12, any sample size, any columns.

What a gain may be off by is a small part of the tolerance of the engine: gains that differ by less
are ties, so a larger error would make differences of equal models, or the reverse. What a score may
be off by is the same, once for each of its families.
"""

from math import inf, sqrt

import numpy as np
import pytest
from mpmath import mp, mpf

import kes
from kes import _core
from kes.data import encode

from . import brute, engine
from .sixty_digits import Discrete, Gaussian, log_regret
from .tables import sample

ROWS = 50
DAGS = [(0, 0, 0, 0), (0, 1, 1, 6), (0, 1, 3, 7)]
TRIPLES = [(0, 1, ()), (2, 3, (0,)), (0, 3, (1, 2)), (1, 2, (0, 3))]

WEIGHTS = {
    "none": lambda rng: None,
    # The sum of the weights decides what the smallest of them count.
    "1e-12 to 1": lambda rng: 10.0 ** rng.uniform(-12, 0, ROWS) + np.eye(ROWS)[0] * 12,
    "1e-12 to 1e12": lambda rng: 10.0 ** rng.uniform(-12, 12, ROWS),
    "counts to 1e12": lambda rng: np.floor(10.0 ** rng.uniform(0, 12, ROWS)),
    "N = 1e12": lambda rng: rng.exponential(1e12 / ROWS, ROWS),
    "N = 2": lambda rng: rng.exponential(1.0, ROWS) / ROWS + 1 / ROWS,
}


def weighted(kind, seed):
    rng = np.random.default_rng(seed)
    return WEIGHTS[kind](rng), rng


def errors(problem, exact):
    """Errors of gains and scores in tolerances; inadmissible edges have none."""
    found = []
    with mp.workdps(60):
        for x, y, given in TRIPLES:
            gain = problem.delta((True, x, y, list(given)))
            if gain > -inf:
                found.append(mpf(gain) - exact.delta(x, y, brute.bits(given)))
        for dag in DAGS:
            score = problem.score(brute.arcs_of(dag))
            if score > -inf:
                found.append((mpf(score) - exact.of(dag)) / len(dag))
        assert len(found) >= len(DAGS)
        return [abs(float(error / problem.tolerance)) for error in found]


def test_every_criterion_is_here():
    """A criterion that is added must be added below; the location model has its own oracle."""
    names = {(own.name, kind) for own in _core.CRITERIA for kind in own.kinds}
    discrete = {(name, "discrete") for name in ("bic", "aic", "bdeu", "qnml")}
    gaussian = {(name, "continuous") for name in ("bic", "aic", "bge")}
    degenerate = {(name, "mixed") for name in ("degenerate-bic", "degenerate-aic")}
    location = {(name, "mixed") for name in ("bic", "aic")}
    assert names == discrete | gaussian | degenerate | location


# --- discrete tables ------------------------------------------------------------------------------


def discrete(kind, noise, seed=1):
    """Four variables; without noise, each but the first is determined by its parents."""
    weights, rng = weighted(kind, [seed, int(noise * 10)])
    cardinalities = [2, 3, 2, 4]
    codes = sample((0, 1, 1, 6), cardinalities, ROWS, rng, noise)
    if noise == 0.0:
        codes[3, -1] = (codes[3, -1] + 1) % 4  # but for one case
    return codes, cardinalities, weights


@pytest.mark.parametrize("noise", [0.3, 0.0])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("criterion", ["bic", "aic", "qnml"])
def test_penalised_likelihoods(criterion, kind, noise):
    codes, cardinalities, weights = discrete(kind, noise)
    problem = engine.problem(codes, cardinalities, weights, criterion)
    exact = Discrete(codes, cardinalities, weights, criterion)
    assert max(errors(problem, exact)) < 0.25


@pytest.mark.parametrize("ess", [1e-300, 1e-12, 1e-3, 1.0, 100.0, 255.0, 1e4, 1e12, 1e100])
@pytest.mark.parametrize("noise", [0.3, 0.0])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_bdeu(kind, noise, ess):
    codes, cardinalities, weights = discrete(kind, noise)
    problem = engine.problem(codes, cardinalities, weights, "bdeu", ess)
    exact = Discrete(codes, cardinalities, weights, "bdeu", ess)
    assert max(errors(problem, exact)) < 0.25


@pytest.mark.parametrize("ess", [1e-300, 1e-3, 1.0, 255.0, 1e4])
def test_bdeu_of_many_rows_with_little_weight(ess):
    """Terms grow with the occupied cells, not with the cases: 4 000 rows are 2 cases."""
    rng = np.random.default_rng(5)
    cardinalities = [20, 20, 20, 20]
    codes = rng.integers(0, 20, (4, 4000)).astype(np.int32)
    weights = np.full(4000, 2.0 / 4000) * rng.uniform(0.9, 1.1, 4000)
    problem = engine.problem(codes, cardinalities, weights, "bdeu", ess)
    exact = Discrete(codes, cardinalities, weights, "bdeu", ess)
    with mp.workdps(60):
        gain = mpf(problem.delta((True, 0, 1, [2]))) - exact.delta(0, 1, 4)
    assert abs(float(gain)) < 0.25 * problem.tolerance


@pytest.mark.parametrize("cells", [2, 3, 100, 65_536])
@pytest.mark.parametrize("cases", [1, 2, 1_000, 10**6 + 1, 10**9, 10**12])
def test_regret(cases, cells):
    """Sum, expansion and recurrence of the engine by one integral; all cases are alike."""
    sizes = [256, 256] if cells == 65_536 else [cells]
    codes = np.zeros((len(sizes), 1), dtype=np.int32)
    problem = engine.problem(codes, sizes, [float(cases)], "qnml")
    found = -problem.score([(0, 1)] if len(sizes) == 2 else [])
    # F(V) - F(empty): N ln N cancels, and leaves its rounding.
    rounding = 4e-16 * cases * max(1.0, np.log(cases))
    assert found == pytest.approx(float(log_regret(cases, cells)), rel=1e-11, abs=rounding)


# --- continuous and mixed tables ------------------------------------------------------------------

COLLINEAR = (1e-1, 1e-2, 1e-3, 1e-4)
MANY_CASES = [kind for kind in WEIGHTS if kind != "N = 2"]  # families need more than that
TABLES = ["plain", "offset", "units", *(f"collinear {size:g}" for size in COLLINEAR)]


def continuous(table, rng):
    a, b, c, d = rng.normal(size=(4, ROWS))
    b = a + b
    c = a - 0.5 * b + c * (float(table.split()[1]) if table.startswith("collinear") else 1.0)
    d = c + d
    if table == "offset":  # mean / deviation = 1e9
        return [column + 1e9 * column.std() for column in (a, b, c, d)]
    if table == "units":
        return [a * 1e-150, b * 1e150, c * 1e-12, d * 1e12]
    return [a, b, c, d]


def allowance(exact):
    """The precision of a score with 41 bits of each number, and 62 of its product with a weight.

    A number is off by up to 2^-41 of the largest deviation, and the numbers of the rows
    independently: the part p of a column that others do not explain by 2^-41 k sqrt(p/N'), with k
    the largest deviation in standard deviations and N' the rows that count. ln p is off by that
    over p, and a score by N/2 times as much. Four times that is hardly ever reached. Products are
    off by 2^-62 of the largest there can be, which is felt where a column varies only in rows that
    weigh next to nothing.
    """
    weights = np.array(exact.weights, dtype=float)
    counted = weights > 0
    weights = weights[counted]
    effective = weights.sum() ** 2 / (weights**2).sum()
    centred = np.array(exact.embedded, dtype=float)[:, counted]
    centred /= np.abs(centred).max(axis=1, keepdims=True)
    variation = (weights * centred**2).sum(axis=1)
    deviation = np.sqrt(variation / weights.sum())
    covariance = np.cov(centred / deviation[:, None], aweights=weights, bias=True)
    unexplained = np.linalg.eigvalsh(np.atleast_2d(covariance)).min()
    numbers = 4 * 2**-41 / deviation.min() / sqrt(unexplained * effective)
    products = 2**-62 * weights.max() * (np.abs(centred).sum(axis=1) / variation).max()
    return weights.sum() * (numbers + products)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kind", MANY_CASES)
@pytest.mark.parametrize("criterion", ["bic", "aic", "bge"])
def test_gaussian(criterion, kind, table):
    weights, rng = weighted(kind, 3)
    columns = continuous(table, rng)
    problem = engine.gaussian(columns, weights, criterion)
    exact = Gaussian(columns, weights, criterion)
    bits = allowance(exact) / problem.tolerance
    assert max(errors(problem, exact)) < 0.25 + bits


@pytest.mark.parametrize("rare", [False, True])
@pytest.mark.parametrize("kind", MANY_CASES)
@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_degenerate_gaussian(criterion, kind, rare):
    """Two of four columns are discrete; once one of their states occurs in a single row."""
    weights, rng = weighted(kind, 4)
    columns = continuous("plain", rng)
    states = np.digitize(columns[1], [-1.0, 0.0, 1.0])
    columns[1] = (np.arange(ROWS) == 7 if rare else states).astype(np.int32)
    columns[3] = (columns[3] > 0).astype(np.int32)
    problem = engine.gaussian(columns, weights, criterion)
    exact = Gaussian(columns, weights, criterion)
    bits = allowance(exact) / problem.tolerance
    assert max(errors(problem, exact)) < 0.25 + bits


@pytest.mark.parametrize("penalty", [1e-6, 1e6])
def test_gaussian_penalties(penalty):
    _, rng = weighted("none", 6)
    columns = continuous("plain", rng)
    problem = engine.gaussian(columns, None, "bic", penalty)
    exact = Gaussian(columns, None, "bic", penalty)
    # A penalty of 1e6 leaves what its own size rounds to.
    bits = allowance(exact) + 1e-15 * penalty * 40
    assert max(errors(problem, exact)) < 0.25 + bits / problem.tolerance


# --- weights too small to count -------------------------------------------------------------------


def test_weights_below_the_unit_count_as_zero_with_a_note():
    """Of 1e12 cases the unit is 2^-20: a weight of 1e-12 is none, one of 1e-6 is one unit."""
    rng = np.random.default_rng(7)
    table = rng.integers(0, 2, (40, 3))
    heavy = rng.exponential(1e12 / 40, 40)
    weights = np.where(np.arange(40) < 5, 1e-12, heavy)
    light = encode(table, weights=weights)
    assert light.notes == (
        "5 weights are less than 2^-60 of the sum of all, too little to be counted, so 0 is used "
        "instead",
    )
    none = encode(table, weights=np.where(weights < 1, 0.0, weights))
    assert none.notes == ()
    assert list(kes.learn(light, runs=5)) == list(kes.learn(none, runs=5))
    heavy[:5] = 1e-6
    assert encode(table, weights=heavy).notes == ()
