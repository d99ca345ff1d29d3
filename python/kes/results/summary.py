"""The summary of a result: the best models, and a comparison with GES."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from kes.data.notes import MANY_STATES, are_numbers, without_excluded
from kes.errors import listed, printable
from kes.network.gibbs import SWEEPS
from kes.options import Sampled
from kes.results.isolated import isolated, unseen
from kes.search.edge_price import chance_edges
from kes.search.structural_em import MAX_ROUNDS

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.results.optimum import Optimum


_SHOWN = 0.5e-4
"""Half of the last digit of a score that is shown: smaller differences are not called better."""


def is_higher(optima: Optima, score: float, other: float) -> bool:
    """Return whether a score is on a higher level than another, and is shown as higher."""
    level = optima.record.level
    return level(score) > level(other) and score - other >= _SHOWN


@dataclass(frozen=True)
class Standing:
    """Number of runs that ended on a score that is higher than, as high as or lower than another.

    Scores that look the same when they are shown are equal.
    """

    above: int
    level: int
    below: int

    @classmethod
    def of(cls, optima: Optima, score: float) -> Standing:
        """Compare all runs with a score."""
        models, runs = optima.record.models, [*optima.record.runs]
        above = np.array([is_higher(optima, model.score, score) for model in models])[runs]
        below = np.array([is_higher(optima, score, model.score) for model in models])[runs]
        return cls(int(above.sum()), int(np.sum(~(above | below))), int(below.sum()))


def text(optima: Optima, *, more: Sequence[tuple[str, str]] = (), shown: Sequence[str] = ()) -> str:
    """Return the summary as plain text, with more rows, and without notes shown already."""
    rows = [*_rows(optima, shown), *more]
    width = max(len(label) for label, _ in rows)
    lines = (f"  {label:<{width}}  {printable(value)}" for label, value in rows)
    return "\n".join([title(optima), *lines])


def html(optima: Optima) -> str:
    """Return the summary as a small table for notebooks."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(label)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for label, value in _rows(optima)
    )
    caption = f"<caption style='text-align:left'>{escape(title(optima))}</caption>"
    return f"<table>{caption}<tbody>{rows}</tbody></table>"


def title(optima: Optima) -> str:
    """Return the number of optima, and of the runs and tasks that found them."""
    runs, tasks = counted(len(optima.runs), "run"), counted(optima.tasks, "task")
    sources = f"{runs}, GES and {tasks}" if optima.tasks else f"{runs} and GES"
    return f"{counted(len(optima), 'optimum', 'optima')} from {sources}"


def _rows(optima: Optima, shown: Sequence[str] = ()) -> list[tuple[str, str]]:
    best, ges = optima.best, optima.ges
    of = "" if optima.record.completion is None else " of the completed table"
    rows = [
        ("data", f"{_variables(optima)}, {optima.cases:.12g} cases"),
        ("missing values", completed(optima)),
        ("search", _settings(optima)),
        ("edge price", edge_price(optima)),
        ("chosen", "" if optima.choice is None else str(optima.choice)),
        ("knowledge", known.counts if (known := optima.settings.knowledge) else ""),
        *_target(optima),
        ("best score", f"{best.score:.4f}{of}, {_found(optima)}"),
        ("proof", proof(optima)),
        ("best network", _edges(best)),
        ("exogenous", _exogenous(best)),
        *_isolated(optima),
        ("best run", "" if best.hits else _best_run(optima)),
        ("GES score", f"{ges.score:.4f}{_beside_runs(optima)}"),
        ("ends of runs", _ends(optima)),
        ("improving", _improving(optima)),
        *(("note", note) for note in optima.notes if note not in shown),
    ]
    return [(label, value) for label, value in rows if value]


def _hits(optima: Optima) -> str:
    run = optima.best_run
    return (
        f"found by {run.hits} of {counted(len(optima.runs), 'run')}, first by run {run.first_run}"
    )


def _found(optima: Optima) -> str:
    """Return the origin of the best model."""
    origin = optima.best.origin
    if optima.best.hits:
        return _hits(optima)
    return "found by the exact search" if origin == "exact" else origin


