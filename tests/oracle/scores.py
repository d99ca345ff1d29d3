"""The criteria by their textbook family formulas, counted with plain dictionaries.

The engine computes differences of set functions instead; here every family is scored on its own,
from N_ij (cases in parent state j) and N_ijk (of these, with the child in state k), with r states
of the child and q states of its parents:

- BIC   sum_jk N_ijk ln(N_ijk / N_ij)  -  1/2 ln N * (r - 1) q             [Schwarz 1978]
- AIC   the same with penalty (r - 1) q                                    [Akaike 1974]
- BDeu  sum_j lnG(a/q) - lnG(a/q + N_ij)
        + sum_jk lnG(a/qr + N_ijk) - lnG(a/qr), a the equivalent sample size
                                                    [Heckerman, Geiger & Chickering 1995]
- qNML  sum_jk N_ijk ln(N_ijk / N_ij)  -  ln C(N, q r) + ln C(N, q)        [Silander 2018]
        C(N, K) the normaliser of the multinomial NML distribution, see `log_regret`
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from math import exp, floor, fsum, lgamma, log, prod

import mpmath

from .brute import Dag, members


class DirectScore:
    """Scores of DAGs on one coded table (one row per variable), family by family."""

    def __init__(
        self,
        codes: Sequence[Sequence[int]],
        cardinalities: Sequence[int],
        weights: Sequence[float] | None = None,
        criterion: str = "bic",
        ess: float = 1.0,
    ) -> None:
        self.rows = [tuple(int(code) for code in row) for row in zip(*codes, strict=True)]
        self.weights = [1.0] * len(self.rows) if weights is None else [float(w) for w in weights]
        self.total = fsum(self.weights)
        self.cardinalities = [int(r) for r in cardinalities]
        self.criterion = criterion
        self.ess = ess
        self._families: dict[tuple[int, int], float] = {}

    def of(self, dag: Dag) -> float:
        return fsum(self.family(y, parents) for y, parents in enumerate(dag))

    def delta(self, insertion: bool, x: int, y: int, given: int) -> float:
        """Gain of adding (or removing) x -> y in a DAG where y has the (other) parents `given`."""
        gain = self.family(y, given | 1 << x) - self.family(y, given)
        return gain if insertion else -gain

    def family(self, y: int, parents: int) -> float:
        if (y, parents) not in self._families:
            self._families[y, parents] = self._score_family(y, members(parents))
        return self._families[y, parents]

    def _score_family(self, y: int, parents: tuple[int, ...]) -> float:
        by_parents: dict[tuple[int, ...], float] = defaultdict(float)
        by_family: dict[tuple[tuple[int, ...], int], float] = defaultdict(float)
        for row, weight in zip(self.rows, self.weights, strict=True):
            if weight > 0:
                j = tuple(row[x] for x in parents)
                by_parents[j] += weight
                by_family[j, row[y]] += weight
        r, q = self.cardinalities[y], prod(self.cardinalities[x] for x in parents)
        if self.criterion == "bdeu":
            a, b = self.ess / q, self.ess / q / r
            return fsum(-log_rising(a, n) for n in by_parents.values()) + fsum(
                log_rising(b, n) for n in by_family.values()
            )
        likelihood = fsum(n * log(n / by_parents[j]) for (j, _), n in by_family.items())
        if self.criterion == "qnml":
            cases = max(1, floor(self.total + 0.5))
            return likelihood - log_regret(cases, q * r) + log_regret(cases, q)
        per_parameter = {"bic": log(self.total) / 2, "aic": 1.0}[self.criterion]
        return likelihood - per_parameter * (r - 1) * q


def log_rising(a: float, n: float) -> float:
    """lnG(a + n) - lnG(a); with sixty digits where the two are large beside their difference."""
    if a < 1e3:
        return lgamma(a + n) - lgamma(a)
    with mpmath.workdps(60):
        return float(mpmath.loggamma(mpmath.mpf(a) + n) - mpmath.loggamma(a))


@cache
def log_regret(cases: int, cells: int) -> float:
    """ln C(N, K), by a sum of N + 1 positive terms: not the recurrence in K that the engine uses.

    C(N, K) = sum_k  N (N-1) ... (N-k+1) / N^k  *  (K-1) K ... (K+k-2) / k!
    [Mononen & Myllymaki 2008]; `test_qnml` compares it with the definition.
    """
    logs, term = [], 0.0
    for k in range(cases + 1):
        logs.append(term)
        if k == cases or cells - 1 + k == 0:
            break
        term += log((cases - k) / cases) + log((cells - 1 + k) / (k + 1))
    top = max(logs)
    return top + log(fsum(exp(term - top) for term in logs))
