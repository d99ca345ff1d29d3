"""Parse numbers and dates in text.

A point is a decimal point. A comma depends on the whole column: "3,75" has a decimal comma and
"1,234,567" has thousands separators, but a column of "1,234" and "5,678" is ambiguous, and left so.
"""

import contextlib
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Sign = Literal[".", ","]

LOOKS_MISSING = frozenset(
    {
        *("NA", "na", "N/A", "n/a", "#NA", "#N/A", "#NV", "<NA>", "n.a.", "N.A.", "k.A.", "k. A."),
        *(
            "NaN",
            "nan",
            "NULL",
            "null",
            "None",
            "?",
            ".",
            "-",
            "--",
            "#DIV/0!",
            "#VALUE!",
            "#WERT!",
        ),
    }
)
"""Text that other programs write for a missing value. Beside numbers it means missing, in the whole
table; otherwise it is a value unless `na_values` has it."""

MAY_BE_STATES = frozenset({"None", "-", "--"})
"""Those that may mean zero beside a few whole numbers, so that only continuous ones decide."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,400}", re.ASCII)
_CODE = re.compile(r"[+-]?0[0-9]+", re.ASCII)
"""Digits with leading zeros are codes, such as post codes."""
_OF_NUMBERS = b"0123456789.+-eE"


def _grouped(decimal: str, thousands: str) -> re.Pattern[str]:
    whole = rf"(?:[1-9][0-9]{{0,2}}(?:{thousands}[0-9]{{3}})+|[0-9]+)"
    return re.compile(
        rf"[+-]?(?:{whole}(?:{decimal}[0-9]*)?|{decimal}[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII
    )


_POINT, _COMMA = _grouped(r"\.", ","), _grouped(",", r"\.")

_CLOCK = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?"
_ZONE = r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
_TIME = rf"(?:[T ]{_CLOCK}\s*(?:[AaPp][Mm])?{_ZONE})?"
_DATE = re.compile(
    rf"(?:[12][0-9]{{3}}([-/.])[01]?[0-9]\1[0-3]?[0-9]"
    rf"|[0-3]?[0-9]([-/.])[0-3]?[0-9]\2(?:[12][0-9]{{3}}|[0-9]{{2}})){_TIME}",
    re.ASCII,
)


class Parsed(NamedTuple):
    """A number for each text, the decimal sign (None without commas), and the unit ("": none).

    There may be spaces between thousands.
    """

    numbers: NDArray[np.float64] | NDArray[np.int64]
    sign: Sign | None = None
    unit: str = ""
    spaces: bool = False


def parse(texts: Sequence[str], decimal: Sign | None = None) -> Parsed | Literal["unclear"] | None:
    """Parse texts as numbers; None unless all are numbers, "unclear" if commas are ambiguous.

    Examples
    --------
    >>> parse(["3,75", "12", "1.004,5"])
    Parsed(numbers=array([   3.75,   12.  , 1004.5 ]), sign=',', unit='', spaces=False)
    >>> parse(["1,234", "5,678"])
    'unclear'
    >>> parse(["1,234", "5,678"], decimal=".").numbers
    array([1234., 5678.])
    >>> parse(["01067", "80331"]) is None
    True
    """
    texts = [text.strip() for text in texts]
    if not texts or all(map(_INTEGER.fullmatch, texts)):
        return _read_integers(texts)
    joined = "".join(texts)
    if "," not in joined:
        if joined.isascii() and not joined.encode().translate(None, _OF_NUMBERS):
            # Of these characters, numbers are what float() reads.
            with contextlib.suppress(ValueError):
                return Parsed(np.array([*map(float, texts)]))
        return _read(texts, ",", _COMMA)  # 1.234.567 has thousands
    as_point = None if decimal == "," else _read(texts, ".", _POINT)
    as_comma = None if decimal == "." else _read(texts, ",", _COMMA)
    if as_point is not None and as_comma is not None:
        return "unclear"
    return as_point or as_comma


def _read_integers(texts: Sequence[str]) -> Parsed | None:
    if not texts or any(_CODE.fullmatch(text) for text in texts):
        return None
    try:
        return Parsed(np.array([int(text) for text in texts], dtype=np.int64))
    except OverflowError:
        return Parsed(np.array([float(text) for text in texts]))


def _read(texts: Sequence[str], sign: Sign, pattern: re.Pattern[str]) -> Parsed | None:
    if not all(map(pattern.fullmatch, texts)):
        return None
    thousands = "." if sign == "," else ","
    numbers = [float(text.replace(thousands, "").replace(sign, ".")) for text in texts]
    return Parsed(np.array(numbers), sign)


def no_numbers(texts: Sequence[str]) -> list[str]:
    """Return the texts that are not numbers, whatever the decimal sign.

    Examples
    --------
    >>> no_numbers(["3.75", "1,2", "-4e3", "< 3", "n/a"])
    ['< 3', 'n/a']
    """
    return [
        text
        for text in texts
        if not (_POINT.fullmatch(text.strip()) or _COMMA.fullmatch(text.strip()))
    ]


def are_dates(texts: Sequence[str]) -> bool:
    """Return whether all texts are dates such as 2024-03-31, 31.3.24 or 3/31/2024 10:30."""
    return bool(texts) and all(_DATE.fullmatch(text) for text in texts)
