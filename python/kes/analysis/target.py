"""Quality of predictions of a target by the networks of a search.

The cases are split. For each part, a network is learned from the other cases, structure included,
by a short search with the same settings; then it predicts the target in the part from the other
variables. For a large table one part is enough, and only some of its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.analysis.averaging import AVERAGE_WORK, average_of, recipe_of
from kes.budget import Budget
from kes.data.column import Discrete
from kes.data.dataset import AnyTable, Incomplete
from kes.data.normal_scores import quantiles
from kes.data.random_stream import Purpose, Stream
from kes.data.resampling import Cases
from kes.errors import KesError, unknown
from kes.network.average import AnyNetwork, AveragedNetwork
from kes.network.discrete import BayesianNetwork
from kes.network.gaussian import GaussianNetwork
from kes.network.new_rows import Unseen
from kes.options import AverageWork
from kes.results.optima import Optima
from kes.search.driver import Execution
from kes.search.evaluation import Evaluation
from kes.search.pipeline import search
from kes.search.problem import Problem

Floats: TypeAlias = NDArray[np.float64]
Quality: TypeAlias = tuple[dict[str, float], tuple[tuple[float, float, float], ...]]
"""Measures and calibration, as in `Evaluation`."""

_FOLDS, _RUNS = 5, 5
MEMBERS = 10
"""Networks of the averages that are evaluated beside single networks."""
_LEAST_CASES = 20
_MANY_CASES = 20_000
"""With more cases, one part is predicted, and no more rows of it than half of this."""

_GROUPS = 10
INTERVALS = (0.5, 0.8, 0.95)
"""Probabilities of prediction intervals."""


class Predictions(NamedTuple):
    """Predictions of a target in some rows.

    `values` are probabilities of the states, shape (rows, states), or means, shape (rows, 1). With
    means, `intervals` are prediction intervals, shape (rows, levels, 2): see `INTERVALS`. `spread`
    is the standard deviation between the members of an average, in the shape of the values; it is
    empty for a single network.
    """

    values: Floats
    intervals: Floats
    spread: Floats = np.zeros((0, 0))


def check_target(target: str, names: Sequence[str]) -> None:
    """Refuse a target that is not one of the variables."""
    if target not in names:
        raise unknown("target", target, names, option="target", column=str(target))


def evaluate(
    problem: Problem, target: str, execution: Execution, seconds: float | None
) -> Evaluation:
    """Predict a target in held-out cases; in none if they are too few or cannot be split.

    `seconds` bounds the time of all searches together.
    """
    nothing = Evaluation(target, 0.0, {}, ())
    try:
        cases = Cases(problem.table)
        folds = cases.folds(_FOLDS, Stream(problem.settings.seed, Purpose.TARGET))
    except KesError:  # weights that are not integers, or too many cases
        return nothing
    if cases.number < _LEAST_CASES:
        return nothing
    if cases.number > _MANY_CASES:
        train, test = folds[0]
        folds = [(train, _some(test, _MANY_CASES // 2))]
    time = None if seconds is None else seconds / len(folds) / 2
    allowed = Budget(runs=min(_RUNS, problem.size.runs), seconds=time)
    alone = replace(execution, progress=None, client=None)
    work: AverageWork = {**AVERAGE_WORK, "members": MEMBERS, "budget": time}
    work |= {"n_jobs": execution.threads}
    single, averaged, truths, weights, shares = [], [], [], [], []
    for train, test in folds:
        part = Problem(train, problem.settings, problem.cache_mb, problem.reading)
        part = part.completed(execution.threads)
        best = Optima.found_by(part, partial(search, part, allowed, alone)).best
        network = best.fit(part.dataset)
        average = average_of(part, recipe_of(part, None, work), work)
        truth, known = observed(test, target)
        single.append(predictions(network, test, target, "missing"))
        averaged.append(predictions(average, test, target, "missing"))
        truths.append(truth)
        weights.append(np.where(known, 1.0 if test.weights is None else test.weights, 0.0))
        if network.states[target]:
            shares.append(part.dataset.state_shares(target))
    counted = np.concatenate(weights)
    if not counted.any():
        return nothing

    def judged(found: list[Predictions]) -> Evaluation:
        everywhere = Predictions(*map(np.concatenate, zip(*found, strict=True)))
        alone_shares = np.mean(shares, axis=0) if shares else None
        measures, calibration = quality(everywhere, np.concatenate(truths), counted, alone_shares)
        return Evaluation(target, float(counted.sum()), measures, calibration)

    return replace(judged(single), average=judged(averaged))


def predictions(network: AnyNetwork, data: Any, target: str, unseen: Unseen) -> Predictions:  # noqa: ANN401
    """Predict a target in each row: probabilities of its states, or mean and deviation."""
    if isinstance(network, AveragedNetwork):
        return _averaged(network, data, target, unseen)
    if network.states[target]:
        assert not isinstance(network, GaussianNetwork), "its nodes have no states"
        values = network.predict(data, target, probabilities=True, unseen=unseen)
        return Predictions(values, np.zeros((len(values), 0, 2)))
    assert not isinstance(network, BayesianNetwork), "its nodes have states"
    means, deviations = network.predict(data, target, deviations=True, unseen=unseen)
    transform = network.transform
    middle = means if transform is None else transform.transform(target, means)
    reach = quantiles([(1 + level) / 2 for level in INTERVALS])
    sides = np.multiply.outer(deviations, np.stack([-reach, reach], axis=1))
    ends = middle[:, np.newaxis, np.newaxis] + sides
    if transform is not None:
        ends = transform.inverse(target, ends)
    return Predictions(means[:, np.newaxis], ends)


def _averaged(network: AveragedNetwork, data: Any, target: str, unseen: Unseen) -> Predictions:  # noqa: ANN401
    """Predict by an average; its intervals are between quantiles of the mixture."""
    found = network.answers(data, target, unseen=unseen)
    values, rows = found.values, len(found.values)
    if network.states[target]:
        return Predictions(values, np.zeros((rows, 0, 2)), found.spread)
    pairs = [((1 - level) / 2, (1 + level) / 2) for level in INTERVALS]
    ends = np.stack([np.stack([found.quantiles(p) for p in pair], axis=1) for pair in pairs], 1)
    if network.transform is not None:
        ends = network.transform.inverse(target, ends)
        values = network.transform.inverse(target, values)
    return Predictions(values, ends, found.spread)


def _some(table: AnyTable, most: int) -> AnyTable:
    """Return up to `most` rows, evenly spread over the table."""
    if table.rows <= most:
        return table
    rows = np.linspace(0, table.rows - 1, most).astype(np.intp)
    return table.take(rows, None if table.weights is None else table.weights[rows])


def observed(table: AnyTable, target: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the codes or values of a target, and where they are not missing."""
    place, known = table.names.index(target), np.ones(table.rows, dtype=np.bool_)
    if isinstance(table, Incomplete):
        known, table = ~table.gaps[place], table.dataset
    column = table.columns[place]
    return column.codes if isinstance(column, Discrete) else column.values, known


