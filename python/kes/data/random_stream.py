"""Random streams that are reproducible across versions of numpy.

numpy guarantees the integers of PCG64 for ever, but not the distributions of its ``Generator``, so
only the former are used.
"""

from __future__ import annotations

import numpy as np
from numpy.random import PCG64, SeedSequence
from numpy.typing import NDArray

from kes.validation import integer


class Stream:
    """Random numbers that depend only on a seed and a branch.

    Parameters
    ----------
    seed : int
        Seed of all branches.
    branch : int
        Streams of different branches are independent.
    """

    def __init__(self, seed: int, *branch: int) -> None:
        start = integer("seed", seed, minimum=0, maximum=2**64 - 1)
        self._bits = PCG64(SeedSequence(start, spawn_key=branch))

    def integers(self, *shape: int) -> NDArray[np.uint64]:
        """Draw 64 random bits for each element of an array, the last axis fastest."""
        bits: NDArray[np.uint64] = self._bits.random_raw(shape)
        return bits

    def uniforms(self, *shape: int) -> NDArray[np.float64]:
        """Draw numbers in [0, 1) from the upper 53 bits."""
        return (self.integers(*shape) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def seed(self) -> int:
        """Draw a seed for another generator."""
        return int(self.integers(1)[0])
