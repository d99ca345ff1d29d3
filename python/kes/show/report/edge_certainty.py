"""Certainty of the edges of the best network.

The *worth* of an edge, the loss of score by deleting it with all else fixed, is not a measure of
certainty: other edges may replace it. Evidence is (`kes.analysis.evidence`), so a page computes it
unless that would take too long. The amount of work depends on the size of the problem, not on the
clock: equal results have equal pages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kes.analysis.effects import Effects
from kes.analysis.evidence import TASKS, WEAK, evidence
from kes.analysis.evidence_bounds import edge_worth
from kes.analysis.stability import Stability
from kes.analysis.support import Ensemble, edge_table, ensembles
from kes.drawing.plot import SUPPORT_COLUMNS
from kes.results.summary import counted
from kes.search.driver import threads
from kes.table import Table

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.search.problem import Problem

SURE = 10.0
"""Least evidence of a sure edge in nats: odds of more than 20 000 to 1."""

VERDICTS = {"sure": SURE, "likely": WEAK, "doubtful": -math.inf}
"""Verdicts on edges, and the least evidence for each in nats; the first that is reached counts.
Another one is "required": background knowledge leaves no network without the edge."""

CLEAR = 0.9
"""Least relative weight of a clear direction without evidence."""

_WORK = 4_000_000
"""Steps (edges x pairs of variables x tasks) that take a few seconds."""

_MOST_WORK = 12_000_000
"""Steps without tasks above which evidence is not computed by default."""

_PER_CUBE = 1e-5
"""Relative cost of the cubed number of states in a table with continuous columns: states become
columns of a matrix that is factorised."""

_ROWS = 10_000
"""Rows up to which the cost of a step hardly depends on their number."""


@dataclass(frozen=True)
class Further:
    """Results of further analyses to show on the page."""

    stability: Stability | None = None
    evidence: Table | None = None
    effects: Sequence[Effects] = ()
    evidence_note: str = ""  # how it was computed, or why it was not


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
    tasks = TASKS if asked else _tasks(optima, problem)
    if tasks is None:
        return None, "Evidence was not computed: it takes more than a few seconds for this network."
    models = None if asked else 1
    found = evidence(optima, problem, "edges", tasks=tasks, threads=threads(None), models=models)
    return found, evidence_words(found, tasks)


def _tasks(optima: Optima, problem: Problem) -> int | None:
    """Return the number of tasks of each search; None if even none takes too long."""
    edges, size = len(optima.best.graph.skeleton), problem.size
    steps = float(max(edges, 1) * size.variables * max(size.variables, size.columns))
    steps *= max(1.0, optima.cases / _ROWS)
    if size.columns:
        steps *= 1 + max(map(len, problem.dataset.states)) ** 3 * _PER_CUBE
    return None if steps > _MOST_WORK else min(TASKS, int(_WORK / steps))


def evidence_words(table: Table, tasks: int | None = None) -> str:
    """Return how the evidence was computed, and notes on better models found."""
    exact = sum(how == "exact" for how in table["how"])
    if exact == len(table):
        how = "exact: the best networks with and without each edge are proven optimal"
    else:
        search = "" if tasks is None else f", a search with {counted(tasks, 'task')} for each"
        how = f"an estimate from the best networks found with and without each edge{search}"
        how += f"; exact for {exact} of {len(table)} edges" if exact else ""
    lines = (table.note or "").splitlines()
    also = [line for line in lines if line.startswith(("On the way", "It ended after"))]
    return " ".join([f"Evidence is {how}.", *also])


def verdict(nats: float | None) -> str | None:
    """Return the verdict on an edge by its evidence; None if that is unknown."""
    if nats is None:
        return None
    if nats == math.inf:
        return "required"
    return next(name for name, least in VERDICTS.items() if nats >= least)


def verdict_ranges() -> dict[str, str]:
    """Return the verdicts by evidence with their ranges in words."""
    return {
        "sure": f"at least {SURE:g} nats",
        "likely": f"{WEAK:g} to {SURE:g} nats",
        "doubtful": f"less than {WEAK:g} nats",
    }


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
    def nats(self) -> dict[frozenset[str], float | None]:
        """Evidence for each edge of the best network; None if it is unknown."""
        pairs = self._best.graph.skeleton
        return {pair: self._rows[pair]["evidence"] if self.has_evidence else None for pair in pairs}

    def count(self, *verdicts: str) -> int:
        """Return the number of edges of the best network with one of some verdicts."""
        return sum(verdict(nats) in verdicts for nats in self.nats.values())

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
        nats = self.nats[pair]
        if nats is None and self.worth is not None:
            nats = self.worth[pair]
        return self._rows[pair][SUPPORT_COLUMNS["search"]] if nats is None else nats

    @cached_property
    def clear(self) -> frozenset[tuple[str, str]]:
        """Arcs of the best network whose direction is clear, or implied by knowledge."""
        graph = self._best.mpdag
        return frozenset(
            arc for arc in graph.directed if arc in graph.by_knowledge or self._is_clear(*arc)
        )

    def _is_clear(self, a: str, b: str) -> bool:
        row = self._rows[frozenset((a, b))]
        return self._clear_direction(row) == (1 if row["x"] == a else 2)

    @property
    def clear_directions(self) -> list[int]:
        """The clear direction of each row of `edges`: 1 for x -> y, 2 for y -> x, 0 for none."""
        return [self._clear_direction(row) for row in self.edges]

    def _clear_direction(self, row: Mapping[str, Any]) -> int:
        """Decide by evidence, or by relative weight if there is no evidence."""
        nats = row["direction"] if self.has_evidence else None
        if nats is None:
            forward, backward = (row[f"weight_{way}"] >= CLEAR for way in ("x_to_y", "y_to_x"))
        else:
            forward, backward = nats >= WEAK, -nats >= WEAK
        return 1 if forward else 2 if backward else 0
