"""Numbers in the sentences of the page: with groups of digits, without exponents or -0.00."""

from __future__ import annotations


def grouped(number: str) -> str:
    r"""Separate groups of digits by thin spaces; four digits stay together, as in a year.

    Examples
    --------
    >>> grouped("1,959"), grouped("61,580.5")
    ('1959', '61\u202f580.5')
    """
    whole = number.partition(".")[0].lstrip("-−")
    return number.replace(",", "" if len(whole) == len("1,234") else "\u202f")


def amount(value: float, digits: int = 4) -> str:
    r"""Return a number of the data, rounded to `digits`, or to whole ones.

    Examples
    --------
    >>> amount(51892.3), amount(-0.044642), amount(1959.0), amount(-1e-7), amount(-0.0)
    ('51\u202f892', '−0.04464', '1959', '−1e-07', '0')
    >>> amount(9999.7)
    '10\u202f000'
    """
    shown = f"{value:.{digits}g}"
    if 1e4 <= abs(float(shown)) < 1e15:
        places = max(digits - len(f"{abs(value):.0f}"), 0)
        shown = grouped(f"{value:,.{places}f}")
    return _signed(shown, value=value)


def decimals(value: float) -> str:
    """Return a number with two decimals.

    Examples
    --------
    >>> decimals(-0.004), decimals(-0.31)
    ('0.00', '−0.31')
    """
    return _signed(f"{value:.2f}", value=round(value, 2))


def limit(value: float, following: float) -> str:
    r"""Return a number with few digits that is at least a value, but below the following one.

    Examples
    --------
    >>> limit(5.61545, 5.7), limit(109954.0, 110515.0), limit(1.04026, 1.0403), limit(9.0, 10.0)
    ('5.6155', '110\u202f000', '1.04026', '9')
    """
    for digits in range(4, 17):
        near = float(f"{value:.{digits}g}")
        if value <= near < following:
            return amount(near, digits)
    return amount(value, 17)


def _signed(shown: str, *, value: float) -> str:
    """Write the sign of a number that is not shown as zero."""
    return "−" * (value < 0) + shown.lstrip("-")
