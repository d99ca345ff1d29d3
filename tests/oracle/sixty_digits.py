"""Every criterion from its definition, each operation with sixty digits or more.

Where the engine uses set functions, tables of logarithms, whole numbers of 41 bits, recurrences and
series, here stand the formulas of the papers, on numbers in which nothing of what they lose can be
seen. Weights are what the core documents that it counts: see `counted`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import mpmath
import numpy as np
from mpmath import mp, mpf
from numpy.typing import ArrayLike, NDArray

from .brute import Dag, members
from .gaussian import Column, is_discrete

DIGITS = 60


def counted(weights: ArrayLike | None, rows: int) -> list[mpf]:
    """The weights as multiples of the unit, 2^-60 of their sum or up to twice that, or of 1."""
    if weights is None:
        return [mpf(1)] * rows
    given = [mpf(float(w)) for w in np.asarray(weights)]
    if all(w == mpmath.floor(w) for w in given):
        return given
    unit = mpf(2) ** (mpmath.ceil(mpmath.log(mpmath.fsum(given), 2)) - 60)
    return [mpmath.floor(w / unit + mpf(1) / 2) * unit for w in given]


class SixtyDigits:
    """Terms of sets, gains of triples and scores of DAGs of one table under one criterion."""

    def __init__(self, weights: ArrayLike | None, rows: int) -> None:
        with mp.workdps(DIGITS):
            self.weights = counted(weights, rows)
            self.total = mpmath.fsum(self.weights)
        self._terms: dict[int, mpf] = {}

    def term(self, nodes: int) -> mpf:
        """F of a set of variables."""
        if nodes not in self._terms:
            with mp.workdps(DIGITS):
                self._terms[nodes] = self._term(members(nodes))
        return self._terms[nodes]

    def _term(self, variables: tuple[int, ...]) -> mpf:
        raise NotImplementedError

    def of(self, dag: Dag) -> mpf:
        with mp.workdps(DIGITS):
            return mpmath.fsum(self.term(p | 1 << y) - self.term(p) for y, p in enumerate(dag))

    def delta(self, x: int, y: int, given: int) -> mpf:
        """Gain of inserting an edge."""
        with mp.workdps(DIGITS):
            apart = self.term(given | 1 << x) + self.term(given | 1 << y)
            return self.term(given | 1 << x | 1 << y) + self.term(given) - apart


class Discrete(SixtyDigits):
    """The four criteria of coded tables."""

    def __init__(
        self,
        codes: NDArray[np.int32],
        cardinalities: Sequence[int],
        weights: ArrayLike | None,
        criterion: str,
        ess: float = 1.0,
    ) -> None:
        super().__init__(weights, codes.shape[1])
        self.codes, self.cardinalities = codes, [int(r) for r in cardinalities]
        self.criterion, self.ess = criterion, ess

    def _term(self, variables: tuple[int, ...]) -> mpf:
        counts: dict[tuple[int, ...], mpf] = {}
        for row, weight in enumerate(self.weights):
            if weight:
                cell = tuple(int(self.codes[v, row]) for v in variables)
                counts[cell] = counts.get(cell, mpf(0)) + weight
        cells = 1
        for v in variables:
            cells *= self.cardinalities[v]
        if self.criterion == "bdeu":
            return mpmath.fsum(log_rising(mpf(self.ess) / cells, n) for n in counts.values())
        likelihood = mpmath.fsum(n * mpmath.log(n) for n in counts.values())
        if self.criterion == "qnml":
            cases = max(1, int(mpmath.floor(self.total + mpf(1) / 2)))
            return likelihood - log_regret(cases, cells)
        per_parameter = {"bic": mpmath.log(self.total) / 2, "aic": mpf(1)}[self.criterion]
        return likelihood - per_parameter * cells


def log_rising(a: mpf, n: mpf) -> mpf:
    """lnG(a + n) - lnG(a), with as many more digits as the two have in common."""
    with mp.workdps(DIGITS + max(0, int(mpmath.log10(a + n))) + 20):
        return mpmath.loggamma(a + n) - mpmath.loggamma(a)


@cache
def log_regret(cases: int, cells: int) -> mpf:
    """ln C(N, K), by one integral.

    The sum of [Mononen & Myllymaki 2008], C(N, K) = sum_k (N over k) N^-k (K-1) K ... (K+k-2), with
    Euler's integral for the rising product, is that of the binomial theorem:

        C(N, K) = 1/G(K - 1) * integral from 0 to infinity of x^(K-2) e^-x (1 + x/N)^N dx.
    """
    if cells == 1:
        return mpf(0)
    with mp.workdps(DIGITS):
        n, power = mpf(cases), mpf(cells - 2)

        def exponent(x: mpf) -> mpf:
            rest = power * mpmath.log(x) if power else mpf(0)
            return rest - x + n * mpmath.log1p(x / n)

        # Where the integrand is largest, x^2 = (K - 2)(N + x), and how wide it is there.
        top = (power + mpmath.sqrt(power * power + 4 * power * n)) / 2
        curvature = (power / top**2 if power else 0) + n / (n + top) ** 2
        width = 1 / mpmath.sqrt(curvature)
        highest = exponent(top) if power else mpf(0)
        points = [mpf(0)] + [top + step * width for step in range(-16, 33, 4)] + [mpmath.inf]
        ends = sorted({p for p in points if p >= 0})
        integral = mpmath.quad(lambda x: mpmath.exp(exponent(x) - highest), ends)
        return mpmath.log(integral) + highest - mpmath.loggamma(cells - 1)


class Gaussian(SixtyDigits):
    """The criteria of continuous and mixed tables: functions of a determinant of covariances."""

    def __init__(
        self,
        columns: Sequence[Column],
        weights: ArrayLike | None,
        criterion: str,
        penalty: float = 1.0,
    ) -> None:
        super().__init__(weights, len(columns[0]))
        self.criterion = criterion
        with mp.workdps(DIGITS):
            unit = mpmath.log(self.total) / 2 if criterion == "bic" else mpf(1)
            self.unit = mpf(penalty) * unit
            blocks = [self._embedded(column) for column in columns]
            self.embedded = embedded = [column for block in blocks for column in block]
            ends = np.cumsum([len(block) for block in blocks]).tolist()
            self.places = [range(end - len(b), end) for b, end in zip(blocks, ends, strict=True)]
            self.covariance = [
                [
                    mpmath.fdot(self.weights, [x * y for x, y in zip(a, b, strict=True)])
                    / self.total
                    for b in embedded
                ]
                for a in embedded
            ]

    def _embedded(self, column: Column) -> list[list[mpf]]:
        """Columns less their means: indicators of all occurring states but one, or the numbers."""
        if not is_discrete(column):
            block = [[mpf(float(x)) for x in column]]
        else:
            occurring = sorted({int(c) for c, w in zip(column, self.weights, strict=True) if w})
            block = [[mpf(int(c == state)) for c in column] for state in occurring[1:]]
        return [self._centred(values) for values in block]

    def _centred(self, values: list[mpf]) -> list[mpf]:
        mean = mpmath.fdot(self.weights, values) / self.total
        return [x - mean for x in values]

    def _term(self, variables: tuple[int, ...]) -> mpf:
        columns = [column for v in variables for column in self.places[v]]
        size, total = len(columns), self.total
        covariance = [[self.covariance[a][b] for b in columns] for a in columns]
        if self.criterion == "bge":
            return self._marginal_likelihood(covariance, size)
        logarithm = log_determinant(covariance)
        likelihood = -total / 2 * (logarithm + size * (1 + mpmath.log(2 * mpmath.pi)))
        return likelihood - self.unit * size * (size + 3) / 2

    def _marginal_likelihood(self, covariance: list[list[mpf]], size: int) -> mpf:
        """Equation (18) of [Geiger & Heckerman 2002] as corrected by [Kuipers 2014].

        Columns are standardised, the prior mean is theirs with weight 1, T0 = I/2, and the degrees
        of freedom of a set of l columns are l + 2.
        """
        total, freedom = self.total, size + 2
        scale = [mpmath.sqrt(covariance[i][i]) for i in range(size)]
        posterior = [
            [
                total * covariance[i][j] / (scale[i] * scale[j]) + (mpf(1) / 2 if i == j else 0)
                for j in range(size)
            ]
            for i in range(size)
        ]
        gammas = mpmath.fsum(
            mpmath.loggamma((total + freedom - i) / 2) - mpmath.loggamma(mpf(freedom - i) / 2)
            for i in range(size)
        )
        return (
            -size * mpmath.log(total + 1) / 2
            - size * total / 2 * mpmath.log(mpmath.pi)
            + gammas
            + mpf(freedom) / 2 * size * mpmath.log(mpf(1) / 2)
            - (total + freedom) / 2 * log_determinant(posterior)
        )


def log_determinant(matrix: list[list[mpf]]) -> mpf:
    """By elimination; the matrix is positive definite, so that no pivot need be looked for."""
    rows = [row[:] for row in matrix]
    total = mpf(0)
    for i, pivot_row in enumerate(rows):
        total += mpmath.log(pivot_row[i])
        for row in rows[i + 1 :]:
            factor = row[i] / pivot_row[i]
            for j in range(i, len(row)):
                row[j] -= factor * pivot_row[j]
    return total
