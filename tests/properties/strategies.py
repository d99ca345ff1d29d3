"""Hypothesis strategies: DAGs, renamings, and small tables."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from oracle import brute


@st.composite
def dags(draw, least=1, most=9):
    """Draw a DAG on `least` to `most` nodes: a causal order, and some of the arcs along it."""
    n = draw(st.integers(least, most))
    order = draw(st.permutations(range(n)))
    arcs = [(order[i], order[j]) for j in range(n) for i in range(j) if draw(st.integers(0, 9)) < 4]
    return brute.dag_from_arcs(n, arcs)


@st.composite
def tables(draw, n):
    """Codes (variables x rows), cardinalities and weights (or None) for n variables."""
    cardinalities = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    rows = draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = np.stack([rng.integers(0, r, rows) for r in cardinalities]).astype(np.int32)
    if draw(st.booleans()):
        for y in range(1, n):  # dependences: copy the left neighbour where that is possible
            copied = (rng.random(rows) < 0.7) & (codes[y - 1] < cardinalities[y])
            codes[y, copied] = codes[y - 1, copied]
    weights = {
        "none": None,
        "integer": rng.integers(1, 20, rows).astype(float),
        "real": rng.exponential(9, rows) + 1,
    }
    return codes, cardinalities, weights[draw(st.sampled_from(sorted(weights)))]


def renamed_dag(dag, names):
    """Return the DAG in which node i is called names[i]."""
    arcs = [(names[a], names[b]) for a, b in brute.arcs_of(dag)]
    return brute.dag_from_arcs(len(dag), arcs)


def renamed_graph(graph, names):
    directed, undirected = graph
    return (
        sorted((names[a], names[b]) for a, b in directed),
        sorted((min(names[a], names[b]), max(names[a], names[b])) for a, b in undirected),
    )


def renamed_triple(triple, names):
    insertion, x, y, given = triple
    x, y = sorted((names[x], names[y]))
    return insertion, x, y, tuple(sorted(names[z] for z in given))


def covered_arcs(dag):
    """Arcs x -> y with Pa(y) = Pa(x) + {x}; reversing one leads to an equivalent DAG."""
    return [(x, y) for x, y in brute.arcs_of(dag) if dag[y] == dag[x] | 1 << x]


def with_reversed(dag, x, y):
    return brute.with_arc(brute.without_arc(dag, x, y), y, x)
