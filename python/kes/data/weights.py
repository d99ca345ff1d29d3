"""Weights: the number of cases that each row stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kes.data.factor import Factor
from kes.data.infer_kinds import numbers_of
from kes.data.parse_text import Sign, parse
from kes.data.raw_columns import Dates, Raw
from kes.errors import KesError, unknown

if TYPE_CHECKING:
    from kes.data.dataset import Weights
    from kes.data.source import Source

_DISTRIBUTION = 1 + 1e-6  # a distribution sums to 1, up to rounding
_MOST_CASES = 1e300  # beyond it, scores overflow
_UNIT_BITS = 60  # the core counts in integer multiples of about 2^-60 of the sum


def read_weights(weights: Weights, source: Source) -> NDArray[np.float64] | None:
    """Return validated weights, given as an array or as the name of a column."""
    if weights is None:
        return None
    where = "weights"
    if isinstance(weights, str):
        weights = source.called(weights)
        where = f"weights (column {weights!r})"
        array = _read_column(weights, where, source)
    else:
        try:
            array = np.array(weights, dtype=np.float64)  # a copy: the user may modify theirs
        except (TypeError, ValueError):
            message = "weights must be numbers or the name of a column of numbers"
            raise KesError(message, option="weights") from None
    check_weights(array, source.rows, where)
    return array


def check_total(weights: NDArray[np.float64]) -> None:
    """Refuse a distribution: criteria need the number of cases."""
    with np.errstate(over="ignore"):  # refused below
        total = float(weights.sum())
    if total == 0:
        raise KesError("weights: all are zero, so there are no cases", option="weights")
    if not total <= _MOST_CASES:
        raise KesError(
            f"weights: they sum to {total:g}, but at most {_MOST_CASES:g} cases are supported; "
            "divide them by a common factor",
            option="weights",
        )
    if total <= _DISTRIBUTION:
        raise KesError(
            f"weights: they sum to {total:.6g}, but must be numbers of cases; multiply a "
            "distribution by the number of cases N that it stands for",
            option="weights",
        )


def weight_remarks(weights: NDArray[np.float64]) -> list[str]:
    """Return a note on weights that are too small beside the others to be counted."""
    if not (weights % 1).any():  # integers are counted exactly
        return []
    unit = np.exp2(np.ceil(np.log2(weights.sum())) - _UNIT_BITS)
    lost = int(((weights > 0) & (weights < unit / 2)).sum())
    if not lost:
        return []
    which = "1 weight is" if lost == 1 else f"{lost} weights are"
    little = f"less than 2^-{_UNIT_BITS} of the sum of all, too little to be counted"
    return [f"{which} {little}, so 0 is used instead"]


def _read_column(name: str, where: str, source: Source) -> NDArray[np.float64]:
    if name not in source.names:
        raise unknown("column of weights", name, source.names, option="weights")
    try:
        column = source.column(list(source.names).index(name), frozenset())
        return _numbers(column, source.likely_decimal or ".")
    except KesError as error:
        raise KesError(f"{where}: {error}", option="weights", column=name, row=error.row) from None


def _numbers(column: Raw, decimal: Sign) -> NDArray[np.float64]:
    """Return the numbers of a column; those of text only if it comes from a file without types."""
    if isinstance(column, Factor):
        for code, value in enumerate(column.values):
            if isinstance(value, str) and not (column.untyped and parse([value], decimal)):
                row = int(np.argmax(column.codes == code))
                raise KesError(f"row {row}: {value!r} is not a number", row=row)
        column = numbers_of(column, decimal)
    if isinstance(column, Dates):
        raise KesError("has dates, not numbers")
    return column.floats()


def check_weights(weights: NDArray[np.float64], rows: int, where: str = "weights") -> None:
    """Refuse arrays that are not one weight for each row."""
    if weights.shape != (rows,):
        found = f"{len(weights)}" if weights.ndim == 1 else f"an array of shape {weights.shape}"
        message = f"weights: expected one for each of the {rows} rows, found {found}"
        raise KesError(message, option="weights")
    bad = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if bad.size:
        row = int(bad[0])
        raise KesError(
            f"{where}: row {row} (counting from 0) has {weights[row]:g}; weights must be "
            "non-negative finite numbers, so correct or drop such rows"
            + (f" ({bad.size} in all)" if bad.size > 1 else ""),
            option="weights",
            row=row,
        )
