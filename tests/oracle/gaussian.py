"""Criteria for continuous and mixed tables, each from its definition.

- BIC and AIC: the maximised likelihood of a Gaussian model of the columns of a set, less a penalty
  per parameter. The covariances and their determinants are exact fractions of the numbers as they
  are stored; nothing is rounded before the logarithm. A discrete variable with r occurring states
  stands for r - 1 indicators [Andrews, Ramsey & Cooper 2019].
- A Gaussian family by regression: least squares on the parents, residual variance, its likelihood.
- BGe: the probability of the cases one after the other, each predicted by a multivariate Student t
  whose normal-Wishart parameters the earlier cases have updated [Geiger & Heckerman 2002]. No
  determinant of all the data, no multivariate Gamma function.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import fsum, lgamma, log, pi

import numpy as np
from numpy.typing import NDArray

from .brute import Dag, members

Column = NDArray[np.float64] | NDArray[np.int32]


def is_discrete(column: Column) -> bool:
    return column.dtype == np.int32


def logarithm(value: Fraction) -> float:
    return log(value.numerator) - log(value.denominator)


def determinant(matrix: list[list[Fraction]]) -> Fraction:
    """By elimination, in fractions."""
    rows = [row[:] for row in matrix]
    product = Fraction(1)
    for i, pivot_row in enumerate(rows):
        pivot = pivot_row[i]
        product *= pivot
        if product == 0:
            return product
        for row in rows[i + 1 :]:
            factor = row[i] / pivot
            for j in range(i, len(row)):
                row[j] -= factor * pivot_row[j]
    return product


class DirectGaussian:
    """BIC and AIC of sets and DAGs, exactly. All variables must vary."""

    def __init__(
        self,
        columns: Sequence[Column],
        weights: Sequence[float] | None = None,
        criterion: str = "bic",
        penalty: float = 1.0,
    ) -> None:
        self.columns = columns
        weights = [1.0] * len(columns[0]) if weights is None else weights
        self.weights = [Fraction(float(w)) for w in weights]
        self.total = sum(self.weights)
        self.unit = penalty * (log(self.total) / 2 if criterion == "bic" else 1.0)
        self._terms: dict[int, float] = {}

    @cached_property
    def blocks(self) -> list[list[list[Fraction]]]:
        """Embedded columns of each variable, less their means. The first state is left out."""
        blocks = []
        for column in self.columns:
            if is_discrete(column):
                occurring = sorted({int(c) for c, w in zip(column, self.weights, strict=True) if w})
                block = [[Fraction(int(c == state)) for c in column] for state in occurring[1:]]
            else:
                block = [[Fraction(float(x)) for x in column]]
            blocks.append([self._centred(values) for values in block])
        return blocks

    def _centred(self, values: list[Fraction]) -> list[Fraction]:
        mean = sum(w * x for w, x in zip(self.weights, values, strict=True)) / self.total
        return [x - mean for x in values]

    def term(self, nodes: int) -> float:
        """F of a set of variables."""
        if nodes not in self._terms:
            columns = [column for v in members(nodes) for column in self.blocks[v]]
            covariance = [
                [
                    sum(w * x * y for w, x, y in zip(self.weights, a, b, strict=True)) / self.total
                    for b in columns
                ]
                for a in columns
            ]
            p = len(columns)
            likelihood = (
                -float(self.total)
                / 2
                * (logarithm(determinant(covariance)) + p * (1 + log(2 * pi)))
            )
            self._terms[nodes] = likelihood - self.unit * p * (p + 3) / 2
        return self._terms[nodes]

    def of(self, dag: Dag) -> float:
        return fsum(self.term(P | 1 << y) - self.term(P) for y, P in enumerate(dag))


def regression_score(columns: Sequence[NDArray[np.float64]], dag: Dag, penalty: float) -> float:
    """Score of a DAG of continuous variables: every node regressed on its parents."""
    n = len(columns[0])
    score = 0.0
    for y, parents in enumerate(dag):
        design = np.column_stack([np.ones(n), *(columns[x] for x in members(parents))])
        scale = np.abs(design).max(axis=0)
        fitted = design / scale @ np.linalg.lstsq(design / scale, columns[y], rcond=None)[0]
        variance = np.mean((columns[y] - fitted) ** 2)
        parameters = design.shape[1] + 1
        score += -n / 2 * (log(2 * pi * variance) + 1) - penalty * parameters
    return score


def predictive_bge(columns: Sequence[NDArray[np.float64]], nodes: int) -> float:
    """ln p(columns of the set), case by case, for standardised columns.

    The prior: mean weight 1, T0 = t I with t = 1/2 (alpha_mu (alpha_w - n - 1)/(alpha_mu + 1) with
    alpha_w = n + 2), and alpha_w - n + l degrees of freedom for a set of l columns.
    """
    data = np.array([columns[v] for v in members(nodes)]).T
    data = (data - data.mean(axis=0)) / data.std(axis=0)
    size = data.shape[1]
    mean, weight, freedom, matrix = np.zeros(size), 1.0, size + 2.0, 0.5 * np.eye(size)
    total = 0.0
    for case in data:
        degrees = freedom - size + 1
        scale = matrix * (weight + 1) / (weight * degrees)
        deviation = case - mean
        distance = deviation @ np.linalg.solve(scale, deviation)
        total += (
            lgamma((degrees + size) / 2)
            - lgamma(degrees / 2)
            - size / 2 * log(degrees * pi)
            - np.linalg.slogdet(scale)[1] / 2
            - (degrees + size) / 2 * np.log1p(distance / degrees)
        )
        matrix = matrix + weight / (weight + 1) * np.outer(deviation, deviation)
        mean = (weight * mean + case) / (weight + 1)
        weight, freedom = weight + 1, freedom + 1
    return float(total)
