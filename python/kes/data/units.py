"""Numbers with a unit or with spaces between thousands: "73,00 €", "5.4 %", "60 months", "1 234".

A unit is a currency before the number, or any word or sign after it. All numbers of a column must
have the same one, in the singular or plural; a minority may have none. Other text before a number,
as in "A 12", makes a name of it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kes.data.parse_text import Parsed, Sign, no_numbers, parse

_CURRENCY = r"[$€£¥₹₽₩₺₫₴₪฿]|(?:US|A|C|R)\$|EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|Fr\.|kr"
_GAP = "[ \u00a0\u2009\u202f'’]"  # between thousands
_SPACED = re.compile(f"[0-9]{_GAP}[0-9]")
_GROUPED = rf"[0-9]{{1,3}}(?:{_GAP}[0-9]{{3}})+(?:[.,][0-9]+)?"
_NUMBER = rf"{_GROUPED}|[0-9][0-9.,]*|[.,][0-9]+"
_WITH_UNIT = re.compile(
    rf"(?P<minus>[+-]?)\s*(?P<before>{_CURRENCY})?\s*(?P<sign>[+-]?)(?P<number>{_NUMBER})"
    rf"\s*(?P<after>(?:[%‰°]|{_CURRENCY}|[^\W\d_])[^\d,;:]{{0,19}})?",
)
_MOST_UNITS = 5
"""Columns with more different words after numbers do not hold numbers."""


class _Quantity(NamedTuple):
    number: str
    unit: str


def _quantity(text: str) -> _Quantity | None:
    match = _WITH_UNIT.fullmatch(text.strip())
    if match is None or (match["before"] and match["after"]) or (match["minus"] and match["sign"]):
        return None
    number = match["minus"] + match["sign"] + re.sub(_GAP, "", match["number"])
    return _Quantity(number, (match["before"] or match["after"] or "").strip())


def _same(a: str, b: str) -> bool:
    """Return whether two units are the same, such as "year" and "Years"."""
    short, long = sorted((a.casefold(), b.casefold()), key=len)
    return long.startswith(short) and len(long) - len(short) <= 2 * (len(short) > 1)


def _usual_unit(quantities: Iterable[_Quantity | None]) -> str:
    """Return the unit of most quantities; "" unless more than half have it."""
    found = [one for one in quantities if one is not None]
    units = Counter(one.unit for one in found if one.unit)
    most = max(units, key=lambda unit: (units[unit], len(unit)), default="")
    same = [unit for unit in units if _same(unit, most)]
    enough = 2 * sum(units[unit] for unit in same) > len(found)
    return max(same, key=lambda unit: (len(unit), unit)) if enough else ""


def parse_quantities(texts: Sequence[str], decimal: Sign | None = None) -> Parsed | str | None:
    """Parse texts as `parse` does; they may have a common unit, or spaces between thousands.

    Examples
    --------
    >>> parse_quantities(["73,00 €", "1.204,50 €"])
    Parsed(numbers=array([  73. , 1204.5]), sign=',', unit='€', spaces=False)
    >>> parse_quantities(["1 month", "12 months"])
    Parsed(numbers=array([ 1, 12]), sign=None, unit='months', spaces=False)
    >>> parse_quantities(["A 12", "B 7"]) is None
    True
    """
    plain = parse(texts, decimal)
    if plain is not None or not texts:
        return plain
    quantities = [_quantity(text) for text in texts]
    unit = _usual_unit(quantities)
    numbers = [one.number for one in quantities if one and (not one.unit or _same(one.unit, unit))]
    if len(numbers) < len(texts):
        return None
    parsed = parse(numbers, decimal)
    if decimal is None and re.fullmatch(_CURRENCY, unit):
        parsed = _money(numbers) or parsed
    spaces = any(map(_SPACED.search, texts))
    return Parsed(*parsed[:2], unit, spaces) if isinstance(parsed, Parsed) else parsed


def _money(numbers: Sequence[str]) -> Parsed | None:
    """Parse amounts in which each comma, or each point, has three digits: prices have no mills."""
    for thousands in ",.":
        if all(re.fullmatch(rf"[+-]?[0-9]{{1,3}}([{thousands}][0-9]{{3}})*", n) for n in numbers):
            parsed = parse([number.replace(thousands, "") for number in numbers])
            if isinstance(parsed, Parsed):
                return Parsed(parsed.numbers, "." if thousands == "," else ",")
    return None


def other_units(texts: Iterable[str], unit: str) -> list[str]:
    """Return the units of numbers that are not the given one, nor a form of it.

    Examples
    --------
    >>> other_units(["5 $", "7", "1 €"], "€"), other_units(["1 Month"], "months")
    (['$'], [])
    """
    found = {one.unit for one in map(_quantity, texts) if one is not None and one.unit}
    return sorted(own for own in found if not _same(own, unit))


def unit_of(texts: Sequence[str]) -> str:
    """Return the common unit of numbers in text; "" without one."""
    return _usual_unit([_quantity(text) for text in texts])


def no_quantities(texts: Sequence[str]) -> list[str]:
    """Return the texts that are neither numbers nor numbers in the unit that most of them have.

    Examples
    --------
    >>> no_quantities(["5 kg", "7,5 kg", "3", "9 lb", "heavy"])
    ['9 lb', 'heavy']
    """
    odd = no_numbers(texts)
    quantities = {text: _quantity(text) for text in odd}
    unit = _usual_unit(quantities.values())
    return [
        text
        for text, one in quantities.items()
        if one is None or not (_same(one.unit, unit) if one.unit else True)
    ]


def several_units(texts: Sequence[str]) -> list[str]:
    """Return the units of numbers that do not have the same one; none for any other text."""
    quantities = [_quantity(text) for text in texts]
    units = sorted({one.unit for one in quantities if one is not None and one.unit})
    everywhere = all(one is not None for one in quantities)
    return units if everywhere and 1 < len(units) <= _MOST_UNITS else []
