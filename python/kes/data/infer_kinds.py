"""What a column is: the rules, in one place.

1. What the user says (``kinds``) holds.
2. Text, booleans and categories are discrete; so are whole numbers with at most 50 values. All
   other numbers are continuous.
3. Left out, with a note, are dates, and identifiers: columns in which every value differs and that
   are text, or whole numbers without a gap; and text with more than 100 values and fewer than two
   rows for each, with which no edge to a discrete column raises BIC. In a table with weights, where
   a row is no case, and in one of fewer than ten rows, nothing is taken for an identifier.
4. Text of which every value is a number is read as numbers, if rule 2 makes them continuous.
   Numbers written with leading zeros are codes, so text. Where few other values are all that is in
   the way, the user is told.

`docs/data.md` says the same to users.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeGuard, cast

import numpy as np

from kes.data.column import Kind
from kes.data.factor import Factor, recoded
from kes.data.numbers import FEW, Numbers
from kes.data.parse_text import LOOKS_MISSING, Parsed, Sign, are_dates, no_numbers, parse
from kes.data.raw_columns import Dates, Raw
from kes.errors import KesError, either, listed, option, unknown

Kinds: TypeAlias = Mapping[str, Literal["discrete", "continuous", "omit"]]
"""What some columns are to be taken for; "omit" leaves them out."""

_PLAIN = re.compile(r"[\w.,:+-]+")  # what a shell takes as one word
_CHOICES = ("discrete", "continuous", "omit")
LEAST_ROWS = 10
"""With fewer rows, it means nothing that all values differ."""
_FEW_STRAYS = 0.05
"""Share of the values up to which those that are no numbers are strays among numbers."""
_SHOWN_STRAYS = 3
_SHOWN = 10
_FEW_DECIMALS, _ROWS_PER_DECIMAL = 10, 5
"""Numbers that are not whole with no more values, of which each recurs, may be meant as states."""
_MANY_NAMES = 100
_ROWS_PER_NAME = 2
"""Text with more values, and fewer rows for each, names the rows, or things that hardly recur."""


@dataclass(frozen=True)
class Verdict:
    """What a column is taken for.

    Attributes
    ----------
    what : str
        "discrete", "continuous", "constant", "empty", "identifier", "date", "unclear" (numbers
        that can be read in two ways), or "omitted".
    column : Factor, Numbers or Dates
        The column, read accordingly.
    why : str
        The reason, where it is not plain to see.
    told : bool
        Whether the user should be told of it.
    strays : tuple of str
        The few values that kept it from being read as numbers.
    common : str
        The reason without the figures of this column, where there are any.
    """

    what: str
    column: Raw
    why: str = ""
    told: bool = False
    strays: tuple[str, ...] = ()
    common: str = ""

    @property
    def reason(self) -> str:
        """The reason without the figures of this column, for columns that are told of together."""
        return self.common or self.why

    @property
    def kind(self) -> Kind | None:
        """What it is for a criterion; None if it is left out."""
        if self.what in ("discrete", "constant", "empty"):
            return "discrete"
        return "continuous" if self.what == "continuous" else None

    @property
    def distinct(self) -> int:
        """Number of different values."""
        column = self.column.factor() if isinstance(self.column, Dates) else self.column
        return len(column.values) if isinstance(column, Factor) else column.distinct()


def check_kinds(kinds: object, names: Sequence[str]) -> dict[str, str]:
    """Return what the user said of the columns, or say what is wrong with it."""
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise KesError(
            f'{option("kinds")} must say what columns are, such as {{"zip": "discrete"}}, not '
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
    """Return the decimal sign of numbers in text, if some columns show it and none contradicts."""
    signs: set[Sign] = set()
    for column in columns:
        if isinstance(column, Factor) and not column.declared:
            texts = [value for value in column.values if isinstance(value, str)]
            numbers = [text for text in texts if text not in LOOKS_MISSING]
            parsed = parse(numbers) if any("," in text for text in numbers) else None
            if isinstance(parsed, Parsed) and parsed.sign is not None:
                signs.add(parsed.sign)
    return signs.pop() if len(signs) == 1 else None


def has_commas(column: Raw) -> TypeGuard[Factor]:
    """Tell whether a column is text with commas, of which others may say what they mean."""
    return isinstance(column, Factor) and any(
        isinstance(value, str) and "," in value for value in column.values
    )


def saying(names: Sequence[str], kind: str) -> str:
    """Return how to say that columns are of a kind."""
    flag = {"omit": "--drop"}.get(kind, f"--{kind}")
    more = len(names) > _SHOWN
    pairs = ", ".join(f'"{name}": "{kind}"' for name in names[:_SHOWN]) + ", ..." * more
    words = ",".join(names[:_SHOWN]) + ",..." * more
    return either(f"kinds={{{pairs}}}", f"{flag} {quoted(words)}")


def quoted(words: str) -> str:
    """Write words for a shell."""
    return words if _PLAIN.fullmatch(words) else f'"{words}"'


def without_strays(strays: Sequence[str]) -> str:
    """Return how to say that strays in columns of numbers mean missing."""
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
    """Decide what a column is.

    Parameters
    ----------
    column
        The column as it came.
    wanted
        What the user said of it.
    decimal
        The decimal sign of numbers in text, where it is known.
    cases
        Whether the rows are the cases of a whole table, so that an identifier can be told.

    Raises
    ------
    KesError
        If the column cannot be used; the message does not name it.
    """
    if wanted == "omit":
        return Verdict("omitted", column, "as you said")
    if column.missing() == column.rows:
        return Verdict("empty", _coded(column))
    if wanted is not None:
        if wanted == "continuous":
            return Verdict("continuous", to_numbers(column, decimal))
        return _discrete(_coded(column))
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
    infinite = numbers.infinite()
    if infinite:
        raise KesError(f"has {infinite} infinite values; drop those rows or correct them")
    if numbers.distinct(most=1) == 1:
        return Verdict("constant", numbers.factor())
    if cases and numbers.is_range():
        return Verdict("identifier", numbers, "whole numbers without a gap, all different")
    if not numbers.whole():
        few = numbers.distinct(most=_FEW_DECIMALS)
        if few > _FEW_DECIMALS or numbers.rows < _ROWS_PER_DECIMAL * few:
            return Verdict("continuous", numbers)
        why, common = f"{few} values", "decimals with few values"
        return Verdict("continuous", numbers, why, told=True, common=common)
    if numbers.distinct(most=FEW) <= FEW:
        return Verdict("discrete", numbers.factor())
    why, common = f"{numbers.distinct()} values", f"whole numbers with more than {FEW} values"
    return Verdict("continuous", numbers, why, told=True, common=common)


def _of_text(factor: Factor, decimal: Sign | None, cases: bool) -> Verdict:
    texts = cast("Sequence[str]", factor.values)
    marks = [text for text in texts if text in LOOKS_MISSING]
    places = [place for place, text in enumerate(texts) if text not in LOOKS_MISSING]
    parsed = parse([texts[place] for place in places], decimal)
    if parsed == "unclear":
        example = next(text for text in texts if "," in text)
        why = f"{example!r} may have a decimal comma, or thousands"
        return Verdict("unclear", factor, why, common="numbers with decimal commas, or thousands")
    if parsed is not None:
        verdict = _of_numbers(_spread(factor, parsed, places), cases)
        if verdict.kind == "continuous" and marks:
            raise KesError(
                f"holds numbers, but also {listed(marks)}; if that means missing, "
                + either(
                    f'give na_values={marks!r}, and missing="em" to fill it in',
                    f"{option('missing', quoted(','.join([*marks, 'em'])))} fills it in",
                )
            )
        if verdict.kind == "continuous" and (parsed.sign or not factor.untyped):
            sign = {",": " with decimal commas", ".": " with commas between thousands"}
            return Verdict(
                "continuous",
                verdict.column,
                f"text read as numbers{sign.get(parsed.sign or '', '')}",
                told=True,
            )
        return verdict if verdict.kind != "discrete" else _discrete(factor)
    if are_dates(texts):
        return Verdict("date", factor, "dates")
    why, strays = _among_numbers(factor, decimal) or ("", ())
    common = "numbers but for a few values" if strays else ""
    names = _as_names(len(texts), factor.rows - factor.missing()) if cases else None
    if names is not None:
        why, common = (why, common) if strays else names
        return Verdict("identifier", factor, why, strays=strays, common=common)
    return replace(_discrete(factor), why=why, told=bool(strays), strays=strays, common=common)


def _as_names(values: int, rows: int) -> tuple[str, str] | None:
    """Say why text with so many values in so many rows names them, also without these figures."""
    if values == rows > 1:
        return "every value differs", ""
    if values <= _MANY_NAMES or rows >= _ROWS_PER_NAME * values:
        return None
    few = "fewer than two rows for each"
    return f"{values} values, with {few}", f"more than {_MANY_NAMES} values, with {few}"


def _among_numbers(factor: Factor, decimal: Sign | None) -> tuple[str, tuple[str, ...]] | None:
    """Return what to say of the few values that are no numbers, where the others are continuous."""
    known = factor.without(LOOKS_MISSING)
    numbers = known.without(frozenset(no_numbers(cast("Sequence[str]", known.values))))
    odd, present = numbers.missing() - known.missing(), known.rows - known.missing()
    if not 0 < odd <= _FEW_STRAYS * present:
        return None
    if _of_text(numbers, decimal, cases=False).kind != "continuous":
        return None
    strays = tuple(no_numbers(cast("Sequence[str]", factor.values)))
    total = factor.rows - factor.missing()
    odd = numbers.missing() - factor.missing()  # with those that look missing
    return f"all but {odd} of {total} values are numbers ({listed(strays)})", strays


def _coded(column: Raw) -> Factor:
    return column if isinstance(column, Factor) else column.factor()


def _discrete(factor: Factor) -> Verdict:
    return Verdict("constant" if len(factor.occurring()) == 1 else "discrete", factor)


def is_continuous(column: Raw, decimal: Sign | None) -> bool:
    """Tell whether a column is to be cut where all continuous ones are."""
    try:
        if isinstance(column, Numbers) and not column.whole():
            return True  # also if they are all the same
        return judge(column, decimal=decimal).kind == "continuous"
    except KesError:
        return True  # infinite values, which are told of when it is cut


def to_numbers(column: Raw, decimal: Sign | None = None) -> Numbers:
    """Read a column as finite numbers, whatever it holds.

    Raises
    ------
    KesError
        If a value is no number; the message does not name the column.
    """
    if isinstance(column, Dates):
        raise KesError("holds dates, not numbers; make numbers of them, such as years, first")
    if isinstance(column, Factor):
        column = _numbers_of(column, decimal)
    infinite = column.infinite()
    if infinite:
        raise KesError(f"has {infinite} infinite values; drop those rows or correct them")
    return column


def _numbers_of(factor: Factor, decimal: Sign | None) -> Numbers:
    places = factor.occurring().tolist()
    values = [factor.values[place] for place in places]
    if all(isinstance(value, int) for value in values):
        return _spread(factor, Parsed(np.array(values, dtype=np.float64)), places)
    texts = [
        str(value).lstrip("0") or "0" if str(value).isdigit() else str(value) for value in values
    ]
    parsed = parse(texts, decimal)
    if parsed == "unclear":
        parsed = parse(texts, ",")  # the user says that these are decimals
    if parsed is None or parsed == "unclear":
        strange = [text for text in texts if parse([text], decimal) is None]
        raise KesError(f"holds values that are not numbers: {listed(strange or texts)}")
    return _spread(factor, parsed, places)


def _spread(factor: Factor, parsed: Parsed, places: Sequence[int]) -> Numbers:
    """Give each row the number of its value, if it is among those at these places."""
    lookup = np.zeros(len(factor.values) + 1, dtype=parsed.numbers.dtype)  # the last is that of -1
    known = np.zeros(len(lookup), dtype=np.bool_)
    lookup[places], known[places] = parsed.numbers, True
    present = recoded(known, factor.codes)
    return Numbers(recoded(lookup, factor.codes), None if present.all() else present)
