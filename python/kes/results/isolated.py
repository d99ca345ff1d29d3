"""Variables without an edge, and those of them that clearly depend on another column.

A criterion pays for every parameter. Between columns with many states an edge has so many that
even a strong relation may not be worth them: "isolated" then means "too dear", not "independent".
A G² test that shares nothing with the criterion tells the two apart. It counts groups of states
that are large enough for the χ² distribution, and only cases in which both values were observed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Column, Discrete
from kes.data.dataset import Incomplete, dataset_of, informative
from kes.data.infer_kinds import saying
from kes.data.notes import are_numbers, in_order
from kes.errors import listed, option

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.search.problem import Problem

_CLEAR = 1e-6
"""p-value below which a column clearly depends on another; less if many pairs are tested."""

_FALSE_ALARMS = 1e-3
"""Bound on the probability of a false alarm among all pairs."""

_EXPECTED = 5
"""Least expected number of cases in a combination of groups."""

_GROUPS = 8
"""Most groups of the values of a number."""

_STEPS = 1000
"""Steps in which the values of a number are grouped."""

_WORK = 30_000_000
"""Values of pairs to count, which takes about a second; of more, nothing is tested."""

_PER_PAIR = 600
"""Values whose counting takes as long as the rest of a test."""


@dataclass(frozen=True)
class Unseen:
    """A relation of an isolated column that its edge would cost more than it gains.

    Attributes
    ----------
    column, other : str
        The isolated column, and the one that it depends on most clearly.
    p : float
        The p-value of the G² test.
    why : str
        Why an edge does not show it.
    remedy : str
        What to try.
    """

    column: str
    other: str
    p: float
    why: str
    remedy: str

    def __str__(self) -> str:
        p = f"p = {self.p:.0e}" if self.p > 0 else "p < 1e-300"
        return (
            f"{self.column!r} has no edge, but depends on {self.other!r} (G² test, {p}): "
            f"{self.why}; try {self.remedy}"
        )


def isolated(optima: Optima) -> list[str]:
    """Return the variables without an edge in the best model."""
    connected = {node for edge in optima.best.graph.skeleton for node in edge}
    return [name for name in optima.names if name not in connected]


def unseen(optima: Optima, problem: Problem | None) -> list[Unseen]:
    """Return for each isolated variable the relation that it clearly has in the table, if any.

    Nothing if the table is not available or too large, or if no edge is allowed.
    """
    # Exogenous variables may depend on others through each other, which no edge shows.
    exogenous = set(optima.settings.exogenous)
    alone = [name for name in isolated(optima) if name not in exogenous]
    if problem is None or not alone or optima.settings.max_parents == 0:
        return []
    table = dataset_of(problem.table)
    pairs = len(alone) * (len(table.names) - 1)
    if pairs * (table.rows + _PER_PAIR) > _WORK:
        return []
    tests = _Tests(problem)
    reported = {frozenset(pair) for pair in optima.excluded}  # notes say why no model connects them
    least = min(_CLEAR, _FALSE_ALARMS / max(pairs, 1))
    found = []
    for name in alone:
        x = table.names.index(name)
        partners = [
            (tests.p(x, y), y)
            for y, other in enumerate(table.names)
            if frozenset((name, other)) not in reported and tests.may_join(x, y)
        ]
        p, y = min(partners, default=(1.0, x))
        names = name, table.names[y]
        if p < least:
            reported.add(frozenset(names))
            found.append(Unseen(*names, p, *_explained(problem, x, y)))
    return found


class _Tests:
    """G² tests of pairs of columns."""

    def __init__(self, problem: Problem) -> None:
        table = problem.table
        self._table = dataset_of(table)
        self._gaps = table.gaps if isinstance(table, Incomplete) else None
        rows = self._table.rows
        self._weights = np.ones(rows) if table.weights is None else table.weights
        known = problem.settings.known(self._table.names)
        self._tiers, _, forbidden = known or (None, [], [])
        self._forbidden = set(forbidden)
        self._complete: dict[int, NDArray[np.intp]] = {}

    def may_join(self, x: int, y: int) -> bool:
        """Return whether the knowledge allows an edge between two variables."""
        return x != y and (self._may_cause(x, y) or self._may_cause(y, x))

    def _may_cause(self, x: int, y: int) -> bool:
        first, second = (None, None) if self._tiers is None else (self._tiers[x], self._tiers[y])
        is_later = first is not None and second is not None and first > second
        return not is_later and (x, y) not in self._forbidden

    def p(self, x: int, y: int) -> float:
        """Return the p-value of the test whether two columns are independent."""
        rows = slice(None) if self._gaps is None else ~(self._gaps[x] | self._gaps[y])
        weights = self._weights[rows]
        if not weights.any():
            return 1.0
        weights = weights * (informative(weights) / weights.sum())
        a, b = (self._groups(node, rows, weights) for node in (x, y))
        shape = int(a.max()) + 1, int(b.max()) + 1
        cells = np.bincount(a * shape[1] + b, weights, shape[0] * shape[1]).reshape(shape)
        expected = np.outer(cells.sum(axis=1), cells.sum(axis=0)) / cells.sum()
        there = cells > 0
        g2 = 2 * float(np.sum(cells[there] * np.log(cells[there] / expected[there])))
        return chi2_tail(max(g2, 0.0), (shape[0] - 1) * (shape[1] - 1))

    def _groups(
        self, node: int, rows: slice | NDArray[np.bool_], weights: NDArray[np.float64]
    ) -> NDArray[np.intp]:
        """Group the cases by a column, once if none has gaps."""
        if self._gaps is not None:
            return _groups(self._table.columns[node], rows, weights)
        if node not in self._complete:
            self._complete[node] = _groups(self._table.columns[node], rows, weights)
        return self._complete[node]


def _groups(
    column: Column, rows: slice | NDArray[np.bool_], weights: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Return the group of each case; neighbouring numbers share one, and rare words."""
    cases = float(weights.sum())
    least = math.sqrt(_EXPECTED * cases)
    if isinstance(column, Discrete):
        codes = column.codes[rows].astype(np.intp)
        sizes = _sums(codes, weights, len(column.states))
        if are_numbers(column.states):
            least = max(least, cases / _GROUPS)
            order = np.array(in_order(column.states), np.intp)
        else:
            order = np.argsort(-sizes, kind="stable")
    else:
        least = max(least, cases / _GROUPS)
        values, codes = np.unique(column.values[rows], return_inverse=True)
        sizes = _sums(codes, weights, len(values))
        steps = ((np.cumsum(sizes) - sizes) * (_STEPS / cases)).astype(np.intp).clip(0, _STEPS - 1)
        codes = steps[codes]
        sizes, order = _sums(codes, weights, _STEPS), np.arange(_STEPS)
    group = np.empty(len(sizes), np.intp)
    group[order] = _neighbours(sizes[order], least)
    return group[codes]


