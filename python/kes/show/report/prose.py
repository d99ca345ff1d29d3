"""Text of the page: its top, the data, the search, its coverage, and how to reproduce it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import TYPE_CHECKING

from kes.analysis.certainty import SURE
from kes.analysis.certificate import Certificate
from kes.analysis.compare import Landscape, ges_standing
from kes.analysis.coverage import Coverage
from kes.analysis.noise import Noise
from kes.data.notes import BY_CHANCE, without_excluded
from kes.errors import KesError, listed
from kes.results.isolated import unseen
from kes.results.summary import completed, counted, is_higher
from kes.search.constraints import TRAPS
from kes.show.report.edge_certainty import Certainty, count_costly
from kes.show.report.numerals import grouped
from kes.show.report.prediction import prediction_card
from kes.show.report.recipe import command_line

if TYPE_CHECKING:
    from kes.files import PathLike
    from kes.results.optima import Optima
    from kes.search.problem import Problem

_LONG = 90
"""Characters above which a value gets its own line."""

_STRONGEST = 5
"""Number of connections named at the top."""

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


# --- the top of the page -------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """Whether the best network is proven optimal, also in words."""

    proven: bool
    value: str
    note: str

    @classmethod
    def of(cls, optima: Optima, certificate: Certificate | None) -> Claim:
        """Return the claim of a certificate, or else of the result's own proof."""
        best, level = optima.best, optima.record.level
        found, limit = optima.proof, optima.settings.max_parents
        proven, bound = optima.proven, None if found is None else found.upper_bound
        if certificate is not None:
            same = set(certificate.graph.nodes) == set(optima.names)
            scores = [(one.criterion, one.edge_prior) for one in (certificate, optima.settings)]
            if not same or scores[0] != scores[1]:
                raise KesError(
                    "the certificate has other variables, another criterion or another edge_prior; "
                    "make it with kes.certify from the data and the criterion of this result",
                    option="certificate",
                )
            proven, bound = certificate.proven, certificate.upper_bound
            limit = certificate.max_parents
        if proven and (bound is None or level(bound) <= level(best.score)):
            scope = f" with at most {counted(limit, 'parent')} each" if limit is not None else ""
            known = " that satisfies the knowledge" if optima.settings.is_constrained else ""
            known += without_excluded(optima.excluded)
            return cls(True, "highest score", f"no network{scope}{known} scores higher")
        if bound is not None:
            distance = f"{bound - best.score:,.2f} nats"
            return cls(False, distance, "upper bound on the distance from the optimum")
        note = "a higher score may exist: see kes certify"
        if best.hits:
            hits = counted(best.hits, "run")
            note = f"found by {hits}, which does not prove that no rarer one is better"
        return cls(False, "best found", note)


def headline(optima: Optima, certainty: Certainty, proof: Claim) -> str:
    """Return the summary paragraph as HTML."""
    edges = len(optima.best.graph.skeleton)
    proven = (
        f"It is proven that no network{without_excluded(optima.excluded)} scores higher."
        if proof.proven
        else "It is not proven that this network has the highest score."
    )
    if not edges:
        return f"<p>By this criterion, no variable carries information about another. {proven}</p>"
    named = certainty.strongest(_STRONGEST)
    names = ", ".join(f"{_name(a)} {mark} {_name(b)}" for a, mark, b in named)
    start = "The strongest connections are" if edges > len(named) else "The connections are"
    if edges == 1:
        start = "The only connection is"
    clear = len(certainty.clear)
    directions = f"The direction of {clear} is clear." if clear else "No direction is clear."
    if clear == edges:
        directions = "All directions are clear."
    certain = f"{_sureness(certainty, edges)} {directions} {proven}"
    serious = [BY_CHANCE] if proof.proven else [BY_CHANCE, TRAPS]
    warnings = "".join(
        f'<p class="warning">{escape(note[0].upper() + note[1:])}.</p>'
        for note in optima.notes
        if any(words in note for words in serious)
    )
    return f"{warnings}<p>{start} {names}.</p><p>{escape(certain)}</p>"


def unseen_relations(optima: Optima, problem: Problem | None) -> str:
    """Describe as HTML which isolated variables clearly depend on another."""
    found = unseen(optima, problem)
    return "".join(f'<p class="warning">{escape(str(one))}</p>' for one in found)