# --- measures ------------------------------------------------------------------------------------


def quality(
    found: Predictions, truth: NDArray[Any], weights: Floats, shares: Floats | None
) -> Quality:
    """Compare predictions with the truth; `shares` are those of the states without predictions."""
    counts = weights > 0
    values, intervals = found.values[counts], found.intervals[counts]
    truth, weights = truth[counts], weights[counts] / weights.sum()
    cases = float(counts.sum())
    if shares is None:
        return _of_numbers(values[:, 0], intervals, truth, weights, cases)
    return _of_states(values, truth.astype(np.intp), weights, shares, cases)


def _of_states(
    values: Floats, truth: NDArray[np.intp], weights: Floats, shares: Floats, cases: float
) -> Quality:
    each = np.arange(len(truth))
    hit = np.eye(values.shape[1])[truth]
    with np.errstate(divide="ignore"):
        logs, alone = np.log(values[each, truth]), np.log(shares[truth])
    measures = {
        "log_loss": float(-(weights @ logs)),
        "log_loss_alone": float(-(weights @ alone)),
        "brier": float(weights @ ((values - hit) ** 2).sum(axis=1)),
        "accuracy": float(weights @ (values.argmax(axis=1) == truth)),
    }
    last = values.shape[1] - 1
    states = [last] if last == 1 else range(last + 1)
    areas = [area(values[:, s], hit[:, s], weights) for s in states]
    sizes = [float(weights @ hit[:, s]) for s in states]
    known = [(a, size) for a, size in zip(areas, sizes, strict=True) if a is not None]
    if known:
        auc = sum(a * size for a, size in known) / sum(size for _, size in known)
        measures = {"auc": auc, **measures}
    flat = np.concatenate([values[:, s] for s in states])
    hits, repeated = np.concatenate([hit[:, s] for s in states]), np.tile(weights, len(areas))
    return measures, _groups(flat, hits, repeated * cases)


def area(scores: Floats, hits: Floats, weights: Floats) -> float | None:
    """Return the area under the ROC curve; None if all cases are hits, or none.

    It is the probability that a case that is a hit has a higher score than one that is not, ties
    counting half.
    """
    distinct, place = np.unique(scores, return_inverse=True)
    yes = np.bincount(place, weights * hits, len(distinct))
    no = np.bincount(place, weights * (1 - hits), len(distinct))
    if not yes.sum() > 0 < no.sum():
        return None
    below = np.cumsum(no) - no / 2
    return float(yes @ below / (yes.sum() * no.sum()))


def _groups(values: Floats, hits: Floats, cases: Floats) -> tuple[tuple[float, float, float], ...]:
    """Group predictions of similar size, about equally many in each; equal ones stay together."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(cases[order])
    distinct, first = np.unique(values[order], return_index=True)
    share = (total[np.append(first[1:] - 1, len(order) - 1)] / total[-1]) - 1e-12
    group = np.minimum((share * _GROUPS).astype(np.intp), _GROUPS - 1)
    own = group[np.searchsorted(distinct, values)]
    found = []
    for number in np.unique(own):
        inside = own == number
        size = round(float(cases[inside].sum()), 6)
        mean = float(cases[inside] @ values[inside]) / size
        found.append((mean, float(cases[inside] @ hits[inside]) / size, size))
    return tuple(found)


def _of_numbers(
    means: Floats, intervals: Floats, truth: Floats, weights: Floats, cases: float
) -> Quality:
    squares = float(weights @ (truth - means) ** 2)
    spread = float(weights @ (truth - weights @ truth) ** 2)
    measures = {"r2": 1 - squares / spread if spread > 0 else 0.0, "rmse": squares**0.5}
    inside = (intervals[..., 0] <= truth[:, np.newaxis]) & (
        truth[:, np.newaxis] <= intervals[..., 1]
    )
    shares = (weights @ inside).tolist()
    return measures, tuple((*pair, cases) for pair in zip(INTERVALS, shares, strict=True))
