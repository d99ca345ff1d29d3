"""Mixtures of answers: the shares of the members, and their averages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kes.data.normal_scores import quantiles
from kes.network.normal import normal_cdf
from kes.network.query import Moments, Probability

Floats = NDArray[np.float64]

_HALVINGS = 24  # of the interval between the members' quantiles: seven digits

_TINY = 1e-300  # deviation of a constant


class Shares(NamedTuple):
    """The share of each member in an answer, shape (members, ...), and ln of their mean."""

    shares: Floats
    log_mean: Floats


def shares(logs: Floats, weights: Sequence[float]) -> Shares:
    """Return the shares that go with ln P of the evidence under each member.

    Where all members find the evidence impossible, the shares are 0.
    """
    top = logs.max(axis=0)
    shifted = np.exp(logs - np.where(np.isneginf(top), 0.0, top))
    shifted *= np.reshape(weights, (-1, *[1] * (logs.ndim - 1)))
    total = shifted.sum(axis=0)
    with np.errstate(divide="ignore"):
        log_mean = top + np.log(total / np.sum(weights))
    return Shares(shifted / np.where(total > 0, total, 1.0), log_mean)


class MixtureAnswer:
    """The members' answers about a node in each row.

    Attributes
    ----------
    shares : ndarray, shape (members, rows)
        Share of each member.
    each : ndarray, shape (members, rows, states or 1)
        Probabilities of the states, or means.
    each_deviation : ndarray, shape (members, rows)
        Standard deviations around the means.
    """

    def __init__(self, shares: Floats, each: Floats, each_deviation: Floats) -> None:
        self.shares = shares
        counts = shares > 0  # others have no answer
        self.each = np.where(counts[..., np.newaxis], each, 0.0)
        self.each_deviation = np.where(counts, each_deviation, 0.0)

    @cached_property
    def values(self) -> Floats:
        """The averaged probabilities or means, shape (rows, states or 1)."""
        mean: Floats = np.einsum("mr,mrs->rs", self.shares, self.each)
        return mean

    @cached_property
    def spread(self) -> Floats:
        """Standard deviation between the members, shape (rows, states or 1)."""
        apart: Floats = np.einsum("mr,mrs->rs", self.shares, (self.each - self.values) ** 2)
        return np.sqrt(apart)

    @property
    def deviations(self) -> Floats:
        """Standard deviation of the mixture around its mean, shape (rows,)."""
        within = np.einsum("mr,mr->r", self.shares, self.each_deviation**2)
        total: Floats = np.sqrt(within + self.spread[:, 0] ** 2)
        return total

    def quantiles(self, probability: float) -> Floats:
        """Return a quantile of the mixture of normal distributions in each row.

        It lies between the lowest and the highest of the members' quantiles.
        """
        means, deviations = self.each[..., 0], self.each_deviation
        own = means + deviations * quantiles([probability])[0]
        counts = self.shares > 0
        low = np.where(counts, own, np.inf).min(axis=0)
        high = np.where(counts, own, -np.inf).max(axis=0)
        scale = np.where(deviations > 0, deviations, _TINY)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = (self.shares * normal_cdf((middle - means) / scale)).sum(axis=0)
            low = np.where(below < probability, middle, low)
            high = np.where(below < probability, high, middle)
        centre: Floats = (low + high) / 2
        return centre


def mixed_probability(
    shares: Floats, answers: Sequence[float | Probability]
) -> float | Probability:
    """Return the average of probabilities, with the standard error of drawing if they have one."""
    value = float(shares @ np.array([float(answer) for answer in answers]))
    errors = [answer.error for answer in answers if isinstance(answer, Probability)]
    if not errors:
        return value
    return Probability(value, float(np.sqrt(((shares * np.array(errors)) ** 2).sum())))


def mixed_moments(shares: Floats, parts: Sequence[Moments]) -> Moments:
    """Return the moments of a mixture."""
    means = np.stack([part.mean for part in parts])
    mean = shares @ means
    apart = means - mean
    covariance = np.einsum("m,mij->ij", shares, np.stack([part.covariance for part in parts]))
    covariance += np.einsum("m,mi,mj->ij", shares, apart, apart)
    errors = np.stack([part.error for part in parts])
    error = np.sqrt(((shares[:, np.newaxis] * errors) ** 2).sum(axis=0))
    return Moments(parts[0].nodes, mean, covariance, error)
