"""Text of the page: the data, the search, its coverage, and how to reproduce it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import date
from html import escape
from typing import TYPE_CHECKING

from kes.analysis.compare import Landscape, ges_standing
from kes.analysis.coverage import Coverage
from kes.errors import listed
from kes.results.summary import completed, counted
from kes.show.report.recipe import command_line, settings_rows

if TYPE_CHECKING:
    from kes.files import PathLike
    from kes.results.optima import Optima

_LONG = 90
"""Characters above which a value gets a line of its own."""

_MISSING = {
    "drop": "rows with missing values are dropped",
    "state": "missing is a separate state",
    "error": "none",
}


def title(optima: Optima) -> str:
    """Return the default heading."""
    network = f"Network of {counted(len(optima.names), 'variable')}"
    source = _source(optima)
    return f"{network} in {source}" if source else network


def _source(optima: Optima) -> str:
    """Return the name of the data, or "" if they have none."""
    reading = optima.record.reading
    if reading.example is not None:
        return "the example ALARM"
    return os.path.basename(reading.source) if reading.source else ""


# --- the data ------------------------------------------------------------------------------------


def facts(optima: Optima, made: date | None) -> str:
    """Return a description of the data and the date of the report as HTML."""
    return _list((label, value) for label, value in _facts(optima, made) if value)


def _facts(optima: Optima, made: date | None) -> Iterator[tuple[str, str]]:
    reading = optima.record.reading
    yield "Source", _source(optima)
    yield "Report date", f"{made.day} {made:%B %Y}" if made else ""
    weighted = f", weighted by {reading.weights!r}" if isinstance(reading.weights, str) else ""
    yield "Cases", f"{optima.cases:,.12g}".replace(",", " ") + weighted
    yield "Variables", _kinds(optima)
    yield "Missing values", completed(optima) or _MISSING.get(reading.missing, reading.missing)
    yield "Discretized", listed(list(reading.cuts)) if reading.cuts else ""
    omitted = [name for name, kind in reading.kinds.items() if kind == "omit"]
    yield "Omitted on request", listed(omitted) if omitted else ""
    known = optima.settings.knowledge
    yield "Knowledge", known.counts if known else ""


def notes(optima: Optima) -> str:
    """Return the notes on the data, folded, as HTML."""
    if not optima.notes:
        return ""
    items = "".join(f"<li>{escape(note)}</li>" for note in optima.notes)
    many = counted(len(optima.notes), "note")
    return f"<details><summary>{many} on how the data were read</summary><ul>{items}</ul></details>"


def _kinds(optima: Optima) -> str:
    kinds = [*optima.kinds.values()]
    parts = [(kinds.count(kind), kind) for kind in ("discrete", "continuous")]
    return ", ".join(f"{count} {kind}" for count, kind in parts if count)


# --- the search ----------------------------------------------------------------------------------


def search(optima: Optima) -> str:
    """Return a description of the search as HTML paragraphs."""
    best, run, ges = optima.best, optima.best_run, ges_standing(optima)
    runs = counted(len(optima.runs), "run")
    ends = counted(len(optima.of_runs), "optimum", "optima")
    levels = counted(optima.levels, "score level")
    criterion = optima.settings.measure.title(optima.kind)
    how = f"found by {best.hits} of {runs}" if best.hits else best.origin
    lines = [
        f"The best network scores {_shown(best.score)} nats by {criterion}; {how}.",
        f"{runs} ended in {ends} on {levels}. The best run scores {_shown(run.score)}; {run.hits} "
        f"found it, the first was run {run.first_run}.",
    ]
    if optima.tasks:
        raised = f"raised the best score by {optima.gain:,.2f}"
        lines.append(
            f"{counted(optima.tasks, 'improvement task')} "
            f"{raised if optima.best is not run else 'found no higher score'}."
        )
    lines.append(
        f"Greedy equivalence search (GES) scores {_shown(ges.score)}: "
        + (
            f"{ges.gap:,.2f} below the best run; {ges.share_better:.1%} of the runs beat it."
            if ges.gap > 0
            else "no run beats it."
        )
    )
    return _paragraphs(lines)


def _shown(score: float) -> str:
    return f"{score:,.2f}".replace("-", "−").replace(",", " ")


def numbers(optima: Optima, found: Landscape) -> str:
    """Return a note on the numbers in the table of optima, as HTML."""
    parts = [
        "0 is the best: <code>optima[0]</code> in Python, <code>--optimum 0</code> in the shell."
    ]
    if len(found.optima) < len(optima):
        parts.append(f"Only the best of the {len(optima)} optima are on this page.")
    if any(not optimum.hits for optimum in found.optima):
        parts.append("No run ended in those without hits; the tag shows their origin.")
    return " ".join(parts)


def seen(coverage: Coverage, *, proven: bool) -> str:
    """Return the coverage of the landscape as HTML paragraphs.

    Parameters
    ----------
    proven : bool
        Whether the best score is proven optimal.
    """
    mass, chao, gain = coverage.unseen_mass, coverage.chao1, coverage.expected_gain(coverage.runs)
    lines = [
        (
            f"All {counted(coverage.runs, 'run')} ended in one model. "
            if coverage.models == 1
            else f"{coverage.once} of the {coverage.models} models were found by one run only. "
        )
        + f"About {mass.value:.1%} of further runs would end in a new model "
        f"(95 % interval {mass.low:.1%} to {mass.high:.1%})."
    ]
    if gain is not None:
        lines.append(
            f"Runs can end in at least about {chao.value:.0f} models "
            f"({chao.low:.0f} to {chao.high:.0f}; Chao1, a lower bound)."
        )
    if proven:
        lines.append(
            "The best score is proven optimal: more runs can only find optima that score lower."
        )
        return _paragraphs(lines)
    if gain is not None:
        lines.append(
            "Twice as many runs would find a better score with a probability of "
            f"{_probability(gain.probability)}; the mean gain would be {gain.score:.3g}."
        )
    hit = (
        "The best score was found only once, so a better one may well exist."
        if coverage.best_hits == 1
        else f"The best score was found by {coverage.best_hits} runs, which does not prove that no "
        "rarer model is better."
    )
    lines.append(f"Little unseen mass does not mean that the best model was found. {hit}")
    return _paragraphs(lines)


def _probability(probability: float) -> str:
    return "less than 1%" if probability < 0.01 else f"up to {probability:.0%}"


# --- reproduction --------------------------------------------------------------------------------


def settings(optima: Optima) -> str:
    """Return all settings that determine the result, as HTML."""
    return _list(settings_rows(optima))


def command(optima: Optima, file: PathLike | None) -> str:
    """Return the command that reproduces the result, as HTML."""
    line = command_line(optima, file)
    if line is None:
        return (
            "<p>The command line does not support these cut points, a start graph, weights that "
            "are not a column, or further calls of improve(): use Python.</p>"
        )
    return f'<pre tabindex="0"><code>{escape(line)}</code></pre>'


def _list(rows: Iterable[tuple[str, str]]) -> str:
    """Return labels and values; long values get a line of their own."""
    wide = ' class="long"'
    return "".join(
        f"<div{wide if len(value) > _LONG or label == 'note' else ''}><dt>{escape(label)}</dt>"
        f"<dd>{escape(value)}</dd></div>"
        for label, value in rows
    )


def _paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)
