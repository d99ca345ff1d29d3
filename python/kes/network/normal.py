"""The standard normal distribution between bounds: probabilities, quantiles and moments."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data.normal_scores import quantiles

LEAST_UNIFORM = 2.0**-54
"""Replaces the uniform number 0, which has no normal quantile."""

Floats: TypeAlias = NDArray[np.float64]

_erfc = np.frompyfunc(math.erfc, 1, 1)


def normal_cdf(z: Floats) -> Floats:
    """Return the distribution function of the standard normal distribution."""
    return 0.5 * np.asarray(_erfc(-z / math.sqrt(2)), dtype=np.float64)


def between(bounds: tuple[Floats, Floats]) -> Floats:
    """Return the probability that a standard normal variable is between bounds."""
    low, high = bounds
    upper = low > 0  # in the upper tail, differences of numbers close to 1 lose digits
    first, last = np.where(upper, -high, low), np.where(upper, -low, high)
    return normal_cdf(last) - normal_cdf(first)


def draw_between(bounds: tuple[Floats, Floats], uniforms: Floats) -> Floats:
    """Return quantiles of the standard normal distribution between bounds."""
    low, high = bounds
    upper = low > 0
    first, last = np.where(upper, -high, low), np.where(upper, -low, high)
    share = np.where(upper, 1 - uniforms, uniforms)
    below = normal_cdf(first)
    level = below + share * (normal_cdf(last) - below)
    drawn = quantiles(np.clip(level, LEAST_UNIFORM, 1 - LEAST_UNIFORM))
    result: Floats = np.clip(np.where(upper, -drawn, drawn), low, high)
    return result


def moments_between(bounds: tuple[Floats, Floats]) -> tuple[Floats, Floats, Floats]:
    """Return probability, mean and mean square of a standard normal variable between bounds."""
    low, high = bounds
    p = between(bounds)

    def density(z: Floats) -> Floats:
        return np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)

    def weighted(z: Floats) -> Floats:
        return np.where(np.isfinite(z), z, 0.0) * density(z)

    safe = np.where(p > 0, p, 1.0)
    mean = np.clip((density(low) - density(high)) / safe, low, high)
    square = np.maximum(1 + (weighted(low) - weighted(high)) / safe, mean**2)
    return p, mean, square
