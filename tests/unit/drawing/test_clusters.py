"""Clusters of a graph: a partition that no merge of two would make better."""

import time
from itertools import combinations

import numpy as np
import pytest

from kes.drawing.clusters import clusters


def modularity(parts, edges):
    """Share of edges inside parts, less what it would be by chance [Clauset 2004, eq. 5]."""
    m = len(edges)
    total = 0.0
    for part in parts:
        inside = sum(a in part and b in part for a, b in edges)
        degree = sum((a in part) + (b in part) for a, b in edges)
        total += inside / m - (degree / (2 * m)) ** 2
    return total


@pytest.mark.parametrize("seed", range(20))
def test_no_merge_would_make_them_better(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 30))
    pairs = list(combinations(range(n), 2))
    edges = [pairs[i] for i in rng.choice(len(pairs), int(rng.integers(1, 2 * n)) % len(pairs) + 1)]
    edges = sorted(set(edges))
    found = clusters(n, edges, max_nodes=8)
    assert sorted(node for part in found for node in part) == list(range(n))
    joined = {node for edge in edges for node in edge}
    groups = [part for part in found if set(part) <= joined]
    assert [part for part in found if part not in groups] == [
        part for part in [sorted(set(range(n)) - joined)] if part
    ]
    assert all(len(part) <= 8 for part in groups)
    now = modularity(groups, edges)
    for a, b in combinations(groups, 2):
        if len(a) + len(b) <= 8:
            others = [part for part in groups if part not in (a, b)]
            assert modularity([*others, a + b], edges) <= now + 1e-12


def test_what_hangs_together_stays_together():
    """Two triangles with one edge between them, as in the doc string, in any order of the edges."""
    edges = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)]
    for shift in range(len(edges)):
        turned = edges[shift:] + edges[:shift]
        assert clusters(7, turned) == [[0, 1, 2], [3, 4, 5], [6]]


def merged_greedily(n, edges, max_nodes):
    """Look at all pairs of clusters for each merge, and take the one that raises modularity most.

    Multiplied by 2 edges², a merge raises it by a whole number: ties are exact, the first pair of
    least members wins them.
    """
    parts = [[node] for node in range(n)]
    joined = {node for edge in edges for node in edge}

    def gain(one, other):
        across = sum((a in one and b in other) or (a in other and b in one) for a, b in edges)
        degrees = [sum((a in part) + (b in part) for a, b in edges) for part in (one, other)]
        return 2 * len(edges) * across - degrees[0] * degrees[1]

    while True:
        # A part stands where its first member does; its list keeps that member in front.
        options = [
            (-gain(parts[i], parts[j]), i, j)
            for i, j in combinations(range(len(parts)), 2)
            if len(parts[i]) + len(parts[j]) <= max_nodes
        ]
        best = min(options, default=(0, 0, 0))
        if best[0] >= 0:
            break
        parts[best[1]] = parts[best[1]] + parts.pop(best[2])
    found = sorted((sorted(p) for p in parts if p[0] in joined), key=lambda p: (-len(p), p))
    alone = sorted(set(range(n)) - joined)
    return [*found, alone] if alone else found


@pytest.mark.parametrize("seed", range(20))
def test_every_merge_is_the_best_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 16))
    pairs = list(combinations(range(n), 2))
    chosen = rng.choice(len(pairs), min(len(pairs), int(rng.integers(1, 2 * n))), replace=False)
    edges = [pairs[i] for i in chosen]
    for max_nodes in (2, 3, 12):
        assert clusters(n, edges, max_nodes) == merged_greedily(n, edges, max_nodes)


def test_a_transcriptome_has_clusters_in_a_second():
    """Looking at all pairs for each merge took minutes; processor time, so load does not matter."""
    rng = np.random.default_rng(0)
    edges = [(child, int(rng.integers(child))) for child in range(1, 20_000)]
    started = time.process_time()
    found = clusters(20_000, edges)
    assert time.process_time() - started < 5
    assert sorted(node for part in found for node in part) == list(range(20_000))
