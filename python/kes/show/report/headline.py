"""The top of the page: a summary paragraph and cards."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from kes.analysis.certificate import Certificate
from kes.errors import KesError
from kes.results.summary import counted
from kes.show.report.edge_certainty import SURE, Certainty, count_costly

if TYPE_CHECKING:
    from kes.results.optima import Optima

_STRONGEST = 5
"""Number of connections that are named."""


@dataclass(frozen=True)
class Claim:
    """Whether the best network is proven optimal.

    Attributes
    ----------
    proven : bool
        Whether no network scores higher.
    value, note : str
        The same in words.
    """

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
            _refuse_other(optima, certificate)
            proven, bound = certificate.proven, certificate.upper_bound
            limit = certificate.max_parents
        if proven and (bound is None or level(bound) <= level(best.score)):
            scope = f" with at most {counted(limit, 'parent')} each" if limit is not None else ""
            known = " that satisfies the knowledge" if optima.settings.knowledge else ""
            return cls(True, "highest score", f"no network{scope}{known} scores higher")
        if bound is not None:
            distance = f"{bound - best.score:,.2f} nats"
            return cls(False, distance, "upper bound on the distance from the optimum")
        hits = best.hits
        return cls(
            False,
            "best found",
            f"found by {counted(hits, 'run')}, which does not prove that no rarer one is better"
            if hits
            else "a higher score may exist: see kes certify",
        )


def _refuse_other(optima: Optima, certificate: Certificate) -> None:
    """Raise an error for a certificate of another problem."""
    same = set(certificate.graph.nodes) == set(optima.names)
    if not same or certificate.criterion != optima.settings.criterion:
        raise KesError(
            "the certificate has other variables or another criterion; make it with kes.certify "
            "from the data and the criterion of this result",
            option="certificate",
        )


def headline(optima: Optima, certainty: Certainty, proof: Claim) -> str:
    """Return the summary paragraph as HTML."""
    edges = len(optima.best.graph.skeleton)
    proven = (
        "It is proven that no network scores higher."
        if proof.proven
        else "It is not proven that this network has the highest score."
    )
    if not edges:
        return f"<p>By this criterion, no variable carries information about another. {proven}</p>"
    named = certainty.strongest(_STRONGEST)
    names = ", ".join(f"{_name(a)} {mark} {_name(b)}" for a, mark, b in named)
    most = "The strongest connections are" if edges > len(named) else "The connections are"
    if edges == 1:
        most = "The only connection is"
    said = f"{_sureness(certainty, edges)} {_directions(certainty, edges)} {proven}"
    return f"<p>{most} {names}.</p><p>{escape(said)}</p>"


def _name(name: str) -> str:
    return f"<bdi><strong>{escape(name)}</strong></bdi>"


def _sureness(certainty: Certainty, edges: int) -> str:
    of = f"Of {counted(edges, 'connection')}"
    if certainty.has_evidence:
        sure, weak = certainty.count("sure", "required"), certainty.count("doubtful")
        doubtful = f"{weak} doubtful" if weak else "none is doubtful"
        verb = "is" if sure == 1 else "are"
        return f"{of}, {sure} {verb} sure, {edges - sure - weak} likely, and {doubtful}."
    if certainty.worth is None:
        return f"{of}: their certainty was not computed."
    many = count_costly(certainty.worth)
    return (
        f"{of}, {many} cost{'s' if many == 1 else ''} at least {SURE:g} nats if removed alone; "
        "whether other connections could replace them was not computed."
    )


def _directions(certainty: Certainty, edges: int) -> str:
    clear = len(certainty.clear)
    if clear == edges:
        return "All directions are clear."
    return f"The direction is clear for {clear or 'none'} and doubtful for {edges - clear}."


def cards(optima: Optima, certainty: Certainty, proof: Claim) -> str:
    """Return the key facts about the best network as HTML."""
    graph = optima.best.mpdag
    edges, clear = len(graph.skeleton), len(certainty.clear)
    alone = len(optima.names) - len({node for edge in graph.skeleton for node in edge})
    isolated = f"; {counted(alone, 'variable')} isolated" if alone else ""
    directed = len(graph.by_knowledge)
    known = f", {directed} of them by knowledge" if directed else ""
    sure = ("Not computed", "see evidence")
    if certainty.has_evidence:
        many, weak = certainty.count("sure", "required"), certainty.count("doubtful")
        sure = (f"{many} sure", f"{edges - many - weak} likely, {weak} doubtful")
    directions = (
        f"direction clear for {clear}{known}{isolated}" if edges else "nothing is connected"
    )
    parts = [
        ("Best network", counted(edges, "connection"), directions),
        ("Certainty", *sure),
        ("Proven" if proof.proven else "Not proven", proof.value, proof.note),
    ]
    return "".join(_card(*part) for part in parts)


def _card(label: str, value: str, note: str) -> str:
    return (
        f'<div class="card"><dt>{escape(label)}</dt>'
        f"<dd><strong>{escape(value)}</strong>{escape(note)}</dd></div>"
    )
