"""Random numbers that depend only on a seed and on what they are for."""

from enum import IntEnum, unique

import numpy as np
from numpy.random import PCG64, SeedSequence
from numpy.typing import NDArray

from kes.validation import integer


@unique
class Purpose(IntEnum):
    """The purpose of a stream: the first part of its branch.

    With one seed, numbers for different purposes are independent of each other, and of those that
    users draw from ``numpy.random.default_rng(seed)`` or from what it spawns: the values are larger
    than any number of spawned streams, and fit into one word of 32 bits, as ``SeedSequence`` reads
    2**32 as the two numbers 0 and 1. Imputations and members are exceptions, as files and measured
    tables depend on them; the number of the member follows, so only the spawned streams of spawned
    streams could be the same.
    """

    IMPUTATIONS = 0
    BASIS = 0x4241_5349
    CHOICE = 0x4348_4F49
    EFFECTS = 0x4546_4645
    FIT = 0x4649_5447
    FOLDS = 0x464F_4C44
    FORECASTS = 0x464F_5245
    GROUPS = 0x4752_4F55
    HALVES = 0x4841_4C56
    MEMBER_OF_CASE = 0x4D45_4D42
    MODEL_CHECK = 0x4348_4543
    NETWORKS = 0x4E45_5457
    QUERIES = 0x5155_4552
    RANGES = 0x5241_4E47
    SAMPLES = 0x5341_4D50
    SERIES = 0x5345_5249
    SHUFFLES = 0x5348_5546
    STABILITY = 0x5354_4142
    TARGET = 0x5441_5247
    TRAP = 0x5452_4150
    MEMBERS = 2**33


class Stream:
    """Random numbers that depend only on a seed and a branch, and so not on versions of numpy.

    numpy guarantees the integers of PCG64 for ever, but not the distributions of its
    ``Generator``, so only the former are used. Streams of different branches are independent. The
    branch of a seed that users give begins with its purpose.
    """

    def __init__(self, seed: int, *branch: int) -> None:
        start = integer("seed", seed, minimum=0, maximum=2**64 - 1)
        self._bits = PCG64(SeedSequence(start, spawn_key=tuple(map(int, branch))))

    @classmethod
    def of(cls, seed: "int | Stream", purpose: Purpose) -> "Stream":
        """Return the stream of a seed for a purpose, or a given stream.

        The tables of the paper's evaluation and of the benchmarks were made before seeds had
        purposes, and are still drawn from ``Stream(seed)``.
        """
        return seed if isinstance(seed, Stream) else cls(seed, purpose)

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
