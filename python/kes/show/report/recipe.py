"""Reproduce a result: its settings, as a list, as a Python call and as a command."""

from __future__ import annotations

import csv
import io
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kes.budget import Size
from kes.data.discretizer import Discretizer
from kes.declare import declared
from kes.graph import EssentialGraph
from kes.graph.knowledge import Knowledge
from kes.options import LearnOptions, Sampled
from kes.results.summary import completed, edge_price

if TYPE_CHECKING:
    from kes.data.schema import ReadOptions
    from kes.data.series import Series
    from kes.files import PathLike
    from kes.results.optima import Optima
    from kes.settings import Settings

_ALWAYS = ("k", "criterion", "random_state")
"""Options that are shown even if they have their default."""


# --- the settings --------------------------------------------------------------------------------


def settings_rows(optima: Optima) -> list[tuple[str, str]]:
    """Return everything that decides the result, as labels and values."""
    settings, reading, improving = optima.settings, optima.record.reading, optima.record.improving
    kind, kinds, limit = optima.kind, [*optima.kinds.values()], settings.max_parents
    numbers = f"{kinds.count('discrete')} discrete, {kinds.count('continuous')} continuous"
    criterion = settings.measure.name
    special = {
        "k": ("k", f"{settings.k:g}"),
        "criterion": (
            "criterion",
            criterion if kind == "discrete" else f"{criterion}: {settings.measure.title(kind)}",
        ),
        "ess": ("equivalent sample size", f"{settings.ess}"),
        "penalty": ("penalty", f"multiplied by {settings.penalty:g}"),
        "basis": ("relations", f"curves of degree {settings.basis}"),
        "random_state": ("seed", str(settings.seed)),
    }
    always = {
        "edge_prior": ("edge price", edge_price(optima) or "none"),
        "max_parents": ("maximum number of parents", "no limit" if limit is None else str(limit)),
        "two_phase": (
            "phases",
            "additions, then removals" if settings.two_phase else "additions and removals",
        ),
        "neighbourhood": ("neighbourhood", _neighbourhood(settings)),
        "start": ("start", _start(settings)),
        "knowledge": ("knowledge", repr(settings.knowledge) if settings.knowledge else "none"),
    }
    given = {name: value for name, value in _changed(optima).items() if name not in always}
    rows = [
        special.get(name, (name.replace("_", " "), str(value))) for name, value in given.items()
    ]
    weights = "given as numbers" if reading.weights else "none"
    more = improving.earlier + sum(improving.calls)
    tasks = f"{improving.own} tasks" + (f", {more} by calls of improve()" if more else "")
    return [
        rows[0],
        ("runs", str(len(optima.runs))),
        *rows[1:],
        *always.values(),
        ("missing values", _missing(optima)),
        *(("cut into intervals", _cut(*cut)) for cut in reading.cuts.items()),
        ("weights", f"column {reading.weights!r}" if isinstance(reading.weights, str) else weights),
        ("variables", str(len(kinds)) if kind == "discrete" else numbers),
        ("cases", f"{optima.cases:.12g}"),
        ("fingerprint of the data", optima.record.fingerprint),
        ("version of kes", optima.record.version),
        ("improving", tasks if improving.tasks else "no"),
    ]


def _neighbourhood(settings: Settings) -> str:
    sampled = settings.neighbourhood
    if not isinstance(sampled, Sampled):
        return "exact"
    failures = "by default" if sampled.failures is None else str(sampled.failures)
    return f"sampled, at most {sampled.reversals} reversals, failures {failures}"


def _start(settings: Settings) -> str:
    if settings.start is not None:
        return repr(settings.start)
    required = settings.knowledge is not None and settings.knowledge.required
    return "the required arcs alone" if required else "the empty graph"


def _missing(optima: Optima) -> str:
    reading, completion = optima.record.reading, optima.record.completion
    how = {"drop": "rows dropped", "state": "a state", "em": completed(optima)}
    also = f"; also {', '.join(map(repr, reading.na_values))}" if reading.na_values else ""
    if completion is not None:
        gaps = zip(optima.names, completion.cells, strict=True)
        also += f"; {', '.join(f'{name} {count}' for name, count in gaps if count)}"
    return how.get(reading.missing, "none") + also


def _cut(name: str, cuts: tuple[float, ...]) -> str:
    return f"{name} at {', '.join(f'{cut:.15g}' for cut in cuts) or 'no place'}"


