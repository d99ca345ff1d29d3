"""The certainty of an edge: one number with its status, and the words for it.

The number is the evidence for the edge in nats (`kes.analysis.evidence`), and its probability where
that is exact or settled; the status says how it was found. Everything that people read takes them,
and the words, from here: the output of ``kes learn`` and ``kes edges``, the report, pictures, and
the tables in Python.

The words follow from measured rates: how often edges with this evidence were right on samples of
known networks (docs/howto/evidence.md has the table, ``make bench-calibration`` measures it).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kes.analysis.deletion_loss import edge_worth
from kes.table import Table

if TYPE_CHECKING:
    from kes.graph import EssentialGraph
    from kes.graph.pdag import Pdag
    from kes.results.optima import Optima
    from kes.search.problem import Problem

Status = Literal["exact", "estimate", "upper bound", "lower bound", "not searched", "excluded"]
"""The status of evidence.

"exact": both models are the best of all; "estimate": the best that a search found; bounds: no
search, only the models that are known; "not searched": there is not even a bound; "excluded": no
model connects the pair (`Optima.excluded`).
"""

SURE = 10.0
"""Least evidence of a sure edge in nats: 99 of 100 of these were true."""

LIKELY = 3.0
"""Least evidence of a likely edge, odds of 20 to 1: nine of ten of these were true, also on samples
that chose no rule, and little more than one of two below."""

CLEAR = 10.0
"""Least evidence of a clear direction, against the opposite one, of a sure edge. It must also be
undisputed: the best networks by other criteria have it, too (`second_opinions`). 99 of 100 of these
were those of the generating network, whose class leaves 7 open."""

ERRORS = 3.0
"""Standard errors that a clear direction needs, too: the opposite may be found in another sample
otherwise (`kes.analysis.sampling_error`). With 2, 8 of 106 were opposite in the other half of a
table, as the best of many networks is compared; with 3, none of 65 on the same tables, and 1 of 24
on others (``make bench-halves``)."""

VERDICTS = {
    "sure": f"at least {SURE:g} nats",
    "likely": f"{LIKELY:g} to {SURE:g} nats",
    "doubtful": f"-{LIKELY:g} to {LIKELY:g} nats",
    "unlikely": f"below -{LIKELY:g} nats",
}
"""Verdicts on edges by their evidence; of the unlikely, one of ten was true. Another one is
"required": background knowledge leaves no network without the edge."""


@dataclass(frozen=True)
class EdgeCertainty:
    """The certainty of an edge between x and y, and of its direction.

    Attributes
    ----------
    evidence : float or None
        Nats by which the best model with the edge beats the best without it.
    direction : float or None
        Nats by which the best model with x -> y beats that with y -> x; None if knowledge excludes
        one of them, or nothing is known.
    status : Status
        How the evidence was found.
    instead : str
        Edges that replace this one in the best model without it.
    error : float or None
        Standard error of the direction; None if it was not computed.
    disputed : str
        Other criteria whose best network lacks the direction.
    probability : float or None
        Probability of the edge, if it is exact or settled.
    """

    evidence: float | None
    direction: float | None
    status: Status
    instead: str = ""
    error: float | None = None
    disputed: str = ""
    probability: float | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> EdgeCertainty:
        """Read a row of `Optima.evidence`."""
        return cls(
            row["evidence"],
            row["direction"],
            row["how"],
            row.get("instead", ""),
            row.get("direction_error"),
            row.get("disputed", ""),
            row.get("probability"),
        )

    @property
    def is_searched(self) -> bool:
        """Whether the number is more than a bound."""
        return self.status in ("exact", "estimate")

    @property
    def verdict(self) -> str | None:
        """The word for the edge; None if nothing is known that supports one."""
        return verdict(self.evidence, self.status)

    @property
    def clear_direction(self) -> int:
        """1 if x -> y is clear, 2 if y -> x is, 0 if neither.

        Only sure edges have a clear one, and only if no other criterion disputes it.
        """
        if self.direction is None or self.disputed or self.verdict not in ("sure", "required"):
            return 0
        if self.error is None or abs(self.direction) < max(CLEAR, ERRORS * self.error):
            return 0
        return 1 if self.direction > 0 else 2


def verdict(nats: float | None, status: str) -> str | None:
    """Return the word for an edge with this evidence, if the status supports one.

    An upper bound can only call an edge doubtful, and a lower bound says nothing.
    """
    if nats is None or (status == "lower bound" and nats < LIKELY):
        return None
    if nats == math.inf:
        return "required"
    if nats < LIKELY:
        return "doubtful" if nats > -LIKELY else "unlikely"
    if status == "upper bound":
        return None
    return "sure" if nats >= SURE else "likely"


def certainties(evidence: Table) -> dict[frozenset[str], EdgeCertainty]:
    """Return the certainty of each pair in a table of `Optima.evidence`."""
    return {frozenset((row["x"], row["y"])): EdgeCertainty.of(row) for row in evidence}


@dataclass(frozen=True)
class Replaceable:
    """An edge that looks weak only because others can take its place.

    Columns that carry nearly the same information are an example: a weight before, a weight after,
    and their difference.
    """

    loss: float  # nats, if the edge alone is deleted
    instead: str  # the edges that the best model without it has

    def explained(self, edge: str) -> str:
        """Return a sentence about the edge."""
        return (
            f"{edge} looks weak only because other edges can take its place ({self.instead}): "
            f"deleted alone, it costs {self.loss:.1f} nats."
        )


def replaceable(
    graph: EssentialGraph, problem: Problem, evidence: Table
) -> dict[frozenset[str], Replaceable]:
    """Return the edges of a model that are not sure, but cost as much as one if deleted alone."""
    losses = edge_worth(graph, problem)
    found = {}
    for row in evidence:
        pair = frozenset((row["x"], row["y"]))
        loss = losses.get(pair, 0.0)
        if row["instead"] and row["evidence"] < SURE <= loss:
            found[pair] = Replaceable(loss, row["instead"])
    return found


# --- as a table to read --------------------------------------------------------------------------


def edge_list(optima: Optima, evidence: Table) -> Table:
    """Return the certainty of each pair for people to read, in the order of the evidence.

    The status has a column only if it differs between the pairs.
    """
    graph = optima.best.mpdag
    given = dict.fromkeys(graph.known_directions, "by knowledge")
    given |= dict.fromkeys(graph.by_exogenous, "by exogenous")
    rows = [(drawn(graph, row["x"], row["y"]), row) for row in evidence]
    support = {frozenset((row["x"], row["y"])): row["search_support"] for row in optima.edges()}
    columns: dict[str, list[Any]] = {
        "edge": [f"{a} {mark} {b}" for (a, mark, b), _ in rows],
        **_shares(evidence),
        "evidence": [row["evidence"] for _, row in rows],
        "certainty": [row["certainty"] or "" for _, row in rows],
        "direction": [given.get((a, b)) or _direction(mark, a, row) for (a, mark, b), row in rows],
    }
    if len({*evidence["how"]}) > 1:
        columns["how"] = [*evidence["how"]]
    pairs = [frozenset((row["x"], row["y"])) for _, row in rows]
    columns["runs %"] = [round(100 * support.get(pair, 0.0)) for pair in pairs]
    if any(evidence["instead"]):
        columns["instead"] = [row["instead"] for _, row in rows]
    return Table(columns)


def _shares(evidence: Table) -> dict[str, list[Any]]:
    """Return the probabilities, under the name of what they are; none if there are none."""
    name = quantity(evidence)
    if name is None:
        return {}
    shares = evidence["probability"]
    return {name: [None if share is None else round(share, 3) for share in shares]}


def quantity(evidence: Table | None) -> str | None:
    """Return the name of the probabilities in a table of evidence; None if it has none.

    "probability", or "BIC weight" and so on.
    """
    if evidence is None or "probability" not in evidence.columns:
        return None
    found = re.search(r"^probability: (.*) of the edge", evidence.note, re.MULTILINE)
    return "probability" if found is None else found[1]


ABSENT = ".."
"""Mark between two variables that a network does not connect."""


def drawn(graph: Pdag, x: str, y: str) -> tuple[str, str, str]:
    """Return a pair as a graph connects it: tail, mark and head."""
    if (y, x) in graph.directed:
        return y, "->", x
    if (x, y) in graph.directed:
        return x, "->", y
    return x, "-" if frozenset((x, y)) in graph.undirected else ABSENT, y


def _direction(mark: str, tail: str, row: Mapping[str, Any]) -> str:
    """Return the word for the direction of an edge that the data decide, with its evidence."""
    if mark != "->":
        return "open" if mark == "-" else ""
    own = EdgeCertainty.of(row)
    way = 1 if row["x"] == tail else 2
    word = "clear" if own.clear_direction == way else "uncertain"
    if own.direction is None:
        return word
    error = "" if own.error is None else f" ± {own.error:.1f}"
    return f"{word} ({own.direction if way == 1 else -own.direction:.1f}{error})"
