"""Whole distributions as weighted tables: one row per cell, its weight probability x cases.

A criterion computed from such a table is the one that a sample of so many cases would have
without any sampling error, which is how statements about large samples are checked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kes.data import Dataset, State
from kes.errors import KesError
from kes.network import BayesianNetwork

MOST_CELLS = 2**20
"""Tables beyond this are refused: they would take gigabytes before any answer."""


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
    """Turn a joint distribution, one axis per variable, into a table of its cells."""
    if not (math.isfinite(cases) and cases > 1):
        raise KesError(f"cases must be a number greater than 1, not {cases!r}")
    codes = np.indices(joint.shape, dtype=np.int32).reshape(joint.ndim, -1)
    return Dataset(
        names=tuple(names), states=tuple(states), codes=codes, weights=joint.ravel() * cases
    )


def refuse_large(cells: int, what: str, instead: str) -> None:
    """Complain if a table would have too many cells to write out."""
    if cells > MOST_CELLS:
        raise KesError(
            f"{what} has {cells} configurations; exact distributions are written out only up to "
            f"{MOST_CELLS}. Draw cases with {instead} instead"
        )