def _changed(optima: Optima) -> dict[str, object]:
    """Return the options of `kes.learn` that give these settings, without unimportant defaults."""
    defaults = {name: own.default for name, own in declared(LearnOptions).items()}
    if optima.record.has_default_price:
        defaults["edge_prior"] = optima.settings.edge_prior
    return {
        name: value
        for name, value in optima.settings.options().items()
        if name in _ALWAYS or value != defaults[name]
    }


def _amounts(optima: Optima) -> dict[str, object]:
    """Return the options of `kes.learn` that set the amount of work; none if all are defaults."""
    record, improving = optima.record, optima.record.improving
    is_auto = improving.asked.is_auto and improving.complete
    size = Size.of(record.states, record.cases, degree=record.settings.measure.degree)
    if is_auto and len(record.runs) == size.runs:
        return {}
    amounts: dict[str, object] = {"runs": len(optima.runs)}
    if improving.asked.option is not True or not improving.complete:
        amounts["improve"] = improving.own or False
    return amounts | ({"prove": True} if optima.proven else {})


# --- Python --------------------------------------------------------------------------------------


def python_call(optima: Optima) -> str:
    """Return the call of `kes.learn` that gives this result."""
    improving = optima.record.improving
    options = _changed(optima) | _amounts(optima) | _given({"target": optima.target})
    lines = python_lines(optima.record.reading, options)
    if improving.earlier:
        lines.append("# and models that were found by improving fewer runs")
    return "\n".join([*lines, *(f"optima = optima.improve(tasks={n})" for n in improving.calls)])


def python_lines(reading: ReadOptions, options: Mapping[str, object]) -> list[str]:
    """Return the lines that read a table and learn with options of `kes.learn`."""
    # Options of `kes.learn` and of the readers of `kes.data`, then those of only one of them.
    shared = {
        "weights": reading.weights if isinstance(reading.weights, str) else None,
        "missing": None if reading.missing == "error" else reading.missing,
        "kinds": dict(reading.kinds) or None,
        "dates": reading.dates,
    }
    more = {
        "completions": reading.completions if reading.missing == "em" else None,
        "interventions": {name: dict(own) for name, own in reading.interventions.items()} or None,
    }
    only_reader = {
        "columns": list(reading.columns) or None,
        "na_values": list(reading.na_values) or None,
        "sep": reading.sep,
        "decimal": reading.decimal,
        "encoding": reading.encoding,
    }
    rest = {name: value for name, value in options.items() if name != "discretize"}
    cut, lines, table = options.get("discretize", reading.discretizer), ["import kes"], "data"
    if reading.example is not None:
        table = f"kes.datasets.alarm(rows={reading.example})"
    elif reading.source:
        table = repr(os.path.basename(reading.source))
    if reading.series is not None:
        table = f"kes.lagged({table}{_arguments(_given(_series(reading.series)))})"
    if any(value is not None for value in only_reader.values()):
        reader = "encode_incomplete" if reading.missing == "em" else "encode"
        if cut is not None and not isinstance(cut, Discretizer):
            cut = Discretizer.checked(cut)
        given = _arguments(_given(shared | only_reader | {"discretizer": cut}))
        lines.append(f"data = kes.data.{reader}({table}{given})")
        table = "data"
        rest |= _given(more)
    else:
        rest |= _given(shared | more | {"discretize": cut})
    weights = ", weights=weights" if reading.weights is True else ""
    return [*lines, f"optima = kes.learn({table}{_arguments(rest)}{weights})"]


def _series(series: Series) -> dict[str, object]:
    by = series.by[0] if len(series.by) == 1 else list(series.by) or None
    return {"lags": series.lags, "by": by, "time": series.time}


def _given(options: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in options.items() if value is not None}


def _arguments(options: Mapping[str, object]) -> str:
    return "".join(f", {name}={_python(value)}" for name, value in options.items())


def _python(value: object) -> str:
    if isinstance(value, EssentialGraph):
        return repr(value.to_dag())
    if isinstance(value, Discretizer):
        is_cut = value.is_fitted
        return f"kes.Discretizer.at({dict(value.cuts)!r})" if is_cut else f"kes.{value!r}"
    return f"kes.{value!r}" if isinstance(value, Sampled | Knowledge) else repr(value)


# --- the shell -----------------------------------------------------------------------------------


