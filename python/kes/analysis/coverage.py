"""Coverage: how much of the landscape the runs have seen.

Runs are independent and identically distributed draws of models. So the estimators for sampling
species apply: the numbers of models found once, twice, three times are informative about those
that were not found at all.

Two questions must be distinguished. *How often would a further run end in a new model?* The runs
answer that well (`Coverage.unseen_mass`). *Is the best model found so far the optimum?* They cannot
answer that: a model that one run in ten thousand reaches has next to no mass and may be the best of
all. The runs do show how often the best was found, and how the best score has grown with the number
of runs (`Coverage.expected_gain`).

All averages over orders of the runs are exact; none is simulated.
"""

import math
from collections import Counter
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.results.optima import Optima
from kes.results.summary import counted
from kes.table import Table, tabulated
from kes.validation import integer

_Z = 1.959963984540054  # 97.5 % quantile of the standard normal distribution
_FEW_RUNS = 10
_POINTS = 200


@dataclass(frozen=True)
class Estimate:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Gain:
    """Estimated gain of further runs.

    Attributes
    ----------
    runs : int
        Number of further runs.
    probability : float
        Estimated chance that one of them ends on a higher score level than the best so far.
    score : float
        Estimated mean increase of the best score, in natural logarithms.
    """

    runs: int
    probability: float
    score: float


