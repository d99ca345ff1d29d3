"""Which k finds the best score, given the same budget.

A greedy search (k near 1) makes few, good, similar runs; a random one (k near 0) makes many
different runs, most of them worse. Which does better within a given time depends on the data, and
is best found out by trying.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kes.collector import Limits
from kes.coverage import Coverage
from kes.data.dataset import Data, Weights
from kes.data.encode import encode
from kes.errors import KesError
from kes.learn import Execution, search
from kes.optima import Optima
from kes.settings import Sampled, Settings, whole
from kes.study import DEFAULT_CACHE_MB, Study
from kes.summary import Standing, counted
from kes.table import Table

if TYPE_CHECKING:
    from kes.graph import EssentialGraph
    from kes.progress import Progress

_RUNS = 100


@dataclass(frozen=True)
class Sweep:
    """Results for several k.

    Attributes
    ----------
    optima : dict of float to Optima
        The result for each k. As after loading, extending one needs the data.
    budget : str
        What each k was given, in words.
    """

    optima: Mapping[float, Optima]
    budget: str

    @cached_property
    def recommended(self) -> float:
        """The k that did best.

        It reached the highest score level; of several that did, it hit that level in the most
        runs; if that is equal, too, its runs were better on average, or else it is the greediest,
        whose runs take the fewest steps.
        """
        return max(
            self.optima,
            key=lambda k: (self._levels[k], self._hits(k), self.optima[k].run_scores.mean(), k),
        )

    @cached_property
    def wins(self) -> dict[float, float]:
        """How sure it is, for each k, that it reaches the best score of all.

        The probability, when for each k as many runs as there are are drawn anew from its own,
        with replacement, that none of the other k reaches a higher level. Several k may reach the
        best level at once, so these need not sum to 1. New runs could end in models not seen here:
        take the figures as comparisons, not as promises.
        """
        every = sorted({level for own in self._run_levels.values() for level in own.tolist()})
        # For each k and level, the probability that the best of its runs is not higher.
        below = {
            k: np.array([np.mean(own <= level) for level in every]) ** len(own)
            for k, own in self._run_levels.items()
        }
        wins = {}
        for k, mine in below.items():
            others = [theirs for other, theirs in below.items() if other != k]
            none_higher = np.prod([np.ones(len(every)), *others], axis=0)
            wins[k] = float(np.diff(mine, prepend=0.0) @ none_higher)
        return wins

    def table(self) -> Table:
        """Return a row for each k.

        The columns: number of `runs`, distinct `optima` and score `levels`, the `best_score`, how
        far it lies `below_best` of all, the runs that hit it (`best_hits`), the `mean_score` of
        the runs, the share of them `better_than_ges`, the estimated `unseen_mass`, and `wins`.
        """
        top = max(optima.best.score for optima in self.optima.values())
        coverage = {k: Coverage(optima) for k, optima in self.optima.items()}
        every = self.optima.values()
        return Table(
            {
                "k": list(self.optima),
                "runs": [len(optima.runs) for optima in every],
                "optima": [len(optima) for optima in every],
                "levels": [optima.levels for optima in every],
                "best_score": [optima.best.score for optima in every],
                "below_best": [top - optima.best.score for optima in every],
                "best_hits": [own.best_hits for own in coverage.values()],
                "mean_score": [float(optima.run_scores.mean()) for optima in every],
                "better_than_ges": [_better_than_ges(optima) for optima in every],
                "unseen_mass": [own.unseen_mass.value for own in coverage.values()],
                "wins": [self.wins[k] for k in self.optima],
            }
        )

    @property
    def recommendation(self) -> str:
        """What the sweep suggests, and how sure that is."""
        k, best = self.recommended, self.optima[self.recommended].best.score
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
        if len(self.optima) > 1:
            parts.append(
                f"With the runs drawn anew from these, k={k:g} is best or level in "
                f"{self.wins[k]:.0%} of cases."
            )
        if len(also) == len(self.optima) - 1 and also:
            parts.append("All k reach the same score, so the choice hardly matters here.")
        elif hits == 1:
            parts.append(
                "A single run made the difference: another seed may favour another k. "
                "A larger budget would tell more."
            )
        return " ".join(parts)

    def __repr__(self) -> str:
        return f"{self.table()!r}\n{self.recommendation}"

    @cached_property
    def _run_levels(self) -> dict[float, np.ndarray[tuple[int], np.dtype[np.int64]]]:
        return {
            k: np.array([optima._record.level(score) for score in optima.run_scores])
            for k, optima in self.optima.items()
        }

    @cached_property
    def _levels(self) -> dict[float, int]:
        """The highest score level that each k has reached."""
        return {k: int(levels.max()) for k, levels in self._run_levels.items()}

    def _hits(self, k: float) -> int:
        """Return the number of runs that reached the best level of their k."""
        return int(np.sum(self._run_levels[k] == self._levels[k]))


def sweep(
    data: Data,
    ks: Iterable[float] = (0, 0.2, 0.4, 0.6, 0.8, 1),
    *,
    runs: int | None = None,
    budget: float | str | None = None,
    criterion: str = "bic",
    ess: float = 1.0,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    max_parents: int | None = None,
    two_phase: bool = False,
    neighbourhood: str | Sampled = "exact",
    weights: Weights = None,
    missing: str = "error",
    start: EssentialGraph | Sequence[tuple[str, str]] | None = None,
    cache_mb: int = DEFAULT_CACHE_MB,
    progress: bool | Callable[[Progress], object] | None = None,
) -> Sweep:
    """Try several k with the same budget each, to see which finds the best score.

    Parameters
    ----------
    ks : iterable of float
        The values of k.
    runs : int or None
        Number of runs for each k; 100 if no `budget` is given either. The result depends on
        nothing but data, settings and seed.
    budget : float, str or None
        Or the time for each k, such as "10s". Each k starts with an empty cache, so that none
        profits from the one before. This is the fairer comparison, as greedy runs are shorter,
        but the result depends on the machine and its load.
    data, criterion, ess, random_state, n_jobs, max_parents, two_phase, neighbourhood, weights, \