def command_line(optima: Optima, file: PathLike | None = None) -> str | None:
    """Return the command that gives this result; None if the shell has no options for it.

    It writes to a file with the name of `file`, which contains the result.
    """
    settings, reading, improving = optima.settings, optima.record.reading, optima.record.improving
    knowledge = _knowledge_words(settings.knowledge)
    only_python = settings.start is not None or reading.weights is True
    only_python |= bool(reading.interventions)  # the shell reads them from a file
    if only_python or improving.earlier or improving.calls or knowledge is None:
        return None
    options = _changed(optima) | {"target": optima.target} | _amounts(optima)
    options |= {"discretize": reading.cuts or None}
    words = command_words(reading, options, knowledge)
    return shlex.join([*words, "--out", os.path.basename(file or "a.kes.json.gz")])


def command_words(
    reading: ReadOptions, options: Mapping[str, object], knowledge: Sequence[str]
) -> list[str]:
    """Return the command that reads a table and learns with options of `kes.learn`.

    `knowledge` are the words that give the option of that name.
    """
    words = ["kes", "learn", *_table_words(reading)]
    for name, value in options.items():
        words += knowledge if name == "knowledge" else _words(name, value)
    missing = [*reading.na_values, *([reading.missing] if reading.missing != "error" else [])]
    return words + _flags(
        ("--weights", reading.weights or None),
        ("--columns", _list(reading.columns)),
        *(
            (flag, _list(name for name, own in reading.kinds.items() if own == kind))
            for flag, kind in (
                ("--discrete", "discrete"),
                ("--continuous", "continuous"),
                ("--drop", "omit"),
            )
        ),
        ("--sep", reading.sep),
        ("--decimal", reading.decimal),
        ("--encoding", reading.encoding),
        ("--dates", reading.dates),
        *(() if (series := reading.series) is None else _series_flags(series)),
        ("--missing", _list(missing)),
        ("--completions", reading.completions if reading.missing == "em" else None),
    )


def _list(names: Iterable[str]) -> str:
    """Return names as a list for a flag; those with commas or quotes are quoted."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


def _series_flags(series: Series) -> tuple[tuple[str, object], ...]:
    return ("--lags", series.lags), ("--by", _list(series.by)), ("--time", series.time)


def _flags(*pairs: tuple[str, object]) -> list[str]:
    """Return the words of flags and their values, without empty ones."""
    return [word for flag, value in pairs if value not in (None, "") for word in (flag, str(value))]


def _words(name: str, value: object) -> list[str]:
    """Return the words that set an option."""
    flag = declared(LearnOptions)[name].flag or "--" + name.replace("_", "-")
    match name, value:
        case (_, None | True) | ("prove", "auto"):
            words = [] if value is not True or name == "improve" else [flag]
        case ("improve" | "prove", False):
            words = [f"--no-{name}"]
        case (_, False):
            words = []
        case ("improve", int() | str()):
            words = [f"{flag}-{'tasks' if isinstance(value, int) else 'budget'}", str(value)]
        case ("neighbourhood", Sampled()):
            given = ("--reversals", value.reversals), ("--failures", value.failures)
            words = _flags((flag, "sampled"), *given)
        case (_, list() | tuple()):
            words = [flag, _list(value)]
        case ("discretize", Mapping()):
            words = [flag, _list(_cuts_word(*cut) for cut in value.items())]
        case _:
            words = [flag, str(value)]
    return words


def _cuts_word(column: str, cuts: int | Sequence[float]) -> str:
    """Return the intervals of a column as --discretize takes them: a number, or cut points."""
    if isinstance(cuts, int):
        return f"{column}={cuts}"
    return f"{column}@{'/'.join(map(repr, cuts))}"


def _table_words(reading: ReadOptions) -> list[str]:
    if reading.example is not None:
        return ["--example", "alarm", "--rows", str(reading.example)]
    return [os.path.basename(reading.source) if reading.source else "data.csv"]


def _knowledge_words(known: Knowledge | None) -> list[str] | None:
    """Return the flags of knowledge; None if a name contains a separator."""
    if known is None:
        return []
    if any("," in name or ";" in name or name != name.strip() for name in known.variables):
        return None
    if known.targets or any("=" in name for *pair, _ in known.likely for name in pair):
        return None
    pairs = {"--require": known.required, "--forbid": known.forbidden, "--apart": known.apart}
    return _flags(
        ("--tiers", ";".join(",".join(tier) for tier in known.tiers)),
        *((flag, f"{a},{b}") for flag, group in pairs.items() for a, b in group),
        ("--roots", ",".join(known.roots)),
        ("--leaves", ",".join(known.leaves)),
        ("--contexts", ",".join(name for name in known.exogenous if "[t-" not in name)),
        *(("--likely", f"{a},{b}={odds!r}") for a, b, odds in known.likely),
    )
