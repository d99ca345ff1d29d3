"""Built-in networks: ALARM, random ones, and the whole distribution of a small network."""

import json
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kes._core import penalty
from kes.data import Dataset, State
from kes.data.random_stream import Purpose, Stream
from kes.errors import KesError, about
from kes.network import BayesianNetwork
from kes.validation import integer


def random_network(
    nodes: int, expected_degree: float = 2.0, *, states: int = 2, seed: int | Stream = 0
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
            f"expected_degree must lie between 0 and nodes - 1 = {n - 1}, not {expected_degree!r}",
            option="expected_degree",
        )
    stream = Stream.of(seed, Purpose.NETWORKS)
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
    states_of = dict.fromkeys(names, tuple(str(state) for state in range(r)))
    return BayesianNetwork(nodes=names, states=states_of, parents=parents, cpts=cpts)


def is_faithful(network: BayesianNetwork, cases: float = 1e10) -> bool:
    """Return whether BIC agrees with d-separation on exactly distributed cases.

    Theorems about faithful distributions hold in the limit of many cases. This checks their premise
    for a given number of cases: for every pair x, y and every set C of other nodes, BIC favours the
    independence of x and y given C if and only if C d-separates them. A random network may fail
    because some dependence is too weak to pay for its parameters.

    Parameters
    ----------
    network
        A small network, as for `exact`; the work grows as 2^nodes times the size of the joint.
    cases
        Number of cases.
    """
    score = _set_scores(network, cases)
    bit = {node: 1 << i for i, node in enumerate(network.nodes)}
    families = [bit[v] | sum(bit[parent] for parent in network.parents[v]) for v in network.nodes]
    for x, y in combinations(bit.values(), 2):
        for c in range(len(score)):
            if c & (x | y):
                continue
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


def _d_separated(x: int, y: int, c: int, families: list[int]) -> bool:
    """Return whether c d-separates x and y; sets are bit masks.

    It does iff c separates them in the moral graph of their common ancestral set
    [Lauritzen 1996, Proposition 3.25], where every family of an ancestor is a clique.
    """
    ancestral = _grow(x | y | c, [(1 << v, family) for v, family in enumerate(families)])
    cliques = [family for v, family in enumerate(families) if ancestral >> v & 1]
    return not _grow(x, [(clique & ~c, clique & ~c) for clique in cliques]) & y


def _grow(members: int, rules: list[tuple[int, int]]) -> int:
    """Close a set under rules: a set that meets the first part of a rule also gets the second."""
    before = 0
    while members != before:
        before = members
        for trigger, addition in rules:
            if members & trigger:
                members |= addition
    return members


MOST_CELLS = 2**20
"""Larger tables are refused: they would take gigabytes."""


def exact(network: BayesianNetwork, cases: float = 1e10) -> Dataset:
    """Write out the distribution of a small network.

    Parameters
    ----------
    network
        Its states must have at most 2^20 (about a million) configurations.
    cases
        Sum of the weights: the number of cases that the table stands for.

    Returns
    -------
    Dataset
        One row per configuration of all nodes, the last node changing fastest (so
        ``weights.reshape(cardinalities)`` is the joint distribution times ``cases``).
        Configurations of probability 0 have weight 0.

    Examples
    --------
    >>> from kes.datasets import exact, random_network
    >>> exact(random_network(nodes=5, seed=1), cases=1e6).weights.shape
    (32,)
    """
    states = [network.states[node] for node in network.nodes]
    shape = [len(known) for known in states]
    with about(option="network"):
        refuse_large(math.prod(shape), f"a network of {len(shape)} nodes", "network.sample(n)")
    axis_of = {node: i for i, node in enumerate(network.nodes)}
    joint = np.ones(shape)
    for node in network.nodes:
        axes = [axis_of[member] for member in (*network.parents[node], node)]
        kept = [size if axis in axes else 1 for axis, size in enumerate(shape)]
        joint *= network.cpts[node].transpose(np.argsort(axes)).reshape(kept)
    return weighted(network.nodes, states, joint, cases)


def weighted(
    names: Sequence[str],
    states: Sequence[tuple[State, ...]],
    joint: NDArray[np.float64],
    cases: float,
) -> Dataset:
    """Convert a joint distribution, with one axis per variable, to a table of its cells."""
    if not (math.isfinite(cases) and cases > 1):
        raise KesError(f"cases must be a number greater than 1, not {cases!r}", option="cases")
    codes = np.indices(joint.shape, dtype=np.int32).reshape(joint.ndim, -1)
    return Dataset(tuple(names), tuple(states), codes, joint.ravel() * cases)


def refuse_large(cells: int, what: str, instead: str) -> None:
    """Refuse a table with too many cells to write out."""
    if cells > MOST_CELLS:
        raise KesError(
            f"{what} has {cells} configurations; exact distributions are written out only up to "
            f"{MOST_CELLS}. Draw cases with {instead} instead"
        )


@cache
def alarm_network() -> BayesianNetwork:
    """Return the ALARM network [Beinlich 1989]: 37 nodes, 46 arcs, 509 parameters.

    ALARM models complications of anaesthesia: 8 diagnoses, 16 findings and 13 intermediate nodes,
    with two to four states each.

    Examples
    --------
    >>> from kes.datasets import alarm_network
    >>> network = alarm_network()
    >>> len(network.nodes), len(network.arcs), network.n_parameters
    (37, 46, 509)
    >>> network.parents["LVEDVOLUME"]
    ('HYPOVOLEMIA', 'LVFAILURE')
    """
    text = files("kes.datasets").joinpath("alarm.json").read_text(encoding="utf-8")
    entries = json.loads(text)["nodes"]
    states = {node: tuple(entry["states"]) for node, entry in entries.items()}
    parents = {node: tuple(entry["parents"]) for node, entry in entries.items()}
    cpts = {}
    for node, entry in entries.items():
        table = np.array(entry["cpt"], dtype=np.float64)
        table /= table.sum(axis=1, keepdims=True)  # thirds are given as 0.3333333
        cpts[node] = table.reshape([len(states[member]) for member in (*parents[node], node)])
    return BayesianNetwork(nodes=tuple(entries), states=states, parents=parents, cpts=cpts)


def alarm(rows: int = 20_000, seed: int | Stream = 0) -> Dataset:
    """Draw cases from the ALARM network (see `alarm_network`).

    Parameters
    ----------
    rows
        Number of cases. A longer sample begins with the shorter ones of the same seed.
    seed
        Same seed, same cases, on every platform and with every version of numpy.

    Returns
    -------
    Dataset
        A table of 37 columns.

    Examples
    --------
    >>> from kes.datasets import alarm
    >>> data = alarm(rows=1000)
    >>> data.codes.shape
    (37, 1000)
    """
    return alarm_network().sample(integer("rows", rows, minimum=1), seed)
