"""Put the page together: Python writes the text, the scripts draw charts and answer questions."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from datetime import date
from html import escape
from string import Template
from typing import TYPE_CHECKING, Any

from kes._core import __version__
from kes.analysis.certainty import CLEAR, ERRORS, LIKELY, SURE
from kes.analysis.compare import Landscape
from kes.analysis.coverage import Coverage
from kes.analysis.effect_table import Effects
from kes.analysis.noise import quick_noise
from kes.files import write_file
from kes.results.picture_methods import REPORT_DEFAULTS, ReportOptions
from kes.search.driver import threads
from kes.show.report import prose
from kes.show.report.averaged_answers import averaged_answers, members_of, report_average
from kes.show.report.bundle import script, style, template
from kes.show.report.content import content
from kes.show.report.criteria import criteria_text
from kes.show.report.edge_certainty import Certainty, Further, chosen_evidence
from kes.show.report.families import FittedNetworks
from kes.show.report.model_check import TITLE, check_pointer, check_text, model_check
from kes.show.report.prediction import prediction_text
from kes.show.report.prose import Claim, cards, headline
from kes.show.report.recipe import python_call, settings_rows

if TYPE_CHECKING:
    from kes.analysis.certificate import Certificate
    from kes.files import PathLike
    from kes.results.optima import Optima
    from kes.search.problem import Problem


def write(optima: Optima, path: PathLike, options: ReportOptions) -> None:
    """Write the report; see `Optima.report`."""
    # Names may contain unpaired surrogates, which no encoding can write.
    write_file(path, report_text(optima, options).encode("utf-8", errors="replace"))


def report_text(optima: Optima, options: ReportOptions) -> str:
    """Return the report, made today, as text."""
    chosen: ReportOptions = {**REPORT_DEFAULTS, **options}
    data, effects = chosen["data"], chosen["effects"]
    has_data = data is not None or optima.problem is not None
    problem = optima.ready(data, chosen["weights"], chosen["missing"]) if has_data else None
    evidence, note = chosen_evidence(optima, problem, chosen["evidence"])
    shown = [effects] if isinstance(effects, Effects) else effects
    noise = None if problem is None else quick_noise(optima, problem, threads=threads(None))
    return page(
        optima,
        problem=problem,
        made=date.today(),
        further=Further(chosen["stability"], evidence, shown, note, noise),
        certificate=chosen["certificate"],
        title=chosen["title"],
        file=chosen["file"],
    )


def page(
    optima: Optima,
    *,
    problem: Problem | None = None,
    made: date | None = None,
    further: Further | None = None,
    certificate: Certificate | None = None,
    title: str | None = None,
    file: PathLike | None = None,
) -> str:
    """Return the report as text; equal results give equal pages."""
    further = further or Further()
    found, coverage = Landscape.of(optima), Coverage(optima)
    certainty, proof = Certainty(optima, problem, further), Claim.of(optima, certificate)
    fitted = None if problem is None else FittedNetworks(problem.dataset, optima.best.basis)
    answers, members = "", None
    if problem is not None and (average := report_average(optima, problem)) is not None:
        answers = averaged_answers(optima, problem, average)
        members = members_of(average, problem)
    shown = content(
        optima,
        found,
        coverage,
        problem,
        certainty,
        fitted=fitted,
        members=members,
        file=file,
    )
    check = None if fitted is None else model_check(optima, fitted)
    sheet, code = style(), script()
    return Template(template("page.html")).substitute(
        policy=_policy(sheet, code),
        title=escape(title or prose.title(optima)),
        headline=headline(optima, certainty, proof)
        + prose.exogenous(optima)
        + prose.unseen_relations(optima, problem)
        + prose.by_chance(further.noise)
        + check_pointer(check),
        cards=cards(optima, certainty, proof),
        facts=prose.facts(optima, made),
        notes=prose.notes(optima),
        prediction=prediction_text(optima) + answers,
        reproduction_title=TITLE,
        reproduction="" if problem is None else check_text(check),
        search=prose.search(optima),
        numbers=prose.numbers(optima, found),
        coverage=prose.seen(coverage, proven=proof.proven),
        settings=prose.rows_html(settings_rows(optima)),
        criteria=criteria_text(optima.choice),
        python=escape(python_call(optima)),
        command=prose.command(optima, file),
        likely=f"{LIKELY:g}",
        likely_odds=_odds(LIKELY),
        sure=f"{SURE:g}",
        sure_odds=_odds(SURE),
        clear=f"{CLEAR:g}",
        errors=f"{ERRORS:g}",
        version=escape(__version__),
        style=sheet,
        data=_json(shown),
        script=code,
    )


def _odds(nats: float) -> str:
    """Return the odds that some nats mean, with one significant digit: "20 to 1"."""
    return f"{float(f'{math.exp(nats):.0e}'):,.0f} to 1".replace(",", "\u202f")


def _policy(style: str, code: str) -> str:
    """Return the content security policy: the page cannot load or send anything.

    It may run its own script, and show pictures that it has made, to save them.
    """
    return (
        f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(style)}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    """Return the source expression of a policy for a script or style, as the template spaces it."""
    digest = hashlib.sha256(f"\n{text}\n".encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _json(value: dict[str, Any]) -> str:
    """Return data for a script element, in plain ASCII: no name in it can end the element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
