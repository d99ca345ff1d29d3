"""Quotient NML: its normaliser by the definition, and how far the approximation may be off."""

from itertools import product
from math import comb, exp, factorial, log, prod

import numpy as np
import pytest

import kes
from kes.cli import run

from . import engine
from .scores import log_regret


def definition(cases: int, cells: int) -> float:
    """The sum of the maximised likelihoods of all tables, sequence by sequence of counts."""
    total = 0.0
    for counts in product(range(cases + 1), repeat=cells):
        if sum(counts) == cases:
            sequences = factorial(cases) // prod(factorial(n) for n in counts)
            total += sequences * prod((n / cases) ** n for n in counts)
    return total


def engine_regret(cases: int, cells: list[int]) -> float:
    """ln C(N, K) out of the engine: all cases are alike, so that no other term is left.

    The score of the complete graph is F(V) - F(empty) = -ln C(N, K), K the product of `cells`.
    """
    codes = np.zeros((len(cells), 1), dtype=np.int32)
    problem = engine.problem(codes, cells, [float(cases)], "qnml")
    return -problem.score([(a, b) for b in range(len(cells)) for a in range(b)])


@pytest.mark.parametrize("cells", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("cases", [1, 2, 3, 7])
def test_normaliser_is_the_sum_over_all_tables(cases, cells):
    expected = definition(cases, cells)
    assert exp(log_regret(cases, cells)) == pytest.approx(expected, rel=1e-12)
    assert exp(engine_regret(cases, [cells])) == pytest.approx(expected, rel=1e-12)


def test_two_cells_by_the_binomial_distribution():
    """C(N, 2) = sum_h (N over h) (h/N)^h ((N-h)/N)^(N-h); 12 ** 3 cases are summed as integers."""
    cases = 12**3
    numerator = sum(comb(cases, h) * h**h * (cases - h) ** (cases - h) for h in range(cases + 1))
    assert engine_regret(cases, [2]) == pytest.approx(
        log(numerator) - cases * log(cases), rel=1e-12
    )


@pytest.mark.parametrize("cases", [1, 5, 100, 20_000, 300_000])
def test_normaliser_of_many_cells(cases):
    """Exact up to 2**16 cells, within 4e-6 above, and no jump where the one takes over."""
    exact = [engine_regret(cases, cells) for cells in ([60_000], [256, 256])]
    for found, number in zip(exact, (60_000, 1 << 16), strict=True):
        assert found == pytest.approx(log_regret(cases, number), rel=1e-11)
    for cells in ([281, 234], [300, 300], [65_535, 65_535], [10_000] * 5):
        number = prod(cells)
        assert number > 1 << 16
        expected = log_regret(cases, number)
        assert engine_regret(cases, cells) == pytest.approx(expected, rel=1e-11, abs=4e-6)


def test_cases_are_rounded_to_a_whole_number():
    codes = np.array([[0, 1, 1, 0]], dtype=np.int32)
    for weights, cases in (([1.5, 2.0, 3.0, 0.9], 7), ([1.5, 2.0, 3.0, 1.1], 8)):
        problem = engine.problem(codes, [2], weights, "qnml")
        n = [weights[0] + weights[3], weights[1] + weights[2]]
        likelihood = sum(m * log(m / sum(n)) for m in n)
        assert problem.score([]) == pytest.approx(likelihood - log_regret(cases, 2), rel=1e-12)


def test_independence_needs_no_edge_and_dependence_gets_one():
    rng = np.random.default_rng(4)
    a = rng.integers(0, 3, 400)
    b = np.where(rng.random(400) < 0.7, a, rng.integers(0, 3, 400))
    table = np.stack([a, b, rng.integers(0, 3, 400)], axis=1)
    optima = kes.learn(table, criterion="qnml", runs=20)
    assert optima.best.graph == kes.EssentialGraph(["x0", "x1", "x2"], [], [("x0", "x1")])
    assert kes.certify(table, criterion="qnml").score == pytest.approx(optima.best.score)


def test_command_line(tmp_path):
    path = tmp_path / "a.kes.json.gz"
    assert run(["learn", "--example", "alarm", "--rows", "200", "--criterion", "qnml",
                "--runs", "5", "--out", str(path)]) == 0  # fmt: skip
    data = kes.datasets.alarm(rows=200)
    best = kes.load(path).best
    assert best.score == pytest.approx(kes.score(best.graph, data, criterion="qnml"))
