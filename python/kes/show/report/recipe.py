"""Reproduce a result: its settings, as a list, as a Python call and as a command."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from kes.budget import Size
from kes.declare import declared
from kes.graph import EssentialGraph
from kes.graph.knowledge import Knowledge
from kes.options import LearnOptions, Sampled
from kes.results.summary import completed

if TYPE_CHECKING:
    from kes.data.schema import ReadOptions
    from kes.files import PathLike
    from kes.results.optima import Optima
    from kes.search.record import Improving
    from kes.settings import Settings


_ALWAYS = ("k", "criterion", "random_state")
"""Options that are shown even if they have their default."""


def settings_rows(optima: Optima) -> list[tuple[str, str]]:
    """Return everything that decides the result, as labels and values."""
    settings, limit = optima.settings, optima.settings.max_parents
    special = {
        "k": ("k", f"{settings.k:g}"),
        "criterion": ("criterion", _criterion(optima)),
        "ess": ("equivalent sample size", f"{settings.ess}"),
        "penalty": ("penalty", f"multiplied by {settings.penalty:g}"),
        "random_state": ("seed", str(settings.seed)),
    }
    always = {
        "max_parents": ("maximum number of parents", "no limit" if limit is None else str(limit)),
        "two_phase": (
            "phases",
            "additions, then removals" if settings.two_phase else "additions and removals",
        ),
        "neighbourhood": ("neighbourhood", _neighbourhood(settings)),
        "start": ("start", _start(settings)),
        "knowledge": ("knowledge", repr(settings.knowledge) if settings.knowledge else "none"),
    }
    given = {name: value for name, value in _changed(settings).items() if name not in always}
    rows = [
        special.get(name, (name.replace("_", " "), str(value))) for name, value in given.items()
    ]
    return [
        rows[0],
        ("runs", str(len(optima.runs))),
        *rows[1:],
        *always.values(),
        ("missing values", _missing(optima)),
        *(("cut into intervals", _cut(*cut)) for cut in optima.record.reading.cuts.items()),
        ("weights", _weights(optima.record.reading)),
        ("variables", _variables(optima)),
        ("cases", f"{optima.cases:.12g}"),
        ("fingerprint of the data", optima.record.fingerprint),
        ("version of kes", optima.record.version),
        ("improving", _improving(optima)),
        *(("note", note) for note in optima.notes),
    ]


def _changed(settings: Settings) -> dict[str, object]:
    """Return the options of `kes.learn` that give these settings, without unimportant defaults."""
    known = declared(LearnOptions)
    return {
        name: value
        for name, value in settings.options().items()
        if name in _ALWAYS or value != known[name].default
    }


def python_call(optima: Optima) -> str:
    """Return the call of `kes.learn` that gives this result."""
    reading, improving = optima.record.reading, optima.record.improving
    options = _changed(optima.settings) | _amounts(optima)
    if not _needs_reading(reading):
        options |= _reading_options(reading)
    text = "".join(f", {name}={_python(value)}" for name, value in options.items())
    text += _preparing(reading)
    if reading.weights is True:
        text += ", weights=weights"
    coded, source = _coded(reading), _table(reading)
    lines = ["import kes", *coded, f"optima = kes.learn({'data' if coded else source}{text})"]
    if improving.earlier:
        lines.append("# and models that were found by improving fewer runs")
    return "\n".join([*lines, *(f"optima = optima.improve(tasks={n})" for n in improving.calls)])


def _python(value: object) -> str:
    if isinstance(value, EssentialGraph):
        return repr(value.to_dag())
    return f"kes.{value!r}" if isinstance(value, Sampled | Knowledge) else repr(value)


def _coded(reading: ReadOptions) -> list[str]:
    """Return the lines that read the data, if `kes.learn` has no options for it."""
    if not _needs_reading(reading):
        return []
    options = _reading_options(reading)
    if reading.columns:
        options["columns"] = list(reading.columns)
    if reading.na_values:
        options["na_values"] = list(reading.na_values)
    writing = {"sep": reading.sep, "decimal": reading.decimal, "encoding": reading.encoding}
    options |= {name: value for name, value in writing.items() if value is not None}
    text = "".join(f", {name}={value!r}" for name, value in options.items())
    if reading.cuts:
        text += f", discretizer={_cuts(reading)}"
    reader = "encode_incomplete" if reading.missing == "em" else "encode"
    return [f"data = kes.data.{reader}({_table(reading)}{text})"]


def _table(reading: ReadOptions) -> str:
    """Return the table as a Python expression: the file, if it came from one."""
    if reading.example is not None:
        return f"kes.datasets.alarm(rows={reading.example})"
    return repr(os.path.basename(reading.source)) if reading.source else "data"


def _needs_reading(reading: ReadOptions) -> bool:
    """Return whether `kes.learn` has no options for reading the data in this way."""
    given = (reading.na_values, reading.columns, reading.sep, reading.decimal, reading.encoding)
    return any(given)


def _reading_options(reading: ReadOptions) -> dict[str, object]:
    """Return the options of `kes.learn` that say how the data are read."""
    options: dict[str, object] = {}
    if isinstance(reading.weights, str):
        options["weights"] = reading.weights
    if reading.missing != "error":
        options["missing"] = reading.missing
    if reading.kinds:
        options["kinds"] = dict(reading.kinds)
    return options


def _preparing(reading: ReadOptions) -> str:
    """Return the options of `kes.learn` that change columns after reading."""
    text = f", completions={reading.completions}" if reading.missing == "em" else ""
    if reading.cuts and not _needs_reading(reading):
        text += f", discretize={_cuts(reading)}"
    return text


def _cuts(reading: ReadOptions) -> str:
    return f"kes.Discretizer.at({dict(reading.cuts)!r})"


def command_line(optima: Optima, file: PathLike | None = None) -> str | None:
    """Return the command that gives this result; None if the shell has no options for it.

    Parameters
    ----------
    file
        The file that holds the result, whose name the command uses.
    """
    settings, reading, improving = optima.settings, optima.record.reading, optima.record.improving
    known = _knowledge_words(settings.knowledge)
    only_python = settings.start is not None or reading.weights is True or reading.cuts
    if only_python or improving.earlier or improving.calls or known is None:
        return None
    amounts = _amounts(optima)
    words = ["kes", "learn", *_table_words(reading)]
    for name, value in _changed(settings).items():
        words += known if name == "knowledge" else _words(name, value)
    words += ["--runs", str(amounts["runs"])] if amounts else []
    if reading.weights:
        words += ["--weights", str(reading.weights)]
    words += _reading_words(reading)
    missing = [*reading.na_values, *([reading.missing] if reading.missing != "error" else [])]
    words += ["--missing", ",".join(missing)] if missing else []
    if reading.missing == "em":
        words += ["--completions", str(reading.completions)]
    if "improve" in amounts:
        words += ["--improve-tasks", str(improving.own)] if improving.own else ["--no-improve"]
    words += ["--prove"] if "prove" in amounts else []
    return shlex.join([*words, "--out", os.path.basename(file or "a.kes.json.gz")])


def _words(name: str, value: object) -> list[str]:
    """Return the words of a command that set an option."""
    if isinstance(value, Sampled):
        sampled = {"reversals": value.reversals, "failures": value.failures}
        given = [(f"--{key}", str(own)) for key, own in sampled.items() if own is not None]
        return ["--neighbourhood", "sampled", *(word for pair in given for word in pair)]
    flag = declared(LearnOptions)[name].flag or "--" + name.replace("_", "-")
    return [flag] if value is True else [flag, str(value)]


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
    words = ["--tiers", ";".join(",".join(tier) for tier in known.tiers)] if known.tiers else []
    for flag, pairs in (
        ("--require", known.required),
        ("--forbid", known.forbidden),
        ("--apart", known.apart),
    ):
        words += [word for a, b in pairs for word in (flag, f"{a},{b}")]
    words += ["--roots", ",".join(known.roots)] if known.roots else []
    return [*words, "--leaves", ",".join(known.leaves)] if known.leaves else words


def _start(settings: Settings) -> str:
    if settings.start is not None:
        return repr(settings.start)
    required = settings.knowledge is not None and settings.knowledge.required
    return "the required arcs alone" if required else "the empty graph"


def _reading_words(reading: ReadOptions) -> list[str]:
    words = ["--columns", ",".join(reading.columns)] if reading.columns else []
    for flag, kind in (
        ("--discrete", "discrete"),
        ("--continuous", "continuous"),
        ("--drop", "omit"),
    ):
        named = [name for name, own in reading.kinds.items() if own == kind]
        words += [flag, ",".join(named)] if named else []
    for flag, value in (
        ("--sep", reading.sep),
        ("--decimal", reading.decimal),
        ("--encoding", reading.encoding),
    ):
        words += [flag, value] if value is not None else []
    return words


def _criterion(optima: Optima) -> str:
    measure = optima.settings.measure
    return (
        measure.name
        if optima.kind == "discrete"
        else f"{measure.name}: {measure.title(optima.kind)}"
    )


def _variables(optima: Optima) -> str:
    kinds = [*optima.kinds.values()]
    if optima.kind == "discrete":
        return str(len(kinds))
    return f"{kinds.count('discrete')} discrete, {kinds.count('continuous')} continuous"


def _amounts(optima: Optima) -> dict[str, object]:
    """Return the options of `kes.learn` that set the amount of work."""
    if _are_chosen(optima):
        return {}
    amounts: dict[str, object] = {"runs": len(optima.runs)}
    improving = optima.record.improving
    if not _is_default(improving):
        amounts["improve"] = improving.own or False
    return amounts | ({"prove": True} if optima.proven else {})


def _are_chosen(optima: Optima) -> bool:
    """Return whether all amounts are the defaults of `learn`."""
    record = optima.record
    is_left = record.improving.asked.is_auto and record.improving.complete
    return is_left and len(record.runs) == Size.of(record.states, record.cases).runs


def _is_default(improving: Improving) -> bool:
    """Return whether `learn` did the default amount of improving."""
    return improving.asked.option is True and improving.complete


def _improving(optima: Optima) -> str:
    improving = optima.record.improving
    if not improving.tasks:
        return "no"
    more = improving.earlier + sum(improving.calls)
    return f"{improving.own} tasks" + (f", {more} by calls of improve()" if more else "")


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


def _weights(reading: ReadOptions) -> str:
    if isinstance(reading.weights, str):
        return f"column {reading.weights!r}"
    return "given as numbers" if reading.weights else "none"


def _neighbourhood(settings: Settings) -> str:
    where = settings.neighbourhood
    if not isinstance(where, Sampled):
        return "exact"
    failures = "by default" if where.failures is None else str(where.failures)
    return f"sampled, at most {where.reversals} reversals, failures {failures}"