def _best_run(optima: Optima) -> str:
    if not optima.of_runs:
        return "none: no run has ended"
    return f"{optima.best_run.score:.4f}, {optima.gain:.4f} below the best, {_hits(optima)}"


def _beside_runs(optima: Optima) -> str:
    """Compare the runs with GES."""
    if not optima.of_runs:
        return ", not finished" if optima.record.unfinished else ""
    standing, runs = Standing.of(optima, optima.ges.score), counted(len(optima.runs), "run")
    return f": {standing.above} of {runs} better, {standing.level} equal, {standing.below} worse"


def _ends(optima: Optima) -> str:
    if not optima.of_runs:
        return ""
    ends = counted(len(optima.of_runs), "optimum", "optima")
    return f"{ends} on {counted(optima.levels, 'score level')}"


def of_completed(optima: Optima) -> list[str]:
    """Return the note below tables computed from imputed data."""
    if optima.record.completion is None:
        return []
    return ["Computed from the completed table: imputed values count as observed."]


def completed(optima: Optima) -> str:
    """Describe how missing values were imputed; "" if there were none."""
    completion = optima.record.completion
    if completion is None:
        return ""
    if completion.settled:
        end = "until the model converged"
    elif completion.rounds < MAX_ROUNDS:
        end = "stopped before convergence by a budget or because the table is large"
    else:
        end = "after which the model still changed"
    work = counted(completion.rounds, "round")
    if completion.rounds == 1 and completion.sweeps < SWEEPS:
        work = counted(completion.sweeps, "sweep")
    return (
        f"{sum(completion.cells)} imputed, {optima.record.reading.completions} times each, "
        f"by {work} of EM, {end}"
    )


def _variables(optima: Optima) -> str:
    """Return the number of variables, by kind unless all are discrete."""
    number = counted(len(optima.names), "variable")
    if optima.kind == "discrete":
        return number
    kinds = [*optima.kinds.values()]
    discrete, continuous = kinds.count("discrete"), kinds.count("continuous")
    return f"{number} ({discrete} discrete, {continuous} continuous)"


def proof(optima: Optima) -> str:
    """Return the outcome of the proof of the best score; "" if none was attempted."""
    found, settings = optima.proof, optima.settings
    if found is None:
        return ""
    max_parents = settings.max_parents
    limit = "" if max_parents is None else f" with at most {counted(max_parents, 'parent')}"
    known = " that satisfies the knowledge" if settings.is_constrained else ""
    which = f"no network{limit}{known}{without_excluded(optima.excluded)}"
    if found.proven:
        return f"proven: {which} scores higher"
    if found.upper_bound is None:
        return f"none: {found.method}"
    gap = found.upper_bound - optima.best.score
    return f"none, but {which} scores higher than {found.upper_bound:.4f}, {gap:.4f} above the best"


def edge_price(optima: Optima) -> str:
    """Return the price of every edge and, if it was chosen by default, why; "" without one."""
    record = optima.record
    price = f"{record.settings.edge_prior:.4g} nats"
    if not record.settings.edge_prior:
        return ""
    if not record.has_default_price:
        gamma = record.settings.edge_prior / (2 * math.log(max(record.varying, 2)))
        return f"{price}, that of the extended BIC with gamma={gamma:.3g}"
    measure = record.settings.measure.of_cheapest_edges(optima.kind)
    chance = chance_edges(record.varying, record.cases, measure)
    return (
        f"{price}: without it, about {chance:.0f} of {math.comb(record.varying, 2)} pairs of "
        "independent variables would look related by chance"
    )


def _improving(optima: Optima) -> str:
    if not optima.tasks:
        return "none"
    before = max(optimum.score for optimum in (*optima.of_runs[:1], optima.ges))
    is_better = is_higher(optima, optima.best.score, before)
    found = "a higher score" if is_better else "no higher score"
    early = "" if optima.record.improving.complete else ", stopped early"
    return f"{found} in {counted(optima.tasks, 'task')}{early or _outlook(optima)}"


