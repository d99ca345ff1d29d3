"""Random networks, and whether so many cases suffice to see all that d-separation says of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kes._core import penalty
from kes.data.random_stream import Stream
from kes.datasets._exact import exact
from kes.errors import KesError
from kes.network import BayesianNetwork
from kes.validation import integer


def random_network(
    nodes: int, expected_degree: float = 2.0, *, states: int = 2, seed: int = 0
) -> BayesianNetwork:
    """Draw a random network.

    The nodes are put in a random order; each pair is joined with the same probability, along
    the order; each distribution in a table is drawn uniformly from all distributions.

    Parameters
    ----------
    nodes
        Number of nodes, named X1, X2, ...
    expected_degree
        Expected number of adjacent nodes (parents and children together) of a node.
    states
        Number of states of every node, named 0, 1, ...
    seed
        Same seed, same network.

    Returns
    -------
    BayesianNetwork

    Examples
    --------
    >>> from kes.datasets import random_network
    >>> network = random_network(nodes=3, expected_degree=2, seed=0)
    >>> len(network.arcs), network.n_parameters
    (3, 7)
    """
    n, r = integer("nodes", nodes, minimum=1), integer("states", states, minimum=2)
    if not 0 <= expected_degree <= n - 1:
        raise KesError(
            f"expected_degree must lie between 0 and nodes - 1 = {n - 1}, not {expected_degree!r}"
        )
    stream = Stream(seed)
    names = tuple(f"X{i}" for i in range(1, n + 1))
    place = dict(zip(names, stream.uniforms(n), strict=True))
    pairs = list(combinations(names, 2))
    joined = stream.uniforms(len(pairs)) * (n - 1) < expected_degree
    parents: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
    for pair, is_joined in zip(pairs, joined, strict=True):
        if is_joined:
            first, second = sorted(pair, key=place.__getitem__)
            parents[second] += (first,)
    cpts = {}
    for name in names:
        shape = (r,) * len(parents[name])
        # The gaps between r - 1 uniform points on [0, 1] are uniform over the distributions.
        points = np.sort(stream.uniforms(*shape, r - 1), axis=-1)
        cpts[name] = np.diff(points, axis=-1, prepend=0.0, append=1.0)
    labels = tuple(str(state) for state in range(r))
    states_of = dict.fromkeys(names, labels)
    return BayesianNetwork(nodes=names, states=states_of, parents=parents, cpts=cpts)


def is_faithful(network: BayesianNetwork, cases: float = 1e10) -> bool:
    """Tell whether BIC sees, in exactly distributed cases, just what d-separation says.

    Theorems about faithful distributions speak of the limit of many cases. This is their
    premise for a given number: for every pair x, y and every set C of other nodes, BIC prefers
    leaving x and y apart given C exactly if C d-separates them. A random network may fail
    because some dependence is too weak to pay for its parameters.

    Parameters
    ----------
    network
        A small network, as for `exact`; the work grows as 2^nodes times the size of the joint.
    cases
        Number of cases.

    Returns
    -------
    bool
    """
    score = _set_scores(network, cases)
    bit = {node: 1 << i for i, node in enumerate(network.nodes)}
    families = [bit[v] | sum(bit[parent] for parent in network.parents[v]) for v in network.nodes]
    for x, y in combinations(bit.values(), 2):
        for c in _subsets((len(score) - 1) & ~(x | y)):
            gain = (score[c | x | y] + score[c]) - (score[c | x] + score[c | y])
            if (gain < 0) != _d_separated(x, y, c, families):
                return False
    return True


def _set_scores(network: BayesianNetwork, cases: float) -> list[float]:
    """Return BIC's term of every set of nodes, N sum(p ln p) - ln(N)/2 x (number of cells).

    Sets are bit masks. Their differences are gains: F(Cxy) + F(C) - F(Cx) - F(Cy).
    """
    table = exact(network, cases)
    assert table.weights is not None  # exact tables are weighted
    joint = (table.weights / cases).reshape(table.cardinalities)
    price = penalty("bic", cases) or 0.0
    scores = []
    for members in range(2**joint.ndim):
        outside = tuple(axis for axis in range(joint.ndim) if not members >> axis & 1)
        marginal: NDArray[np.float64] = joint.sum(axis=outside)
        p = marginal[marginal > 0]
        scores.append(cases * float(p @ np.log(p)) - price * marginal.size)
    return scores


def _subsets(members: int) -> Iterator[int]:
    """Yield every subset of a bit mask, the whole set first."""
    subset = members
    while subset:
        yield subset
        subset = (subset - 1) & members
    yield 0


def _d_separated(x: int, y: int, c: int, families: list[int]) -> bool:
    """Tell whether c d-separates x and y; sets are bit masks.

    It does iff it separates them in the moral graph of their common ancestral set
    [Lauritzen 1996, Proposition 3.25], where every family of an ancestor is a clique.
    """
    ancestral = _grow(x | y | c, [(1 << v, family) for v, family in enumerate(families)])
    cliques = [family for v, family in enumerate(families) if ancestral >> v & 1]
    return not _grow(x, [(clique & ~c, clique & ~c) for clique in cliques]) & y


def _grow(members: int, rules: list[tuple[int, int]]) -> int:
    """Close a set under rules: whatever meets the first set of a rule takes in its second."""
    before = 0
    while members != before:
        before = members
        for trigger, addition in rules:
            if members & trigger:
                members |= addition
    return members
