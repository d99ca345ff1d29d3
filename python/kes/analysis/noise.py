"""Noise: what the same search finds in tables without any relation.

In a table whose columns are shuffled independently, every edge is false. The search on a few such
tables shows how many edges chance alone produces, and how much evidence they have; about as many
of the edges found in the data may be false.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kes.analysis.deletion_loss import edge_worth
from kes.budget import Budget, Improve
from kes.data.dataset import dataset_of
from kes.data.shuffling import shuffled
from kes.errors import Interrupted
from kes.options import SHUFFLES
from kes.progress import RunCounter, reporting
from kes.results.optima import Optima
from kes.results.summary import counted
from kes.search.driver import Execution
from kes.search.pipeline import prepare, search
from kes.search.problem import Problem
from kes.table import Table, tabulated

LEVELS = (0.0, 1.0, 3.0, 5.0, 10.0, 20.0)
"""Levels of evidence in nats at which edges are counted."""


SHARE = 0.1
"""Maximum work of a quick look, as a share of the work of a default search."""
_FEWEST = 3  # least number of shuffled tables in a quick look
_TASKS = 10  # improvement tasks of a quick look, if there is time for them
_MOST_CELLS = 10**6  # shuffling and ranking more takes longer than the search
_PER_CELL = 4e-7  # seconds to shuffle and rank a cell


@dataclass(frozen=True, repr=False)
class Noise:
    """The edges that a search finds in shuffled copies of its table.

    Evidence is an upper bound here, as it is computed without a further search, for the data and
    for the shuffled copies alike: the loss by deleting the edge from the best model, or the
    distance of the next optimum without it. Edges that knowledge requires are left out, and so are
    those of discrete contexts, which the copies keep.

    Attributes
    ----------
    evidence : tuple of float
        Upper bound on the evidence for each edge of the best network, in nats, strongest first.
    shuffled : tuple of tuples of float
        The same for each shuffled table, in which all edges are false.
    contexts : tuple of str
        The discrete contexts, whose edges are not counted.
    """

    evidence: tuple[float, ...]
    shuffled: tuple[tuple[float, ...], ...]
    contexts: tuple[str, ...] = ()

    @property
    def edges(self) -> int:
        """Number of edges of the best network."""
        return len(self.evidence)

    @property
    def shuffled_edges(self) -> tuple[int, ...]:
        """Number of edges found in each shuffled table."""
        return tuple(map(len, self.shuffled))

    @property
    def highest(self) -> float | None:
        """The highest evidence for an edge in a shuffled table; None if there was no edge."""
        return max((nats for table in self.shuffled for nats in table), default=None)

    def expected(self, level: float = 0.0) -> float:
        """Return the mean number of edges in a shuffled table with at least this evidence."""
        found = sum(nats >= level for table in self.shuffled for nats in table)
        return found / len(self.shuffled)

    def levels(self, levels: Sequence[float] = LEVELS) -> Table:
        """Estimate the number of false edges at each level of evidence.

        Returns
        -------
        Table
            For each level: the number of `edges` of the best network with at least this evidence;
            the mean number in shuffled tables, `by_chance`; and the estimated share of false edges
            among ours, `false_share`, at most 1. It tends to be too large: where there are true
            edges, fewer pairs are left for false ones.
        """
        rows = []
        for level in levels:
            ours, chance = sum(nats >= level for nats in self.evidence), self.expected(level)
            rows.append((level, ours, chance, min(1.0, chance / ours) if ours else None))
        return tabulated(("evidence", "edges", "by_chance", "false_share"), rows)

    def __str__(self) -> str:
        counts = self.shuffled_edges
        low, high = min(counts), max(counts)
        span = f"{low} to {high} connections" if low < high else counted(low, "connection")
        copies = f"{len(counts)} shuffled copies of the table"
        between = " between variables other than contexts" if self.contexts else ""
        each = " each" if low == high else ""
        return f"{copies} give {span}{between}{each}; the data give {self.edges}."

    def __repr__(self) -> str:
        highest = self.highest
        lines = [str(self)]
        if highest is not None:
            lines.append(
                f"The highest evidence for an edge of a shuffled copy is {highest:.3g} nats."
            )
        return "\n".join([*lines, repr(self.levels())])


class NoiseInterrupted(Interrupted):
    """Ctrl-C during `Optima.noise`.

    Attributes
    ----------
    noise : Noise or None
        What the finished tables give; None before the first.
    """

    def __init__(self, noise: Noise | None) -> None:
        super().__init__()
        self.noise = noise

    def __str__(self) -> str:
        if self.noise is None:
            return "interrupted before the first shuffled table was searched"
        return "interrupted; the attribute 'noise' has the finished tables"


def noise(
    optima: Optima,
    problem: Problem,
    *,
    shuffles: int = SHUFFLES,
    runs: int | None = None,
    execution: Execution,
) -> Noise:
    """Repeat the search on shuffled copies of its table; see `Optima.noise`."""
    budget = search_of_noise(optima, runs)
    own, contexts = _bounds(optima, problem), tuple(_strata(problem))
    found: list[tuple[float, ...]] = []
    counter = RunCounter(budget.runs or 1, shuffles * (budget.runs or 1))
    try:
        with reporting(execution.progress) as report:
            for number in range(shuffles):
                watched = replace(execution, progress=counter.after(number, report), client=None)
                table = shuffled(
                    problem.table, problem.settings.seed, number, within=_strata(problem)
                )
                copy = Problem(table, problem.settings, problem.cache_mb, problem.reading)
                found.append(_search(copy, budget, watched))
            report(counter.at(shuffles), final=True)
    except KeyboardInterrupt:
        raise NoiseInterrupted(Noise(own, tuple(found), contexts) if found else None) from None
    return Noise(own, tuple(found), contexts)


def search_of_noise(optima: Optima, runs: int | None) -> Budget:
    """Return the work on each copy: that of the search, or some runs and what follows them."""
    if runs is None:
        return Budget(runs=len(optima.runs), improve=optima.record.improving.asked)
    return Budget(runs=runs, improve=Improve(True))


def quick_noise(optima: Optima, problem: Problem, *, threads: int) -> Noise | None:
    """Search a few shuffled copies, with at most a tenth of the work of a default search.

    Return None if that is not enough for three copies. The number of copies depends on the size of
    the table and not on the clock. Missing values are not imputed anew: the completed table is
    shuffled.
    """
    size = problem.size
    cells = problem.dataset.rows * len(problem.dataset.names)
    allowed, least = SHARE * size.seconds, 2 * size.run_seconds + _PER_CELL * cells
    full = least + _TASKS * size.task_seconds
    tasks = _TASKS if allowed >= SHUFFLES * full else 0
    shuffles = min(SHUFFLES, int(allowed / (full if tasks else least)))
    if shuffles < _FEWEST or cells > _MOST_CELLS:
        return None
    budget = Budget(runs=1, improve=Improve(tasks or False))
    found = []
    for number in range(shuffles):
        table = shuffled(problem.dataset, problem.settings.seed, number, within=_strata(problem))
        copy = Problem(table, problem.settings, problem.cache_mb, problem.reading)
        found.append(_search(copy, budget, Execution(threads)))
    return Noise(_bounds(optima, problem), tuple(found), tuple(_strata(problem)))


def _strata(problem: Problem) -> dict[str, set[str]]:
    """Return the discrete contexts, and for each the columns to shuffle within it.

    What a context does to a variable is no relation of that variable with another. Where a context
    must not point to a variable, it is none of its causes either: a relation that is left between
    them would have to go through others, and make edges. Earlier values of series are no strata:
    few rows agree on them.
    """
    known = problem.settings.knowledge
    if known is None:
        return {}
    columns = dict(zip(problem.table.names, dataset_of(problem.table).columns, strict=True))
    targets = dict(known.targets)
    ruled_out = {*known.forbidden, *known.apart, *((b, a) for a, b in known.apart)}
    return {
        x: {y for y in targets.get(x, columns) if (x, y) not in ruled_out}
        for x in problem.settings.exogenous
        if columns[x].kind == "discrete" and not columns[x].notation.lag
    }


def _search(problem: Problem, budget: Budget, execution: Execution) -> tuple[float, ...]:
    """Search a shuffled table; return the evidence for the edges of its best network."""
    problem = prepare(problem, execution, budget)
    return _bounds(Optima(search(problem, budget, execution), problem=problem), problem)


def _bounds(optima: Optima, problem: Problem) -> tuple[float, ...]:
    """Return upper bounds on the evidence for the edges of the best network, strongest first."""
    best, known = optima.best, problem.settings.knowledge
    kept = _strata(problem).keys()
    bounds = {
        pair: loss
        for pair, loss in edge_worth(best.graph, problem).items()
        if kept.isdisjoint(pair)
    }
    for pair in {frozenset(arc) for arc in known.required} if known else ():
        bounds.pop(pair, None)
    for other in optima[1:]:
        loss = best.score - other.score
        lacking = bounds.keys() - other.graph.skeleton
        bounds |= {pair: min(bounds[pair], loss) for pair in lacking}
    return tuple(sorted(bounds.values(), reverse=True))
