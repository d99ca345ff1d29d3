"""Audit a table: the kind of each column as `kes.learn` infers it, and why."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from textwrap import wrap

import numpy as np

from kes._core import MAX_STATES
from kes.data.column import State
from kes.data.dataset import Data, Weights
from kes.data.dates import WORDS, date_notation, dates_as_numbers
from kes.data.dependence import dependence_notes
from kes.data.factor import Factor, nothing
from kes.data.infer_kinds import (
    LEAST_ROWS,
    Kinds,
    Verdict,
    all_differ,
    check_kinds,
    decimal_sign,
    has_commas,
    judge,
    marks_of,
    quoted,
    saying,
    without_strays,
)
from kes.data.missing import mostly, unless_needed
from kes.data.notation import Notation
from kes.data.notes import as_codes, fewer, remedy, seeming, too_many
from kes.data.parse_text import Sign
from kes.data.raw_columns import Numbers, Raw
from kes.data.schema import ReadOptions
from kes.data.source import Source, open_source
from kes.errors import KesError, either, listed, option, printable, suggest
from kes.table import Table

_SHOWN = 3
_WIDTH = 80
_EXAMPLES = 28
_ROW_NAMES = ("Unnamed: 0", "rownames", "row.names", "row_names", "index")
"""Names of the first column if another program has read or written row names."""
_NUMBERED = re.compile(r"(?i:(?:.*[_. ])?(?:id|no|nr|key))|.*[a-z](?:I[dD]|N[or])")
"""Names of columns that number the rows."""
_HELD = 10_000
"""Maximum number of distinct values of a column that is kept instead of being read again."""


@dataclass(frozen=True)
class Finding:
    """The result of inspecting a column: its kind, or a complaint why it cannot be used.

    If it is used and its kind is not declared, it may look like a sort of identifier (`seems`).
    """

    name: str
    verdict: Verdict | None
    complaint: str = ""
    seems: str = ""


def inspect(
    source: Source,
    options: ReadOptions,
    weights: Weights,
    *,
    most: int | None = None,
    is_cut: Callable[[Raw, str], bool] | None = None,
) -> tuple[list[Finding], list[str]]:
    """Inspect all columns of a table, or some of them, except the column of weights.

    Returns the findings, and the `na_values` that occur in no column. More than `most` columns are
    refused unread. Columns that already hold the intervals of a discretizer (`is_cut`) are
    discrete.
    """
    kinds = options.kinds
    if isinstance(kinds, Mapping):
        kinds = {source.called(name): kind for name, kind in kinds.items()}
    known = frozenset(source.names)
    asked = dict.fromkeys(map(source.called, options.columns or source.names))
    if lacking := [name for name in asked if name not in known]:
        raise KesError(
            f"the data lack columns: {listed(lacking)}{suggest(lacking[0], source.names)}; "
            f"known: {listed(sorted(known))}",
            option="columns",
            column=lacking[0],
        )
    wanted = check_kinds(kinds, source.names)  # after the columns that they are of
    if isinstance(weights, str):
        asked.pop(source.called(weights), None)
    chosen = [i for i, name in enumerate(source.names) if name in asked]
    if most is not None and len(chosen) > most:
        raise KesError(
            f"the data have {len(chosen)} columns, but at most {most} variables are supported; "
            f"leave some out, or select columns with {option('columns')}",
            option="columns",
        )
    absent = frozenset(options.na_values)
    once = (is_cut, weights is None, most is None, options.dates)
    look = _Look(source, wanted, absent, set(absent), *once)
    return look.at(chosen, options.decimal), sorted(look.unheard)


@dataclass
class _Look:
    """Reads and inspects columns one by one, so that a table is never in memory twice."""

    source: Source
    wanted: Mapping[str, str]
    absent: frozenset[str]
    unheard: set[str]
    is_cut: Callable[[Raw, str], bool] | None
    cases: bool
    thorough: bool
    dates: str | None
    nameless: str = ""
    """The first column that lacks a name it needs."""

    def at(self, columns: Iterable[int], decimal: Sign | None) -> list[Finding]:
        """Inspect these columns.

        Text with commas waits until all columns are read: others may show what commas mean.
        """
        findings: dict[int, Finding] = {}
        waiting: dict[int, Raw | None] = {}
        signs: set[Sign | None] = {None}
        for index in columns:
            column = self._read(index)
            if isinstance(column, KesError) or not has_commas(column):
                findings[index] = self._judged(index, column, None)
                continue
            signs.add(decimal_sign([column]))
            waiting[index] = column if len(column.values) <= _HELD else None
            findings[index] = Finding("", None)  # keeps its place
        shown = signs - {None}
        sign = decimal or (shown.pop() if len(shown) == 1 else None) or self.source.likely_decimal
        for index, held in waiting.items():
            findings[index] = self._judged(index, held or self._read(index), sign)
        self._spread_marks(findings, sign)
        return list(findings.values())

    def _spread_marks(self, findings: dict[int, Finding], sign: Sign | None) -> None:
        """Read texts that mean missing beside the numbers of some column as missing in all."""
        marks = {mark for one in findings.values() if one.verdict for mark in one.verdict.absent}
        for index, finding in findings.items():
            column = None if finding.verdict is None else finding.verdict.column
            found = marks.intersection(marks_of(column)) if isinstance(column, Factor) else set()
            if found and column is not None:
                again = self._judged(index, column.without(frozenset(found)), sign)
                if again.verdict is not None:
                    absent = tuple(sorted(found))
                    again = replace(again, verdict=replace(again.verdict, absent=absent))
                findings[index] = again

    def _read(self, index: int) -> Raw | KesError:
        if self.wanted.get(self.source.names[index]) == "omit" and not self.thorough:
            return nothing(0)  # never used
        try:
            if not self.unheard:
                return self.source.column(index, self.absent)
            column = self.source.column(index, frozenset())
            self.unheard -= _heard(column, self.unheard)
            return column.without(self.absent)
        except KesError as error:
            return error

    def _judged(self, index: int, column: Raw | KesError, sign: Sign | None) -> Finding:
        name = self.source.names[index]
        try:
            if isinstance(column, KesError):
                raise column
            wanted = self.wanted.get(name)
            if wanted == "continuous" and self.is_cut is not None and self.is_cut(column, name):
                wanted = "discrete"
            dated = None if self.dates is None else date_notation(column, self.dates)
            if dated is not None and wanted != "omit":
                verdict = judge(dates_as_numbers(column, dated), wanted, cases=False)
                verdict = self._dated(verdict, dated)
            else:
                verdict = judge(column, wanted, decimal=sign, cases=self.cases)
        except KesError as error:
            return Finding(name, None, str(error))
        if wanted is None:
            verdict = self._identified(index, verdict)
        if verdict.kind is None or wanted is not None:
            return Finding(name, verdict)
        if index in self.source.unnamed:
            self.nameless = self.nameless or name
            return Finding(name, None, _nameless(self.nameless))
        return Finding(name, verdict, seems=seeming(name, verdict, cases=self.cases))

    def _dated(self, verdict: Verdict, notation: Notation) -> Verdict:
        """Say how dates became numbers."""
        why = f"dates as {WORDS[self.dates or 'days']}"
        return replace(verdict, why=why, noted=True, common="", notation=notation)

    def _identified(self, index: int, verdict: Verdict) -> Verdict:
        """Take a column whose values all differ for an identifier if its place or name says so."""
        name, column = self.source.names[index], verdict.column
        if index == 0 and (index in self.source.unnamed or name in _ROW_NAMES):
            why, applies = "row names", verdict.what != "empty"
        else:
            why, numbered = "all different, as the name says", _NUMBERED.fullmatch(name)
            applies = bool(numbered and self.cases and column.rows >= LEAST_ROWS and verdict.kind)
        return Verdict("identifier", column, why) if applies and all_differ(column) else verdict


def _heard(column: Raw, marks: Iterable[str]) -> set[str]:
    """Return the markers of missing values that occur in a column."""
    if isinstance(column, Factor):
        return set(marks).intersection(map(str, column.values))
    known = column.missing()
    return {mark for mark in marks if column.without(frozenset([mark])).missing() > known}


def _nameless(name: str) -> str:
    """Return the complaint about unnamed columns: the same for all, so that it is printed once."""
    leaving_out = either(f'kinds={{{name!r}: "omit"}}', f'--drop "{name}"')
    return (
        f"has no name; if it holds row numbers, leave it out: {leaving_out} (or write the file "
        "with index=False in pandas, row.names=FALSE in R); otherwise name it, or set its kind "
        f"with {option('kinds')}"
    )


def unusable(findings: Sequence[Finding]) -> list[str]:
    """Return the lines of the error about columns that cannot be used."""
    bad = [one for one in findings if one.complaint]
    by_complaint: dict[str, list[str]] = {}
    for one in bad:
        by_complaint.setdefault(one.complaint, []).append(one.name)
    lines = [f"{_all_named(names)} {complaint}" for complaint, names in by_complaint.items()]
    if len(bad) <= 1:
        return lines
    counted = f"{len(bad)} columns cannot be used:"
    return [f"{counted} {lines[0]}"] if len(lines) == 1 else [counted, *(f"  {o}" for o in lines)]


def _all_named(names: Sequence[str]) -> str:
    if len(names) == 1:
        return _named(names[0])
    shown = [_named(name).removeprefix("column ") for name in names]
    return f"each of the columns {listed(shown, show=str)}"


def _named(name: str) -> str:
    return name if name.startswith("column ") else f"column {name!r}"


# --- the table -----------------------------------------------------------------------------------


class Audit(Table):
    """The result of `audit`. As text, a table of figures is followed by remarks on columns."""

    def to_text(self, rows: int | None = None, width: int = _WIDTH) -> str:
        """Return the table as text: all rows, or this many of the first and last ones."""
        figures = Table({name: self[name] for name in self.columns[:-2]})
        said = self._said()
        shown = said if rows is None else said[:rows]
        if len(said) > len(shown):
            shown.append(f"... and {len(said) - len(shown)} more remarks")
        shown += self.note.splitlines()
        lines = [
            line for one in shown for line in wrap(printable(one), width, subsequent_indent="  ")
        ]
        return "\n".join([figures.to_text(rows, width), *lines])

    def _said(self) -> list[str]:
        """Return the remarks on columns, those with the same remark together."""
        columns_of: dict[tuple[str, bool], list[str]] = {}
        gaps = _about_gaps()
        for row in self:
            advice = row["what to do"].removesuffix(gaps).removesuffix("; ")
            may_be_codes = advice == as_codes([row["column"]])
            if advice or row["verdict"] not in _PLAIN:
                said = f"{row['verdict']}; {advice}" if advice else row["verdict"]
                said = row["verdict"] if may_be_codes else said
                columns_of.setdefault((said, may_be_codes), []).append(row["column"])
        lines = [
            f"{', '.join(columns)}: {said}" + (f"; {as_codes(columns)}" if may_be_codes else "")
            for (said, may_be_codes), columns in columns_of.items()
        ]
        return [*lines, gaps] if any(self["missing"]) else lines


def audit(
    data: Data,
    *,
    kinds: Kinds | None = None,
    na_values: Iterable[State] = (),
    weights: Weights = None,
    columns: Iterable[str] | None = None,
    sep: str | None = None,
    decimal: Sign | None = None,
    encoding: str | None = None,
    dates: str | None = None,
) -> Audit:
    """Show how `kes.learn` would read a table.

    Parameters
    ----------
    data
        As in `kes.learn`.
    kinds, weights, dates
        As in `kes.learn`.
    na_values, columns, sep, decimal, encoding
        As in `kes.data.encode`.

    Returns
    -------
    Audit
        A `Table` with a row for each column: its `kind`, the number of distinct `values`, the
        share of `missing` ones, `examples`, the `verdict` of `kes.learn`, and `what to do` about
        it. Its note says if rows seem to depend on each other.

    Examples
    --------
    >>> import numpy as np
    >>> audit(np.array([[1.5, 1], [2.5, 1], [0.5, 0]]))["verdict"]
    ('taken as continuous', 'taken as discrete')
    """
    options = ReadOptions.of(
        na_values=na_values,
        kinds=kinds,
        columns=columns,
        sep=sep,
        decimal=decimal,
        encoding=encoding,
        dates=dates,
    )
    source = open_source(data, options.dialect)
    findings, _ = inspect(source, options, weights)
    if not findings:
        raise KesError("the data have no columns; each variable must be a column", option="data")
    rows = [described(one, source.rows) for one in findings]
    used = {one.name: one.verdict for one in findings if one.verdict is not None}
    note = "\n".join(dependence_notes(used) if weights is None else ())
    return Audit({name: [row[name] for row in rows] for name in rows[0]}, note=note)


def described(finding: Finding, rows: int) -> dict[str, object]:
    """Return the row of a column in an audit."""
    verdict = finding.verdict
    if verdict is None:
        return {
            "column": finding.name,
            "kind": "unusable",
            "values": None,
            "missing": None,
            "examples": "",
            "verdict": "refused",
            "what to do": finding.complaint,
        }
    return {
        "column": finding.name,
        "kind": verdict.what,
        "values": verdict.distinct,
        "missing": verdict.column.missing() / rows if rows else 0.0,
        "examples": _examples(verdict.column),
        "verdict": _judgement(verdict),
        "what to do": _advice(finding, verdict, rows),
    }


def _examples(column: Raw) -> str:
    """Return the first few distinct values."""
    if isinstance(column, Numbers):
        values: Iterable[object] = dict.fromkeys(column.known().tolist())
    else:
        factor = column.factor()
        values = (factor.values[code] for code in factor.occurring().tolist())
    texts = [
        f"{value:g}" if isinstance(value, float | np.floating) else str(value)
        for value in islice(values, _SHOWN)
    ]
    joined = ", ".join(text.split("T00:00:00")[0] for text in texts)  # days without a time
    return joined if len(joined) <= _EXAMPLES else joined[: _EXAMPLES - 3] + "..."


_PLAIN = ("taken as discrete", "taken as continuous")


def _judgement(verdict: Verdict) -> str:
    if verdict.kind is None:
        return f"left out: {verdict.why}"
    if verdict.what == "empty":
        return "refused: no value at all"
    why = verdict.why if verdict.strays else verdict.reason  # the table shows the number of values
    return f"taken as {verdict.kind}" + (f": {why}" if verdict.noted else "")


def _advice(finding: Finding, verdict: Verdict, rows: int) -> str:
    """Return the advice for a column."""
    name, advice = finding.name, []
    match verdict.what:
        case "identifier" | "date" | "unclear":
            advice.append(remedy({name: verdict}))
        case "empty":
            advice.append(f"leave it out: {saying([name], 'omit')}")
        case "constant":
            advice.append("isolated in every model; leave it out if you like")
        case "discrete" if isinstance(verdict.column, Factor):
            states = len(verdict.column.values)
            if states > MAX_STATES:
                advice.append(f"more than {MAX_STATES} states: leave it out, or merge states")
            elif too_many(states, rows - verdict.column.missing()):
                advised = fewer({name: verdict.column.values}, [name])
                advice.append(f"many states for so few values, so edges cost much: {advised}")
            advice += _about_marks(verdict)
        case "continuous" if verdict.notation.unit:
            advice.append(f"to keep the text: {saying([name], 'discrete')}")
    if verdict.absent:
        advice.append(f"{listed(verdict.absent)} read as missing")
    if verdict.may_be_codes:
        advice.append(as_codes([name]))
    if finding.seems:
        advice.append(f"looks like {finding.seems}: {saying([name], 'omit')}")
    if verdict.column.missing() and verdict.kind is not None and verdict.what != "empty":
        if mostly(verdict.column.missing(), rows):
            advice.append(f"mostly missing: {unless_needed()}")
        advice.append(_about_gaps())
    return "; ".join(advice)


def _about_marks(verdict: Verdict) -> list[str]:
    """Return the advice on states that look like missing values."""
    marks = marks_of(verdict.column)
    if verdict.strays:
        return [without_strays(verdict.strays)]
    if not marks:
        return []
    shown = either(marks[0], quoted(marks[0]))
    return [f"if {marks[0]!r} means missing: {option('na_values', shown)}"]


def _about_gaps() -> str:
    return f"missing values: see {option('missing')}"
