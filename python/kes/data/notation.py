"""Notation: how the text of a column became numbers, kept to read new rows in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from kes.errors import KesError
from kes.options import DATES


@dataclass(frozen=True)
class Notation:
    """The notation of a column.

    Attributes
    ----------
    dates : {"days", "year"} or None
        How dates became numbers; None if the column has no dates.
    month_first : bool or None
        Whether dates like 3/4/2024 begin with the month; None if there are none.
    unit : str
        The unit of numbers, such as "€" or "months"; "" without one.
    of : str
        The column that the values come from; "" if it has the name of the variable.
    lag : int
        How many steps earlier in the series the values are; see `kes.lagged`.
    state : str
        The value of the column `of` whose indicator this is; see `kes.data.interventions`.
    exogenous : bool
        Whether the column is not to be modelled, by what it is: earlier values, an indicator.
    """

    dates: str | None = None
    month_first: bool | None = None
    unit: str = ""
    of: str = ""
    lag: int = 0
    state: str = ""
    exogenous: bool = False

    def describe(self) -> dict[str, Any]:
        """Return the differences from a plain column, for a file."""
        plain = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != plain[name]}

    @classmethod
    def read(cls, name: str, entry: Mapping[str, Any]) -> Notation:
        """Read the notation of a column from a file."""
        found = cls(**entry)
        valid = (
            (found.dates is None or found.dates in DATES)
            and (found.month_first is None or isinstance(found.month_first, bool))
            and all(isinstance(text, str) for text in (found.unit, found.of, found.state))
            and type(found.lag) is int
            and found.lag >= 0
            and isinstance(found.exogenous, bool)
        )
        if not valid:
            raise KesError(f"the notation of {name!r} is malformed: {dict(entry)}", column=name)
        return found


PLAIN = Notation()
"""Numbers without a unit, or states."""
