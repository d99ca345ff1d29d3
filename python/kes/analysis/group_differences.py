"""Certainty of the differences between two results: evidence in both, and shuffled group labels.

Two groups of cases, such as women and men, or two years, never give exactly the same model. For
each edge in which the best models differ, two questions matter:

- *Evidence.* How many nats does the edge gain in each group? An edge that one model has and the
  other lacks may be undecided in both.
- *Permutation.* All cases are put together and divided at random into groups of the same sizes,
  many times. The p-value of an edge is the share of these divisions, the true one included, in
  which its evidence differs between the groups by at least as much. It says how often the
  difference would come up if the groups were alike [Good 2005].
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.analysis.constrained_search import Contest
from kes.analysis.evidence import Scoreboard, difference, edge_question
from kes.budget import Budget
from kes.data.column import Column, Continuous, Discrete, State
from kes.data.dataset import Dataset
from kes.data.random_stream import Purpose, Stream
from kes.errors import KesError
from kes.progress import Progress, Show, reporting
from kes.search.driver import Scored
from kes.search.problem import Problem

Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Sureness:
    """Evidence for an edge in both results, in nats, and the p-value of the difference.

    None where it is not known: without data, or without permutations.
    """

    here: float | None
    there: float | None
    p_value: float | None = None


def pair_evidence(
    problem: Problem, known: Sequence[Scored], pairs: Sequence[Pair], *, tasks: int, threads: int
) -> list[float | None]:
    """Return the evidence for edges between some pairs, whether or not a known model joins them."""
    place = {name: i for i, name in enumerate(problem.dataset.names)}
    asked = [edge_question(*sorted((place[a], place[b]))) for a, b in pairs]
    board = Scoreboard(Contest(problem, known, tasks=tasks, threads=threads), asked)
    board.settle(asked, None, None)
    return [difference(board.score(one.yes), board.score(one.no)) for one in asked]


def p_values(
    here: Problem,
    there: Problem,
    pairs: Sequence[Pair],
    permutations: int,
    *,
    threads: int,
    progress: bool | Show | None = None,
) -> list[float]:
    """Return the p-value of each pair."""
    _check(here, there)
    both = _pooled(here.dataset, there.dataset)
    groups = np.repeat([False, True], [here.dataset.rows, there.dataset.rows])
    started = time.monotonic()

    def differences(labels: NDArray[np.bool_]) -> NDArray[np.float64]:
        parts = [
            Problem(both.take(np.flatnonzero(labels == own)), here.settings, here.cache_mb)
            for own in (False, True)
        ]
        one, other = ([x or 0.0 for x in _quick_evidence(part, pairs, threads)] for part in parts)
        gap: NDArray[np.float64] = np.abs(np.array(other) - np.array(one))
        return gap

    # In an order of its own, so that the order of the rows has no effect.
    order = _sorted(both)
    with reporting(progress) as report:
        observed = differences(groups)
        reached = np.ones(len(pairs))
        for number in range(permutations):
            report(Progress.at_a_pace(number, permutations, started, "permutations"))
            stream = Stream(here.settings.seed, Purpose.GROUPS, number)
            shuffled = np.empty(both.rows, dtype=np.bool_)
            shuffled[order[np.argsort(stream.uniforms(both.rows), kind="stable")]] = groups
            reached += differences(shuffled) >= observed
    return list(reached / (permutations + 1))


def _quick_evidence(problem: Problem, pairs: Sequence[Pair], threads: int) -> list[float | None]:
    """Return the evidence by greedy climbs alone, which groups and permutations share."""
    greedy = problem.driver(threads).greedy().search(Budget(runs=1))
    return pair_evidence(problem, greedy, pairs, tasks=0, threads=threads)


def _check(here: Problem, there: Problem) -> None:
    """Refuse tables whose cases cannot be exchanged."""
    different = here.settings.differences(there.settings)
    if different:
        raise KesError(
            "permutations need results with the same settings; these differ:",
            *(f"  {line}" for line in different),
            option="permutations",
        )
    for problem in (here, there):
        if problem.completion is not None or problem.dataset.weights is not None:
            raise KesError(
                "permutations need tables without weights and missing values",
                option="permutations",
            )


def _pooled(one: Dataset, other: Dataset) -> Dataset:
    """Return the rows of both tables, with the states of both."""
    columns: list[Column] = []
    for name in one.names:
        own, more = (table.columns[table.names.index(name)] for table in (one, other))
        if isinstance(own, Discrete) and isinstance(more, Discrete):
            states = [*own.states, *(state for state in more.states if state not in own.states)]
            columns.append(
                Discrete(
                    tuple(states),
                    np.concatenate([own.codes.astype(np.int32), _recoded(more, states)]),
                )
            )
        elif isinstance(own, Continuous) and isinstance(more, Continuous):
            columns.append(Continuous(np.concatenate([own.values, more.values])))
        else:
            raise KesError(
                f"column {name!r} is {own.kind} in one table and {more.kind} in the other; set its "
                "kind, and learn again",
                column=name,
                option="kinds",
            )
    return Dataset.of(one.names, columns, None, ())


def _recoded(column: Discrete, states: Sequence[State]) -> NDArray[np.int32]:
    place = {state: i for i, state in enumerate(states)}
    lookup = np.array([place[state] for state in column.states], dtype=np.int32)
    codes: NDArray[np.int32] = lookup[column.codes]
    return codes


def _sorted(table: Dataset) -> NDArray[np.intp]:
    """Return the rows sorted by their values, columns in the order of their names."""
    places = sorted(range(len(table.names)), key=table.names.__getitem__)
    columns = [table.columns[place] for place in places]
    keys = [own.codes if isinstance(own, Discrete) else own.values for own in columns]
    return np.lexsort(keys)
