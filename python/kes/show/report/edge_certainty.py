"""Certainty of the edges of the best network, as the page shows it.

The *worth* of an edge, the loss of score by deleting it with all else fixed, is not a measure of
certainty: other edges may replace it. Evidence is (`kes.analysis.certainty`); a page shows both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kes.analysis.certainty import SURE, EdgeCertainty, certainties
from kes.analysis.deletion_loss import edge_worth
from kes.analysis.effect_table import Effects
from kes.analysis.evidence import evidence
from kes.analysis.evidence_work import Work, default_work
from kes.analysis.noise import Noise
from kes.analysis.stability import Stability
from kes.analysis.support import Ensemble, edge_table, ensembles
from kes.drawing.plot import SUPPORT_COLUMNS
from kes.results.summary import counted
from kes.search.driver import threads
from kes.table import Table

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.search.problem import Problem


@dataclass(frozen=True)
class Further:
    """Results of further analyses to show on the page."""

    stability: Stability | None = None
    evidence: Table | None = None
    effects: Sequence[Effects] = ()
    evidence_note: str = ""  # how it was computed, or why it was not
    noise: Noise | None = None


def chosen_evidence(
    optima: Optima, problem: Problem | None, asked: Table | bool | None
) -> tuple[Table | None, str]:
    """Return the evidence for a page, and a note on it; see the option of `Optima.report`."""
    if isinstance(asked, Table):
        return asked, evidence_words(asked)
    if asked is False:
        return None, ""
    if problem is None:
        return None, "Evidence needs the data, which were not available."
    work = Work() if asked else default_work(optima, problem)
    found = evidence(optima, problem, "edges", work=work, threads=threads(None))
    return found, evidence_words(found, work.tasks)


def evidence_words(table: Table, tasks: int | None = None) -> str:
    """Describe the computation of the evidence, with notes on better models found."""
    exact, estimates, excluded = map(table["how"].count, ("exact", "estimate", "excluded"))
    asked = len(table) - excluded
    bounds = asked - exact - estimates
    if exact == asked:
        how = "exact: the best networks with and without each edge are proven optimal"
    elif estimates == 0:
        how = "bounded by the optima only: a search takes more than a few seconds for this network"
    else:
        search = "" if tasks is None else f", a search with {counted(tasks, 'task')} for each"
        how = f"an estimate from the best networks found with and without each edge{search}"
        how += f"; exact for {exact} of {asked} pairs" if exact else ""
        how += f"; for {bounds} of {asked} pairs only bounded by the optima" if bounds else ""
    lines = (table.note or "").splitlines()
    also = [line for line in lines if line.startswith(("probability", "On the way", "It ended"))]
    return " ".join([f"Evidence is {how}.", *also])


def count_costly(worth: Mapping[frozenset[str], float]) -> int:
    """Return the number of edges whose removal alone costs at least `SURE` nats."""
    return sum(nats >= SURE for nats in worth.values())


class Certainty:
    """Support of the edges of all optima, and certainty of those of the best."""

    def __init__(self, optima: Optima, problem: Problem | None, further: Further) -> None:
        self.parts: list[Ensemble] = [*ensembles(optima, further.stability)]
        self.edges = edge_table(optima.names, self.parts, further.evidence)
        self.further = further
        self.has_evidence = further.evidence is not None
        self._best = optima.best
        self._problem = problem
        self._rows = {frozenset((row["x"], row["y"])): row for row in self.edges}

    @cached_property
    def worth(self) -> dict[frozenset[str], float] | None:
        """Worth of each edge of the best network; None without data."""
        return None if self._problem is None else edge_worth(self._best.graph, self._problem)

    @cached_property
    def certainties(self) -> dict[frozenset[str], EdgeCertainty]:
        """Certainty of each pair, as far as it was computed."""
        return {} if self.further.evidence is None else certainties(self.further.evidence)

    def of(self, pair: frozenset[str]) -> EdgeCertainty:
        """Return the certainty of a pair."""
        return self.certainties.get(pair, EdgeCertainty(None, None, "not searched"))

    def count(self, *verdicts: str) -> int:
        """Return the number of edges of the best network with one of some verdicts."""
        return sum(self.of(pair).verdict in verdicts for pair in self._best.graph.skeleton)

    def strongest(self, most: int) -> list[tuple[str, str, str]]:
        """Return the strongest edges as (name, mark, name); the mark is an arrow if clear."""
        graph = self._best.mpdag
        order = {name: i for i, name in enumerate(graph.nodes)}
        pairs = sorted(
            graph.skeleton,
            key=lambda pair: (-self._strength(pair), sorted(order[name] for name in pair)),
        )
        found = []
        for pair in pairs[:most]:
            a, b = sorted(pair, key=order.__getitem__)
            if (b, a) in graph.directed:
                a, b = b, a
            found.append((a, "→" if (a, b) in self.clear else "–", b))
        return found

    def _strength(self, pair: frozenset[str]) -> float:
        nats = self.of(pair).evidence
        if nats is None and self.worth is not None:
            nats = self.worth[pair]
        return self._rows[pair][SUPPORT_COLUMNS["search"]] if nats is None else nats

    @cached_property
    def clear(self) -> frozenset[tuple[str, str]]:
        """Arcs of the best network whose direction is clear, or implied by knowledge."""
        clear = {arc for arc in self._best.mpdag.directed if self._is_clear(*arc)}
        return self.by_knowledge | clear

    @cached_property
    def by_knowledge(self) -> frozenset[tuple[str, str]]:
        """Arcs of the best network whose direction knowledge gives."""
        return self._best.mpdag.known_directions

    def _is_clear(self, a: str, b: str) -> bool:
        pair = frozenset((a, b))
        return self.of(pair).clear_direction == (1 if self._rows[pair]["x"] == a else 2)

    @property
    def clear_directions(self) -> list[int]:
        """The clear direction of each row of `edges`: 1 for x -> y, 2 for y -> x, 0 for none."""
        return [self.of(frozenset((row["x"], row["y"]))).clear_direction for row in self.edges]
