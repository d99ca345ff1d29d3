"""Filling the gaps of a table under a model whose parameters are not known: stochastic EM."""

from __future__ import annotations

from collections.abc import Callable

from kes.data.dataset import Dataset
from kes.data.incomplete import Stack
from kes.data.random_stream import Stream
from kes.network.base import Network
from kes.network.gibbs import sweep

SWEEPS = 10
"""Estimates, with a sweep after each, for one structure."""


def fill(stack: Stack, estimate: Callable[[Dataset], Network], stream: Stream) -> None:
    """Fill the gaps with draws from the network that fits the stack.

    Fitting (the M-step) and drawing (the E-step, by chance instead of by expectation) take turns.

    Parameters
    ----------
    estimate
        Makes a network of a table. It must hold nothing for impossible, or a chain could not leave
        where it is.
    """
    for _ in range(SWEEPS):
        sweep(estimate(stack.dataset()), stack, stream)