def exogenous(optima: Optima) -> str:
    """Return a paragraph on what exogenous variables touch and direct; "" if there are none."""
    graph = optima.best.mpdag
    if not graph.exogenous:
        return ""
    touched = [f"{x} → {y}" for x, y in sorted(graph.directed) if x in graph.exogenous]
    decided = [f"{a} → {b}" for a, b in sorted(graph.by_exogenous)]
    parts = [
        f"Not modelled, but possible causes (dashed boxes): {listed(graph.exogenous, show=str)}.",
        f"They touch: {listed(touched, show=str)}." if touched else "They touch no variable.",
    ]
    if decided:
        parts.append(f"They decide the direction of {listed(decided, show=str)}.")
    return f"<p>{escape(' '.join(parts))}</p>"


def by_chance(noise: Noise | None) -> str:
    """Describe the result on shuffled copies of the table as HTML."""
    left_out = (
        "Shuffled copies of the table were not searched here; see kes noise for how many "
        "connections chance alone gives."
    )
    return f"<p>{escape(left_out if noise is None else str(noise))}</p>"


def _name(name: str) -> str:
    return f"<bdi><strong>{escape(name)}</strong></bdi>"


@dataclass(frozen=True)
class Verdicts:
    """Number of connections of the best network with each verdict."""

    sure: int
    likely: int
    doubtful: int
    bounded: int  # only an upper bound on the evidence is known

    @classmethod
    def of(cls, certainty: Certainty, edges: int) -> Verdicts:
        """Count the verdicts."""
        sure, likely = certainty.count("sure", "required"), certainty.count("likely")
        doubtful = certainty.count("doubtful", "unlikely")
        return cls(sure, likely, doubtful, edges - sure - likely - doubtful)


def _sureness(certainty: Certainty, edges: int) -> str:
    of = f"Of {counted(edges, 'connection')}"
    if certainty.has_evidence:
        found = Verdicts.of(certainty, edges)
        verb = "is" if found.sure == 1 else "are"
        doubtful = f"{found.doubtful} doubtful" if found.doubtful else "none is doubtful"
        said = f"{of}, {found.sure} {verb} sure, {found.likely} likely, and {doubtful}."
        if not found.bounded:
            return said
        return f"{said} The certainty of {found.bounded} was not computed."
    if certainty.worth is None:
        return f"{of}: their certainty was not computed."
    many = count_costly(certainty.worth)
    return (
        f"{of}, {many} cost{'s' if many == 1 else ''} at least {SURE:g} nats if removed alone; "
        "whether other connections could replace them was not computed."
    )


def cards(optima: Optima, certainty: Certainty, proof: Claim) -> str:
    """Return the key facts about the best network as HTML."""
    graph = optima.best.mpdag
    edges, clear = len(graph.skeleton), len(certainty.clear)
    alone = len(optima.names) - len({node for edge in graph.skeleton for node in edge})
    isolated = f"; {counted(alone, 'variable')} isolated" if alone else ""
    directed = len(certainty.by_knowledge)
    known = f", {directed} of them by knowledge" if directed else ""
    sure = ("Not computed", "see evidence")
    if certainty.has_evidence:
        found = Verdicts.of(certainty, edges)
        more = f", {found.bounded} not computed" if found.bounded else ""
        sure = (f"{found.sure} sure", f"{found.likely} likely, {found.doubtful} doubtful{more}")
    directions = (
        f"direction clear for {clear}{known}{isolated}" if edges else "nothing is connected"
    )
    parts = [
        *prediction_card(optima),
        ("Best network", counted(edges, "connection"), directions),
        ("Certainty", *sure),
        ("Proven" if proof.proven else "Not proven", proof.value, proof.note),
    ]
    return "".join(
        f'<div class="card"><dt>{escape(label)}</dt>'
        f"<dd><strong>{escape(value)}</strong>{escape(note)}</dd></div>"
        for label, value, note in parts
    )


# --- the data ------------------------------------------------------------------------------------


