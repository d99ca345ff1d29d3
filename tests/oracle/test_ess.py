"""BDeu for every equivalent sample size: scores, gains and optima keep their digits."""

from math import log

import mpmath
import numpy as np
import pytest

import kes
from kes import _core

from . import brute, engine
from .scores import DirectScore
from .tables import sample

SIZES = [1e-12, 1e-6, 1e-3, 1.0, 60.0, 64.0, 500.0, 1e4, 1e6, 1e9, 1e12, 1e15, 1e20, 1e30, 1e300]
ROWS = 200


@pytest.fixture(scope="module", params=["counts", "reals"])
def table(request):
    """Four dependent variables; once with real weights."""
    rng = np.random.default_rng(8)
    cardinalities = [2, 3, 2, 4]
    codes = sample((0, 1, 1, 6), cardinalities, ROWS, rng)
    weights = None if request.param == "counts" else rng.exponential(3.0, ROWS)
    return codes, cardinalities, weights


def with_sixty_digits(codes, cardinalities, weights, ess, dag):
    """The score of a DAG by the family formula of BDeu, every operation with sixty digits."""
    total = mpmath.mpf(0)
    weights = np.ones(codes.shape[1]) if weights is None else weights
    for y, parents in enumerate(dag):
        family = [*brute.members(parents), y]
        for variables, sign in ((family, 1), (family[:-1], -1)):
            cell = mpmath.mpf(ess) / mpmath.fprod(cardinalities[v] for v in variables)
            counts = {}
            for row, weight in enumerate(weights):
                key = tuple(codes[v][row] for v in variables)
                counts[key] = counts.get(key, mpmath.mpf(0)) + mpmath.mpf(float(weight))
            for n in counts.values():
                total += sign * (mpmath.loggamma(cell + n) - mpmath.loggamma(cell))
    return total


@pytest.mark.parametrize("ess", SIZES)
def test_scores_and_gains_have_all_their_digits(table, ess):
    codes, cardinalities, weights = table
    problem = engine.problem(codes, cardinalities, weights, "bdeu", ess)
    dags = [(0, 0, 0, 0), (0, 1, 0, 0), (0, 1, 1, 6), (0, 1, 3, 7)]
    with mpmath.workdps(400 if ess > 1e30 else 60):
        exact = [with_sixty_digits(codes, cardinalities, weights, ess, dag) for dag in dags]
        gain = float(exact[1] - exact[0])
    for dag, expected in zip(dags, exact, strict=True):
        found = problem.score(brute.arcs_of(dag))
        assert found == pytest.approx(float(expected), rel=1e-13)
        assert found < 0  # the logarithm of a probability, whatever the prior
    # A gain is known to within a tenth of the tolerance: never is one of that size an accident.
    assert abs(problem.delta((True, 0, 1, [])) - gain) < 0.1 * problem.tolerance


@pytest.mark.parametrize("ess", SIZES)
def test_the_tolerance_is_tiny_beside_any_gain_that_matters(ess):
    """It grows with the cases and the logarithm of the sample size, not with the latter itself.

    Terms are of the size N ln(N + ess) or less, or of |ln ess| for each occupied cell; the
    tolerance is that, with 45 bits to spare.
    """
    for cases in (10, 10**5, 10**7):
        codes = np.array([[0, 1]], dtype=np.int32)
        problem = engine.problem(codes, [2], [cases / 2] * 2, "bdeu", ess)
        size = cases * max(1.0, log(cases + ess), -log(ess))
        assert problem.tolerance <= 2**-45 * size * 1.0001
        assert problem.tolerance < 1e-3


@pytest.mark.parametrize("ess", [1e6, 1e9, 1e12])
def test_best_network_is_the_best_of_all(ess):
    """With a large sample size the criterion takes all edges; before, rounding chose some."""
    rng = np.random.default_rng(2)
    codes = sample((0, 1, 1, 6), [2, 3, 2, 2], 3000, rng)
    direct = DirectScore(codes, [2, 3, 2, 2], criterion="bdeu", ess=ess)
    scores = {dag: direct.of(dag) for dag in brute.all_dags(4)}
    best = max(scores, key=scores.__getitem__)
    problem = engine.problem(codes, [2, 3, 2, 2], None, "bdeu", ess)
    assert problem.score(brute.arcs_of(best)) == pytest.approx(scores[best], rel=1e-13)
    _, end = engine.trace(problem, 0, k=1.0)
    names = ["x0", "x1", "x2", "x3"]
    proven = kes.certify(codes.T, criterion="bdeu", ess=ess)
    assert proven.score == pytest.approx(scores[best], rel=1e-13)
    reached = problem.score(_core.extension(4, end))
    assert scores[best] - reached < problem.tolerance + 1e-12 * abs(reached)
    assert proven.graph.nodes == tuple(names)


def test_all_models_tie_where_the_prior_says_nothing_else():
    """Gains fall like N^2 / ess: at 1e30 none is left, the score is that of guessing, no more."""
    rng = np.random.default_rng(5)
    codes = sample((0, 1, 1, 6), [2, 3, 2, 2], 1000, rng)
    problem = engine.problem(codes, [2, 3, 2, 2], None, "bdeu", 1e30)
    steps, end = engine.trace(problem, 0, k=1.0)
    assert (steps, end) == ([], engine.EMPTY)
    guessing = -1000 * log(2 * 3 * 2 * 2)
    assert problem.score([]) == pytest.approx(guessing, rel=1e-13)


@pytest.mark.parametrize("ess", [0.0, -1.0, float("nan"), float("inf"), 2e300])
def test_what_is_no_sample_size_is_refused(ess):
    codes = np.array([[0, 1]], dtype=np.int32)
    with pytest.raises(_core.CoreError, match="ess must be greater than 0 and at most 1e300"):
        engine.problem(codes, [2], None, "bdeu", ess)
