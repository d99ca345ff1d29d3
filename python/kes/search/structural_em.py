"""Impute missing values by stacked structural EM [Friedman 1998].

    fill the gaps with values of other rows; M = the best tree
    repeat  fit M to the completed table, and draw the missing values from it several times
            N = the best model of the completed table
            if N = M, or after a limit: stop
            M = N

The search then learns from the last completed table. The E-step is a sample of m completions of
each case; the best model is that of a short search. The first model is a tree because the first
filling hides dependences: a richer model would explain them by others, and the next completion
would follow those.

Valid if values are missing at random: whether a value is missing may depend on observed values,
but not on missing ones.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from kes.budget import short_search
from kes.data.dataset import Dataset, Incomplete
from kes.data.normal_scores import Ranks
from kes.data.random_stream import Purpose, Stream
from kes.data.resampling import Stack
from kes.graph import EssentialGraph
from kes.native import core_problem, cores
from kes.network.fitting import Estimates, Model, families, fitting_dag
from kes.network.gibbs import SWEEPS, OutOfTime, impute
from kes.options import DEFAULTS
from kes.search.driver import Driver
from kes.search.record import Completion
from kes.settings import Settings

MAX_ROUNDS = 20
MAX_VALUES = 3 * 10**8
"""Values drawn in all rounds, which takes about a minute; two rounds are always allowed."""


KeepGoing: TypeAlias = Callable[[int], bool]
"""Called often with the number of rounds done; returns whether to go on."""


def complete(
    table: Incomplete,
    settings: Settings,
    completions: int,
    cache_mb: int,
    *,
    threads: int | None = None,
    again: Completion | None = None,
    keep_going: KeepGoing = lambda _: True,
) -> tuple[Dataset, Completion]:
    """Impute the missing values; return the completed table and what was done.

    The values depend on the table (not on the order of its rows), the seed, the criterion (with
    `ess`, `penalty`, `transform` and `basis`), the prior over edges, `max_parents`, the knowledge
    and the number of completions. They do not depend on how runs choose among neighbours, so
    searches with any k, and proofs, use the same completed table. If stopped before the model has
    settled, the values are those of the last sweep that ended. Give an earlier completion to do the
    same sweeps `again`.

    Raises
    ------
    OutOfTime
        If it is stopped before a single sweep: the first filling ignores all dependences.
    """
    how: dict[str, Any] = {"threads": threads, "again": again, "keep_going": keep_going}
    if not settings.measure.uses_ranks(table.kind):
        return _complete(table, settings, completions, cache_mb, **how)
    ranks = Ranks.of(table.dataset, table.gaps)
    scores = Incomplete(ranks.apply(table.dataset), table.gaps)
    plain = settings if settings.basis is not None else replace(settings, transform="none")
    filled, done = _complete(scores, plain, completions, cache_mb, **how)
    return ranks.undo(filled), done


def _complete(
    table: Incomplete,
    settings: Settings,
    completions: int,
    cache_mb: int,
    *,
    threads: int | None,
    again: Completion | None,
    keep_going: KeepGoing,
) -> tuple[Dataset, Completion]:
    """Impute the missing values of a table whose numbers are as the CPDs take them."""
    degree = settings.measure.degree
    free = replace(settings, k=DEFAULTS["k"], two_phase=False, neighbourhood="exact", start=None)
    trees = replace(free, max_parents=_parents_in_trees(settings))
    stack = Stack(table, completions)
    stack.scatter(Stream(settings.seed, Purpose.IMPUTATIONS, 0))
    best = partial(best_of, cache_mb=cache_mb, threads=threads or cores())
    rounds, sweeps, settled = 0, SWEEPS, False
    last: dict[tuple[str, ...], Model] = {}  # shared by all rounds: many families stay the same
    limit = max_rounds(stack.size)

    def check() -> None:
        if not keep_going(rounds):
            raise OutOfTime

    model = best(stack.dataset(), trees, keep_going=lambda: keep_going(0))
    while model is not None and not settled and rounds < limit:
        dag = fitting_dag(model, stack.dataset(), degree)
        parents = families(table.dataset.names, dag)
        estimates = Estimates(parents, filled=stack.filled, last=last, degree=degree, check=check)
        stream = Stream(settings.seed, Purpose.IMPUTATIONS, rounds + 1)
        is_last = again is not None and rounds + 1 == again.rounds
        wanted = again.sweeps if again is not None and is_last else SWEEPS
        done = impute(stack, estimates, stream, sweeps=wanted, check=check)
        if done:
            rounds, sweeps = rounds + 1, done
        if is_last or done < SWEEPS or not keep_going(rounds):
            break
        found = best(stack.dataset(), free, keep_going=partial(keep_going, rounds))
        settled, model = found == model, found
    if not rounds:
        raise OutOfTime
    settled = settled if again is None else again.settled
    return stack.dataset(), Completion(table.cells, rounds, settled, sweeps, stack.imputed)


def restored(
    table: Incomplete, settings: Settings, completions: int, earlier: Completion
) -> Dataset | None:
    """Return the completed table of an earlier search.

    None if its imputed values are not kept, or do not fit the gaps of this table.
    """
    if not earlier.imputed:
        return None
    ranks = None
    if settings.measure.uses_ranks(table.kind):
        ranks = Ranks.of(table.dataset, table.gaps)
        table = Incomplete(ranks.apply(table.dataset), table.gaps)
    stack = Stack(table, completions)
    if not stack.restore(earlier.imputed):
        return None
    return stack.dataset() if ranks is None else ranks.undo(stack.dataset())


def max_rounds(values: int) -> int:
    """Return the largest number of rounds for a stack with a number of missing values."""
    return min(MAX_ROUNDS, max(2, MAX_VALUES // (values * SWEEPS)))


def _parents_in_trees(settings: Settings) -> int:
    """Return 1, or what the settings allow or require."""
    limit, known = settings.max_parents, settings.knowledge
    required = Counter(child for _, child in known.required) if known is not None else Counter()
    return max(1 if limit is None else min(1, limit), *required.values(), 0)


def best_of(
    table: Dataset,
    settings: Settings,
    *,
    cache_mb: int,
    threads: int,
    keep_going: Callable[[], bool] = lambda: True,
    twins: bool = False,
) -> EssentialGraph | None:
    """Return the best model of a short search; None if it was stopped.

    With `twins`, columns that determine each other are accepted: see `core_problem`.
    """
    stopped = False

    def goes_on() -> bool:
        nonlocal stopped
        stopped = not keep_going()
        return not stopped

    additions = settings.additions(table.names)
    core = core_problem(table, settings.measure, cache_mb, additions, twins=twins)
    driver = Driver(core, table.names, settings.for_core(table.names), threads)
    found = driver.search(short_search(len(table.names)), goes_on)
    if stopped:
        return None
    best, _ = max(found, key=lambda model: core.level(model[1]))
    return EssentialGraph.from_core(table.names, best)
