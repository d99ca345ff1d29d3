"""Putting the page together: text by Python, charts, networks and answers by the scripts inside."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from datetime import date
from html import escape
from string import Template
from typing import TYPE_CHECKING, Any

from kes._core import __version__
from kes.analysis.coverage import Coverage
from kes.analysis.effects import Effects
from kes.analysis.landscape import Landscape
from kes.files import write_file
from kes.results.methods import REPORT_DEFAULTS, ReportOptions
from kes.show.report import prose
from kes.show.report.bundle import script, template
from kes.show.report.content import content
from kes.show.report.edge_certainty import Certainty, Further, chosen_evidence
from kes.show.report.headline import Claim, cards, headline
from kes.show.report.model_check import TITLE, gaps, gaps_pointer, gaps_words
from kes.show.report.recipe import python_call

if TYPE_CHECKING:
    from kes.analysis.certificate import Certificate
    from kes.files import PathLike
    from kes.results.optima import Optima
    from kes.search.problem import Problem


def write(optima: Optima, path: PathLike, options: ReportOptions) -> None:
    """Write the report; see `Optima.report`."""
    # Names may hold halves of characters, which no file can.
    write_file(path, report_text(optima, options).encode("utf-8", errors="replace"))


def report_text(optima: Optima, options: ReportOptions) -> str:
    """Return the report, made today, as text."""
    told: ReportOptions = {**REPORT_DEFAULTS, **options}
    data, effects = told["data"], told["effects"]
    is_at_hand = data is not None or optima.problem is not None
    problem = optima.ready(data, told["weights"], told["missing"]) if is_at_hand else None
    evidence, note = chosen_evidence(optima, problem, told["evidence"])
    return page(
        optima,
        problem=problem,
        made=date.today(),
        further=Further(
            told["stability"],
            evidence,
            [effects] if isinstance(effects, Effects) else effects,
            note,
        ),
        certificate=told["certificate"],
        title=told["title"],
        file=told["file"],
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
    shown = content(optima, found, coverage, problem, certainty)
    shown["file"] = None if file is None else os.path.basename(file)
    apart = None if problem is None else gaps(optima, problem)
    style, code = template("style.css"), script()
    return Template(template("page.html")).substitute(
        policy=_policy(style, code),
        title=escape(title or prose.title(optima)),
        headline=headline(optima, certainty, proof) + gaps_pointer(apart),
        cards=cards(optima, certainty, proof),
        facts=prose.facts(optima, made),
        notes=prose.notes(optima),
        reproduction_title=TITLE,
        reproduction="" if problem is None else gaps_words(apart),
        search=prose.search(optima),
        numbers=prose.numbers(optima, found),
        coverage=prose.seen(coverage, proven=proof.proven),
        settings=prose.settings(optima),
        python=escape(python_call(optima)),
        command=prose.command(optima, file),
        version=escape(__version__),
        style=style,
        data=_json(shown),
        script=code,
    )


def _policy(style: str, code: str) -> str:
    """Say what the page may do: run its own script, and nothing else; browsers enforce it.

    Nothing is loaded from anywhere and nothing can be sent. Pictures are allowed that the page
    itself has made, to save them.
    """
    return (
        f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(style)}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    """Return what a policy calls a script or style that is this text between two newlines."""
    digest = hashlib.sha256(f"\n{text}\n".encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _json(value: dict[str, Any]) -> str:
    """Return data for a script element, in plain ASCII: no name in it can end the element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
