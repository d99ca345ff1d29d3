"""What the page says in words: the data, what was found, and how much the runs have seen."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import date
from html import escape
from typing import TYPE_CHECKING

from kes.analysis.compare import ges_standing
from kes.analysis.coverage import Coverage
from kes.analysis.landscape import Landscape
from kes.errors import listed
from kes.results.summary import completed, counted
from kes.show.report.recipe import command_line, settings_rows

if TYPE_CHECKING:
    from kes.files import PathLike
    from kes.results.optima import Optima

_LONG = 90
"""Characters from which on a value is long."""

_MISSING = {
    "drop": "rows with missing values were left out",
    "state": "a missing value is a state of its own",
    "error": "none",
}


def title(optima: Optima) -> str:
    """Return the heading of a page that was given none."""
    network = f"Network of {counted(len(optima.names), 'variable')}"
    source = _source(optima)
    return f"{network} in {source}" if source else network


def _source(optima: Optima) -> str:
    """Return what the data are called; nothing if they came without a name."""
    reading = optima.record.reading
    if reading.example is not None:
        return "the example ALARM"
    return os.path.basename(reading.source) if reading.source else ""


# --- the data ------------------------------------------------------------------------------------


def facts(optima: Optima, made: date | None) -> str:
    """Return what the data are, and when the page was made: labels and values, as HTML."""
    return _list((label, value) for label, value in _facts(optima, made) if value)


def _facts(optima: Optima, made: date | None) -> Iterator[tuple[str, str]]:
    reading = optima.record.reading
    yield "Source", _source(optima)
    yield "Report made on", f"{made.day} {made:%B %Y}" if made else ""
    weighted = f", weighted by {reading.weights!r}" if isinstance(reading.weights, str) else ""
    yield "Cases", f"{optima.cases:,.12g}".replace(",", " ") + weighted
    yield "Variables", _kinds(optima)
    yield "Missing values", completed(optima) or _MISSING.get(reading.missing, reading.missing)
    yield "Cut into intervals", listed(list(reading.cuts)) if reading.cuts else ""
    omitted = [name for name, kind in reading.kinds.items() if kind == "omit"]
    yield "Left out on request", listed(omitted) if omitted else ""
    known = optima.settings.knowledge
    yield "Told to the search", known.counts if known else ""


def notes(optima: Optima) -> str:
    """Return what was decided about the data, folded away, as HTML."""
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
    """Return how the search went, as HTML paragraphs."""
    best, run, ges = optima.best, optima.best_run, ges_standing(optima)
    runs = counted(len(optima.runs), "run")
    ends = counted(len(optima.of_runs), "optimum", "optima")
    levels = counted(optima.levels, "score level")
    criterion = optima.settings.measure.title(optima.kind)
    how = f"found by {best.hits} of {runs}" if best.hits else best.origin
    lines = [
        f"The best network scores {_shown(best.score)} nats by {criterion}; {how}.",
        f"{runs} ended in {ends} on {levels}. The best of them scores {_shown(run.score)}; it was "
        f"found by {run.hits}, first by run {run.first_run}.",
    ]
    if optima.tasks:
        raised = f"raised the best score by {optima.gain:,.2f}"
        lines.append(
            f"{counted(optima.tasks, 'task')} to improve on them "
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
    """Return what the table of optima has to say about its numbers, as HTML."""
    parts = [
        "0 is the best: <code>optima[0]</code> in Python, <code>--optimum 0</code> in the shell."
    ]
    if len(found.optima) < len(optima):
        parts.append(f"Only the best of the {len(optima)} optima are on this page.")
    if any(not optimum.hits for optimum in found.optima):
        parts.append("No run ended in those without hits; the tag says where they come from.")
    return " ".join(parts)


def seen(coverage: Coverage, *, proven: bool) -> str:
    """Return how much of the landscape the runs have seen, as HTML paragraphs.

    Parameters
    ----------
    proven : bool
        Whether it is certain that no score is higher than the best.
    """
    mass, chao, gain = coverage.unseen_mass, coverage.chao1, coverage.expected_gain(coverage.runs)
    lines = [
        (
            f"All {counted(coverage.runs, 'run')} ended in one model. "
            if coverage.models == 1
            else f"{coverage.once} of the {coverage.models} models were found by one run only. "
        )
        + f"About {mass.value:.1%} of further runs would end in a model not seen yet "
        f"(95 % interval {mass.low:.1%} to {mass.high:.1%})."
    ]
    if gain is not None:
        lines.append(
            f"There are at least about {chao.value:.0f} models that runs can end in "
            f"({chao.low:.0f} to {chao.high:.0f}; Chao1, a lower bound)."
        )
    if proven:
        lines.append(
            "The best score is proven: more runs can only find more of the optima that score lower."
        )
        return _paragraphs(lines)
    if gain is not None:
        lines.append(
            "As many runs again would bring a better score with a chance of "
            f"{_chance(gain.probability)}; the average gain would be {gain.score:.3g}."
        )
    hit = (
        "The best score was hit only once, so a better one may well exist."
        if coverage.best_hits == 1
        else f"The best score was hit by {coverage.best_hits} runs, which does not prove that no "
        "rarer model is better."
    )
    lines.append(f"Little unseen mass does not mean that the best model was found. {hit}")
    return _paragraphs(lines)


def _chance(probability: float) -> str:
    return "less than 1%" if probability < 0.01 else f"up to about {probability:.0%}"


# --- doing it again ------------------------------------------------------------------------------


def settings(optima: Optima) -> str:
    """Return all that decides the result, as HTML."""
    return _list(settings_rows(optima))


def command(optima: Optima, file: PathLike | None) -> str:
    """Return the command that gives the result, as HTML."""
    line = command_line(optima, file)
    if line is None:
        return (
            "<p>The command line has no option for cuts at these very places, for a start graph, "
            "for weights that are no column, or for further calls of improve(): use Python.</p>"
        )
    return f'<pre tabindex="0"><code>{escape(line)}</code></pre>'


def _list(rows: Iterable[tuple[str, str]]) -> str:
    """Return labels and values; what would make a narrow column tall gets a line of its own."""
    wide = ' class="long"'
    return "".join(
        f"<div{wide if len(value) > _LONG or label == 'note' else ''}><dt>{escape(label)}</dt>"
        f"<dd>{escape(value)}</dd></div>"
        for label, value in rows
    )


def _paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)
