"""Comparison of several values of k with the same budget.

A greedy search (k near 1) gives few, good, similar results; a random one (k near 0) gives many
different results, most of them worse. Which is better within a given time depends on the data.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from kes.analysis.coverage import Coverage
from kes.budget import Budget
from kes.data.dataset import Data
from kes.data.random_stream import Purpose, Stream
from kes.declare import checked_options
from kes.errors import KesError
from kes.options import SearchOptions
from kes.results.optima import Optima
from kes.results.summary import Standing, counted
from kes.search.driver import Execution
from kes.search.pipeline import search
from kes.search.problem import Problem
from kes.search.record import Record
from kes.table import Table
from kes.validation import integer, number

_RUNS = 100
_SPLITS = 128
_SETTLED = 0.9


@dataclass(frozen=True)
class Sweep:
    """Results for several k.

    Attributes
    ----------
    optima : dict of float to Optima
        The result for each k. As after loading, extending one needs the data.
    budget : str
        Budget of each k in words.
    """

    optima: Mapping[float, Optima]
    budget: str

    @cached_property
    def recommended(self) -> float:
        """The best k.

        It reached the highest score level; ties are broken by the number of runs that reached
        it, then by the mean score of the runs, then by the larger k, whose runs take fewer steps.
        """
        return max(
            self.optima,
            key=lambda k: (self._levels[k], self._hits(k), self.optima[k].run_scores.mean(), k),
        )

    @property
    def repeatability(self) -> float | None:
        """The frequency with which the k that one half of the runs recommends is best in the other.

        The runs of each k are split at random into two halves, 128 times. One half gives a
        recommendation, which is tested on the other; ties count. This is a rough and conservative
        estimate of how often a sweep with another seed would agree: a lucky run is in one half
        only. None with a single run for some k.
        """
        return None if self._halves is None else self._halves[0]

    def table(self) -> Table:
        """Return a row for each k.

        The columns: number of `runs`, distinct `optima` and score `levels`, the `best_score`, how
        far it lies below the best of all k (`below_best`), the number of runs that reached it
        (`best_hits`), the `mean_score` of the runs, the share of them `better_than_ges`, the
        estimated `unseen_mass`, and how often this k is best or tied when the runs are split into
        halves (`best_in_halves`; see `repeatability`).
        """
        every = self.optima.values()
        top, coverage = max(own.best_run.score for own in every), [Coverage(own) for own in every]
        return Table(
            {
                "k": list(self.optima),
                "runs": [len(optima.runs) for optima in every],
                "optima": [len(optima.of_runs) for optima in every],
                "levels": [optima.levels for optima in every],
                "best_score": [optima.best_run.score for optima in every],
                "below_best": [top - optima.best_run.score for optima in every],
                "best_hits": [own.best_hits for own in coverage],
                "mean_score": [float(optima.run_scores.mean()) for optima in every],
                "better_than_ges": [
                    Standing.of(optima, optima.ges.score).above / len(optima.runs)
                    for optima in every
                ],
                "unseen_mass": [own.unseen_mass.value for own in coverage],
                "best_in_halves": self._halves[1] if self._halves else [None] * len(every),
            }
        )

    @property
    def recommendation(self) -> str:
        """The recommended k and its uncertainty, in words."""
        k, best = self.recommended, self.optima[self.recommended].best_run.score
        hits, runs = self._hits(k), len(self.optima[k].runs)
        also = [
            f"k={other:g} ({counted(self._hits(other), 'run')})"
            for other in self.optima
            if other != k and self._levels[other] == self._levels[k]
        ]
        parts = [
            f"k={k:g} found the best score, {best:.4f}, in {hits} of {counted(runs, 'run')} "
            f"({self.budget} for each k)."
        ]
        if also:
            parts.append(f"Also found by {', '.join(also)}.")
        if also and len(also) == len(self.optima) - 1:
            parts.append("All k reach the same score, so the choice hardly matters.")
        elif len(self.optima) > 1:
            parts.append(self._doubt())
        return " ".join(parts)

    def _doubt(self) -> str:
        """Return the uncertainty of the recommendation in words."""
        if self.repeatability is None:
            return "One run for each k is not enough to tell which is better."
        text = (
            "When the runs are split at random into halves, the k recommended by one half is best "
            f"or tied in the other half {self.repeatability:.0%} of the time"
        )
        if self.repeatability >= _SETTLED:
            return f"{text}."
        return f"{text}: which k is best is uncertain; use a larger budget."

    def __repr__(self) -> str:
        return f"{self.table()!r}\n{self.recommendation}"

    @cached_property
    def _halves(self) -> tuple[float, list[float]] | None:
        if min(len(levels) for levels in self._run_levels.values()) == 1:
            return None
        scores = [optima.run_scores for optima in self.optima.values()]
        return _split(list(self.optima), list(self._run_levels.values()), scores)

    @cached_property
    def _run_levels(self) -> dict[float, NDArray[np.int64]]:
        return {
            k: np.array([optima.record.level(score) for score in optima.run_scores])
            for k, optima in self.optima.items()
        }

    @cached_property
    def _levels(self) -> dict[float, int]:
        """The highest score level that each k has reached."""
        return {k: int(levels.max()) for k, levels in self._run_levels.items()}

    def _hits(self, k: float) -> int:
        """Return the number of runs that reached the best level of their k."""
        return int(np.sum(self._run_levels[k] == self._levels[k]))


def _split(
    ks: Sequence[float],
    levels: Sequence[NDArray[np.int64]],
    scores: Sequence[NDArray[np.float64]],
) -> tuple[float, list[float]]:
    """Split the runs of each k at random; return how often the halves agree, and each k is best.

    A run falls into either half with equal probability, one bit for each split.
    """
    shape = (len(ks), 2, _SPLITS)
    top, hits, mean = np.full(shape, -np.inf), np.zeros(shape), np.full(shape, -np.inf)
    for i, (level, score) in enumerate(zip(levels, scores, strict=True)):
        stream = Stream(0, Purpose.HALVES, i)
        bits = stream.integers(len(level) * _SPLITS // 64).reshape(len(level), -1, 1)
        first = (bits >> np.arange(64, dtype=np.uint64) & np.uint64(1)).reshape(len(level), -1) == 1
        for half, chosen in enumerate((first, ~first)):
            top[i, half] = np.where(chosen, level[:, None], -np.inf).max(axis=0)
            hits[i, half] = np.sum(chosen & (level[:, None] == top[i, half]), axis=0)
            size = chosen.sum(axis=0)
            np.divide(score @ chosen, size, out=mean[i, half], where=size > 0)
    order = np.broadcast_to(np.array(ks)[:, None, None], shape)
    recommended = np.lexsort((order, mean, hits, top), axis=0)[-1]
    best = top == top.max(axis=0)
    agreed = [np.take_along_axis(best[:, 1 - half], recommended[None, half], 0) for half in (0, 1)]
    return float(np.mean(agreed)), best.mean(axis=(1, 2)).tolist()


@checked_options(SearchOptions)
def sweep(
    data: Data,
    ks: Iterable[float] = (0, 0.2, 0.4, 0.6, 0.8, 1),
    *,
    runs: int | None = None,
    budget: float | str | None = None,
    **options: Unpack[SearchOptions],
) -> Sweep:
    """Compare several values of k with the same budget each.

    Progress is shown for one k after the other. The runs are not improved, as the runs themselves
    are compared.

    Parameters
    ----------
    data
        As in `kes.learn`.
    ks : iterable of float
        The values of k.
    runs : int or None
        Number of runs for each k; 100 by default. The result depends only on data, settings and
        seed.
    budget : float, str or None
        Alternatively, the time for each k, such as "10s". Each k starts with an empty cache. This
        is the fairer comparison, as greedy runs are shorter, but the result depends on the machine
        and its load.

    Returns
    -------
    Sweep
        With a `table`, the `recommended` k and a `recommendation` in words.

    Raises
    ------
    KesError
        If the data or an option cannot be used, or both `runs` and `budget` are given.
    Interrupted
        On Ctrl-C, with the result for the current k so far.

    Examples
    --------
    >>> import kes
    >>> tried = kes.sweep(kes.datasets.alarm(rows=500), ks=[0.4, 1], runs=20)
    >>> list(tried.optima)
    [0.4, 1.0]
    """
    if runs is not None and budget is not None:
        raise KesError("pass either runs or budget for each k, not both", option="budget")
    wanted = integer("runs", _RUNS if runs is None else runs, minimum=1)
    allowed = Budget.parse(runs=wanted, budget=budget)
    execution = Execution.of(options)
    several = _several(ks)
    first = Problem.of(data, {**options, "k": several[0]})
    found: dict[float, Optima] = {}
    for k in several:
        # The same seed for all k, even if it was drawn.
        settings = replace(first.settings, k=number("k", k, minimum=0.0, maximum=1.0))
        problem = Problem(first.dataset, settings, first.cache_mb, first.reading)
        found[settings.k] = _searched(problem, allowed, execution)
    given = counted(wanted, "run") if budget is None else f"{allowed.seconds:g} s"
    return Sweep(found, given)


def _searched(problem: Problem, budget: Budget, execution: Execution) -> Optima:
    """Do the runs; with a time limit, do more and more until the time is up."""
    started, runs = time.monotonic(), budget.runs or 1

    def work() -> Record:
        record, wanted = search(problem, budget, execution), runs
        while (left := budget.since(started)).seconds is not None and left.seconds > 0:
            wanted *= 2
            record = search(problem, replace(left, runs=wanted), execution, base=record)
        return record

    optima = Optima.found_by(problem, work)
    optima.problem = None  # the caches of all k at once might not fit into memory
    return optima


def _several(ks: object) -> list[object]:
    """Validate the values of k."""
    if not isinstance(ks, Iterable) or isinstance(ks, str):
        raise KesError(
            f"ks must be several numbers from 0 to 1, such as (0.4, 0.8), not {ks!r}", option="ks"
        )
    several = list(ks)
    if not several:
        raise KesError("ks is empty: pass at least one number from 0 to 1", option="ks")
    if len(set(several)) < len(several):
        raise KesError(f"ks contains duplicates: {several}", option="ks")
    return several
