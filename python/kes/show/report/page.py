"""Putting the page together: text by Python, charts and networks by the scripts inside."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from kes._core import __version__
from kes.analysis.compare import ges_standing
from kes.analysis.coverage import Coverage
from kes.analysis.landscape import Landscape
from kes.errors import missing_extra
from kes.files import write_file
from kes.results import summary
from kes.results.summary import counted
from kes.show.report.content import content
from kes.show.report.figures import figures
from kes.show.report.repeat import command_line, python_call, settings_rows

if TYPE_CHECKING:
    from kes.analysis.stability import Stability
    from kes.data.dataset import Dataset
    from kes.files import PathLike
    from kes.results.optima import Optima
    from kes.table import Table

_SCRIPTS = ("model", "drawing", "viewport", "details", "table", "charts", "app")


def write(
    optima: Optima,
    path: PathLike,
    *,
    dataset: Dataset | None = None,
    stability: Stability | None = None,
    evidence: Table | None = None,
    title: str | None = None,
) -> None:
    """Write the report; see `Optima.report`."""
    text = page(optima, dataset=dataset, stability=stability, evidence=evidence, title=title)
    write_file(path, text.encode())


def page(
    optima: Optima,
    *,
    dataset: Dataset | None = None,
    stability: Stability | None = None,
    evidence: Table | None = None,
    title: str | None = None,
) -> str:
    """Return the report as text; equal results give equal pages."""
    found, coverage = Landscape.of(optima), Coverage(optima)
    charting = _plotly()
    shown = content(optima, found, dataset=dataset, stability=stability, evidence=evidence)
    shown["figures"] = figures(optima, found, coverage)
    heading = title or summary.title(optima)
    return Template(_template("page.html")).substitute(
        title=escape(heading),
        subtitle=escape(_subtitle(optima)),
        cards="".join(_cards(optima, coverage)),
        numbers=_numbers(optima, found),
        coverage=_coverage(coverage),
        settings=_settings(optima),
        python=escape(python_call(optima)),
        command=_command(optima),
        names="".join(f'<option value="{escape(name)}">' for name in optima.names),
        version=escape(__version__),
        style=_template("style.css"),
        plotly=charting,
        data=_json(shown),
        script="\n".join(_template(f"{name}.js") for name in _SCRIPTS),
    )


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise missing_extra("plotly", "report") from None
    source: str = get_plotlyjs()
    return source


def _template(name: str) -> str:
    return files("kes.show.report").joinpath("template", name).read_text(encoding="utf-8")


def _json(value: dict[str, Any]) -> str:
    """Return data for a script element: no name in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


# --- text ----------------------------------------------------------------------------------------


def _runs(optima: Optima) -> str:
    return counted(len(optima.runs), "run")


def _subtitle(optima: Optima) -> str:
    settings = optima.settings
    parts = [
        counted(len(optima.names), "variable"),
        f"{optima.cases:,.12g} cases",
        settings.criterion.upper(),
        f"k = {settings.k:g}",
        f"seed {settings.seed}",
    ]
    return " · ".join(parts)


def _cards(optima: Optima, coverage: Coverage) -> Iterable[str]:
    best, run = optima.best, optima.best_run
    ges, mass = ges_standing(optima), coverage.unseen_mass
    hits = f"found by {run.hits} of {_runs(optima)}, first by run {run.first_run}"
    yield _card("Best score", _shown(best.score), hits if best is run else best.origin)
    if best is not run:
        yield _card("Best run", _shown(run.score), hits)
    yield _card(
        "GES",
        _shown(ges.score),
        f"{ges.gap:,.2f} below the best run; {ges.share_better:.1%} of the runs beat it"
        if ges.gap > 0
        else "no run beats it",
    )
    ends = counted(len(optima.of_runs), "optimum", "optima")
    levels = counted(optima.levels, "score level")
    tasks = f", then {counted(optima.tasks, 'task')} to improve on them" if optima.tasks else ""
    yield _card("Runs", f"{len(optima.runs):,}", f"ended in {ends} on {levels}{tasks}")
    yield _card(
        "Not seen yet",
        f"{mass.value:.1%}",
        f"of further runs would end in a new model ({mass.low:.1%} to {mass.high:.1%})",
    )


def _shown(score: float) -> str:
    return f"{score:,.2f}".replace("-", "−")


def _card(label: str, value: str, note: str) -> str:
    return (
        f'<div class="card"><dt>{escape(label)}</dt>'
        f"<dd><strong>{escape(value)}</strong>{escape(note)}</dd></div>"
    )


def _numbers(optima: Optima, found: Landscape) -> str:
    """Return what the table of optima has to say about its numbers, as HTML."""
    parts = ["Numbers are those of Python: <code>optima[0]</code> is the best."]
    if len(found.optima) < len(optima):
        parts.append(f"Only the best of the {len(optima)} optima are on this page.")
    if any(not optimum.hits for optimum in found.optima):
        parts.append("No run ended in those without hits; the tag says where they come from.")
    return " ".join(parts)


def _coverage(coverage: Coverage) -> str:
    mass, chao, gain = coverage.unseen_mass, coverage.chao1, coverage.expected_gain(coverage.runs)
    lines = [
        f"{coverage.once} of the {counted(coverage.models, 'model')} were found by one run only. "
        f"About {mass.value:.1%} of further runs would end in a model not seen yet "
        f"(95 % interval {mass.low:.1%} to {mass.high:.1%})."
    ]
    if gain is not None:
        lines += [
            f"There are at least about {chao.value:.0f} models that runs can end in "
            f"({chao.low:.0f} to {chao.high:.0f}; Chao1, a lower bound).",
            "As many runs again would bring a better score with a chance of "
            f"{_chance(gain.probability)}; the average gain would be {gain.score:.3g}.",
        ]
    hit = (
        "The best score was hit only once, so a better one may well exist."
        if coverage.best_hits == 1
        else f"The best score was hit by {coverage.best_hits} runs, which does not prove that no "
        "rarer model is better."
    )
    lines.append(f"Little unseen mass does not mean that the best model was found. {hit}")
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _chance(probability: float) -> str:
    return "less than 1%" if probability < 0.01 else f"up to about {probability:.0%}"


def _settings(optima: Optima) -> str:
    return "".join(
        f"<div><dt>{escape(label)}</dt><dd>{escape(value)}</dd></div>"
        for label, value in settings_rows(optima)
    )


def _command(optima: Optima) -> str:
    command = command_line(optima)
    if command is None:
        return (
            "<p>The command line has no option for a start graph, for weights that are no column, "
            "or for further calls of improve(): use Python.</p>"
        )
    return f'<pre tabindex="0"><code>{escape(command)}</code></pre>'
