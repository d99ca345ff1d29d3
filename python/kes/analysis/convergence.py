"""Convergence of Markov chains: diagnostics of the probabilities that they estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_CERTAIN = 1e-9


@dataclass(frozen=True, eq=False)
class Convergence:
    """Convergence of some probabilities. Arrays, indexed as the probabilities are.

    Attributes
    ----------
    mean : array
        The shares themselves.
    error : array
        Standard errors, from the spread of batches of rounds and of the chains.
    agreement : array
        Largest difference between two chains.
    ess : array
        Effective sample sizes: how many independent networks would be as precise.
    r_hat : array
        R-hat of batches of rounds; 1 if the chains differ no more than batches of one chain do.
    settled : array
        Whether the chains agree.
    """

    mean: NDArray[np.float64] = field(repr=False)
    error: NDArray[np.float64] = field(repr=False)
    agreement: NDArray[np.float64] = field(repr=False)
    ess: NDArray[np.float64] = field(repr=False)
    r_hat: NDArray[np.float64] = field(repr=False)
    settled: NDArray[np.bool_] = field(repr=False)

    @property
    def shown(self) -> NDArray[np.float64]:
        """The shares that are settled; NaN for the others."""
        return np.where(self.settled, self.mean, np.nan)


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Convergence of each kind of probability.

    Attributes
    ----------
    chains, rounds, jumps : int
        Number of chains, of rounds of each, and of all jumps to other models.
    of : mapping
        By kind: matrices for "edges", "arcs", "ancestors" and "blankets", and a vector in the order
        of `kes.analysis.probabilities.Structures.v_structures`.
    """

    chains: int
    rounds: int
    jumps: int
    of: Mapping[str, Convergence] = field(repr=False)


def converged(batches: NDArray[np.float64], most: float) -> Convergence:
    """Estimate errors from the spread of batches within chains, and of the chains' means.

    The first two axes are those of the chains and of their batches.
    """
    chains, number = batches.shape[:2]
    means = batches.mean(axis=1)
    within = batches.var(axis=1, ddof=1).mean(axis=0)
    between = means.var(axis=0, ddof=1)
    mean = means.mean(axis=0)
    # The larger of both: chains that were at different places all the time differ by more.
    variance = np.maximum(within / number, between) / chains
    varies = mean * (1 - mean) > _CERTAIN  # otherwise there is nothing to estimate from
    with np.errstate(divide="ignore", invalid="ignore"):
        r_hat = np.sqrt((number - 1) / number + between / within)
        ess = mean * (1 - mean) / variance
    agreement = np.ptp(means, axis=0)
    return Convergence(
        mean=mean,
        error=np.sqrt(variance),
        agreement=agreement,
        ess=np.where(varies, ess, np.inf),
        r_hat=np.where(varies, r_hat, 1.0),
        settled=agreement <= most,
    )
