"""Results that the tests of files share."""

import numpy as np
import pandas as pd
import pytest

import kes


@pytest.fixture(scope="module")
def data():
    """Names and states that need care in text files."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, 150)
    y = np.where(rng.random(150) < 0.1, 1 - x, x)
    frame = pd.DataFrame({'a "b", c': x > 0, "größe\n": y, "z": rng.integers(5, 8, 150)})
    frame["text"] = np.where(y > 0, "naïve ✓", 'quote"\\')
    return frame


@pytest.fixture(scope="module")
def optima(data):
    return kes.learn(data, k=0.3, runs=40, random_state=2**64 - 1)


@pytest.fixture(scope="module")
def alarm():
    """Many optima, with scores that use all digits."""
    return kes.learn(kes.datasets.alarm(rows=300), k=0.3, runs=50)
