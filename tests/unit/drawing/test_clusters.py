"""Clusters of a graph: a partition that no merge of two would make better."""

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
