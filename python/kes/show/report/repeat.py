"""How to get a result again: its settings in words, as a Python call and as a command."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from kes._core import __version__
from kes.settings import Sampled

if TYPE_CHECKING:
    from kes.results.optima import Optima
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
        ("variables", str(len(optima.names))),
        ("cases", f"{optima.cases:.12g}"),
        ("fingerprint of the data", optima._record.fingerprint),
        ("version of kes", __version__),
        ("improving", _improving(optima)),
        *(("note", note) for note in optima.notes),
    ]


def python_call(optima: Optima) -> str:
    """Return the call of `kes.learn` that gives this result."""
    settings = optima.settings
    options: dict[str, object] = {
        "k": settings.k,
        "runs": len(optima.runs),
        "criterion": settings.criterion,
    }
    if settings.ess is not None:
        options["ess"] = settings.ess
    options["random_state"] = settings.seed
    if settings.max_parents is not None:
        options["max_parents"] = settings.max_parents
    if settings.two_phase:
        options["two_phase"] = True
    text = "".join(f", {name}={value!r}" for name, value in options.items())
    if isinstance(settings.neighbourhood, Sampled):
        text += f", neighbourhood=kes.{settings.neighbourhood!r}"
    if settings.start is not None:
        text += f", start={settings.start.to_dag()!r}"
    call = f"import kes\noptima = kes.learn(data{text})"
    improved = optima.improved
    if improved is None:
        return call
    return (
        f"{call}\nimproved = optima.improve(tasks={improved.tasks}, random_state={improved.seed})"
    )


def command_line(optima: Optima) -> str | None:
    """Return the command that gives this result; None if only Python can say it."""
    settings = optima.settings
    if settings.start is not None:
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
    improved = optima.improved
    if improved is None or improved.seed != settings.seed:  # both have one --seed
        words.append("--no-improve")
    else:
        words += ["--improve-tasks", str(improved.tasks)]
    return shlex.join([*words, "--out", "a.kes.json.gz"])


def _improving(optima: Optima) -> str:
    improved = optima.improved
    return "no" if improved is None else f"{improved.tasks} tasks, seed {improved.seed}"


def _neighbourhood(settings: Settings) -> str:
    where = settings.neighbourhood
    if not isinstance(where, Sampled):
        return "exact"
    failures = "by default" if where.failures is None else str(where.failures)
    return f"sampled, at most {where.reversals} reversals, failures {failures}"
