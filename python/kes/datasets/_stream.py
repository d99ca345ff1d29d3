"""Random numbers that never change for a seed.

``PCG64(seed)`` yields 64-bit integers, whose upper 53 bits are read as numbers in [0, 1). numpy
promises to keep these integers for ever, but not what the distributions of its ``Generator`` make
of them; that is why only the former are used, here and in `BayesianNetwork.sample`.
"""

import operator

import numpy as np
from numpy.random import PCG64
from numpy.typing import NDArray

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