def facts(optima: Optima, made: date | None) -> str:
    """Return a description of the data and the date of the report as HTML."""
    reading, knowledge, kinds = optima.record.reading, optima.settings.knowledge, optima.kinds
    weighted = f", weighted by {reading.weights!r}" if isinstance(reading.weights, str) else ""
    counts = [([*kinds.values()].count(kind), kind) for kind in ("discrete", "continuous")]
    omitted = [name for name, kind in reading.kinds.items() if kind == "omit"]
    rows = {
        "Source": _source(optima),
        "Report date": f"{made.day} {made:%B %Y}" if made else "",
        "Cases": grouped(f"{optima.cases:,.12g}") + weighted,
        "Variables": ", ".join(f"{count} {kind}" for count, kind in counts if count),
        "Missing values": completed(optima) or _MISSING.get(reading.missing, reading.missing),
        "Discretized": listed(list(reading.cuts)) if reading.cuts else "",
        "Omitted on request": listed(omitted) if omitted else "",
        "Knowledge": knowledge.counts if knowledge else "",
    }
    return rows_html((label, value) for label, value in rows.items() if value)


def notes(optima: Optima) -> str:
    """Return the notes on data and search, folded, as HTML."""
    folded = [note for note in optima.notes if BY_CHANCE not in note]
    if not folded:
        return ""
    items = "".join(f"<li>{escape(note)}</li>" for note in folded)
    many = counted(len(folded), "note")
    return f"<details><summary>{many} on data and search</summary><ul>{items}</ul></details>"


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
        is_better = is_higher(optima, best.score, run.score)
        outcome = raised if is_better else "found no higher score"
        lines.append(f"{counted(optima.tasks, 'improvement task')} {outcome}.")
    standing = "no run beats it."
    if ges.better:
        standing = f"{ges.gap:,.2f} below the best run; {ges.share_better:.1%} of the runs beat it."
    lines.append(f"Greedy equivalence search (GES) scores {_shown(ges.score)}: {standing}")
    return _paragraphs(lines)


def _shown(score: float) -> str:
    return grouped(f"{score:,.2f}").replace("-", "−")


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
    """Return the coverage of the landscape as HTML paragraphs."""
    mass, chao, gain = coverage.unseen_mass, coverage.chao1, coverage.expected_gain(coverage.runs)
    once = f"{coverage.once} of the {coverage.models} models were found by one run only."
    if coverage.models == 1:
        once = f"All {counted(coverage.runs, 'run')} ended in one model."
    lines = [
        f"{once} About {mass.value:.1%} of further runs would end in a new model "
        f"(95 % interval {mass.low:.1%} to {mass.high:.1%})."
    ]
    if gain is not None:
        lines.append(
            f"Runs can end in at least about {counted(round(chao.value), 'model')} "
            f"({chao.low:.0f} to {chao.high:.0f}; Chao1, a lower bound)."
        )
    if proven:
        lines.append(
            "The best score is proven optimal: more runs can only find optima that score lower."
        )
        return _paragraphs(lines)
    if gain is not None:
        chance = "less than 1%" if gain.probability < 0.01 else f"up to {gain.probability:.0%}"
        lines.append(
            f"Twice as many runs would find a better score with a probability of {chance}; "
            f"the mean gain would be {gain.score:.3g}."
        )
    hit = (
        "The best score was found only once, so a better one may well exist."
        if coverage.best_hits == 1
        else f"The best score was found by {coverage.best_hits} runs, which does not prove that no "
        "rarer model is better."
    )
    lines.append(f"Little unseen mass does not mean that the best model was found. {hit}")
    return _paragraphs(lines)


# --- reproduction --------------------------------------------------------------------------------


def command(optima: Optima, file: PathLike | None) -> str:
    """Return the command that reproduces the result, as HTML."""
    line = command_line(optima, file)
    if line is None:
        return (
            "<p>The command line does not support these cut points, a start graph, weights that "
            "are not a column, or further calls of improve(): use Python.</p>"
        )
    return f'<pre tabindex="0"><code>{escape(line)}</code></pre>'


def rows_html(rows: Iterable[tuple[str, str]]) -> str:
    """Return labels and values as HTML; long values get their own line."""
    wide = ' class="long"'
    return "".join(
        f"<div{wide if len(value) > _LONG or label == 'note' else ''}><dt>{escape(label)}</dt>"
        f"<dd>{escape(value)}</dd></div>"
        for label, value in rows
    )


def _paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)
