"""The draw: how often each improving neighbour is taken, against the paper's definition.

C is a uniform subset of B with m = max(1, floor(k b)) of its b members, and the best of C is
taken. Its rank in B, counted from 1, is r for C(b - r, m - 1) of the C(b, m) subsets.
"""

from collections import Counter
from itertools import combinations
from math import comb, floor

import numpy as np
import pytest

from . import engine
from .chi_square import surprise
from .tables import noisy_copies

RUNS = 2000
LIMIT = 4.0  # one false alarm in 30 000; the seeds are fixed, so it is now or never


def subset_size(k, b):
    return max(1, floor(k * b + 1e-9))


def rank_chances(b, m):
    return [comb(b - r, m - 1) / comb(b, m) for r in range(1, b + 1)]


@pytest.mark.parametrize(("b", "m"), [(1, 1), (5, 1), (5, 3), (6, 6), (7, 2)])
def test_formula_is_the_share_of_subsets(b, m):
    best = Counter(min(chosen) for chosen in combinations(range(b), m))
    assert rank_chances(b, m) == [best[r] / comb(b, m) for r in range(b)]


@pytest.fixture(scope="module")
def problems():
    """In n noisy copies of one variable all n(n-1)/2 pairs depend: b is known at the first step."""
    rng = np.random.default_rng(2003)
    return {n: engine.problem(noisy_copies(n, 600, rng), [2] * n) for n in (3, 5, 6)}


@pytest.mark.parametrize("n", [3, 5, 6])
@pytest.mark.parametrize("k", [0.0, 0.1, 0.4, 0.5, 0.8, 0.95])
def test_rank_of_the_first_step(problems, n, k):
    b = n * (n - 1) // 2
    m = subset_size(k, b)
    ranks = Counter()
    for run in range(RUNS):
        steps, _ = engine.trace(problems[n], run, k=k, seed=7)
        _, _, size, rank = steps[0]
        assert size == b
        ranks[rank] += 1
    observed = [ranks[r] for r in range(b)]
    assert sum(observed) == RUNS
    assert surprise(observed, [RUNS * p for p in rank_chances(b, m)]) < LIMIT
    if 1 < m < b:  # the test is sharp enough to notice one member more or less in C
        for other in (m - 1, m + 1):
            assert surprise(observed, [RUNS * p for p in rank_chances(b, other)]) > LIMIT


@pytest.mark.parametrize("k", [0.0, 0.3, 0.6])
def test_rank_of_every_later_step(problems, k):
    """Later boundaries have other sizes, and ranks there follow the same law."""
    ranks = {}
    for run in range(RUNS):
        steps, _ = engine.trace(problems[6], run, k=k, seed=11)
        for _, _, size, rank in steps[1:]:
            ranks.setdefault(size, Counter())[rank] += 1
    tested = 0
    for b, counted in ranks.items():
        total = counted.total()
        expected = [total * p for p in rank_chances(b, subset_size(k, b))]
        if total >= 500:
            assert surprise([counted[r] for r in range(b)], expected) < LIMIT
            tested += b > 1
    assert tested >= 3


def test_full_greediness_takes_the_best(problems):
    for run in range(50):
        steps, _ = engine.trace(problems[6], run, k=1.0)
        assert all(rank == 0 for _, _, _, rank in steps)


def test_share_that_is_whole_up_to_rounding_is_whole(problems):
    """0.07 * 100 is 7.000000000000001 and 0.57 * 100 is 56.99999999999999: both mean a whole m.

    Here k = 7/15 - 1e-12 with b = 15 must give m = 7, not 6: the two differ in how often rank 9,
    possible for m <= 7 only, is taken.
    """
    ranks = Counter(
        engine.trace(problems[6], run, k=7 / 15 - 1e-12, seed=3)[0][0][3] for run in range(RUNS)
    )
    observed = [ranks[r] for r in range(15)]
    assert surprise(observed, [RUNS * p for p in rank_chances(15, 7)]) < LIMIT
    assert surprise(observed, [RUNS * p for p in rank_chances(15, 6)]) > LIMIT


def independent_pairs(errors):
    """Exact table of independent pairs (2i, 2i + 1): the second copies the first with error e_i.

    Pairs with the same error have the same gain, and no other pair of columns has any.
    """
    n = 2 * len(errors)
    codes = np.indices((2,) * n).reshape(n, -1)
    weights = np.full(codes.shape[1], 4000.0)
    for i, error in enumerate(errors):
        weights *= np.where(codes[2 * i] == codes[2 * i + 1], 1 - error, error) / 2
    return engine.problem(codes, [2] * n, weights)


@pytest.mark.parametrize("k", [0.0, 0.5, 0.75, 1.0])
def test_ties_are_broken_uniformly(k):
    """Two pairs tie at the top and two below: each member of a tie is as likely as the other."""
    problem = independent_pairs([0.1, 0.3, 0.1, 0.3])
    taken = Counter()
    for run in range(RUNS):
        steps, _ = engine.trace(problem, run, k=k, seed=5)
        (_, x, y, given), _, size, _ = steps[0]
        assert (size, y, list(given)) == (4, x + 1, [])
        taken[x] += 1
    chances = rank_chances(4, subset_size(k, 4))
    top, low = sum(chances[:2]) / 2, sum(chances[2:]) / 2
    expected = [RUNS * p for p in (top, low, top, low)]
    observed = [taken[x] for x in (0, 2, 4, 6)]
    assert surprise(observed, expected) < LIMIT


def test_greedy_runs_differ_only_by_ties():
    """k = 1 on three tied pairs: all six orders of the insertions are equally likely."""
    problem = independent_pairs([0.2] * 3)
    orders = Counter()
    for run in range(RUNS):
        steps, _ = engine.trace(problem, run, k=1.0, seed=9)
        orders[tuple(step[0][1] for step in steps)] += 1
    assert len(orders) == 6
    assert surprise(list(orders.values()), [RUNS / 6] * 6) < LIMIT


@pytest.mark.parametrize("what", ["next run", "next seed"])
def test_streams_of_neighbouring_runs_and_seeds_are_independent(problems, what):
    """First ranks (three, equally likely) of two streams: all nine pairs equally often."""

    def first_rank(run, seed):
        return engine.trace(problems[3], run, k=0.0, seed=seed)[0][0][3]

    pairs = Counter(
        (first_rank(2 * i, 1), first_rank(2 * i + 1, 1))
        if what == "next run"
        else (first_rank(4, 2 * i), first_rank(4, 2 * i + 1))
        for i in range(RUNS)
    )
    observed = [pairs[a, b] for a in range(3) for b in range(3)]
    assert surprise(observed, [RUNS / 9] * 9) < LIMIT
