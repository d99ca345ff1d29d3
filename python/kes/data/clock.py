"""The times of a series, as whole numbers of regular steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kes.data.dates import date_notation, dates_as_numbers
from kes.data.infer_kinds import to_numbers
from kes.data.raw_columns import Raw
from kes.errors import KesError


@dataclass(frozen=True)
class Clock:
    """The time of a series as whole numbers of steps, from 0 on.

    Attributes
    ----------
    origin, step : float
        The earliest time, and the length of a step.
    unit : {"", "days", "months"}
        Of dates; "" for numbers.
    """

    origin: float = 0.0
    step: float = 1.0
    unit: str = ""

    def label(self, moment: int) -> int | float | str:
        """Return a moment as the column of times has it: a number, or an ISO date."""
        value = self.origin + moment * self.step
        if self.unit:
            return str(np.datetime64(round(value), "D" if self.unit == "days" else "M"))
        return int(value) if value == int(value) else value

    def __str__(self) -> str:
        unit = self.unit.removesuffix("s") if self.step == 1 else self.unit
        return f"{self.step:g} {unit}".rstrip()


def moments_of(column: Raw, own: NDArray[np.intp]) -> tuple[NDArray[np.int64], Clock]:
    """Return the time of each row as a whole number of steps, and what a step is.

    `own` is the number of each row's series.
    """
    values, unit = _times(column)
    if np.isnan(values).any():
        row = int(np.flatnonzero(np.isnan(values))[0])
        raise KesError(f"has no value in row {row}; fill it in, or leave the row out", row=row)
    clock = Clock(float(values.min(initial=np.inf)), _step(values, own), unit)
    steps = (values - clock.origin) / clock.step
    rounding = _rounding(values) / clock.step
    if not (np.isfinite(steps).all() and rounding < 0.1):
        raise KesError(
            f"has steps of {clock}, too small for times as large as these; subtract the "
            "first time, or leave time out if the rows are in order",
            option="time",
        )
    if np.abs(steps - np.rint(steps)).max(initial=0.0) > 1e-6 + rounding:
        row = int(np.argmax(np.abs(steps - np.rint(steps))))
        raise KesError(
            f"has no regular steps: most are {clock}, but row {row} is between two; "
            "round the times, or leave time out if the rows are in order",
            option="time",
            row=row,
        )
    return np.rint(steps).astype(np.int64), clock


def _times(column: Raw) -> tuple[NDArray[np.float64], str]:
    """Return times as numbers, with the unit: months if all dates are on one day of the month."""
    notation = date_notation(column, "days")
    if notation is None:
        try:
            return to_numbers(column).floats(), ""
        except KesError:
            raise KesError(
                "must hold numbers or dates to be the time; leave time out if the rows of each "
                "series are in order",
                option="time",
            ) from None
    days = dates_as_numbers(column, notation).floats()
    if np.isnan(days).any() or (days % 1).any():
        return days, "days"
    dates = days.astype(np.int64).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    in_month = (dates - months).astype(np.int64)
    is_last = ((dates + 1).astype("datetime64[M]") > months).all()
    if len(np.unique(months)) > 1 and (is_last or len(np.unique(in_month)) == 1):
        return months.astype(np.int64).astype(np.float64), "months"
    return days, "days"


def _step(values: NDArray[np.float64], own: NDArray[np.intp]) -> float:
    """Return the most frequent difference of consecutive times; of ties the smallest.

    Differences that rounding explains count as equal. If the whole span is a number of steps, the
    step is its share of the span, which is more exact.
    """
    order = np.lexsort((values, own))
    ahead = np.diff(values[order])[np.diff(own[order]) == 0]
    ahead = np.sort(ahead[ahead > 0])
    if not len(ahead):
        return 1.0
    differ = np.diff(ahead) > 1e-6 * ahead[1:] + _rounding(values)
    group = np.concatenate([[0], np.cumsum(differ)])
    largest = group == np.argmax(np.bincount(group))
    step = float(ahead[largest].mean())
    number = np.ptp(values) / step
    return float(np.ptp(values) / np.rint(number)) if abs(number - np.rint(number)) < 0.01 else step


def _rounding(values: NDArray[np.float64]) -> float:
    """Return the largest error of a difference of two values."""
    return 4 * float(np.spacing(np.abs(values).max(initial=0.0)))
