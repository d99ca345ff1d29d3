"""A table as the page shows it: a card for each column, and the obstacles to learning."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from kes.app.drafts import SearchDraft, example
from kes.data.audit import Finding, described, inspect
from kes.data.dataset import Data, Dataset
from kes.data.dependence import dependence_notes
from kes.data.discretizer import Discretizer
from kes.data.encoder import read_data
from kes.data.factor import Factor
from kes.data.infer_kinds import Verdict
from kes.data.missing import mostly
from kes.data.parse_text import LOOKS_MISSING
from kes.data.raw_columns import Numbers
from kes.data.source import Source, open_source
from kes.errors import KesError, option, unknown
from kes.formats.escaping import labels
from kes.options import MISSING

MOST_BARS = 8
BINS = 24
MOST_EXPERIMENTS = 100

_GAPS = {
    "em": "Fill in missing cells (EM)",
    "drop": "Leave out incomplete rows",
    "state": "Make “missing” a state of its own",
}
"""Treatments of missing cells, in words."""
_GAPS_QUESTION = "Some cells are missing. What should be done with them?"
assert set(_GAPS) | {"error"} == set(MISSING), "every treatment has words"


def cards(draft: dict[str, Any], columns: Sequence[str] | None = None) -> dict[str, Any]:
    """Return a card for each column, or for some of them, as `kes.learn` would read them."""
    chosen = SearchDraft.of(draft)
    if chosen.example is not None:
        table = example(chosen.example)
        return {"rows": table.rows, "columns": _example_cards(table), "note": ""}
    how, source = chosen.reading, _opened(chosen)
    weights = how.weights or None
    if columns is not None:
        how = replace(how, columns=tuple(columns))
    findings, _ = inspect(source, how, weights)
    if not findings:
        raise KesError("the table has no columns; each variable must be a column", option="data")
    used = {one.name: one.verdict for one in findings if one.verdict is not None}
    notes = dependence_notes(used) if not weights and columns is None else ()
    note = "\n".join(in_words(note) or note for note in notes)
    shown = [_card(one, source.rows, how.na_values) for one in findings]
    return {"rows": source.rows, "columns": shown, "note": note}


@lru_cache(maxsize=1)
def _kept(path: str, version: tuple[int, int], dialect: Any) -> Source:  # noqa: ANN401 - hashable
    return open_source(path, dialect)


def _opened(draft: SearchDraft) -> Source:
    """Open the table, or take the one of the last question."""
    assert draft.file is not None, "an example has no file"
    about = os.stat(draft.file)
    return _kept(draft.file, (about.st_mtime_ns, about.st_size), draft.reading.dialect)


def _card(finding: Finding, rows: int, marks: Sequence[str]) -> dict[str, Any]:
    said, verdict = described(finding, rows), finding.verdict
    return {
        "name": finding.name,
        "kind": said["kind"],
        "used": None if verdict is None else verdict.kind,
        "values": said["values"],
        "missing": 0 if verdict is None else verdict.column.missing(),
        "examples": said["examples"],
        "verdict": said["verdict"],
        "advice": said["what to do"],
        "fixes": _column_fixes(finding, marks, rows),
        "picture": None if verdict is None else _picture(verdict),
    }


def _picture(verdict: Verdict) -> dict[str, Any] | None:
    """Return a histogram of numbers, or the most frequent states."""
    column = verdict.column
    if isinstance(column, Numbers) and verdict.what != "identifier":
        known = column.known()
        known = known[np.isfinite(known)].astype(np.float64)
        if not len(known) or known.min() == known.max():
            return None
        bins = min(BINS, max(1, len(np.unique(known[:1000]))))
        counts, edges = np.histogram(known, bins)
        return {"bins": counts.tolist(), "from": float(edges[0]), "to": float(edges[-1])}
    if isinstance(column, Numbers) or verdict.what in ("identifier", "date", "empty"):
        return None
    factor = column.factor()
    counts = np.bincount(factor.codes[factor.codes >= 0], minlength=len(factor.values))
    order = range(len(counts)) if factor.order is None else factor.order(factor.values)
    names = labels(tuple(factor.values))
    return _bars([names[i] for i in order], [int(counts[i]) for i in order])


def _bars(names: Sequence[str], counts: Sequence[int]) -> dict[str, Any]:
    order = sorted(range(len(names)), key=lambda i: -counts[i])[:MOST_BARS]
    order = sorted(order) if len(names) <= MOST_BARS else order
    rest = len(names) - len(order)
    return {"bars": [[names[i], counts[i]] for i in order], "more": rest, "total": sum(counts)}


def _example_cards(table: Dataset) -> list[dict[str, Any]]:
    """Return cards of the built-in example, whose columns are known."""
    shown = []
    for name, column in zip(table.names, table.discrete_columns, strict=True):
        states = column.states
        counts = np.bincount(column.codes, minlength=len(states)).tolist()
        shown.append(
            {
                "name": name,
                "kind": "discrete",
                "used": "discrete",
                "values": len(states),
                "missing": 0,
                "examples": ", ".join(labels(states)[:3]),
                "verdict": "taken as discrete",
                "advice": "",
                "fixes": [],
                "picture": _bars(labels(states), counts),
            }
        )
    return shown


def states(draft: dict[str, Any], column: str) -> list[str]:
    """Return the values of a column that may say which experiment a row is from."""
    chosen = SearchDraft.of(draft)
    source = _opened(chosen)
    if column not in source.names:
        raise unknown("column", column, source.names, option="interventions")
    raw = source.column(source.names.index(column), frozenset(chosen.reading.na_values))
    factor = raw.factor().ordered()
    found = [str(factor.values[code]) for code in factor.occurring()]
    if len(found) > MOST_EXPERIMENTS:
        raise KesError(
            f"column {column!r} has {len(found)} values; a column of experiments has at most "
            f"{MOST_EXPERIMENTS} on the page",
            option="interventions",
            column=column,
        )
    return found


# --- obstacles -----------------------------------------------------------------------------------


def check(draft: dict[str, Any]) -> dict[str, Any]:
    """Read the table as `kes learn` would; return its notes, or the error and its remedies."""
    chosen = SearchDraft.of(draft)
    if chosen.file is None:
        return {"notes": [], "problem": None, "columns": None}
    cut = chosen.options.get("discretize")
    data: Data = chosen.file
    try:
        table = read_data(data, chosen.reading, discretizer=Discretizer.checked(cut))
    except KesError as error:
        fields = {"column": error.column, "option": error.option}
        offered = fixes(error, chosen)
        text = in_words(str(error)) if offered else str(error)
        if _are_gaps(error):
            text = f"{_GAPS_QUESTION}\n{text}"
        problem = {"message": text, "fixes": offered, **fields}
        return {"notes": [], "problem": problem, "columns": None}
    notes = [in_words(note) or note for note in table.notes]
    return {"notes": notes, "problem": None, "columns": list(table.names)}


_TO_USE = re.compile(r"; to use (?:it|them): .*?(?=\)(?:, '|$))")
_ADVICE = re.compile(r";[^;]*: --.*|(?:[;:]|, or)[^;:]* --.*")


def in_words(text: str) -> str:
    """Return a message without the advice to use flags: the page has buttons for that."""
    kept = [_ADVICE.sub("", _TO_USE.sub("", line)) for line in text.split("\n")]
    return "\n".join(line[0].upper() + line[1:] for line in kept if line and " --" not in line)


def _are_gaps(error: KesError) -> bool:
    """Return whether a treatment of missing cells mends an error: columns with cells only."""
    text = str(error)
    return "missing values" in text and "without a single value" not in text


def fixes(error: KesError, draft: SearchDraft) -> list[dict[str, Any]]:
    """Return the changes that may fix an error: a label, and the settings of the draft."""
    column, text = error.column, str(error)
    found: list[dict[str, Any]] = []
    if column is not None and error.option != "weights":
        kinds = {"omit": "Leave out", "discrete": "Take as states:"}
        if "number" not in text:
            del kinds["discrete"]
        if column in draft.reading.kinds:
            found.append(_fix(f"Let kes decide on {column}", kinds={column: None}))
        found += [_fix(f"{words} {column}", kinds={column: kind}) for kind, words in kinds.items()]
    if _are_gaps(error):  # the message names the ways that are open to this table
        usable = [how for how in _GAPS if option("missing", how) in text.partition(";")[2]]
        found = [_fix(_GAPS[how], missing=how) for how in usable]
    if error.option == "weights":
        found.append(_fix("Use no weights", weights=None))
    if error.option in ("discretize", "bins"):
        found.append(_fix("Cut no columns", discretize=None))
    if error.option in ("na_values", "dates", "sep", "decimal", "encoding"):
        found.append(_fix(f"Forget {error.option.replace('_', ' ')}", **{error.option: None}))
    return found


def _column_fixes(finding: Finding, marks: Sequence[str], rows: int) -> list[dict[str, Any]]:
    """Return buttons for a column that cannot be used, is left out, or has marks like "?".

    `marks` are the texts that mean missing already.
    """
    name, verdict = finding.name, finding.verdict
    if verdict is not None and verdict.kind == "discrete" and isinstance(verdict.column, Factor):
        seen = sorted(LOOKS_MISSING.intersection(map(str, verdict.column.values)))
        if seen:
            return [_fix(f"“{mark}” means missing", na_values=[*marks, mark]) for mark in seen]
    if verdict is None or verdict.what == "empty":
        choices: Mapping[str, str] = {"omit": "Leave it out"}
        choices = choices if verdict else {**choices, "discrete": "Take its values as states"}
    elif verdict.what == "identifier":
        numbers = isinstance(verdict.column, Numbers)
        choices = {"continuous": "Use it as a number"} if numbers else {"discrete": "Use it anyway"}
    elif finding.seems or (verdict.kind is not None and mostly(verdict.column.missing(), rows)):
        choices = {"omit": "Leave it out"}
    elif verdict.may_be_codes:
        choices = {"discrete": "Its numbers are codes"}
    else:
        return [_fix("Use dates as days", dates="days")] if verdict.what == "date" else []
    return [_fix(words, kinds={name: kind}) for kind, words in choices.items()]


def _fix(label: str, **change: object) -> dict[str, Any]:
    return {"label": label, "change": change}
