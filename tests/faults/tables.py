"""Tables of any width."""

import numpy as np
import pandas as pd


def sparse(variables, rows, seed=0):
    """Draw from a random network: each is the sum of up to two before it, modulo 3, and noise."""
    rng = np.random.default_rng(seed)
    values = np.zeros((rows, variables), dtype=int)
    for y in range(variables):
        near = np.arange(max(0, y - 20), y)
        parents = rng.choice(near, size=min(y, int(rng.integers(0, 3))), replace=False)
        noise = rng.integers(0, 3, rows) * (rng.random(rows) < 0.4)
        values[:, y] = (values[:, parents].sum(axis=1) + noise) % 3
    return pd.DataFrame(values, columns=[f"x{y}" for y in range(variables)])
