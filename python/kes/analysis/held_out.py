"""Validation of optima on held-out data.

The criterion that a search maximises evaluates a model on the same data that it was learned from.
Held-out cases are an independent test: a model is better if it gives them a higher probability. The
test is uncertain, too, so each difference comes with its standard error.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from kes.budget import Budget
from kes.data.dataset import AnyTable, Data, Dataset, Incomplete, Weights
from kes.data.discretizer import Discretizer
from kes.data.encoder import read_data
from kes.data.infer_kinds import Kinds
from kes.data.random_stream import Purpose, Stream
from kes.data.resampling import Cases
from kes.data.schema import Schema
from kes.data.series_folds import SPLITS, series_folds
from kes.declare import checked_options
from kes.errors import KesError
from kes.graph import EssentialGraph
from kes.graph.knowledge import Knowledge
from kes.graph.mpdag import Mpdag
from kes.graph.pdag import Pdag
from kes.network.fitting import fit
from kes.network.new_rows import Unseen
from kes.options import FitOptions, HeldOutOptions, Prior
from kes.progress import RunCounter, reporting
from kes.results.optima import Optima
from kes.search.driver import Execution
from kes.search.pipeline import search
from kes.search.problem import Problem
from kes.table import Table
from kes.validation import choice, integer


def validate(
    optima: Optima,
    train: Dataset,
    test: Data,
    *,
    prior: Prior,
    ess: float,
    top: int,
    weights: Weights,
    missing: str,
) -> Table:
    """Evaluate the best optima on other data; see `Optima.validate`."""
    judged = optima[: integer("top", top, minimum=1)]
    reading = replace(optima.record.reading, missing=missing, weights=False)
    held_out = read_data(test, reading, schema=Schema.of(optima.states), weights=weights)
    how: FitOptions = {"prior": prior, "ess": ess, "basis": optima.best.basis}
    found = [_log_probabilities(one.mpdag, train, held_out, how) for one in judged]
    return Table(
        {
            "optimum": range(len(judged)),
            "score": [one.score for one in judged],
            "hits": [one.hits for one in judged],
            **_judgement(found, _case_weights(held_out)),
        }
    )


@checked_options(HeldOutOptions, runs=100)
def cross_validate(
    data: Data,
    *,
    folds: int = 5,
    split: str = "cases",
    top: int = 5,
    **options: Unpack[HeldOutOptions],
) -> Table:
    """Evaluate optima by cross-validation.

    Both structure and parameters of the networks are learned without the cases that test them.

    `weights` are numbers of cases and must be integers. `progress` counts the runs on all folds
    together.

    Parameters
    ----------
    data
        As in `kes.learn`. States are those of the whole table in every fold. Cut points and imputed
        values are learned without the test cases.
    folds : int
        Number of parts into which the cases are split at random; each is predicted from the
        others.
    split : {"cases", "series", "time"}
        What is held out, if the data are ``kes.lagged(...)``: cases at random; whole series; or
        later times, each part predicted from all earlier rows. Probabilities are those of the
        current values given earlier ones, that is, of forecasts one step ahead.
    top : int
        Number of optima of each search to evaluate, by their rank.

    Returns
    -------
    Table
        A row for each `model`: the optima by rank in their search ("optimum 0" is the best; ranks
        that not all searches have are left out), "GES", and "no edges". The columns are the
        `log_likelihood` of all cases, `per_case`, the `difference` per case from the best optimum
        and its `standard_error`, and the number of `impossible` cases, which have probability zero.
        The standard errors treat cases as independent although the folds share data: they are
        slightly too small.

    Raises
    ------
    KesError
        If the data or an option cannot be used.
    Interrupted
        On Ctrl-C, with the result of the current search so far.

    Examples
    --------
    >>> import kes
    >>> table = kes.cross_validate(kes.datasets.alarm(rows=500), folds=2, top=1, runs=5)
    >>> table["model"]
    ('optimum 0', 'GES', 'no edges')
    """
    parts = integer("folds", folds, minimum=2)
    count = integer("top", top, minimum=1)
    allowed, execution = Budget.of(options), Execution.of(options)
    each = allowed.runs or 1
    discretizer = Discretizer.checked(options["discretize"])
    problem = Problem.of(data, _uncut(options, discretizer))
    cases = Cases(problem.table)
    how: FitOptions = {"prior": options["prior"], "ess": options["ess"]}
    how["basis"] = problem.settings.basis
    chosen = choice("split", split, known=("cases", *SPLITS))
    if cases.number < 2 * parts:
        raise KesError(
            f"{cases.number} cases are too few for {parts} folds: each needs at least 2 cases",
            option="folds",
        )
    judged: list[dict[str, NDArray[np.float64]]] = []
    case_weights: list[NDArray[np.float64]] = []
    counter = RunCounter(each, parts * each)
    with reporting(execution.progress) as report:
        stream = Stream(problem.settings.seed, Purpose.FOLDS)
        held_out = (
            cases.folds(parts, stream)
            if chosen == "cases"
            else series_folds(data, problem.table, chosen, parts, stream)
        )
        for number, fold in enumerate(held_out):
            train, test = _cut(discretizer, *fold)
            watched = replace(execution, progress=counter.after(number, report))
            part = Problem(train, problem.settings, problem.cache_mb, problem.reading)
            optima = Optima.found_by(part, partial(search, part, allowed, watched))
            models: dict[str, Pdag] = {
                f"optimum {rank}": one.mpdag for rank, one in enumerate(optima[:count])
            }
            models |= {"GES": optima.ges.mpdag, "no edges": _empty(optima)}
            judged.append(
                {
                    name: _log_probabilities(graph, part.dataset, test, how)
                    for name, graph in models.items()
                }
            )
            case_weights.append(_case_weights(test))
        report(counter.at(parts), final=True)
    names = [name for name in judged[0] if all(name in fold for fold in judged)]
    found = [np.concatenate([fold[name] for fold in judged]) for name in names]
    return Table({"model": names, **_judgement(found, np.concatenate(case_weights))})


def _empty(optima: Optima) -> Pdag:
    """Return the graph without edges; exogenous variables remain so."""
    graph = EssentialGraph(optima.names)
    block = optima.settings.exogenous
    return Mpdag(graph, Knowledge(exogenous=block)) if block else graph


def _uncut(options: HeldOutOptions, discretizer: Discretizer | None) -> HeldOutOptions:
    """Return options that keep columns continuous until they are discretized in each fold."""
    if discretizer is None:
        return options
    kinds: Kinds = dict.fromkeys(discretizer.named, "continuous")
    return {**options, "discretize": None, "kinds": {**kinds, **(options.get("kinds") or {})}}


def _cut(
    discretizer: Discretizer | None, train: AnyTable, test: AnyTable
) -> tuple[AnyTable, AnyTable]:
    """Discretize both parts at cut points from the training cases."""
    if discretizer is None:
        return train, test
    own = discretizer if discretizer.is_fitted else copy(discretizer).fit(train)
    return own.transform(train), own.transform(test)


def _log_probabilities(
    graph: Pdag, train: Dataset, test: AnyTable, how: FitOptions
) -> NDArray[np.float64]:
    """Fit a network to some cases; return ln P of the observed values in each row of others."""
    network = fit(graph, train, **how)
    unseen: Unseen = "missing" if isinstance(test, Incomplete) else "error"
    return network.log_likelihood(test, per_row=True, unseen=unseen)


def _case_weights(dataset: AnyTable) -> NDArray[np.float64]:
    return np.ones(dataset.rows) if dataset.weights is None else dataset.weights


def _judgement(
    found: Sequence[NDArray[np.float64]], weights: NDArray[np.float64]
) -> dict[str, list[float] | list[float | None] | list[int]]:
    """Return columns that compare models with the first one by ln P of each row."""
    counts = weights > 0  # rows of weight 0 are ignored, even if impossible
    weights = weights[counts]
    rows = [logs[counts] for logs in found]
    totals = [float(weights @ logs) for logs in rows]
    differences = [_difference(logs, rows[0], weights) for logs in rows]
    return {
        "log_likelihood": totals,
        "per_case": [total / float(weights.sum()) for total in totals],
        "difference": [mean for mean, _ in differences],
        "standard_error": [error for _, error in differences],
        "impossible": [round(float(weights[np.isneginf(logs)].sum())) for logs in rows],
    }


def _difference(
    logs: NDArray[np.float64], standard: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[float | None, float | None]:
    """Return the mean difference per case and its standard error; None if a case is impossible.

    The comparison is paired: what makes a case improbable under both models cancels out.
    """
    if np.isneginf(logs).any() or np.isneginf(standard).any():
        return None, None
    apart, cases = logs - standard, float(weights.sum())
    mean = float(weights @ apart) / cases
    if cases <= 1:
        return mean, None
    variance = float(weights @ (apart - mean) ** 2) / (cases - 1)
    return mean, (variance / cases) ** 0.5
