"""Causal effects that the optima are compatible with.

An optimum is a class of networks, which differ in the parents of the cause x. Adjusting for each
possible parent set gives one effect, so an optimum is compatible with as many effects as x has
parent sets: IDA [Maathuis 2009] for one class. Comparing all optima with similar scores shows how
much the effect depends on which of them is right.

Three sources of uncertainty are reported separately: which network of a class is true (data cannot
tell), which of the optima is right (data hardly tell), and which cases happen to be in the table.
Effects are not averaged over optima: the number of runs that end in one is no evidence for it. With
a posterior over models, its probabilities are, and weight them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.analysis.adjustment import Contrast, interventions, margin, slope, standardised
from kes.analysis.effect_table import QUANTILES, Effects
from kes.analysis.probabilities import StructurePosterior
from kes.data.column import State, TableKind
from kes.data.dataset import AnyTable, Dataset, Incomplete
from kes.data.random_stream import Purpose, Stream
from kes.data.resampling import Cases
from kes.errors import KesError, either, listed, not_installed, option, unknown
from kes.formats.escaping import labels
from kes.graph.core_graph import NOTHING, Arc, CoreGraph, CoreKnowledge
from kes.graph.dags import count_dags, descendants, parent_sets
from kes.network.ranges import state_code
from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.results.summary import counted, of_completed
from kes.search.problem import Problem

_COVERED, _MODELS = 0.99, 500  # probability of the models used, and most of them


@dataclass(frozen=True)
class Adjustment:
    """A parent set of x, and whether a directed path then leads from x to y."""

    parents: tuple[str, ...]
    reaches: bool
    weight: float | None = field(default=None, compare=False)


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
    posterior: StructurePosterior | None = None,
) -> Effects:
    """Return the effects of x on y that the best optima allow; see `Optima.effects`."""
    dataset = problem.dataset
    contrast = _contrast(dataset, x, y, states, outcome)
    known = optima.settings.known(optima.names) or NOTHING
    if posterior is None:
        models = [
            (optimum.edges, {"below": optima.best.score - optimum.score})
            for optimum in optima
            if optima.best.score - optimum.score <= within
        ]
    else:
        models = _probable(posterior, optima)
    ways = [
        (number, about, way)
        for number, (graph, about) in enumerate(models)
        for way in _adjustments(optima.names, graph, known, (x, y), about.get("probability"))
    ]
    distinct = sorted({way for *_, way in ways}, key=lambda way: (way.parents, way.reaches))
    estimates = {way: _estimate(dataset, contrast, way) for way in distinct}
    ranges = _resampled(problem, contrast, distinct, resamples)
    rows: list[dict[str, Any]] = [
        {
            "optimum": number,
            **about,
            **({} if way.weight is None else {"weight": way.weight}),
            "parents": way.parents,
            "reaches": way.reaches,
            "effect": None,
            **ranges.get(way, {}),
            **estimates[way],
        }
        for number, about, way in ways
    ]
    covered = None if posterior is None else sum(about["probability"] for _, about in models)
    change = _change(dataset, contrast)
    note = _note(contrast, change, _premise(within, posterior, covered), dataset.kind)
    if resamples:
        imputed = ", imputed anew" if isinstance(problem.table, Incomplete) else ""
        note.append(
            f"low, high: 95 % of {counted(resamples, 'bootstrap resample')}{imputed}, with the "
            "same graph and parents."
        )
    return Effects(
        {name: [row[name] for row in rows] for name in rows[0]},
        note="\n".join([*note, *_decided(optima), *of_completed(optima)]),
        x=x,
        y=y,
        change=change,
        resamples=resamples,
        covered=covered,
    )


def _probable(
    posterior: StructurePosterior, optima: Optima
) -> list[tuple[CoreGraph, dict[str, float]]]:
    """Return the most probable models, until they have nearly all of the probability."""
    if posterior.names != tuple(optima.names):
        raise KesError("the posterior is about other variables", option="posterior")
    return [
        (model.graph.to_core(optima.names), {"probability": model.probability})
        for model in posterior.probable(_COVERED, _MODELS)
    ]


def _adjustments(
    names: Sequence[str],
    graph: CoreGraph,
    known: CoreKnowledge,
    ends: tuple[str, str],
    probability: float | None,
) -> list[Adjustment]:
    """Return the adjustments of a class; its probability is divided as its DAGs are."""
    n, (at, to) = len(names), map(names.index, ends)
    sets = parent_sets(names, graph, at, known)
    weights: list[float | None] = [None] * len(sets)
    if probability is not None:
        tiers, required, forbidden = known
        numbers = [
            count_dags(n, graph, (tiers, [*required, *_fixed(one.dag, at)], forbidden))
            for one in sets
        ]
        weights = [probability * number / sum(numbers) for number in numbers]
    return [
        Adjustment(
            tuple(names[i] for i in sorted(one.members)), to in descendants(one.dag, at), weight
        )
        for one, weight in zip(sets, weights, strict=True)
    ]


def _fixed(dag: Iterable[Arc], x: int) -> list[Arc]:
    """Return the arcs of a node."""
    return [arc for arc in dag if x in arc]


# --- estimates -----------------------------------------------------------------------------------


def _estimate(dataset: Dataset, contrast: Contrast, way: Adjustment) -> dict[str, Any]:
    """Return the columns of an adjustment: the effect, and the distributions behind it."""
    if contrast.outcome is None:
        found = slope(dataset, contrast, way.parents) if way.reaches else 0.0
        return {"effect": None if np.isnan(found) else found}
    table, unseen = _distributions(dataset, contrast, way)
    low, high = contrast.states or (0, 1)
    effect = None if table is None else table[high, contrast.outcome] - table[low, contrast.outcome]
    known: dict[str, Any] = {"effect": None if effect is None else float(effect)}
    if dataset.kind == "discrete":
        known["unseen"] = unseen
    if contrast.states is None:
        return known
    states = dict(zip(dataset.names, dataset.states, strict=True))
    return known | {
        f"P({then}|do({cause}))": None if table is None else float(table[i, j])
        for i, cause in enumerate(labels(states[contrast.x]))
        for j, then in enumerate(labels(states[contrast.y]))
    }


def _distributions(
    dataset: Dataset, contrast: Contrast, way: Adjustment
) -> tuple[NDArray[np.float64] | None, float]:
    """Return the distributions of a discrete y under interventions, and the share of unseen cases.

    None if the parents determine x.
    """
    x, y = contrast.x, contrast.y
    states = dict(zip(dataset.names, dataset.states, strict=True))
    if not way.reaches:
        return np.tile(margin(dataset, y), (len(states[x]) or 2, 1)), 0.0
    if all(states[name] for name in (x, *way.parents)):
        found = interventions(dataset, x, y, way.parents)
        return found.table, found.unseen(contrast.states or ())
    return standardised(dataset, contrast, way.parents), 0.0


def _resampled(
    problem: Problem, contrast: Contrast, ways: Sequence[Adjustment], resamples: int
) -> dict[Adjustment, dict[str, float | None]]:
    """Return the range of each effect over bootstrap tables.

    Cases are drawn with their missing values, which are imputed anew each time: if they were drawn
    from the completed table, imputed values would count as observed and ranges be too narrow.
    """
    if not resamples:
        return {}
    table: AnyTable = problem.table
    if isinstance(table, Dataset):
        needed = {contrast.x, contrast.y}.union(*(way.parents for way in ways))
        table = table.select([name for name in table.names if name in needed])
    cases = Cases(table)
    drawn: dict[Adjustment, list[float]] = {way: [] for way in ways}
    for number in range(resamples):
        stream = Stream(problem.settings.seed, Purpose.EFFECTS, number)
        table = cases.bootstrap(stream)
        if isinstance(table, Incomplete):  # impute as in the search
            own = replace(problem.settings, seed=stream.seed())
            table = Problem(table, own, problem.cache_mb, problem.reading).dataset
        for way in ways:
            effect = _estimate(table, contrast, way)["effect"]
            if effect is not None:
                drawn[way].append(effect)
    return {
        way: {"low": low, "high": high}
        for way, own in drawn.items()
        for low, high in [np.quantile(own, QUANTILES).tolist() if own else (None, None)]
    }


# --- contrasts and notes -------------------------------------------------------------------------


def _contrast(
    dataset: Dataset, x: str, y: str, states: tuple[State, State] | None, outcome: State | None
) -> Contrast:
    """Validate user input."""
    known = dict(zip(dataset.names, dataset.states, strict=True))
    for name in (x, y):
        if name not in known:
            raise unknown("variable", name, dataset.names, column=name)
        if len(known[name]) == 1:
            raise KesError(f"{name!r} has only one state, so it has no effects", column=name)
    if x == y:
        raise KesError(f"{x!r} cannot cause itself; name two variables", column=x)
    pair = None
    if known[x]:
        if states is None:
            pair = (0, len(known[x]) - 1)
        elif isinstance(states, str) or len(states) != 2:
            raise KesError(
                f"states must be two states of {x!r}, not {states!r}", option="states", column=x
            )
        else:
            pair = (_code(x, known[x], states[0]), _code(x, known[x], states[1]))
    elif states is not None:
        raise _stateless(x, "states")
    if known[y]:
        end = len(known[y]) - 1 if outcome is None else _code(y, known[y], outcome)
        return Contrast(x, y, pair, end)
    if outcome is not None:
        raise _stateless(y, "outcome")
    return Contrast(x, y, pair, None)


def _stateless(name: str, given: str) -> KesError:
    message = f"{name!r} is continuous and has no states: leave out {option(given)}"
    return KesError(message, option=given, column=name)


def _code(name: str, states: Sequence[State], given: State) -> int:
    """Return the code of a state."""
    code = state_code(states, given)
    if code is None:
        raise KesError(f"{name!r} has no state {given!r}, only {listed(states)}", column=name)
    return code


def _change(dataset: Dataset, contrast: Contrast) -> str:
    """Describe in words which change the effect measures."""
    states = dict(zip(dataset.names, dataset.states, strict=True))
    x, y = contrast.x, contrast.y
    end = contrast.outcome
    what = f"the mean of {y}" if end is None else f"P({y} = {states[y][end]})"
    if contrast.states is None:
        unit = f"for each unit by which {x} is raised"
        return f"{what} {unit if end is None else f'when {x} is one unit higher in every case'}"
    low, high = (states[x][code] for code in contrast.states)
    return f"{what} when {x} is set to {high} instead of {low}"


def _premise(within: float, posterior: StructurePosterior | None, covered: float | None) -> str:
    """Return a sentence on the models that are considered, and on the assumption in that."""
    if posterior is None or covered is None:
        return (
            f"one of these optima (at most {within:g} nats below the best) is right. Models that "
            "are not optima are left out, however close they score: see "
            f"{either('Optima.evidence', 'kes edges')}."
        )
    return (
        f"one of these models is right; they have {covered:.1%} of the {posterior.quantity} "
        f"({posterior.models_status}). weight: that of the model, divided evenly by its DAGs."
    )


def _note(contrast: Contrast, change: str, premise: str, kind: TableKind) -> list[str]:
    x, y = contrast.x, contrast.y
    model = "the effect is linear and the same for all cases"
    if contrast.outcome is not None:
        model = f"the log-odds of {y} are linear in {x} and its parents, where any is continuous"
    return [
        f"effect: change of {change}, estimated by adjustment for the parents of {x}; 0 where no "
        f"directed path leads from {x} to {y} (reaches).",
        "Assumptions that data cannot confirm: arrows are causal, no common cause of two variables "
        f"is missing, and {premise}",
        f"unseen: share of the cases for whose parents' states one of the two states of {x} never "
        "occurs; there the estimate rests on the prior."
        if kind == "discrete"
        else f"Also assumed: {model}.",
    ]


def _decided(optima: Optima) -> list[str]:
    """Return which directions exogenous variables decide: effects depend on them."""
    arcs = [f"{a} -> {b}" for a, b in sorted(optima.best.mpdag.by_exogenous)]
    start = "Directions that exogenous variables decide in the best network: "
    return [f"{start}{listed(arcs, show=str)}."] if arcs else []


# --- DoWhy ---------------------------------------------------------------------------------------


def to_dowhy(optimum: Optimum, x: str, y: str) -> list[dict[str, Any]]:
    """Return arguments of `dowhy.CausalModel`; see `Optimum.to_dowhy`."""
    try:
        import networkx as nx
    except ImportError:
        raise not_installed("networkx") from None
    names = optimum.names
    for name in (x, y):
        if name not in names:
            raise unknown("variable", name, names, column=name)
    found = []
    known = NOTHING if optimum.knowledge is None else optimum.knowledge.to_core(names)
    for one in parent_sets(names, optimum.edges, names.index(x), known):
        dag: nx.DiGraph[str] = nx.DiGraph()
        dag.add_nodes_from(names)
        dag.add_edges_from((names[a], names[b]) for a, b in one.dag)
        found.append({"treatment": x, "outcome": y, "graph": dag})
    return found