def _outlook(optima: Optima) -> str:
    """Estimate whether more tasks would help, if their number was chosen automatically."""
    improving = optima.record.improving
    if not improving.asked.is_auto or improving.calls or optima.proven:
        return ""
    tasks = [optima.record.child(place) for place in optima.record.rises()]
    last = max((child.task for child in tasks if child and child.task is not None), default=-1)
    if 3 * (last + 1) <= 2 * improving.own:
        return ", none in the last third of them"
    return f", the last by task {last}: more would probably find higher ones"


def _settings(optima: Optima) -> str:
    settings = optima.settings
    kind, measure = optima.kind, settings.measure
    parts = [f"k={settings.k:g}", measure.name if kind == "discrete" else measure.title(kind)]
    if settings.ess is not None:
        parts.append(f"ess={settings.ess:g}")
    if settings.penalty != 1:
        parts.append(f"penalty × {settings.penalty:g}")
    if settings.basis is not None:
        parts.append(f"curves of degree {settings.basis}")
    elif measure.uses_ranks(kind):
        parts.append("of ranks")
    parts.append(f"seed {settings.seed}")
    if settings.max_parents is not None:
        parts.append(f"at most {counted(settings.max_parents, 'parent')}")
    if settings.two_phase:
        parts.append("two phases")
    if isinstance(settings.neighbourhood, Sampled):
        parts.append("sampled neighbourhood")
    if settings.start is not None:
        parts.append("from a given start")
    return ", ".join(parts)


def _edges(optimum: Optimum) -> str:
    graph = optimum.mpdag
    given = len(graph.known_directions)
    known = f", {given} of them by the knowledge" if given else ""
    return (
        f"{counted(len(graph.skeleton), 'edge')} ({len(graph.directed)} directed{known}, "
        f"{len(graph.undirected)} undirected)"
    )


def _exogenous(optimum: Optimum) -> str:
    """Name what the exogenous variables touch, and the directions that they decide."""
    graph = optimum.mpdag
    touched = [f"{x} -> {y}" for x, y in sorted(graph.directed) if x in graph.exogenous]
    decided = [f"{a} -> {b}" for a, b in sorted(graph.by_exogenous)]
    directions = f"; they direct {listed(decided, show=str)}" if decided else ""
    return f"{listed(touched, show=str)}{directions}" if touched else ""


def _target(optima: Optima) -> list[tuple[str, str]]:
    """Describe how well the target is predicted, and from which variables."""
    found = optima.evaluation
    if found is None:
        return []
    blanket = blanket_of(optima.best, found.target)
    near = ", ".join(map(repr, blanket)) or "no other variable"
    rows = [("target", f"{found.target}, from {near}"), ("predictions", str(found))]
    average = found.average
    return rows if average is None else [*rows, ("of an average", str(average))]


def blanket_of(optimum: Optimum, target: str) -> list[str]:
    """Return the Markov blanket of a variable: parents, children, and parents of children.

    It is the same in all networks of the class.
    """
    arcs = optimum.graph.to_dag()
    children = {b for a, b in arcs if a == target}
    families = [arc for arc in arcs if arc[1] in children or arc[1] == target]
    members = {name for arc in families for name in arc} - {target}
    return [name for name in optimum.names if name in members]


def _isolated(optima: Optima) -> Iterator[tuple[str, str]]:
    """Yield the isolated variables, and the dependences of those that are not independent."""
    alone = isolated(optima)
    if not alone:
        return
    found, states = unseen(optima, optima.problem), optima.states
    dear = [name for name in alone if len(own := states[name]) > MANY_STATES and are_numbers(own)]
    advice = f"; edges of {listed(dear)} cost less if they are taken as continuous"
    yield "isolated", listed(alone) + advice * bool(dear and not found)
    yield from (("note", str(one)) for one in found)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, such as "1 run" or "2 runs"."""
    return f"{number} {one if number == 1 else many or one + 's'}"
