"""Small tables that the tests share: seeded, dependent, with states of every kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .brute import Dag, members


def sample(
    dag: Dag, cardinalities: list[int], rows: int, rng: np.random.Generator, noise: float = 0.3
) -> NDArray[np.int32]:
    """Codes (variables x rows) in which every node is a noisy random function of its parents."""
    codes = np.zeros((len(dag), rows), dtype=np.int32)
    done = 0
    while done != (1 << len(dag)) - 1:
        for y, parents in enumerate(dag):
            if done >> y & 1 or parents & ~done:
                continue
            cell = np.zeros(rows, dtype=np.int64)
            for x in members(parents):
                cell = cell * cardinalities[x] + codes[x]
            usual = rng.integers(0, cardinalities[y], int(cell.max(initial=0)) + 1)[cell]
            random = rng.integers(0, cardinalities[y], rows)
            codes[y] = np.where(rng.random(rows) < noise if parents else True, random, usual)
            done |= 1 << y
    return codes


def noisy_copies(n: int, rows: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Binary columns that copy a hidden one with different errors: all pairs depend."""
    hidden = rng.integers(0, 2, rows)
    errors = np.linspace(0.05, 0.25, n)
    return np.stack([hidden ^ (rng.random(rows) < e) for e in errors]).astype(np.int32)
