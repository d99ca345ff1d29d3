"""Comparison with a known graph."""

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

from kes.analysis.ground_truth import compare_to_truth
from kes.formats import write_graph
from kes.graph import EssentialGraph
from kes.network import fit

TRUTH = [("a", "b"), ("c", "b"), ("b", "d")]


def test_counts():
    # The true graph is a -> b <- c, b -> d, all compelled; the learned one a - b - c, d - e.
    truth = EssentialGraph.from_dag("abcde", TRUTH)
    learned = EssentialGraph.from_dag("abcde", [("a", "b"), ("b", "c"), ("d", "e")])
    result = compare_to_truth(learned, truth)
    assert (result.found, result.extra, result.missing, result.misdirected) == (2, 1, 1, 2)
    assert result.shd == learned.shd(truth) == 1 + 1 + 2
    assert result.precision == 2 / 3
    assert result.recall == 2 / 3
    assert result.f1 == pytest.approx(
        2 * result.precision * result.recall / (result.precision + result.recall)
    )
    assert "SHD 4; adjacencies: 2 found, 1 extra, 1 missing" in str(result)


def test_the_truth_itself_and_its_equivalents_are_perfect(tmp_path):
    graph = EssentialGraph.from_dag("abcd", TRUTH)
    rng = np.random.default_rng(0)
    network = fit(TRUTH, pd.DataFrame(rng.integers(0, 2, (20, 4)), columns=list("abcd")))
    write_graph(graph, tmp_path / "a.dot")
    network.save(tmp_path / "a.bif")
    for truth in (graph, network, TRUTH, tmp_path / "a.dot", str(tmp_path / "a.bif")):
        result = compare_to_truth(graph, truth)
        assert (result.shd, result.precision, result.recall, result.f1) == (0, 1, 1, 1)


def test_shares_of_nothing():
    empty = EssentialGraph.from_dag("ab", [])
    joined = EssentialGraph.from_dag("ab", [("a", "b")])
    assert compare_to_truth(empty, empty).f1 == 1
    nothing_claimed = compare_to_truth(empty, joined)
    assert (nothing_claimed.precision, nothing_claimed.recall, nothing_claimed.f1) == (1, 0, 0)
    nothing_true = compare_to_truth(joined, empty)
    assert (nothing_true.precision, nothing_true.recall, nothing_true.f1) == (0, 1, 0)


def test_other_nodes_and_other_things_are_refused():
    graph = EssentialGraph.from_dag("ab", [])
    with refused(column="c"):
        compare_to_truth(graph, EssentialGraph.from_dag("abc", []))
    with refused(option="truth"):
        compare_to_truth(graph, 7)
