"""Dates as numbers: days since 1970-01-01, or years.

The origin is fixed, so that a date is the same number in every table. It does not matter to what is
learned.
"""

import datetime
import re
from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from kes.data.factor import Factor, recoded
from kes.data.notation import Notation
from kes.data.parse_text import are_dates
from kes.data.raw_columns import Dates, Numbers, Raw
from kes.errors import KesError

WORDS = {"days": "days since 1970-01-01", "year": "years"}
"""The meaning of the numbers, for each value of the option `dates`."""

_PARTS = re.compile(r"([0-9]+)([-/.])([0-9]+)\2([0-9]+)(?:[T ]([0-9]+):([0-9]+)(?::([0-9]+))?)?")
_DAY = np.timedelta64(1, "D")
_PIVOT = 69
"""Two digits from here on are years of the last century, as in POSIX."""


def date_notation(column: Raw, how: str, month_first: bool | None = None) -> Notation | None:
    """Return the notation of dates, or of text that is dates; None for any other column.

    `month_first` says which number is the month, if it is known; otherwise the dates must show it.
    """
    if isinstance(column, Dates):
        return Notation(how, month_first)
    texts = column.values if isinstance(column, Factor) and not column.declared else ()
    if not all(isinstance(text, str) for text in texts) or not are_dates(cast("list[str]", texts)):
        return None
    if month_first is None:
        month_first = _month_first(_parts(cast("Sequence[str]", texts)), how)
    return Notation(how, month_first)


def dates_as_numbers(column: Raw, notation: Notation) -> Numbers:
    """Return dates as numbers; `notation` is that of the column."""
    if isinstance(column, Dates):
        return _numbers(_moments(column), notation)
    assert isinstance(column, Factor), "it has a notation"
    moments = _parsed(cast("Sequence[str]", column.values), notation)
    return _numbers(recoded(np.append(moments, np.datetime64("NaT")), column.codes), notation)


def _moments(column: Dates) -> NDArray[np.datetime64]:
    values = column.values
    if values.dtype.kind == "M":
        return values.astype("datetime64[s]")
    known = [value for value in values if value is not None]
    if values.dtype.kind == "m" or not all(isinstance(value, datetime.date) for value in known):
        raise KesError("has times or durations, not dates; convert them to numbers")
    moments = [None if value is None else _naive(value) for value in values]
    return np.array(moments, dtype="datetime64[s]")


def _naive(value: datetime.date) -> datetime.date:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def _parts(texts: Sequence[str]) -> list[tuple[str, ...]]:
    return [match.groups() for text in texts if (match := _PARTS.match(text))]


def _parsed(texts: Sequence[str], notation: Notation) -> NDArray[np.datetime64]:
    """Parse dates such as 2024-03-31, 31.3.24 or 3/31/2024 10:30."""
    moments = []
    for first, sign, middle, last, *clock in _parts(texts):
        if len(first) == 4:
            year, month, day = int(first), int(middle), int(last)
        else:
            day, month = int(first), int(middle)
            if sign == "/" and notation.month_first:
                day, month = month, day
            year = int(last) + (0 if len(last) == 4 else 1900 if int(last) >= _PIVOT else 2000)
        try:
            hour, minute, second = (int(part or 0) for part in clock)
            moments.append(datetime.datetime(year, month, day, hour, minute, second))
        except ValueError:
            shown = texts[len(moments)]
            raise KesError(f"has {shown!r}, which is not a date; correct it") from None
    return np.array(moments, dtype="datetime64[s]")


def _month_first(parts: Sequence[tuple[str, ...]], how: str) -> bool | None:
    """Return whether the month comes before the day: only with slashes, if the numbers say so."""
    slashed = [(int(a), int(b)) for a, sign, b, *_ in parts if sign == "/" and len(a) < 4]
    if not slashed:
        return None
    if any(b > 12 for _, b in slashed):
        return True
    if how == "days" and not any(a > 12 for a, _ in slashed):
        raise KesError(
            "has dates whose days and months may be swapped, as none of them is beyond 12; write "
            "them as 2024-03-31, or use only the year"
        )
    return False


def _numbers(moments: NDArray[np.datetime64], notation: Notation) -> Numbers:
    present = ~np.isnat(moments)
    if notation.dates == "year":
        years = moments.astype("datetime64[Y]").astype(np.int64) + 1970
        return Numbers(np.where(present, years, 0), None if present.all() else present)
    days = (moments - np.datetime64(0, "s")) / _DAY
    return Numbers.of_floats(np.where(present, days, np.nan))
