"""What follows from the optima for the effect of one variable on another.

An optimum is a class of networks, and the networks of a class differ in the parents that the cause
x can have. For each of these sets the effect is had by adjusting for it, so an optimum stands for
as many effects as x has possible sets of parents: IDA [Maathuis 2009], with one class. With all
optima that are about as good, it is seen how much the answer depends on which of them is right.

Three things make an effect uncertain, and they are kept apart: which network of a class it is (the
data cannot tell), which of the optima is right (the data hardly tell), and which cases happen to be
in the table. No average is taken over optima: how often runs end in one says nothing of its truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kes.analysis.adjustment import Contrast, interventions, margin, slope
from kes.data.dataset import Dataset
from kes.data.incomplete import AnyTable, Incomplete
from kes.data.random_stream import Stream
from kes.data.resampling import Cases
from kes.errors import KesError, either, listed, option, unknown
from kes.formats.escaping import labels
from kes.graph.core_graph import NOTHING
from kes.graph.parent_sets import Parents, descendants, parent_sets
from kes.results.summary import counted, of_completed
from kes.search.problem import Problem
from kes.table import Table

if TYPE_CHECKING:
    from kes.data.column import State
    from kes.results.optima import Optima
    from kes.results.optimum import Optimum

_LOW, _HIGH = 0.025, 0.975
"""Shares of the resamples between which an effect is said to lie."""


@dataclass(frozen=True)
class Way:
    """How x may act on y: its parents, and whether a directed path leads from x to y with them."""

    parents: tuple[str, ...]
    reaches: bool


class Effects(Table):
    """Possible effects of one variable on another: a table with a row for each.

    Attributes
    ----------
    x, y : str
        The cause and its outcome.
    change : str
        What the column ``effect`` says, in words.
    resamples : int
        Number of resamples behind the columns ``low`` and ``high``; 0 if there are none.
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[Any]],
        *,
        note: str,
        x: str,
        y: str,
        change: str,
        resamples: int,
    ) -> None:
        super().__init__(columns, note=note)
        self.x, self.y, self.change, self.resamples = x, y, change, resamples

    def summary(self) -> Table:
        """Return how uncertain the effect is, for reasons that are kept apart.

        Returns
        -------
        Table
            A `range` of effects from `low` to `high`, its `width`, and what it is a range `over`:

            - "within the best class": the sets of parents that x can have in the best optimum;
            - "across optima": all rows;
            - "by resampling": the same row with other cases, of that row for which it is widest;
            - "all together": from the lowest to the highest of these.
        """
        first = self["optimum"][0]
        best = [row["effect"] for row in self if row["optimum"] == first]
        optima = counted(len(set(self["optimum"])), "optimum", "optima")
        rows = [
            ("within the best class", _span(best), counted(len(best), "set of parents", "sets")),
            ("across optima", _span(self["effect"]), optima),
        ]
        if self.resamples:
            spans = [_span(ends) for ends in zip(self["low"], self["high"], strict=True)]
            widest = max(spans, key=_width)
            rows.append(("by resampling", widest, counted(self.resamples, "resample")))
            every = _span([*self["effect"], *self["low"], *self["high"]])
            rows.append(("all together", every, counted(len(self), "row")))
        columns: dict[str, list[Any]] = {
            "range": [name for name, _, _ in rows],
            "low": [span and span[0] for _, span, _ in rows],
            "high": [span and span[1] for _, span, _ in rows],
            "width": [span and span[1] - span[0] for _, span, _ in rows],
            "over": [over for _, _, over in rows],
        }
        return Table(columns, note=self.note)


def _span(effects: Iterable[float | None]) -> tuple[float, float] | None:
    """Return the lowest and the highest of those that could be estimated."""
    known = [effect for effect in effects if effect is not None]
    return (min(known), max(known)) if known else None


def _width(span: tuple[float, float] | None) -> float:
    return 0.0 if span is None else span[1] - span[0]