missing, start, cache_mb, progress
        As in `kes.learn`. Progress is shown for one k after the other.

    Returns
    -------
    Sweep
        With a `table`, the `recommended` k and a `recommendation` in words.

    Raises
    ------
    KesError
        If the data or an option cannot be used, or both `runs` and `budget` are given.
    Interrupted
        On Ctrl-C, with what the search with the k at hand had found.

    Examples
    --------
    >>> import kes
    >>> tried = kes.sweep(kes.datasets.alarm(rows=500), ks=[0.4, 1], runs=20)
    >>> list(tried.optima)
    [0.4, 1.0]
    """
    if runs is not None and budget is not None:
        raise KesError("give either runs or budget: each k gets so many runs, or so much time")
    execution = Execution.checked(n_jobs, budget, None, progress, None)
    wanted = whole("runs", _RUNS if runs is None else runs, least=1)
    memory = whole("cache_mb", cache_mb, least=1)
    chosen = [
        Settings.checked(
            k=k,
            criterion=criterion,
            ess=ess,
            random_state=random_state,
            max_parents=max_parents,
            two_phase=two_phase,
            neighbourhood=neighbourhood,
        )
        for k in _several(ks)
    ]
    seed = chosen[0].seed  # one for all, also if it was drawn
    dataset = encode(data, weights=weights, missing=missing)
    found: dict[float, Optima] = {}
    for settings in chosen:
        own = replace(settings, seed=seed).starting(start, dataset.names)
        found[own.k] = _searched(Study(dataset, own, memory), wanted, execution)
    given = counted(wanted, "run") if budget is None else f"{execution.limits.budget:g} s"
    return Sweep(found, given)


def _searched(study: Study, wanted: int, execution: Execution) -> Optima:
    """Do so many runs; or, if the time is limited, more and more until it is over."""
    started, budget = time.monotonic(), execution.limits.budget
    optima = search(study, wanted, execution)
    while budget is not None and (left := budget - (time.monotonic() - started)) > 0:
        wanted *= 2
        rest = replace(execution, limits=Limits(budget=left))
        optima = search(study, wanted, rest, base=optima._record)
    # Without the study: the caches of all k at once might not fit into memory.
    return Optima(optima._record, seconds=time.monotonic() - started)


def _several(ks: object) -> list[object]:
    """Return the values of k that a user wrote."""
    if not isinstance(ks, Iterable) or isinstance(ks, str):
        raise KesError(f"ks must be several numbers from 0 to 1, such as (0.4, 0.8), not {ks!r}")
    several = list(ks)
    if not several:
        raise KesError("ks is empty: give at least one number from 0 to 1")
    if len(set(several)) < len(several):
        raise KesError(f"ks has a number more than once: {several}")
    return several


def _better_than_ges(optima: Optima) -> float:
    return Standing.of(optima, optima.ges.score).above / len(optima.runs)
