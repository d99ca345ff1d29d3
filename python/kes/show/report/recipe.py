"""How to get a result again: its settings in words, as a Python call and as a command."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from kes.budget import Size
from kes.options import Sampled
from kes.results.summary import completed

if TYPE_CHECKING:
    from kes.data.read_options import ReadOptions
    from kes.files import PathLike
    from kes.graph.knowledge import Knowledge
    from kes.results.optima import Optima
    from kes.search.record import Improving
    from kes.settings import Settings


def settings_rows(optima: Optima) -> list[tuple[str, str]]:
    """Return all that decides the result: a label and a value each."""
    settings = optima.settings
    rows = [
        ("k", f"{settings.k:g}"),
        ("runs", str(len(optima.runs))),
        ("criterion", _criterion(optima)),
    ]
    if settings.ess is not None:
        rows.append(("equivalent sample size", f"{settings.ess:g}"))
    if settings.penalty != 1:
        rows.append(("penalty", f"multiplied by {settings.penalty:g}"))
    if settings.transform is not None:
        rows.append(("transform", settings.transform))
    most = settings.max_parents
    return [
        *rows,
        ("seed", str(settings.seed)),
        ("most parents", "no limit" if most is None else str(most)),
        ("phases", "additions, then removals" if settings.two_phase else "additions and removals"),
        ("neighbourhood", _neighbourhood(settings)),
        ("start", _start(settings)),
        ("knowledge", "none" if settings.knowledge is None else repr(settings.knowledge)),
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


def python_call(optima: Optima) -> str:
    """Return the call of `kes.learn` that gives this result."""
    settings = optima.settings
    reading, improving = optima.record.reading, optima.record.improving
    options: dict[str, object] = {"k": settings.k, "criterion": settings.criterion}
    options |= _amounts(optima)
    if settings.ess is not None:
        options["ess"] = settings.ess
    if settings.penalty != 1:
        options["penalty"] = settings.penalty
    if settings.transform is not None:
        options["transform"] = settings.transform
    options["random_state"] = settings.seed
    if settings.max_parents is not None:
        options["max_parents"] = settings.max_parents
    if settings.two_phase:
        options["two_phase"] = True
    if not _needs_reading(reading):
        options |= _reading_options(reading)
    text = "".join(f", {name}={value!r}" for name, value in options.items())
    text += _preparing(reading)
    if reading.weights is True:
        text += ", weights=weights"
    if isinstance(settings.neighbourhood, Sampled):
        text += f", neighbourhood=kes.{settings.neighbourhood!r}"
    if settings.start is not None:
        text += f", start={settings.start.to_dag()!r}"
    if settings.knowledge is not None:
        text += f", knowledge=kes.{settings.knowledge!r}"
    coded, source = _coded(reading), _table(reading)
    lines = ["import kes", *coded, f"optima = kes.learn({'data' if coded else source}{text})"]
    if improving.earlier:
        lines.append("# and models that improving had found before there were so many runs")
    return "\n".join([*lines, *(f"optima = optima.improve(tasks={n})" for n in improving.calls)])


def _coded(reading: ReadOptions) -> list[str]:
    """Return how to read the data where `kes.learn` has no option for it."""
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
    """Return what Python reads the table from: the file, if it came from one."""
    if reading.example is not None:
        return f"kes.datasets.alarm(rows={reading.example})"
    return repr(os.path.basename(reading.source)) if reading.source else "data"


def _needs_reading(reading: ReadOptions) -> bool:
    """Tell whether `kes.learn` alone cannot read the data in this way."""
    said = (reading.na_values, reading.columns, reading.sep, reading.decimal, reading.encoding)
    return any(said)


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
    """Return what `kes.learn` is told to do with the columns that were read."""
    text = f", completions={reading.completions}" if reading.missing == "em" else ""
    if reading.cuts and not _needs_reading(reading):
        text += f", discretize={_cuts(reading)}"
    return text


def _cuts(reading: ReadOptions) -> str:
    return f"kes.Discretizer.at({dict(reading.cuts)!r})"


def command_line(optima: Optima, file: PathLike | None = None) -> str | None:
    """Return the command that gives this result; None if only Python can say it.

    Parameters
    ----------
    file
        The file that holds the result, to be called so again.
    """
    settings, reading, improving = optima.settings, optima.record.reading, optima.record.improving
    called = improving.earlier + sum(improving.calls)
    known = _knowledge_words(settings.knowledge)
    only_python = settings.start is not None or reading.weights is True or reading.cuts
    if only_python or called or known is None:
        return None
    words = ["kes", "learn", *_table_words(reading), "--k", f"{settings.k!r}"]
    amounts = _amounts(optima)
    words += ["--runs", str(amounts["runs"])] if amounts else []
    words += ["--criterion", settings.criterion]
    if settings.ess is not None:
        words += ["--ess", f"{settings.ess!r}"]
    if settings.penalty != 1:
        words += ["--penalty", f"{settings.penalty!r}"]
    if settings.transform is not None:
        words += ["--transform", settings.transform]
    words += ["--seed", str(settings.seed)]
    if settings.max_parents is not None:
        words += ["--max-parents", str(settings.max_parents)]
    words += known
    if settings.two_phase:
        words.append("--two-phase")
    if isinstance(settings.neighbourhood, Sampled):
        words += ["--neighbourhood", "sampled"]
        words += ["--reversals", str(settings.neighbourhood.reversals)]
        if settings.neighbourhood.failures is not None:
            words += ["--failures", str(settings.neighbourhood.failures)]
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


def _table_words(reading: ReadOptions) -> list[str]:
    if reading.example is not None:
        return ["--example", "alarm", "--rows", str(reading.example)]
    return [os.path.basename(reading.source) if reading.source else "data.csv"]


def _knowledge_words(known: Knowledge | None) -> list[str] | None:
    """Return the flags that say what is known; None if names do not allow it."""
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
    """Return the options of `kes.learn` that say how much to do."""
    if _are_chosen(optima):
        return {}
    amounts: dict[str, object] = {"runs": len(optima.runs)}
    improving = optima.record.improving
    if not _is_default(improving):
        amounts["improve"] = improving.own or False
    return amounts | ({"prove": True} if optima.proven else {})


def _are_chosen(optima: Optima) -> bool:
    """Tell whether all amounts are those that `learn` chooses if none is given."""
    record = optima.record
    is_left = record.improving.asked.is_auto and record.improving.complete
    return is_left and len(record.runs) == Size.of(record.states, record.cases).runs


def _is_default(improving: Improving) -> bool:
    """Tell whether `learn` did by itself all that it does by default."""
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
