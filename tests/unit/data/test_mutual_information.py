"""Cuts with the greatest mutual information with labels: against brute force."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.refused import refused

from kes.data.intervals import mutual_information_cuts


def mutual_information(first, second) -> float:
    """The definition: the sum of p(a, b) ln(p(a, b) / (p(a) p(b)))."""
    n = len(first)
    joint, a, b = Counter(zip(first, second, strict=True)), Counter(first), Counter(second)
    return sum(c / n * math.log(c * n / (a[x] * b[y])) for (x, y), c in joint.items())


def brute_force(values, labels, bins, min_count) -> float | None:
    """The greatest mutual information of `bins` intervals, or None if there are no such."""
    distinct = sorted(set(values))
    best = None
    for cuts in combinations(distinct[:-1], bins - 1):  # an interval ends with the cut
        bin_of = np.searchsorted(cuts, values)
        if min(np.bincount(bin_of, minlength=bins)) >= min_count:
            information = mutual_information(bin_of.tolist(), labels)
            best = information if best is None else max(best, information)
    return best


class TestMutualInformation:
    @given(
        st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc")), min_size=1, max_size=14),
        st.integers(2, 4),
        st.integers(1, 3),
    )
    def test_is_the_best_of_all_cuts(self, cases, bins, min_count):
        values, labels = [float(value) for value, _ in cases], [label for _, label in cases]
        cuts = mutual_information_cuts(values, labels, bins, min_count)
        possible = [
            b for b in range(2, bins + 1) if brute_force(values, labels, b, min_count) is not None
        ]
        assert len(cuts) + 1 == max(possible, default=1)
        if cuts:
            bin_of = np.searchsorted(cuts, values)
            assert min(np.bincount(bin_of, minlength=len(cuts) + 1)) >= min_count
            assert mutual_information(bin_of.tolist(), labels) == pytest.approx(
                brute_force(values, labels, len(cuts) + 1, min_count)
            )

    def test_blocks_of_work_do_not_change_the_result(self, monkeypatch):
        rng = np.random.default_rng(0)
        values, labels = rng.normal(size=60), rng.integers(0, 2, 60)
        expected = mutual_information_cuts(values, labels, 4, 5)
        monkeypatch.setattr(sys.modules["kes.data.intervals"], "_BLOCK", 150)
        assert mutual_information_cuts(values, labels, 4, 5) == expected

    def test_ties_are_not_separated(self):
        cuts = mutual_information_cuts([1, 1, 1, 2, 2, 2], list("aabbbb"), bins=2)
        assert cuts == [1.5]

    def test_of_equals_the_lowest_cuts(self):
        labels = list("aabbbbbb")  # the second cut gains nothing, wherever it is
        assert mutual_information_cuts(range(8), labels, bins=3) == [0.5, 1.5]
        assert mutual_information_cuts(range(8), labels, bins=3, min_count=2) == [1.5, 3.5]

    def test_neighbouring_floats_can_be_separated(self):
        low = 1.0
        high = np.nextafter(low, 2)
        [cut] = mutual_information_cuts([low, high], ["a", "b"], bins=2)
        assert low <= cut < high

    def test_huge_values(self):
        [cut] = mutual_information_cuts([-1.7e308, 1.7e308], ["a", "b"], bins=2)
        assert -1.7e308 <= cut < 1.7e308

    @pytest.mark.parametrize("values", [[], [3.0], [3.0, 3.0, 3.0]])
    def test_nothing_to_cut(self, values):
        assert mutual_information_cuts(values, [0] * len(values)) == []

    def test_errors(self):
        with refused("finite", option="values"):
            mutual_information_cuts([1, math.nan], ["a", "b"])
        with refused(r"\(2,\) and \(1,\)", option="labels"):
            mutual_information_cuts([1, 2], ["a"])

    def test_is_fast_enough_for_thousands_of_genes(self):
        rng = np.random.default_rng(0)
        genes, labels = rng.normal(size=(200, 72)), np.array(["ALL"] * 47 + ["AML"] * 25)
        start = time.process_time()
        for gene in genes:
            mutual_information_cuts(gene, labels, 3, 5)
        assert time.process_time() - start < 2  # 7129 genes take seconds, not minutes
