"""A draft: what the page has chosen so far, and the command and the Python lines that do it.

In JSON a draft has a ``file`` or an ``example`` (its number of rows), ``kinds``, the fields of
`ReadOptions` that the page offers, ``interventions`` and ``knowledge`` as in their files,
``series`` (``lags``, ``by`` and ``time``), and ``options``, those of `kes.learn` that differ from
their defaults.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from kes import datasets
from kes.app.workspace import stem
from kes.data.dataset import Dataset
from kes.data.discretizer import Discretizer
from kes.data.interventions import check_interventions
from kes.data.schema import ReadOptions
from kes.data.series import Series
from kes.declare import declared
from kes.errors import KesError, unknown
from kes.graph.knowledge import Knowledge
from kes.graph.knowledge_files import dump
from kes.options import LearnOptions
from kes.show.report.recipe import command_words, python_lines
from kes.validation import integer, number

TEXTS = ("weights", "sep", "decimal", "encoding", "dates", "missing")
"""Parts of a draft that are fields of `ReadOptions` and text."""

PARTS = (
    *("file", "example", "kinds", "na_values", "completions", "interventions", "series"),
    *("knowledge", "options", *TEXTS),
)
MOST_ROWS = 1_000_000
_END = "END"
"""The line that ends a file in the shell; no line of the files is a bare word."""


@lru_cache(maxsize=1)
def example(rows: int) -> Dataset:
    """Return the built-in example."""
    return datasets.alarm(rows=rows)


@dataclass(frozen=True)
class SearchDraft:
    """A checked draft."""

    file: str | None
    example: int | None
    reading: ReadOptions
    knowledge: Knowledge
    options: Mapping[str, Any]

    @classmethod
    def of(cls, given: object) -> SearchDraft:
        """Check a draft from the page."""
        if not isinstance(given, Mapping):
            raise KesError("a draft must be an object")
        for part in given:
            if part not in PARTS:
                raise unknown("part of a draft", str(part), PARTS)
        rows, file = given.get("example"), given.get("file")
        if rows is not None:
            rows = integer("rows", rows, minimum=10, maximum=MOST_ROWS)
        if (rows is None) == (file is None):
            raise KesError("choose a table first", option="data")
        kinds = _mapping(given, "kinds")
        texts = {name: _text(name, given[name]) for name in TEXTS if given.get(name) is not None}
        reading = ReadOptions(
            source=None if file is None else _text("file", file),
            example=rows,
            kinds={name: _text("kinds", kind) for name, kind in kinds.items() if kind},
            na_values=_texts("na_values", given.get("na_values") or []),
            completions=integer("completions", given.get("completions") or 5, minimum=1),
            interventions=check_interventions(_mapping(given, "interventions")),
            series=_series(_mapping(given, "series")),
            **texts,  # type: ignore[arg-type]
        )
        if rows is not None and reading != ReadOptions(example=rows):
            raise KesError("the built-in example is read as it is", option="example")
        known = stated(_mapping(given, "knowledge"))
        return cls(reading.source, rows, reading, known, _options(_mapping(given, "options")))

    @property
    def stem(self) -> str:
        """The name that results of this draft begin with."""
        return "alarm" if self.file is None else stem(self.file)

    @property
    def files(self) -> dict[str, bytes]:
        """The input files of the command by option: knowledge and interventions."""
        found = {}
        if self.knowledge:
            found["knowledge"] = dump(self.knowledge.as_plain(), "a.toml")
        if self.reading.interventions:
            shown = {
                column: {state: list(own or ()) for state, own in states.items()}
                for column, states in self.reading.interventions.items()
            }
            text = json.dumps(shown, indent=1, ensure_ascii=False)
            found["interventions"] = f"{text}\n".encode()
        return found

    def words(self, out: str, names: Mapping[str, str]) -> list[str]:
        """Return the command that learns; `names` are those of its `files`."""
        known = ["--knowledge", names["knowledge"]] if "knowledge" in names else []
        options = {**self.options, **({"knowledge": None} if known else {})}
        words = command_words(self.reading, options, known)
        if "interventions" in names:
            words += ["--interventions", names["interventions"]]
        return [*words, "--out", out]

    def code(self, out: str, names: Mapping[str, str], new: Collection[str] = ()) -> dict[str, str]:
        """Return the command and the Python lines that learn; the shell writes new files first."""
        options = {**self.options, **({"knowledge": self.knowledge} if self.knowledge else {})}
        lines = python_lines(self.reading, {**options, "out": out})
        written = [
            f"cat > {shlex.quote(names[part])} <<'{_END}'\n{content.decode().rstrip()}\n{_END}\n"
            for part, content in self.files.items()
            if part in new
        ]
        shell = "".join([*written, shlex.join(self.words(out, names))])
        return {"shell": shell, "python": "\n".join(lines)}


def stated(given: Mapping[str, Any]) -> Knowledge:
    """Return the knowledge that the page states; refuse what contradicts itself."""
    parts = [field.name for field in fields(Knowledge)]
    for part in given:
        if part not in parts:
            raise unknown("part of knowledge", str(part), parts, option="knowledge")
    return Knowledge(**given)


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of `kes.learn` that the page may set, checked, without defaults."""
    known, found = form_options(), {}
    for name, value in given.items():
        if name not in known:
            raise unknown("option", name, known, option=name)
        if name == "discretize" and value is not None:
            value = _bins(value)  # noqa: PLW2901 - checked
        if value is not None and known[name].checked(value) != known[name].default:
            found[name] = value
    return found


def form_options() -> dict[str, Any]:
    """Return the options that the page offers: those of the shell that do not name files."""
    apart = ("kinds", "weights", "dates", "missing", "completions", "checkpoint", "client")
    return {
        name: option
        for name, option in declared(LearnOptions).items()
        if option.help is not None and option.metavar != "FILE" and name not in (*apart, "progress")
    }


def _bins(value: object) -> int | dict[str, int] | dict[str, list[float]]:
    """Return numbers of intervals, or cut points of columns."""
    if not isinstance(value, Mapping):
        return integer("discretize", value, minimum=2)
    if all(isinstance(cuts, list) for cuts in value.values()):
        points = {
            str(name): [number("discretize", cut) for cut in cuts] for name, cuts in value.items()
        }
        return {name: list(cuts) for name, cuts in Discretizer.at(points).cuts.items()}
    return {str(name): integer("discretize", bins, minimum=2) for name, bins in value.items()}


def _series(given: Mapping[str, Any]) -> Series | None:
    """Return the series that rows form; None without lags."""
    return Series.of(given.get("lags"), given.get("by"), given.get("time")) if given else None


def _mapping(given: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    found = given.get(part) or {}
    if not isinstance(found, Mapping):
        raise KesError(f"{part} must be an object", option=part)
    return found


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise KesError(f"{name} must be text, not {str(value)[:40]}", option=name)
    return value


def _texts(name: str, values: object) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise KesError(f"{name} must be a list", option=name)
    return tuple(_text(name, value) for value in values)
