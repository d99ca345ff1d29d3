"""Normal scores: the transform ``"ranks"`` of continuous columns.

A value is replaced by the normal quantile of its rank (ties share their mean rank), so that any
column becomes normal and only the order of its values matters. On skewed data that helps every
criterion that assumes normal variables [van der Waerden 1952].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes.data.column import Continuous
from kes.data.dataset import Dataset
from kes.data.intervals import Floats
from kes.errors import KesError


@dataclass(frozen=True, eq=False)
class Scores:
    """The distinct values of a column in ascending order, and the normal score of each."""

    values: Floats
    scores: Floats

    @classmethod
    def of(cls, values: Floats, weights: Floats | None = None) -> Scores:
        """Rank the values; a row of weight w counts as w rows.

        The probability of a value is the share of smaller values plus half of its own share. It
        does not depend on the order of rows: weights of equal values are added in ascending order.

        Examples
        --------
        >>> Scores.of(np.array([3.0, 1.0, 2.0, 2.0])).scores.round(3)
        array([-1.15,  0.  ,  1.15])
        """
        distinct, place = np.unique(values + 0.0, return_inverse=True)  # -0.0 becomes 0.0
        place = place.reshape(-1)
        if weights is not None and weights.any():
            order = np.lexsort((weights, place))
            place, weights = place[order], weights[order]
        else:
            weights = None
        counts = np.bincount(place, weights=weights, minlength=len(distinct))
        occurs = counts > 0
        return cls(distinct[occurs], _middle_quantiles(counts[occurs]))

    def forward(self, values: Floats) -> Floats:
        """Return the scores of values; new values are interpolated, and clipped at the ends."""
        return np.interp(values, self.values, self.scores)

    def back(self, scores: Floats) -> Floats:
        """Return the values that have these scores."""
        return np.interp(scores, self.scores, self.values)

    def boundary(self, value: float, *, after: bool) -> float:
        """Return a score between those of smaller values and the rest; infinite at the ends.

        With `after`, the value itself counts as one of the smaller ones.

        Examples
        --------
        >>> Scores.of(np.array([1.0, 2.0])).boundary(1.0, after=True)
        0.0
        """
        smaller = int(np.searchsorted(self.values, value, side="right" if after else "left"))
        if smaller == 0:
            return -np.inf
        return (
            float(self.scores[smaller - 1 : smaller + 1].mean())
            if smaller < len(self.values)
            else np.inf
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Scores)
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.scores, other.scores)
        )

    def __hash__(self) -> int:
        return hash(self.values.tobytes())


@dataclass(frozen=True)
class Ranks:
    """The normal scores of the continuous columns of a table."""

    columns: Mapping[str, Scores]

    @classmethod
    def of(cls, dataset: Dataset, gaps: NDArray[np.bool_] | None = None) -> Ranks:
        """Rank every continuous column, ignoring missing values (`gaps`: variables x rows)."""
        weights = np.ones(dataset.rows) if dataset.weights is None else dataset.weights
        columns = {}
        for i, (name, column) in enumerate(zip(dataset.names, dataset.columns, strict=True)):
            if isinstance(column, Continuous):
                there = np.ones(dataset.rows, dtype=np.bool_)
                if gaps is not None and not gaps[i].all():
                    there = ~gaps[i]
                columns[name] = Scores.of(column.values[there], weights[there])
        return cls(columns)

    def transform(self, column: str, values: Floats) -> Floats:
        """Return the scores of values of a column."""
        return self._known(column).forward(values)

    def inverse(self, column: str, scores: Floats) -> Floats:
        """Return the values that have these scores in a column."""
        return self._known(column).back(scores)

    def boundary(self, column: str, value: float, *, after: bool) -> float:
        """Return the score at which a column passes a value; see `Scores.boundary`."""
        return self._known(column).boundary(value, after=after)

    def apply(self, dataset: Dataset) -> Dataset:
        """Replace the values of a table by scores."""
        return self._map(Scores.forward, dataset)

    def undo(self, dataset: Dataset) -> Dataset:
        """Replace the scores of a table by values."""
        return self._map(Scores.back, dataset)

    def _map(self, function: Callable[[Scores, Floats], Floats], dataset: Dataset) -> Dataset:
        columns = [
            Continuous(function(self._known(name), one.values)) if one.kind == "continuous" else one
            for name, one in zip(dataset.names, dataset.columns, strict=True)
        ]
        return Dataset.of(dataset.names, columns, dataset.weights, dataset.notes)

    def _known(self, column: str) -> Scores:
        if column not in self.columns:
            raise KesError(f"column {column!r} has no normal scores", column=column)
        return self.columns[column]


# --- the normal quantile function ----------------------------------------------------------------

# fmt: off
_CENTRE = (
    (
        2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
        4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
        1.3314166789178437745e2, 3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
        2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
        4.2313330701600911252e1, 1.0,
    ),
)
_SIDE = (
    (
        7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
        1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
        4.63033784615654529590e0, 1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
        1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
        2.05319162663775882187e0, 1.0,
    ),
)
_TAIL = (
    (
        2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
        2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
        5.46378491116411436990e0, 6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
        7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
        5.99832206555887937690e-1, 1.0,
    ),
)
"""Numerators and denominators, highest power first [Wichura 1988, PPND16]."""
# fmt: on


def _middle_quantiles(counts: NDArray[Any]) -> Floats:
    """Return the normal quantile of the middle of each share of a whole.

    Where a share is so small that its probability is rounded to 0 or 1, whose quantiles are
    infinite, it is measured from the other end, or as the smallest positive number.
    """
    below, above = np.cumsum(counts), np.cumsum(counts[::-1])[::-1]
    lower, upper = ((ends - counts / 2) / below[-1] for ends in (below, above))
    least = np.finfo(np.float64).smallest_subnormal
    at_end = lower == 1
    scores = quantiles(np.maximum(np.where(at_end, upper, lower), least))
    return np.where(at_end, -scores, scores)


def quantiles(probabilities: ArrayLike) -> Floats:
    """Return quantiles of the standard normal distribution, exact to about 16 digits.

    Examples
    --------
    >>> quantiles([0.5, 0.975]).round(6)
    array([0.      , 1.959964])
    """
    p = np.asarray(probabilities, dtype=np.float64)
    from_centre = p - 0.5
    result = from_centre * _ratio(_CENTRE, 0.180625 - from_centre * from_centre)
    outer = np.abs(from_centre) > 0.425
    far = np.sqrt(-np.log(np.minimum(p[outer], 1 - p[outer])))
    size = np.where(far <= 5, _ratio(_SIDE, far - 1.6), _ratio(_TAIL, far - 5))
    result[outer] = np.copysign(size, from_centre[outer])
    return result


def _ratio(polynomials: tuple[tuple[float, ...], tuple[float, ...]], x: Floats) -> Floats:
    above, below = (np.polyval(coefficients, x) for coefficients in polynomials)
    ratio: Floats = above / below
    return ratio
