"""The rules that infer the kind of a column.

`kes.data.encode` and `docs/data.md` state them for users. For text with more than 100 distinct
values and fewer than two rows for each, no edge to a discrete column raises BIC, so that it is
taken for an identifier. In a table with weights, where a row is not a case, and in one with fewer
than ten rows, nothing is. Text is read as numbers if all its values are numbers that would be
continuous. Numbers with leading zeros are codes, and remain text.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeGuard, cast

import numpy as np

from kes.data.column import Kind
from kes.data.factor import Factor, recoded
from kes.data.notation import PLAIN, Notation
from kes.data.parse_text import LOOKS_MISSING, MAY_BE_STATES, Parsed, Sign, are_dates
from kes.data.raw_columns import FEW, Dates, Numbers, Raw
from kes.data.units import no_quantities, parse_quantities, several_units, unit_of
from kes.errors import KesError, either, listed, option, unknown

Kinds: TypeAlias = Mapping[str, Literal["discrete", "continuous", "omit"]]
"""Declared kinds of some columns; "omit" leaves a column out."""

_PLAIN = re.compile(r"[\w.,:+-]+")  # one word for a shell
_CHOICES = ("discrete", "continuous", "omit")
LEAST_ROWS = 10
"""With fewer rows, all values may differ by chance."""
_FEW_STRAYS = 0.05
"""Maximum share of values that are strays among numbers."""
_SHOWN_STRAYS = 3
_SHOWN = 10
_FEW_DECIMALS, _ROWS_PER_DECIMAL = 10, 5
"""Decimals with no more distinct values, each recurring, may be states."""
_NO_CHANCE = -math.log(1e-6)
"""Whole numbers that would differ by chance with a smaller probability number the rows."""
_MOST_CODES = 50
"""Whole numbers with no more distinct values may be codes without an order."""
_MANY_NAMES = 100
_ROWS_PER_NAME = 2
"""Text with more distinct values, and fewer rows for each, identifies the rows."""


@dataclass(frozen=True)
class Verdict:
    """The inferred kind of a column, and the column, read accordingly."""

    what: str
    """discrete, continuous, constant, empty, identifier, date, unclear (numbers), or omitted."""
    column: Raw
    why: str = ""
    """The reason, unless it is obvious."""
    noted: bool = False
    """Whether the user gets a note."""
    strays: tuple[str, ...] = ()
    """The few values that are not numbers."""
    common: str = ""
    """The reason without figures of this column, if `why` has any."""
    notation: Notation = PLAIN
    """The unit of numbers that are written as text, or how dates were read."""
    absent: tuple[str, ...] = ()
    """Texts that are read as missing, since they stand beside numbers."""
    may_be_codes: bool = False
    """Whether its numbers may be codes without an order."""
    has_few_values: bool = False
    """Whether its decimals could as well be states."""

    @property
    def reason(self) -> str:
        """The reason without figures of this column, for notes on several columns."""
        return self.common or self.why

    @property
    def kind(self) -> Kind | None:
        """Kind of the variable; None if the column is left out."""
        if self.what in ("discrete", "constant", "empty"):
            return "discrete"
        return "continuous" if self.what == "continuous" else None

    @property
    def distinct(self) -> int:
        """Number of distinct values."""
        if isinstance(self.column, Numbers):
            return self.column.distinct()
        return len(self.column.factor().values)


def check_kinds(kinds: object, names: Sequence[str]) -> dict[str, str]:
    """Validate the option `kinds`."""
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise KesError(
            f'{option("kinds")} must map columns to kinds, such as {{"zip": "discrete"}}, not '
            f"{kinds!r}",
            option="kinds",
        )
    for name, kind in kinds.items():
        if name not in names:
            raise unknown(either("column in kinds", "column"), name, names, option="kinds")
        if kind not in _CHOICES:
            raise unknown(f"kind of column {name!r}", kind, _CHOICES, option="kinds")
    return dict(kinds)


def decimal_sign(columns: Iterable[Raw]) -> Sign | None:
    """Return the decimal sign of numbers in text, if the columns show it without contradiction."""
    signs: set[Sign] = set()
    for column in columns:
        if isinstance(column, Factor) and not column.declared:
            texts = [value for value in column.values if isinstance(value, str)]
            numbers = [text for text in texts if text not in LOOKS_MISSING]
            parsed = parse_quantities(numbers) if any("," in text for text in numbers) else None
            if isinstance(parsed, Parsed) and parsed.sign is not None:
                signs.add(parsed.sign)
    return signs.pop() if len(signs) == 1 else None


def has_commas(column: Raw) -> TypeGuard[Factor]:
    """Return whether a column is text with commas, whose meaning other columns may show."""
    return isinstance(column, Factor) and "," in "".join(map(str, column.values))


def saying(names: Sequence[str], kind: str) -> str:
    """Return the declaration of the kind of columns, as a user writes it."""
    flag = {"omit": "--drop"}.get(kind, f"--{kind}")
    more = len(names) > _SHOWN
    pairs = ", ".join(f'"{name}": "{kind}"' for name in names[:_SHOWN]) + ", ..." * more
    words = ",".join(names[:_SHOWN]) + ",..." * more
    return either(f"kinds={{{pairs}}}", f"{flag} {quoted(words)}")


def quoted(words: str) -> str:
    """Quote words for a shell."""
    return words if _PLAIN.fullmatch(words) else f'"{words}"'


def without_strays(strays: Sequence[str]) -> str:
    """Return the declaration that strays among numbers mean missing, as a user writes it."""
    shown = list(strays[:_SHOWN_STRAYS])
    more = len(strays) > len(shown)
    words = ",".join(shown) + ",..." * more
    python = ", ".join(map(repr, shown)) + ", ..." * more
    how = either(f"na_values=[{python}]", option("na_values", quoted(words)))
    return f"if that means missing: {how}"


def judge(
    column: Raw,
    wanted: str | None = None,
    *,
    decimal: Sign | None = None,
    cases: bool = True,
) -> Verdict:
    """Infer the kind of a column, unless the user declared it (`wanted`).

    Identifiers are recognized only if each row is a case (`cases`). Errors do not name the column.
    """
    if wanted == "omit":
        return Verdict("omitted", column, "as you said")
    if column.missing() == column.rows:
        return Verdict("empty", column.factor())
    if wanted == "continuous":
        notation = Notation(unit=unit_of(_texts(column)))
        numbers = to_numbers(column, decimal)
        return Verdict("continuous", numbers, absent=marks_of(column), notation=notation)
    if wanted is not None:
        return _discrete(column.factor())
    return _by_rules(column, decimal, cases and column.rows >= LEAST_ROWS)


def _by_rules(column: Raw, decimal: Sign | None, cases: bool) -> Verdict:
    if isinstance(column, Dates):
        return Verdict("date", column, "dates")
    if isinstance(column, Numbers):
        return _of_numbers(column, cases)
    if column.declared or not isinstance(column.values[0], str):
        return _discrete(column)
    return _of_text(column, decimal, cases)


def _of_numbers(numbers: Numbers, cases: bool) -> Verdict:
    numbers.check_finite()
    if numbers.distinct(enough=1) == 1:
        return _discrete(numbers.factor())
    text, numbers = numbers.factor, numbers.unwritten()
    if cases and (why := _as_numbering(numbers)):
        return Verdict("identifier", numbers, why)
    if not numbers.integral():
        few = numbers.distinct(enough=_FEW_DECIMALS)
        if few > _FEW_DECIMALS or numbers.rows < _ROWS_PER_DECIMAL * few:
            return Verdict("continuous", numbers)
        why, common = f"{few} values", "decimals with few values"
        return Verdict("continuous", numbers, why, noted=True, common=common, has_few_values=True)
    if numbers.distinct(enough=FEW) <= FEW:
        return _discrete(text())
    distinct, common = numbers.distinct(), f"whole numbers with more than {FEW} values"
    why, few = f"{distinct} values", distinct <= _MOST_CODES
    return Verdict("continuous", numbers, why, noted=True, common=common, may_be_codes=few)


def all_differ(column: Raw) -> bool:
    """Return whether a column has no value twice, and holds text or whole numbers."""
    if isinstance(column, Numbers):
        return column.all_differ()
    factor = column.factor()
    return len(factor.occurring()) == factor.rows - factor.missing() > 1


def _as_numbering(numbers: Numbers) -> str:
    """Return why whole numbers number the rows; "" if they do not.

    Independent draws of n values from a range of r numbers all differ with a probability of at
    most exp(-n (n - 1) / 2r).
    """
    if not numbers.all_differ():
        return ""
    known = numbers.known()
    rows, span = known.size, int(known.max()) - int(known.min()) + 1
    if span == rows:
        return "whole numbers without a gap, all different"
    odds = rows * (rows - 1) / (2 * span)
    return "whole numbers with gaps, all different" if odds > _NO_CHANCE else ""


def _of_text(factor: Factor, decimal: Sign | None, cases: bool) -> Verdict:
    texts = cast("Sequence[str]", factor.values)
    places: Sequence[int] = range(len(texts))
    if not LOOKS_MISSING.isdisjoint(texts):
        places = [place for place in places if texts[place] not in LOOKS_MISSING]
    parsed = parse_quantities([texts[place] for place in places], decimal)
    if parsed == "unclear":
        example = next(text for text in texts if "," in text)
        why = f"{example!r} may have a decimal comma, or thousands"
        return Verdict("unclear", factor, why, common="numbers with decimal commas, or thousands")
    if isinstance(parsed, Parsed):
        return _of_parsed(factor, parsed, places, cases)
    if are_dates(texts):
        return Verdict("date", factor, "dates")
    why, strays = _among_numbers(factor, decimal) or ("", ())
    common = "numbers but for a few values" if strays else ""
    if not strays and len(texts) > FEW and (units := several_units(texts)):
        why = f"numbers in different units ({listed(units)}), so text; convert them to one unit"
    names = _as_names(len(texts), factor.rows - factor.missing()) if cases else None
    if names is not None:
        why, common = (why, common) if why else names
        return Verdict("identifier", factor, why, strays=strays, common=common)
    return replace(_discrete(factor), why=why, noted=bool(why), strays=strays, common=common)


def _of_parsed(factor: Factor, parsed: Parsed, places: Sequence[int], cases: bool) -> Verdict:
    """Infer the kind of text that holds numbers, and note its unit and separators."""
    verdict = _of_numbers(_spread(factor, parsed, places), cases)
    if verdict.kind == "discrete":
        # A column of one number and such a text may be a flag.
        marks = set(marks_of(factor)) - MAY_BE_STATES if verdict.what == "discrete" else ()
        return replace(_discrete(factor), absent=tuple(sorted(marks)))
    if verdict.kind != "continuous":
        return verdict
    verdict = replace(verdict, absent=marks_of(factor))
    if factor.untyped and not (parsed.sign or parsed.unit or parsed.spaces):
        return verdict
    sign = {",": " with decimal commas", ".": " with commas between thousands"}
    if parsed.sign == "," and not any("," in str(value) for value in factor.values):
        sign[","] = " with points between thousands"
    unit = f" in {parsed.unit!r}" if parsed.unit else ""
    spaces = " with spaces between thousands" if parsed.spaces else ""
    why = f"text read as numbers{unit}{sign.get(parsed.sign or '', '')}{spaces}"
    return replace(verdict, why=why, noted=True, common="", notation=Notation(unit=parsed.unit))


def _texts(column: Raw) -> list[str]:
    """Return the distinct texts of a column; none if it holds other values."""
    values = column.values if isinstance(column, Factor) else ()
    return [value for value in values if isinstance(value, str)]


def marks_of(column: Raw) -> tuple[str, ...]:
    """Return the texts in a column that other programs write for a missing value."""
    values = column.values if isinstance(column, Factor) else ()
    return tuple(sorted(LOOKS_MISSING.intersection(map(str, values))))


def _as_names(values: int, rows: int) -> tuple[str, str] | None:
    """Return why text identifies the rows, with and without figures; None if it does not."""
    if values == rows > 1:
        return "every value differs", ""
    if values <= _MANY_NAMES or rows >= _ROWS_PER_NAME * values:
        return None
    few = "fewer than two rows for each"
    return f"{values} values, with {few}", f"more than {_MANY_NAMES} values, with {few}"


def _among_numbers(factor: Factor, decimal: Sign | None) -> tuple[str, tuple[str, ...]] | None:
    """Return a note on the few values that are not numbers, if the others are continuous."""
    known = factor.without(LOOKS_MISSING)
    numbers = known.without(frozenset(no_quantities(cast("Sequence[str]", known.values))))
    odd, present = numbers.missing() - known.missing(), known.rows - known.missing()
    if not 0 < odd <= _FEW_STRAYS * present:
        return None
    if _of_text(numbers, decimal, cases=False).kind != "continuous":
        return None
    strays = tuple(no_quantities(cast("Sequence[str]", factor.values)))
    total = factor.rows - factor.missing()
    odd = numbers.missing() - factor.missing()  # including those that look missing
    return f"all but {odd} of {total} values are numbers ({listed(strays)})", strays


def _discrete(factor: Factor) -> Verdict:
    return Verdict("constant" if len(factor.occurring()) == 1 else "discrete", factor)


def is_continuous(column: Raw, decimal: Sign | None) -> bool:
    """Return whether a column is continuous, for a discretizer of all continuous columns."""
    try:
        if isinstance(column, Numbers) and not column.integral():
            return True  # even if they are constant
        return judge(column, decimal=decimal).kind == "continuous"
    except KesError:
        return True  # infinite values, which are refused when it is cut


def to_numbers(column: Raw, decimal: Sign | None = None) -> Numbers:
    """Read a column as finite numbers. Errors do not name the column."""
    if isinstance(column, Dates):
        raise KesError("has dates, not numbers; convert them to numbers such as years first")
    if isinstance(column, Factor):
        column = numbers_of(column, decimal)
    column.check_finite()
    return column.unwritten()


def numbers_of(factor: Factor, decimal: Sign | None) -> Numbers:
    """Parse the values that occur in a column as numbers, which may be infinite."""
    occurring = factor.occurring().tolist()
    places = [place for place in occurring if factor.values[place] not in LOOKS_MISSING]
    values = [factor.values[place] for place in places]
    if all(isinstance(value, int) for value in values):
        return _spread(factor, Parsed(np.array(values, dtype=np.float64)), places)
    texts = [
        str(value).lstrip("0") or "0" if str(value).isdigit() else str(value) for value in values
    ]
    parsed = parse_quantities(texts, decimal)
    if parsed == "unclear":
        parsed = parse_quantities(texts, ",")  # the user declared the column as continuous
    if not isinstance(parsed, Parsed):
        strange = no_quantities(texts)
        raise KesError(f"has values that are not numbers: {listed(strange or texts)}")
    return _spread(factor, parsed, places)


def _spread(factor: Factor, parsed: Parsed, places: Sequence[int]) -> Numbers:
    """Return the number of each row, for the values at these places."""
    lookup = np.zeros(len(factor.values) + 1, dtype=parsed.numbers.dtype)  # the last is for -1
    known = np.zeros(len(lookup), dtype=np.bool_)
    lookup[places], known[places] = parsed.numbers, True
    present = recoded(known, factor.codes)
    return Numbers(recoded(lookup, factor.codes), None if present.all() else present)
