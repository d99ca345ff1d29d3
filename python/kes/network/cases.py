"""Cases: how probable a network holds them, and drawing new ones."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kes.data.stream import Stream
from kes.settings import whole

if TYPE_CHECKING:
    from kes.network.discrete import BayesianNetwork


def configurations(codes: NDArray[np.int32], cardinalities: Sequence[int]) -> NDArray[np.intp]:
    """Return the number of the configuration of some variables in each row.

    Configurations are counted with the last variable changing fastest.

    Parameters
    ----------
    codes
        Shape (variables, rows); without variables, every row has configuration 0.
    cardinalities
        Number of states of each of the variables.
    """
    result = np.zeros(codes.shape[1], dtype=np.intp)
    for code, cardinality in zip(codes, cardinalities, strict=True):
        result *= cardinality
        result += code
    return result


def log_probabilities(network: BayesianNetwork, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return ln P of each row: the sum over the nodes of ln P(state | states of the parents).

    Parameters
    ----------
    network
        The network to ask.
    codes
        Complete rows, shape (nodes, rows).
    """
    row_of = {node: i for i, node in enumerate(network.nodes)}
    result = np.zeros(codes.shape[1])
    with np.errstate(divide="ignore"):  # ln 0 is minus infinity, as it should be
        for node, cpt in network.cpts.items():
            family = [row_of[member] for member in (*network.parents[node], node)]
            result += np.log(cpt).ravel()[configurations(codes[family], cpt.shape)]
    return result


def draw(network: BayesianNetwork, n: int, seed: int) -> NDArray[np.int32]:
    """Draw n cases, each node after its parents; see `BayesianNetwork.sample` for the rule.

    Returns
    -------
    ndarray
        Codes, shape (nodes, n).
    """
    cases = whole("n", n, least=1)
    uniforms = np.ascontiguousarray(Stream(seed).uniforms(cases, len(network.nodes)).T)
    codes = np.zeros(uniforms.shape, dtype=np.int32)
    row_of = {node: i for i, node in enumerate(network.nodes)}
    for node in TopologicalSorter(network.parents).static_order():
        cpt = network.cpts[node]
        parents = [row_of[parent] for parent in network.parents[node]]
        given = configurations(codes[parents], cpt.shape[:-1])
        *thresholds, total = np.cumsum(cpt.reshape(-1, cpt.shape[-1]), axis=1).T
        # The total is 1 up to rounding. Scaled by it, a number stays below the last cumulative
        # probability that grows, so no state of probability zero is ever drawn.
        scaled = uniforms[row_of[node]] * total[given]
        for threshold in thresholds:
            codes[row_of[node]] += scaled >= threshold[given]
    return codes