def _sums(codes: NDArray[np.intp], weights: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    return np.bincount(codes, weights, size).astype(np.float64)


def _neighbours(sizes: NDArray[np.float64], least: float) -> NDArray[np.intp]:
    """Return groups of values that follow each other, each with enough cases."""
    groups, now, filled = np.empty(len(sizes), np.intp), 0, 0.0
    left = float(sizes.sum())
    for i, size in enumerate(sizes.tolist()):
        groups[i] = now
        filled, left = filled + size, left - size
        if filled >= least and left >= least:
            now, filled = now + 1, 0.0
    return groups


def chi2_tail(value: float, freedom: int) -> float:
    """Return the probability that a χ² variable exceeds a value.

    Examples
    --------
    >>> round(chi2_tail(3.841458820694124, 1), 12), round(chi2_tail(18.307038053275146, 10), 12)
    (0.05, 0.05)
    """
    if freedom <= 0:
        return 1.0
    half = value / 2
    if half == 0:
        return 1.0
    odd = freedom % 2
    tail = math.erfc(math.sqrt(half)) if odd else 0.0
    steps = (i + odd / 2 for i in range(freedom // 2))
    terms = (math.exp(s * math.log(half) - half - math.lgamma(s + 1)) for s in steps)
    return min(1.0, tail + math.fsum(terms))


def _explained(problem: Problem, x: int, y: int) -> tuple[str, str]:
    """Return why there is no edge between two columns, and what to try."""
    table, settings = dataset_of(problem.table), problem.settings
    names, columns = (table.names[x], table.names[y]), (table.columns[x], table.columns[y])
    price = -settings.log_odds(*names)
    if price > 0 and problem.core.delta((True, x, y, [])) + price > 0:
        is_common = price == settings.edge_prior
        remedy = option("edge_prior", 0) if is_common else "higher odds of this edge (likely)"
        return f"it gains less than the price of an edge, {price:.4g} nats", remedy
    has_curves = settings.basis not in (None, 1)
    return _why(columns, has_curves=has_curves), _remedy(problem, names, columns, has_curves)


def _why(columns: Sequence[Column], *, has_curves: bool) -> str:
    counts = [len(one.states) for one in columns if isinstance(one, Discrete)]
    if not counts:
        return f"an edge costs more than a {'curve' if has_curves else 'straight line'} gains"
    sizes = f"{counts[0]} and {counts[1]} states" if counts[1:] else f"{counts[0]} states"
    return f"with {sizes}, an edge costs more than it gains"


def _remedy(
    problem: Problem, names: Sequence[str], columns: Sequence[Column], has_curves: bool
) -> str:
    many = dict(_many(names, columns))
    numbers = [name for name, own in many.items() if are_numbers(own.states)]
    if numbers:
        return saying(numbers, "continuous")
    is_curved = not has_curves and not all(isinstance(one, Discrete) for one in columns)
    if is_curved and not many:
        return option("basis", "auto")
    merged = [f"to merge states of {listed([*many])}"] if many else []
    measure = problem.settings.measure
    has_penalty = measure.has_penalty(problem.dataset.kind)
    cheaper = option("penalty", measure.penalty / 2) if has_penalty else option("criterion", "aic")
    return ", or ".join([*merged, cheaper])


def _many(names: Sequence[str], columns: Sequence[Column]) -> Iterator[tuple[str, Discrete]]:
    """Yield the columns with more than two states."""
    for name, column in zip(names, columns, strict=True):
        if isinstance(column, Discrete) and len(column.states) > 2:
            yield name, column
