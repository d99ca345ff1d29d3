"""Exact joint distributions: their independences in numbers, and as weighted tables for the engine.

A table whose weights are p * N shows the search what N -> infinity would: the empirical
distribution *is* p, only the penalty depends on N.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from .brute import Dag, Statement, d_separated, members, statements

INDEPENDENT = 1e-13
"""Information (nats) that is rounding only. True dependences here are many orders stronger."""


@dataclass(frozen=True)
class Distribution:
    """A joint distribution of discrete variables; axis i of the array belongs to variable i."""

    joint: NDArray[np.float64]

    @property
    def n(self) -> int:
        return self.joint.ndim

    @property
    def cardinalities(self) -> list[int]:
        return list(self.joint.shape)

    def table(self, total: float) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Every cell as a row: codes (variables x rows), and weights that sum to the total."""
        codes = np.indices(self.joint.shape, dtype=np.int32).reshape(self.n, -1)
        return np.ascontiguousarray(codes), self.joint.ravel() * total

    @cached_property
    def entropies(self) -> list[float]:
        """Entropy of every set of variables."""
        return [self._entropy(nodes) for nodes in range(1 << self.n)]

    def _entropy(self, nodes: int) -> float:
        others = tuple(i for i in range(self.n) if not nodes >> i & 1)
        p = self.joint.sum(axis=others).ravel()
        p = p[p > 0]
        return float(-(p * np.log(p)).sum())

    def information(self, x: int, y: int, given: int) -> float:
        """Conditional mutual information I(x; y | given) in nats."""
        h, cx, cy = self.entropies, given | 1 << x, given | 1 << y
        return h[cx] + h[cy] - h[cx | cy] - h[given]

    @cached_property
    def independences(self) -> frozenset[Statement]:
        """All independences of single variables that hold."""
        return frozenset(s for s in statements(self.n) if self.information(*s) < INDEPENDENT)

    def is_in_model(self, dag: Dag) -> bool:
        """Whether p factorises along the DAG: then sum H(y | Pa(y)) = H(V), else it is larger."""
        h = self.entropies
        along = sum(h[parents | 1 << y] - h[parents] for y, parents in enumerate(dag))
        return along - h[-1] < INDEPENDENT

    def bic_gain(self, x: int, y: int, given: int, total: float) -> float:
        """The gain in BIC of an edge between x and y given a set, in a table of this many cases."""
        r = self.cardinalities
        parameters = (r[x] - 1) * (r[y] - 1) * prod(r[z] for z in members(given))
        return total * self.information(x, y, given) - log(total) / 2 * parameters

    def is_faithful(self, dag: Dag, total: float) -> bool:
        """Whether p has exactly the DAG's independences, and BIC sees each dependence at N.

        BIC is then locally consistent at this N, not only in the limit, for every step that any
        search could take: the premises of Theorem 3 hold as they stand.
        """
        return all(
            self.information(*s) < INDEPENDENT
            if d_separated(dag, *s)
            else self.bic_gain(*s, total) > 0
            for s in statements(self.n)
        )


def random_dag(n: int, density: float, rng: np.random.Generator) -> Dag:
    """Draw a random order, then each forward arc with the probability `density`."""
    order = [int(i) for i in rng.permutation(n)]
    parents = [0] * n
    for position, y in enumerate(order):
        for x in order[:position]:
            if rng.random() < density:
                parents[y] |= 1 << x
    return tuple(parents)


def random_distribution(
    dag: Dag, cardinalities: list[int], rng: np.random.Generator
) -> Distribution:
    """Markov to the DAG, with strong dependences: tables drawn from a Dirichlet(1/2)."""
    joint = np.ones(cardinalities)
    for y, parents in enumerate(dag):
        axes = sorted([*members(parents), y])
        shape = [cardinalities[i] for i in axes if i != y]
        table = rng.dirichlet([0.5] * cardinalities[y], size=shape)  # the child's states come last
        table = np.moveaxis(table, -1, axes.index(y))
        table = 0.98 * table + 0.02 / cardinalities[y]  # no impossible cases: they are not faithful
        joint = joint * table.reshape([r if i in axes else 1 for i, r in enumerate(cardinalities)])
    return Distribution(joint)


def faithful_distribution(
    dag: Dag, cardinalities: list[int], total: float, rng: np.random.Generator
) -> Distribution:
    """Draw distributions until one is faithful and strong enough for BIC at this many cases."""
    while True:
        distribution = random_distribution(dag, cardinalities, rng)
        if distribution.is_faithful(dag, total):
            return distribution


def four_cycle(
    xy: NDArray[np.float64],
    xu: NDArray[np.float64],
    yz: NDArray[np.float64],
    uz: NDArray[np.float64],
) -> Distribution:
    """Fit the distribution of X, Y, Z, U with these margins on the undirected cycle X-Y-Z-U-X.

    Iterative proportional fitting from the uniform distribution never leaves the log-linear model
    of the cycle, in which X, Z are independent given Y, U and Y, U given X, Z; with the margins
    these determine the distribution [Lauritzen 1996, ch. 4].
    """
    joint = np.full((*xy.shape, yz.shape[1], xu.shape[1]), 1.0)
    margins = [(xy, (2, 3)), (yz, (0, 3)), (uz.T, (0, 1)), (xu, (1, 2))]
    for _ in range(1000):
        for margin, summed in margins:
            joint = joint * np.expand_dims(margin / joint.sum(axis=summed), summed)
    return Distribution(joint)


def noisy_cycle(a: float, b: float, c: float) -> Distribution:
    """Example 1 of the paper and its variants.

    X is uniform on four states up to c, P(X) = (1/4 + c, 1/4 - c, 1/4 - c, 1/4 + c). Y and U copy
    the low and the high bit of X with error a; Z agrees with Y, and with U, up to error b. The
    paper prints (a, b, c) = (0.12, 0.30, 0).
    """
    p_x = np.array([0.25 + c, 0.25 - c, 0.25 - c, 0.25 + c])
    low, high = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    copy = np.array([[1 - a, a], [a, 1 - a]])
    agree = np.array([[1 - b, b], [b, 1 - b]]) / 2
    return four_cycle(p_x[:, None] * copy[low], p_x[:, None] * copy[high], agree, agree)
