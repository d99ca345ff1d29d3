"""Cases drawn from a network: forward sampling that never changes for a seed.

The rule, so that anybody can draw the same cases elsewhere: ``PCG64(seed)`` yields 64-bit
integers, whose upper 53 bits are read as numbers u in [0, 1). They fill a matrix row by row, one
row per case and one column per node in the order of ``nodes``, so a longer sample begins with the
shorter ones of the same seed. A node takes state s if u is at least the cumulative probability of
the states before s, and less than that with s included.

numpy promises to keep the integers of ``PCG64`` for ever, but not the values of the
distributions of ``Generator``; that is why only the former are used here.
"""

import operator

import numpy as np
from numpy.random import PCG64
from numpy.typing import NDArray

from kes.data import Dataset
from kes.datasets._cpts import Cpts
from kes.errors import KesError


def whole(value: int, name: str, least: int) -> int:
    """Return value as an int, or complain unless it is a whole number of at least ``least``."""
    try:
        number = operator.index(value)
    except TypeError:
        raise KesError(f"{name} must be a whole number, not {value!r}") from None
    if number < least:
        raise KesError(f"{name} must be at least {least}, not {number}")
    return number


def stream(seed: int) -> PCG64:
    """Start the stream of random integers that belongs to a seed."""
    return PCG64(whole(seed, "seed", 0))


def uniforms(source: PCG64, *shape: int) -> NDArray[np.float64]:
    """Draw numbers in [0, 1) from a stream, the last axis filled fastest."""
    bits: NDArray[np.uint64] = source.random_raw(shape)
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def sample(network: Cpts, rows: int, seed: int) -> Dataset:
    """Draw independent cases from a network.

    Parameters
    ----------
    network
        What to draw from.
    rows
        Number of cases.
    seed
        Same seed, same cases, on every platform and with every version of numpy.

    Returns
    -------
    Dataset
        One column per node, with all states of the network declared whether drawn or not.
    """
    rows = whole(rows, "rows", 1)
    draws = np.ascontiguousarray(uniforms(stream(seed), rows, len(network.nodes)).T)
    codes = np.zeros(draws.shape, dtype=np.int32)
    row_of = {node: i for i, node in enumerate(network.nodes)}
    for node in network.ancestral_order():
        configuration = np.zeros(rows, dtype=np.intp)
        for parent in network.parents[node]:
            configuration *= network.cardinality(parent)
            configuration += codes[row_of[parent]]
        table = network.cpts[node].reshape(-1, network.cardinality(node))
        *thresholds, total = np.cumsum(table, axis=1).T
        # The total is 1 up to rounding. Scaled by it, a draw stays below the last sum that grows,
        # so that a state of probability 0 is never drawn, even if it is the last one.
        scaled = draws[row_of[node]] * total[configuration]
        for threshold in thresholds:
            codes[row_of[node]] += scaled >= threshold[configuration]
    states = tuple(network.states[node] for node in network.nodes)
    return Dataset(names=network.nodes, states=states, codes=codes, weights=None)