class Coverage:
    """The explored share of the landscape of local optima; returned by `Optima.coverage`.

    Attributes
    ----------
    runs : int
        Number of runs, n.
    models, levels : int
        Distinct models and distinct score levels found.
    once, twice : int
        Models found by exactly one run and by exactly two: f1 and f2.
    best_score : float
        The highest score found.
    best_hits : int
        Number of runs that reached it, in any model.
    """

    def __init__(self, optima: Optima) -> None:
        self.best_score = optima.best_run.score
        level_of = optima.record.level
        self._model_hits = np.array([optimum.hits for optimum in optima.of_runs], dtype=np.int64)
        at_level: Counter[float] = Counter()
        scores: dict[float, float] = {}
        for optimum in optima.of_runs:
            level = level_of(optimum.score)
            at_level[level] += optimum.hits
            scores.setdefault(level, optimum.score)
        self.runs, self.models, self.levels = len(optima.runs), len(optima.of_runs), len(at_level)
        self.once, self.twice = (int(np.sum(self._model_hits == hits)) for hits in (1, 2))
        ascending = sorted(at_level)
        self._level_hits = np.array([at_level[level] for level in ascending], dtype=np.int64)
        self._level_scores = np.array([scores[level] for level in ascending])
        self._run_scores = optima.run_scores
        self.best_hits = int(self._level_hits[-1])

    # --- unseen models ---

    @cached_property
    def unseen_mass(self) -> Estimate:
        """Share of further runs that would end in a new model [Good 1953].

        The estimate is f1 / n. Its interval follows the normal approximation of [Esty 1983], with
        two runs added in either direction so that it remains valid when f1 is near 0 or n [Agresti
        & Coull 1998]. With fewer than 10 runs it is [0, 1].

        Little unseen mass does not mean that the best model was found.
        """
        n, f1, f2 = self.runs, self.once, self.twice
        if n < _FEW_RUNS:
            return Estimate(f1 / n, 0.0, 1.0)
        n_ = n + _Z**2
        centre = (f1 + _Z**2 / 2) / n_
        spread = _Z * math.sqrt(centre * (1 - centre) / n_ + 2 * f2 / n_**2)
        return Estimate(f1 / n, max(0.0, centre - spread), min(1.0, centre + spread))

    @cached_property
    def chao1(self) -> Estimate:
        """Lower bound on the number of models that runs can end in, seen or not [Chao 1984].

        Models that hardly any run reaches leave no trace in the runs, so the true number may be
        far higher. The interval is the log-normal one of [Chao 1987]; if no unseen model is
        suspected, the one of [Chao 2016]. With one run it has no upper end.
        """
        n, seen, f1, f2 = self.runs, self.models, self.once, self.twice
        share = (n - 1) / n
        if n == 1:
            return Estimate(1.0, 1.0, math.inf)
        if f2:
            ratio = f1 / f2
            unseen = share * f1 * ratio / 2
            variance = f2 * (share * ratio**2 / 2 + share**2 * ratio**3 + share**2 * ratio**4 / 4)
        else:
            unseen = share * f1 * (f1 - 1) / 2
            variance = (
                unseen
                + share**2 * f1 * (2 * f1 - 1) ** 2 / 4
                - share**2 * f1**4 / (4 * (seen + unseen))
            )
        if unseen == 0:
            return _none_suspected(n, self._model_hits)
        factor = math.exp(_Z * math.sqrt(math.log1p(variance / unseen**2)))
        return Estimate(seen + unseen, seen + unseen / factor, seen + unseen * factor)

    # --- growth with the number of runs ---

    def accumulation(self) -> Table:
        """Return the mean number of models and score levels in m of the runs, for m up to n.

        The mean is over all choices of m runs, and so independent of their order [Hurlbert 1971].
        If the curve still rises at its end, there are unseen models. At most 200 values of m are
        listed.
        """
        sizes = _sizes(self.runs)
        models = _rarefied(self.runs, self._model_hits, sizes)
        levels = _rarefied(self.runs, self._level_hits, sizes)
        return Table({"runs": sizes.tolist(), "models": models, "levels": levels})

    def best_so_far(self) -> Table:
        """Return the best score after m runs: in the order of the runs, and on average.

        The average is over all choices of m of the runs. At most 200 values of m are listed.
        """
        sizes = _sizes(self.runs)
        observed = np.maximum.accumulate(self._run_scores)[sizes - 1].tolist()
        expected = [self.best_score - self._shortfall(int(m)) for m in sizes]
        return Table({"runs": sizes.tolist(), "observed": observed, "expected": expected})

    def expected_gain(self, runs: int) -> Gain | None:
        """Estimate the gain of further runs by resampling the runs.

        Going from n to n + m runs multiplies their number by (n + m) / n. The gain of the last such
        step is known, averaged over all orders of the runs: the best of all n against the best of
        n² / (n + m) of them. That is the estimate. If all scores differ, the probability is
        m / (n + m), as it must be for independent runs.

        The estimate is biased upwards, since gains diminish: slightly for m = n as long as new
        scores keep appearing, but by a multiple when most of the landscape is known or m is much
        larger than n. Read it as "hardly more than".

        Parameters
        ----------
        runs : int
            Number of further runs, m.

        Returns
        -------
        Gain or None
            None after a single run.
        """
        more = integer("runs", runs, minimum=1)
        n = self.runs
        if n == 1:
            return None
        before = min(n - 1, max(1, n * n // (n + more)))
        missed = _all_missed(n, np.array([self.best_hits]), before)
        return Gain(more, float(missed[0]), self._shortfall(before))

    def _shortfall(self, size: int) -> float:
        """Return the mean distance of the best of `size` runs from the best of all runs.

        That is the sum, over adjacent levels, of their distance times the probability that all
        runs above are missed.
        """
        above = self.runs - np.cumsum(self._level_hits)[:-1]
        return float(np.diff(self._level_scores) @ _all_missed(self.runs, above, size))

    # --- display ---

    def table(self) -> Table:
        """Return the figures as a table, with 95 % intervals of the estimates."""
        figures = {
            "runs": self.runs,
            "models": self.models,
            "levels": self.levels,
            "models found once": self.once,
            "models found twice": self.twice,
            "runs that hit the best score": self.best_hits,
        }
        rows: list[tuple[Any, ...]] = [(*figure, None, None) for figure in figures.items()]
        rows.append(("unseen mass", *astuple(self.unseen_mass)))
        rows.append(("models in all, at least (Chao1)", *astuple(self.chao1)))
        return tabulated(("figure", "value", "low", "high"), rows)

    def __repr__(self) -> str:
        mass, chao, gain = self.unseen_mass, self.chao1, self.expected_gain(self.runs)
        runs, number, more = counted(self.runs, "run"), "unknown after one run", ""
        if gain is not None:
            number = f"at least about {chao.value:.0f} ({chao.low:.0f} to {chao.high:.0f})"
            more = (
                "twice as many: a better score with a probability of up to "
                f"{gain.probability:.0%}, mean gain {gain.score:.3g}"
            )
        found = (
            "The best score was found only once: a better one may well exist."
            if self.best_hits == 1
            else "Finding the best score repeatedly does not prove that no rarer one is better."
        )
        return f"""Coverage of {runs}
  models         {self.models} distinct on {counted(self.levels, "score level")}; \
{self.once} found by one run only
  unseen mass    about {mass.value:.1%} of further runs would end in a new model \
({mass.low:.1%} to {mass.high:.1%})
  models in all  {number}
  best score     {self.best_score:.4f}, found by {self.best_hits} of {runs}
  more runs      {more or number}
In brackets: 95 % intervals. Unseen mass says how often runs would end in new models,
not how good these are: models that few runs reach may be the best.
{found}"""


def _none_suspected(runs: int, hits: NDArray[np.int64]) -> Estimate:
    """Return the interval of Chao1 if no unseen model is suspected.

    As many new runs would miss a model with h hits with probability exp(-h), approximately. This
    gives the mean and variance of the number of models that they find.
    """
    seen, missed = float(len(hits)), np.exp(-hits.astype(np.float64))
    variance = float(np.sum(missed - missed**2) - np.sum(hits * missed) ** 2 / runs)
    share = 1 - float(missed.mean())
    spread = _Z * math.sqrt(max(variance, 0.0))
    return Estimate(seen, max(seen, (seen - spread) / share), (seen + spread) / share)


def _sizes(runs: int) -> NDArray[np.int64]:
    """Return numbers of runs from 1 to all, at most 200 of them, evenly spread."""
    return np.unique(np.linspace(1, runs, min(runs, _POINTS)).round().astype(np.int64))


def _rarefied(runs: int, hits: NDArray[np.int64], sizes: NDArray[np.int64]) -> list[float]:
    """Return the mean number of kinds in m of the runs, for each m.

    A kind with h hits is missed by a share C(n - h, m) / C(n, m) of the choices of m runs.
    """
    different, kinds = np.unique(hits, return_counts=True)
    return [float(kinds @ (1 - _all_missed(runs, different, int(size)))) for size in sizes]


def _all_missed(runs: int, hits: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """Return the probability that a choice of `size` runs contains none of `hits` given ones.

    It is C(n - h, m) / C(n, m), computed from logarithms of factorials.
    """
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, runs + 1)))])
    possible = hits <= runs - size
    rest = np.where(possible, runs - size - hits, 0)
    logs = factorial[runs - hits] - factorial[rest] + factorial[runs - size] - factorial[runs]
    return np.where(possible, np.exp(np.minimum(logs, 0.0)), 0.0)