def effects(
    optima: Optima,
    problem: Problem,
    x: str,
    y: str,
    *,
    states: tuple[State, State] | None,
    outcome: State | None,
    within: float,
    resamples: int,
) -> Effects:
    """Return the effects of x on y that good optima allow for; see `Optima.effects`."""
    dataset = problem.dataset
    contrast = _contrast(dataset, x, y, states, outcome)
    ways = _ways(optima, x, y, within)
    distinct = sorted({way for _, way in ways}, key=lambda way: (way.parents, way.reaches))
    estimates = {way: _estimate(dataset, contrast, way) for way in distinct}
    ranges = _resampled(problem, contrast, distinct, resamples)
    best, rows = optima.best.score, []
    for number, way in ways:
        rows.append(
            {
                "optimum": number,
                "below": best - optima[number].score,
                "parents": way.parents,
                "reaches": way.reaches,
                **estimates[way],
                **ranges.get(way, {}),
            }
        )
    order = ("optimum", "below", "parents", "reaches", "effect", "low", "high", "unseen")
    names = sorted(rows[0], key=lambda name: order.index(name) if name in order else len(order))
    change = _change(dataset, contrast)
    note = _note(contrast, change, within, discrete=dataset.kind == "discrete")
    if resamples:
        filled = ", filled in anew" if isinstance(problem.table, Incomplete) else ""
        note.append(
            f"low, high: 95 % of {counted(resamples, 'bootstrap resample')}{filled}, with graph "
            "and parents as they are."
        )
    return Effects(
        {name: [row[name] for row in rows] for name in names},
        note="\n".join([*note, *of_completed(optima)]),
        x=x,
        y=y,
        change=change,
        resamples=resamples,
    )


def _ways(optima: Optima, x: str, y: str, within: float) -> list[tuple[int, Way]]:
    """Return what each optimum that is good enough allows for."""
    place = {name: i for i, name in enumerate(optima.names)}
    found = []
    for number, optimum in enumerate(optima):
        if optima.best.score - optimum.score <= within:
            for one in _parent_sets(optimum, x):
                parents = tuple(optima.names[i] for i in sorted(one.members))
                found.append((number, Way(parents, place[y] in descendants(one.dag, place[x]))))
    return found


def _parent_sets(optimum: Optimum, x: str) -> list[Parents]:
    """Return the sets of parents that a variable can have in an optimum, by what is known."""
    names, known = optimum.names, optimum.knowledge
    knowledge = NOTHING if known is None else known.to_core(names)
    return parent_sets(names, optimum.edges, names.index(x), knowledge)


# --- estimates -----------------------------------------------------------------------------------


def _estimate(dataset: Dataset, contrast: Contrast, way: Way) -> dict[str, Any]:
    """Return the columns that one way fills in: the effect, and what it is made of."""
    if dataset.kind != "discrete":
        effect = slope(dataset, contrast, way.parents) if way.reaches else 0.0
        return {"effect": None if np.isnan(effect) else effect}
    x, y = contrast.x, contrast.y
    causes, outcomes = (dataset.states[dataset.names.index(name)] for name in (x, y))
    unseen = 0.0
    if way.reaches:
        found = interventions(dataset, x, y, way.parents)
        table, unseen = found.table, found.unseen(contrast.states or ())
    else:
        table = np.tile(margin(dataset, y), (len(causes), 1))
    low, high = contrast.states or (0, 0)
    return {
        "effect": float(table[high, contrast.outcome] - table[low, contrast.outcome]),
        "unseen": unseen,
        **{
            f"P({then}|do({cause}))": float(table[i, j])
            for i, cause in enumerate(labels(causes))
            for j, then in enumerate(labels(outcomes))
        },
    }


def _resampled(
    problem: Problem, contrast: Contrast, ways: Sequence[Way], resamples: int
) -> dict[Way, dict[str, float | None]]:
    """Return the range of each effect over tables drawn with replacement.

    Cases are drawn with their gaps, and these are filled anew each time: drawn from the completed
    table, what was filled in would count as seen, and ranges would be too narrow.
    """
    if not resamples:
        return {}
    table: AnyTable = problem.table
    if isinstance(table, Dataset):
        bearing = {contrast.x, contrast.y}.union(*(way.parents for way in ways))
        table = table.select([name for name in table.names if name in bearing])
    cases = Cases(table)
    drawn: dict[Way, list[float]] = {way: [] for way in ways}
    for number in range(resamples):
        stream = Stream(problem.settings.seed, number)
        table = _completed(cases.bootstrap(stream), problem, stream)
        for way in ways:
            effect = _estimate(table, contrast, way)["effect"]
            if effect is not None:
                drawn[way].append(effect)
    return {way: _quantiles(effects) for way, effects in drawn.items()}


