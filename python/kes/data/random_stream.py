"""Random numbers that never change for a seed.

numpy promises to keep the integers of PCG64 for ever, but not what the distributions of its
``Generator`` make of them; that is why only the former are used.
"""

from __future__ import annotations

import numpy as np
from numpy.random import PCG64, SeedSequence
from numpy.typing import NDArray

from kes.validation import integer


class Stream:
    """Random numbers that depend on a seed, and on the number of a branch, only.

    Parameters
    ----------
    seed : int
        The same seed, the same numbers.
    branch : int
        Streams of one seed and different branches have nothing to do with each other.
    """

    def __init__(self, seed: int, *branch: int) -> None:
        start = integer("seed", seed, minimum=0, maximum=2**64 - 1)
        self._bits = PCG64(SeedSequence(start, spawn_key=branch))

    def integers(self, *shape: int) -> NDArray[np.uint64]:
        """Draw 64 random bits for each place of an array, the last axis filled fastest."""
        bits: NDArray[np.uint64] = self._bits.random_raw(shape)
        return bits

    def uniforms(self, *shape: int) -> NDArray[np.float64]:
        """Draw numbers in [0, 1): the upper 53 of the bits, as a fraction."""
        return (self.integers(*shape) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def seed(self) -> int:
        """Draw a seed for something else."""
        return int(self.integers(1)[0])
