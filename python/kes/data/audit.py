"""A look at a table before anything is learned from it: what each column is taken for, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from kes._core import MAX_STATES
from kes.data.column import State
from kes.data.dataset import Data, Weights
from kes.data.decimals import LOOKS_MISSING, Sign
from kes.data.factor import Factor
from kes.data.kinds import Kinds, Verdict, check_kinds, decimal_sign, judge, saying
from kes.data.raw import Raw
from kes.data.sniffing import Writing
from kes.data.source import Source, open_source
from kes.errors import KesError, listed, option, unknown
from kes.table import Table

_CASES_PER_STATE = 5
_MANY_STATES = 10
_SHOWN = 3
_NAMELESS = (
    "has no name; name it, or, if it holds row numbers, leave it out (write the file with "
    "index=False in pandas, row.names=FALSE in R)"
)


@dataclass(frozen=True)
class Finding:
    """What is known of a column.

    Attributes
    ----------
    name : str
        Its name; "column 1" and so on if it has none.
    verdict : Verdict or None
        What it is; None if it cannot be used.
    complaint : str
        Why it cannot be used.
    """

    name: str
    verdict: Verdict | None
    complaint: str = ""


def inspect(
    source: Source,
    *,
    kinds: object = None,
    na_values: Iterable[State] = (),
    weights: Weights = None,
    columns: Iterable[str] | None = None,
    decimal: Sign | None = None,
    most: int | None = None,
) -> list[Finding]:
    """Look at all columns of a table, or at some of them, but not at that of the weights.

    If they are more than `most`, no search can take them: they are not even read.
    """
    wanted = check_kinds(kinds, source.names)
    known = set(source.names)
    asked = source.names if columns is None else tuple(columns)
    names = set(asked)
    for name in asked:
        if name not in known:
            raise unknown("column", name, source.names)
    texts = [na_values] if isinstance(na_values, str) else na_values
    absent = frozenset(str(value) for value in texts)
    weighted_by = weights if isinstance(weights, str) else None

    chosen = [i for i, name in enumerate(source.names) if name != weighted_by and name in names]
    if most is not None and len(chosen) > most:
        raise KesError(
            f"the data have {len(chosen)} columns, but at most {most} variables are possible; "
            f"leave some out, or choose with {option('columns')}"
        )
    found = {index: _read(source, index, absent) for index in chosen}
    read = [column for column in found.values() if not isinstance(column, KesError)]
    sign = decimal or decimal_sign(read) or source.likely_decimal
    findings = []
    for index, column in found.items():
        own = source.names[index]
        name = own if own.strip() else f"column {index + 1}"
        try:
            if isinstance(column, KesError):
                raise column
            verdict = judge(column, wanted.get(own), decimal=sign, cases=weights is None)
        except KesError as error:
            findings.append(Finding(name, None, str(error)))
            continue
        nameless = not own.strip() and verdict.kind is not None
        findings.append(Finding(name, None, _NAMELESS) if nameless else Finding(name, verdict))
    return findings


def _read(source: Source, index: int, absent: frozenset[str]) -> Raw | KesError:
    try:
        return source.column(index, absent)
    except KesError as error:
        return error


def refuse(findings: Sequence[Finding]) -> None:
    """Raise an error that names all columns that cannot be used.

    Raises
    ------
    KesError
        If there are any.
    """
    bad = [one for one in findings if one.complaint]
    if len(bad) == 1:
        raise KesError(f"{_named(bad[0].name)} {bad[0].complaint}")
    if bad:
        lines = (f"  {_named(one.name)} {one.complaint}" for one in bad)
        raise KesError(f"{len(bad)} columns cannot be used:", *lines)


def _named(name: str) -> str:
    return name if name.startswith("column ") else f"column {name!r}"


# --- remarks -------------------------------------------------------------------------------------


def too_many(states: int, cases: float) -> bool:
    """Tell whether there are fewer than five cases for each state, so that no edge can pay."""
    return states > max(_MANY_STATES, cases / _CASES_PER_STATE)


def remarks(verdicts: Mapping[str, Verdict]) -> list[str]:
    """Say what was decided about the columns, where it is not plain to see."""
    notes = []
    kinds = [verdict.kind for verdict in verdicts.values()]
    discrete, continuous = kinds.count("discrete"), kinds.count("continuous")
    if continuous:
        notes.append(f"{discrete} discrete and {continuous} continuous columns")
    left_out = [
        f"{name!r} ({verdict.why}{_remedy(verdict)})"
        for name, verdict in verdicts.items()
        if verdict.kind is None and verdict.what != "omitted"
    ]
    if left_out:
        notes.append(f"left out: {listed(left_out, show=str)}")
    told = [f"{name!r}: {verdict.why}" for name, verdict in verdicts.items() if verdict.told]
    if told:
        notes.append(listed(told, show=str))
    return notes


def _remedy(verdict: Verdict) -> str:
    """Say how to use a column that is left out all the same."""
    match verdict.what:
        case "date":
            return "; to use them, make numbers of them, such as years or days since the first"
        case "unclear":
            return f"; say which with {option('decimal')}, or make numbers of them"
    return ""


def state_remarks(states_of: Mapping[str, Sequence[State]], cases: float) -> list[str]:
    """Say what of the states of discrete columns is allowed but may not be meant."""
    constant = [name for name, states in states_of.items() if len(states) == 1]
    many = {name: len(own) for name, own in states_of.items() if too_many(len(own), cases)}
    suspect = {
        name: value
        for name, values in states_of.items()
        for value in sorted(LOOKS_MISSING.intersection(values))
    }
    notes = []
    if constant:
        notes.append(f"constant, so isolated in every model: {listed(constant)}")
    if many:
        shown = listed([f"{name!r} ({states})" for name, states in many.items()], show=str)
        notes.append(
            f"too many states for {cases:.12g} cases, so hardly ever joined to anything: {shown}; "
            "merge states, or take numbers as continuous"
        )
    if suspect:
        shown = listed([f"{name!r} ({value!r})" for name, value in suspect.items()], show=str)
        notes.append(f"a state looks like a missing value (see na_values, or --missing): {shown}")
    return notes


# --- the table -----------------------------------------------------------------------------------


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
) -> Table:
    """Look at a table before anything is learned from it.

    Parameters
    ----------
    data
        As in `kes.learn`.
    kinds, weights
        As in `kes.learn`.
    na_values, columns, sep, decimal, encoding
        As in `kes.data.encode`.

    Returns
    -------
    Table
        A row for each column: its `kind`, the number of different `values`, the share of
        `missing` ones, `examples`, the `verdict` that `kes.learn` would come to, and `what to do`
        about it.

    Examples
    --------
    >>> import numpy as np
    >>> audit(np.array([[1.5, 1], [2.5, 1], [0.5, 0]]))["verdict"]
    ('taken as continuous', 'taken as discrete')
    """
    source = open_source(data, Writing(sep, decimal, encoding))
    findings = inspect(
        source,
        kinds=kinds,
        na_values=na_values,
        weights=weights,
        columns=columns,
        decimal=decimal,
    )
    if not findings:
        raise KesError("the data have no columns; each variable must be a column")
    rows = [_row(one, source.rows) for one in findings]
    return Table({name: [row[name] for row in rows] for name in rows[0]})


def _row(finding: Finding, rows: int) -> dict[str, object]:
    verdict = finding.verdict
    if verdict is None:
        row: dict[str, object] = {"kind": "unusable", "values": None, "missing": None}
        return {
            "column": finding.name,
            **row,
            "examples": "",
            "verdict": "refused",
            "what to do": finding.complaint,
        }
    return {
        "column": finding.name,
        "kind": verdict.what,
        "values": verdict.distinct,
        "missing": verdict.column.missing() / rows if rows else 0.0,
        "examples": ", ".join(_examples(verdict.column)),
        "verdict": _judgement(verdict),
        "what to do": _advice(finding.name, verdict, rows),
    }


def _examples(column: Raw) -> list[str]:
    """Return the first few different values."""
    if isinstance(column, Factor):
        values: Iterable[object] = (column.values[code] for code in column.occurring().tolist())
    else:
        known = column.factor().values if not hasattr(column, "known") else column.known().tolist()
        values = dict.fromkeys(known)
    return [
        f"{value:g}" if isinstance(value, float | np.floating) else str(value)
        for value in islice(values, _SHOWN)
    ]


def _judgement(verdict: Verdict) -> str:
    if verdict.kind is None:
        return f"left out: {verdict.why}"
    if verdict.what == "empty":
        return "refused: no value at all"
    return f"taken as {verdict.kind}" + (f": {verdict.why}" if verdict.told else "")


def _advice(name: str, verdict: Verdict, rows: int) -> str:
    """Say what to do about a column, if anything."""
    advice = []
    match verdict.what:
        case "identifier":
            advice.append(f"to use it: {saying(name, 'discrete')}")
        case "date":
            advice.append("to use it, make numbers of it, such as years or days since the first")
        case "unclear":
            advice.append(f"say which with {option('decimal')}, or make numbers of it")
        case "empty":
            advice.append(f"leave it out: {saying(name, 'omit')}")
        case "constant":
            advice.append("isolated in every model; leave it out if you like")
        case "discrete" if isinstance(verdict.column, Factor):
            states = len(verdict.column.values)
            if states > MAX_STATES:
                advice.append(f"more than {MAX_STATES} states: leave it out, or merge states")
            elif too_many(states, rows):
                advice.append("too many states for so many rows: merge some, or take as continuous")
            marks = LOOKS_MISSING.intersection(map(str, verdict.column.values))
            if marks:
                mark = min(marks)
                advice.append(f"if {mark!r} means missing: {option('na_values', mark)}")
    if verdict.column.missing() and verdict.kind is not None and verdict.what != "empty":
        advice.append(f"missing values: see {option('missing')}")
    return "; ".join(advice)