def _completed(table: AnyTable, problem: Problem, stream: Stream) -> Dataset:
    """Return a part of the cases of a problem with its gaps filled as those of all cases are."""
    if isinstance(table, Dataset):
        return table
    settings = replace(problem.settings, seed=stream.seed())
    return Problem(table, settings, problem.cache_mb, problem.reading).dataset


def _quantiles(effects: list[float]) -> dict[str, float | None]:
    if not effects:
        return {"low": None, "high": None}
    low, high = np.quantile(effects, (_LOW, _HIGH)).tolist()
    return {"low": low, "high": high}


# --- what is compared ----------------------------------------------------------------------------


def _contrast(
    dataset: Dataset, x: str, y: str, states: tuple[State, State] | None, outcome: State | None
) -> Contrast:
    """Make it of what a user wrote, or say what is wrong with it."""
    known = dict(zip(dataset.names, dataset.states, strict=True))
    for name in (x, y):
        if name not in known:
            raise unknown("variable", name, dataset.names)
        if len(known[name]) == 1:
            raise KesError(f"{name!r} has one state only, so nothing can be said of its effects")
    if x == y:
        raise KesError(f"{x!r} cannot be the cause of itself; name two variables")
    pair = None
    if known[x]:
        if states is None:
            pair = (0, len(known[x]) - 1)
        elif isinstance(states, str) or len(states) != 2:
            raise KesError(f"states must be two states of {x!r}, not {states!r}")
        else:
            pair = (_code(x, known[x], states[0]), _code(x, known[x], states[1]))
    elif states is not None:
        raise KesError(f"{x!r} is continuous and has no states: leave out {option('states')}")
    if known[y]:
        end = len(known[y]) - 1 if outcome is None else _code(y, known[y], outcome)
        return Contrast(x, y, pair, end)
    if outcome is not None:
        raise KesError(f"{y!r} is continuous and has no states: leave out {option('outcome')}")
    return Contrast(x, y, pair, None)


def _code(name: str, states: Sequence[State], given: State) -> int:
    """Return the number of a state; the text "1" also stands for the integer 1."""
    texts = [str(state) for state in states]
    if str(given) not in texts:
        raise KesError(f"{name!r} has no state {given!r}, only {listed(states)}")
    return texts.index(str(given))


def _change(dataset: Dataset, contrast: Contrast) -> str:
    """Say what an effect is the change of."""
    states = dict(zip(dataset.names, dataset.states, strict=True))
    x, y = contrast.x, contrast.y
    end = contrast.outcome
    what = f"the mean of {y}" if end is None else f"P({y} = {states[y][end]})"
    if contrast.states is None:
        return f"{what} for each unit by which {x} is set higher"
    low, high = (states[x][code] for code in contrast.states)
    return f"{what} when {x} is set to {high} instead of {low}"


def _note(contrast: Contrast, change: str, within: float, *, discrete: bool) -> list[str]:
    x, y = contrast.x, contrast.y
    lines = [
        f"effect: change of {change}, by adjustment for the parents of {x}; 0 where no directed "
        f"path leads from {x} to {y} (reaches).",
        f"Assumed, and not shown by data: arrows are causes, no common cause of two variables is "
        f"left out, and one of these optima ({within:g} nats below the best at most) is right. "
        "Models that are no optima are not among them, however close they score: see "
        f"{either('Optima.evidence', 'kes edges')}.",
    ]
    if discrete:
        lines.append(
            f"unseen: share of the cases among whose parents one of the two states of {x} never "
            "occurs; there the answer is a guess."
        )
    else:
        lines.append("Assumed as well: the effect is linear and the same for all cases.")
    return lines


# --- hand-over -----------------------------------------------------------------------------------


def to_dowhy(optimum: Optimum, x: str, y: str) -> list[dict[str, Any]]:
    """Return the models of an optimum as DoWhy takes them; see `Optimum.to_dowhy`."""
    try:
        import networkx as nx
    except ImportError as error:
        raise KesError("to_dowhy needs networkx: pip install networkx") from error
    names = optimum.names
    for name in (x, y):
        if name not in names:
            raise unknown("variable", name, names)
    found = []
    for one in _parent_sets(optimum, x):
        dag: nx.DiGraph[str] = nx.DiGraph()
        dag.add_nodes_from(names)
        dag.add_edges_from((names[a], names[b]) for a, b in one.dag)
        found.append({"treatment": x, "outcome": y, "graph": dag})
    return found
