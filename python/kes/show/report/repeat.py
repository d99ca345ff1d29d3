"""How to get a result again: its settings in words, as a Python call and as a command."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from kes.settings import Sampled

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.search.record import Improving, Reading
    from kes.settings import Settings


def settings_rows(optima: Optima) -> list[tuple[str, str]]:
    """Return all that decides the result: a label and a value each."""
    settings = optima.settings
    rows = [
        ("k", f"{settings.k:g}"),
        ("runs", str(len(optima.runs))),
        ("criterion", settings.criterion),
    ]
    if settings.ess is not None:
        rows.append(("equivalent sample size", f"{settings.ess:g}"))
    most = settings.max_parents
    return [
        *rows,
        ("seed", str(settings.seed)),
        ("most parents", "no limit" if most is None else str(most)),
        ("phases", "additions, then removals" if settings.two_phase else "additions and removals"),
        ("neighbourhood", _neighbourhood(settings)),
        ("start", "the empty graph" if settings.start is None else repr(settings.start)),
        ("missing values", _missing(optima.record.reading)),
        ("weights", _weights(optima.record.reading)),
        ("variables", str(len(optima.names))),
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
    options: dict[str, object] = {
        "k": settings.k,
        "runs": len(optima.runs),
        "criterion": settings.criterion,
    }
    if not _is_default(improving):
        options["improve"] = improving.own or False
    if settings.ess is not None:
        options["ess"] = settings.ess
    options["random_state"] = settings.seed
    if settings.max_parents is not None:
        options["max_parents"] = settings.max_parents
    if settings.two_phase:
        options["two_phase"] = True
    if isinstance(reading.weights, str) and not reading.na_values:
        options["weights"] = reading.weights
    if reading.missing != "error" and not reading.na_values:
        options["missing"] = reading.missing
    text = "".join(f", {name}={value!r}" for name, value in options.items())
    if reading.weights is True:
        text += ", weights=weights"
    if isinstance(settings.neighbourhood, Sampled):
        text += f", neighbourhood=kes.{settings.neighbourhood!r}"
    if settings.start is not None:
        text += f", start={settings.start.to_dag()!r}"
    lines = ["import kes", *_coded(reading), f"optima = kes.learn(data{text})"]
    if improving.earlier:
        lines.append("# and models that improve() had found before there were so many runs")
    return "\n".join([*lines, *(f"optima = optima.improve(tasks={n})" for n in improving.calls)])


def _coded(reading: Reading) -> list[str]:
    """Return how to read the data where `kes.learn` has no option for it."""
    if not reading.na_values:
        return []
    options = f"na_values={list(reading.na_values)!r}, missing={reading.missing!r}"
    weights = f", weights={reading.weights!r}" if isinstance(reading.weights, str) else ""
    return [f"data = kes.data.encode(data, {options}{weights})"]


def command_line(optima: Optima) -> str | None:
    """Return the command that gives this result; None if only Python can say it."""
    settings, reading, improving = optima.settings, optima.record.reading, optima.record.improving
    called = improving.earlier + sum(improving.calls)
    if settings.start is not None or reading.weights is True or called:
        return None
    words = ["kes", "learn", "data.csv", "--k", f"{settings.k!r}"]
    words += ["--runs", str(len(optima.runs)), "--criterion", settings.criterion]
    if settings.ess is not None:
        words += ["--ess", f"{settings.ess!r}"]
    words += ["--seed", str(settings.seed)]
    if settings.max_parents is not None:
        words += ["--max-parents", str(settings.max_parents)]
    if settings.two_phase:
        words.append("--two-phase")
    if isinstance(settings.neighbourhood, Sampled):
        words += ["--neighbourhood", "sampled"]
        words += ["--reversals", str(settings.neighbourhood.reversals)]
        if settings.neighbourhood.failures is not None:
            words += ["--failures", str(settings.neighbourhood.failures)]
    if reading.weights:
        words += ["--weights", str(reading.weights)]
    for how in (reading.missing, ",".join(reading.na_values)):
        words += ["--missing", how] if how not in ("error", "") else []
    if not _is_default(improving):
        words += ["--improve-tasks", str(improving.own)] if improving.own else ["--no-improve"]
    return shlex.join([*words, "--out", "a.kes.json.gz"])


def _is_default(improving: Improving) -> bool:
    """Tell whether `learn` did by itself all that it does by default."""
    return improving.asked is True and improving.complete


def _improving(optima: Optima) -> str:
    improving = optima.record.improving
    if not improving.tasks:
        return "no"
    more = improving.earlier + sum(improving.calls)
    return f"{improving.own} tasks" + (f", {more} by calls of improve()" if more else "")


def _missing(reading: Reading) -> str:
    how = {"error": "none", "drop": "rows dropped", "state": "a state"}.get(reading.missing, "")
    also = f"; also {', '.join(map(repr, reading.na_values))}" if reading.na_values else ""
    return (how or reading.missing) + also


def _weights(reading: Reading) -> str:
    if isinstance(reading.weights, str):
        return f"column {reading.weights!r}"
    return "given as numbers" if reading.weights else "none"


def _neighbourhood(settings: Settings) -> str:
    where = settings.neighbourhood
    if not isinstance(where, Sampled):
        return "exact"
    failures = "by default" if where.failures is None else str(where.failures)
    return f"sampled, at most {where.reversals} reversals, failures {failures}"
