"""Missing values by stacked structural EM: what fills the gaps is learned along with the model.

    fill the gaps with values of other rows; M = the best tree
    repeat  fit M to the filled table and draw the gaps from it, several times
            N = the best model of the table so filled
            if N = M, or after a limit: stop
            M = N

and the table as it was filled last is the one to learn from. It is a structural EM [Friedman 1998]
whose E-step is a sample of m completions for each case. The best model is that of a few runs and
what improves on them. The start is a tree because the first filling hides dependences: a richer
model would explain them by other ones, and the gaps would be filled accordingly.

Valid if values are missing at random: whether one is missing may depend on what is there, but not
on what is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from kes.data.dataset import Dataset
from kes.data.incomplete import Incomplete, Stack
from kes.data.normal_scores import Ranks
from kes.data.random_stream import Stream
from kes.graph import EssentialGraph
from kes.graph.core_graph import RawGraph
from kes.native import core_errors, core_problem, cores
from kes.network.completion import SWEEPS, fill
from kes.network.fitting import Estimates, Model, families
from kes.options import DEFAULTS
from kes.search.budget import of_round
from kes.search.collector import NewModels
from kes.search.record import Completion
from kes.settings import Settings

MOST_ROUNDS = 20
MOST_VALUES = 3 * 10**8
"""Values that all rounds may look at, which takes about a minute; but two rounds are allowed."""
_BRANCH = 0  # of the seed's random streams; the number of the round follows


GoingOn: TypeAlias = Callable[[int], bool]
"""Told, ten times a second or so, how many rounds are done; says whether to go on."""


def complete(
    table: Incomplete,
    settings: Settings,
    completions: int,
    cache_mb: int,
    *,
    threads: int | None = None,
    most: int | None = None,
    going_on: GoingOn = lambda _: True,
) -> tuple[Dataset, Completion]:
    """Fill the gaps of a table; return it, and what was done.

    The same table, in whatever order of rows, the same seed, criterion (with `ess`, `penalty` and
    `transform`), `max_parents`, knowledge and number of completions give the same values. How runs
    choose among neighbours does not matter for it, so that searches with any k, and proofs, speak
    of the same completed table. Stopped before the model has settled, the values are those of the
    last round that was begun: the same as with so many rounds at most.

    Parameters
    ----------
    threads : int or None
        None for all cores.
    most : int or None
        Rounds to repeat of a completion that was stopped.
    """
    if settings.transform == "ranks":
        ranks = Ranks.of(table.dataset, table.gaps)
        scores = Incomplete(ranks.apply(table.dataset), table.gaps)
        plain = replace(settings, transform=None)
        filled, done = complete(
            scores, plain, completions, cache_mb, threads=threads, most=most, going_on=going_on
        )
        return ranks.undo(filled), done
    free = replace(settings, k=DEFAULTS["k"], two_phase=False, neighbourhood="exact", start=None)
    trees = replace(free, max_parents=_parents_in_trees(settings))
    stack = Stack(table, completions)
    stack.scatter(Stream(settings.seed, _BRANCH, 0))
    best = partial(_best, cache_mb=cache_mb, threads=threads or cores())
    # At least one round is done: the first filling knows of no dependences.
    model = best(stack.dataset(), trees, tick=lambda: going_on(0) or True)
    settled, rounds = False, 0
    last: dict[tuple[str, ...], Model] = {}  # of all rounds: many families stay
    enough = most_rounds(stack.size)
    while model is not None and not settled and rounds < enough:
        rounds += 1
        parents = families(table.dataset.names, model.to_dag())
        estimates = Estimates(parents, filled=stack.filled, last=last)
        fill(stack, estimates, Stream(settings.seed, _BRANCH, rounds))
        if rounds == most or not going_on(rounds):
            break
        found = best(stack.dataset(), free, tick=partial(going_on, rounds))
        settled, model = found == model, found
    return stack.dataset(), Completion(table.cells, rounds, settled)


def most_rounds(values: int) -> int:
    """Return how many rounds a stack with so many values gets at most."""
    return min(MOST_ROUNDS, max(2, MOST_VALUES // (values * SWEEPS)))


def _parents_in_trees(settings: Settings) -> int:
    """Return 1, or what is allowed or required."""
    most, known = settings.max_parents, settings.knowledge
    required = Counter(child for _, child in known.required) if known is not None else Counter()
    return max(1 if most is None else min(1, most), *required.values(), 0)


def _best(
    table: Dataset, settings: Settings, *, cache_mb: int, threads: int, tick: Callable[[], bool]
) -> EssentialGraph | None:
    """Return the best model of a few runs and what improves on them; None if told to stop."""
    core = core_problem(table, settings.measure, cache_mb)
    models: list[tuple[RawGraph, float]] = []
    ends: dict[int, int] = {}
    stopped = False

    def goes_on() -> bool:
        nonlocal stopped
        stopped = stopped or not tick()
        return not stopped

    def on_runs(runs: list[int], ended: list[int], new: NewModels) -> bool:
        models.extend((graph, score) for graph, score, _ in new)
        ends.update(zip(runs, ended, strict=True))
        return goes_on()

    def on_tasks(found: list[tuple[RawGraph, float, str, list[int], int]], _: int) -> bool:
        pool.extend((graph, score) for graph, score, *_ in found)
        return goes_on()

    runs, tasks = of_round(len(table.names))
    options = settings.for_core(table.names)
    with core_errors():
        core.search(list(range(runs)), on_runs, n_jobs=threads, **options)
        if stopped:
            return None
        # In the order of the runs: that in which they end depends on the threads.
        pool = [models[place] for place in dict.fromkeys(ends[run] for run in range(runs))]
        core.improve(
            [graph for graph, _ in pool],
            on_tasks,
            tasks=tasks,
            seed=settings.seed,
            max_parents=settings.max_parents,
            n_jobs=threads,
            knowledge=options["knowledge"],
        )
    if stopped:
        return None
    best, _ = max(pool, key=lambda model: core.level(model[1]))
    return EssentialGraph.from_core(table.names, best)
