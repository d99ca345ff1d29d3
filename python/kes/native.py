"""Calls into the Rust core, whose errors become `KesError`."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from kes import _core
from kes.data.column import Continuous
from kes.data.curves import degrees
from kes.data.dataset import Dataset
from kes.data.infer_kinds import saying
from kes.data.normal_scores import Ranks
from kes.data.notes import are_numbers, too_many
from kes.errors import KesError, listed, option
from kes.files import available
from kes.settings import Additions, Criterion

_LEAST_ROWS = 3
_FEW_STATES = 50  # most distinct whole numbers that may be meant as states
_PAIR_BYTES = {"continuous": 4, "mixed": 16, "discrete": 0}
_CELL_BYTES = {"continuous": 32, "mixed": 16, "discrete": 4}
"""Memory of very wide tables, per pair of continuous columns and per cell, by the kind."""
_WIDE = 4  # bytes of codes of more states than the core supports, which it refuses


@contextmanager
def core_errors(names: Sequence[str] = ()) -> Iterator[None]:
    """Turn errors of the core into `KesError`, with the names of the variables they are about."""
    try:
        yield
    except _core.CoreError as error:
        if error.template is None:
            raise KesError(str(error)) from error
        known = [names[v] if v < len(names) else None for v in error.variables]
        shown = ["a variable" if name is None else repr(name) for name in known]
        column = known[0] if known else None
        raise KesError(error.template.format(*shown), column=column) from error


def core_problem(
    dataset: Dataset,
    criterion: Criterion,
    cache_mb: int,
    additions: Additions | None = None,
    *,
    twins: bool = False,
) -> _core.Problem:
    """Pass a table to the core, which scores it according to its kind, with a prior over edges.

    Refuses columns that the criterion does not support or that determine each other, and tables
    that are too large for the core. With `twins`, columns that determine each other are accepted,
    and no model connects them.
    """
    kind = dataset.kind
    check_kind(dataset, criterion)
    _check_width(dataset)
    if kind == "discrete":
        strength = 1.0 if criterion.ess is None else criterion.ess
        columns = [
            column.codes if column.codes.itemsize < _WIDE else column.codes.astype(np.int32)
            for column in dataset.discrete_columns
        ]
        states, weights = dataset.cardinalities, dataset.weights
        with core_errors(dataset.names):
            return _core.Problem(
                columns, states, weights, criterion.name, strength, cache_mb, additions
            )
    if criterion.uses_ranks(kind):
        dataset = Ranks.of(dataset).apply(dataset)
    embedded = _embedded(dataset, criterion)
    # In the order of the names, so that the order of the columns has no effect.
    order = sorted(range(len(embedded)), key=dataset.names.__getitem__)
    more = (order, dataset.weights, criterion.name, criterion.penalty, cache_mb, cores(), additions)
    with core_errors(dataset.names):
        if criterion.on(kind).model == "location":
            problem = _core.Problem.location(embedded, dataset.cardinalities, *more)
        else:
            problem = _core.Problem.gaussian(embedded, *more)
    if not twins:
        _refuse_twins(dataset, [(x, y) for x, y, why in problem.excluded if why == "twins"])
    return problem


def _embedded(dataset: Dataset, criterion: Criterion) -> list[Any]:
    """Return the columns as the core takes them: numbers, curves, or codes of states."""
    columns: list[Any] = [
        column.values if isinstance(column, Continuous) else column.codes.astype(np.int32)
        for column in dataset.columns
    ]
    if criterion.basis is None:
        return columns
    own = degrees(dataset, criterion.degree)
    if (total := sum(own)) > _core.MAX_VARIABLES:
        raise KesError(
            f"with {option('basis', criterion.degree)} the table has {total} numeric columns, but "
            f"at most {_core.MAX_VARIABLES} are possible; use a smaller degree, or leave columns "
            "out",
            option="basis",
        )
    return [
        (column, degree) if degree else column for column, degree in zip(columns, own, strict=True)
    ]


def check_kind(dataset: Dataset, criterion: Criterion) -> None:
    """Refuse a table that the criterion does not support."""
    kind, name = dataset.kind, criterion.name
    of = dict(zip(dataset.names, dataset.kinds, strict=True))
    if kind != "mixed" and criterion.kinds == ("mixed",):
        raise KesError(
            f"criterion {name!r} is for tables with discrete and continuous columns; on this "
            f"{kind} table, use {option('criterion', name.removeprefix('degenerate-'))}",
            option="criterion",
        )
    if kind not in criterion.kinds:
        wrong = "continuous" if "discrete" in criterion.kinds else "discrete"
        right = "discrete" if wrong == "continuous" else "continuous"
        instead = f"use {option('criterion', 'bic')}, which takes both"
        cut = ", cut them into intervals with kes.discretize" if wrong == "continuous" else ""
        if whole := [name for name in of if _is_whole(dataset, name)]:
            cut += f", use whole numbers as states with {saying(whole, 'discrete')}"
        raise KesError(
            f"criterion {name!r} is for {right} columns only, but these are {wrong}: "
            f"{listed([column for column, own in of.items() if own == wrong])}; {instead}{cut}, or "
            "leave them out",
            option="criterion",
            column=next(column for column, own in of.items() if own == wrong),
        )
    if criterion.penalty != 1 and not criterion.has_penalty(kind):
        raise KesError(
            f"{option('penalty')} is for bic and aic on tables with continuous columns; leave it "
            f"out with {criterion.title(kind)} on this {kind} table",
            option="penalty",
        )
    if criterion.basis is not None and not criterion.has_penalty(kind):
        raise KesError(
            f"{option('basis')} is for bic and aic; leave it out with {criterion.title(kind)}",
            option="basis",
        )
    embedded = {
        column: max(len(states) - 1, 1)
        for column, states in zip(dataset.names, dataset.states, strict=True)
    }
    excess = sum(embedded.values()) - _core.MAX_VARIABLES
    if kind == "mixed" and criterion.on(kind).model == "gaussian" and excess > 0:
        raise _too_wide(embedded, excess)


def _check_width(dataset: Dataset) -> None:
    """Refuse tables of very many columns that do not fit into the memory that is available.

    On tables with continuous columns, something is kept for all pairs of them: rounded
    correlations, or, of mixed tables, exact sums of products, once and on the way for each thread.
    """
    number, kind = len(dataset.names), dataset.kind
    if number <= _core.MAX_VARIABLES:
        return
    fewer = f"select columns with {option('columns')}"
    numbers = sum(not states for states in dataset.states)
    needed = _PAIR_BYTES[kind] * numbers**2 + _CELL_BYTES[kind] * number * dataset.rows
    there = available()
    if there is not None and needed > there:
        raise KesError(
            f"a search among {number} columns needs about {needed / 10**9:.1f} GB of memory, but "
            f"{there / 10**9:.1f} GB are available; {fewer}, such as those that vary most, or use "
            "a machine with more memory",
            option="columns",
        )


def _is_whole(dataset: Dataset, name: str) -> bool:
    """Return whether a continuous column has whole numbers, few enough for states."""
    column = dataset.columns[dataset.names.index(name)]
    if not isinstance(column, Continuous) or (column.values % 1).any():
        return False
    return len(np.unique(column.values)) <= _FEW_STATES


def _too_wide(embedded: Mapping[str, int], excess: int) -> KesError:
    """Return the error for too many states, naming the fewest columns to leave out."""
    omitted: list[str] = []
    for column in sorted(embedded, key=embedded.__getitem__, reverse=True):
        if excess > 0:
            omitted.append(column)
            excess -= embedded[column]
    shown = listed([f"{column!r} ({embedded[column] + 1})" for column in omitted], show=str)
    return KesError(
        f"in a table with continuous columns, all states together may be at most "
        f"{_core.MAX_VARIABLES}; most of them have {shown}: leave such columns out by "
        f"{saying(omitted, 'omit')}, or merge states",
        column=omitted[0],
    )


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _refuse_twins(dataset: Dataset, twins: Sequence[tuple[int, int]]) -> None:
    if dataset.rows < _LEAST_ROWS:
        raise KesError(
            f"the data have only {dataset.rows} rows, in which any two continuous columns "
            f"determine each other; at least {_LEAST_ROWS} are needed",
            option="data",
        )
    if twins:
        pairs = [f"{dataset.names[a]!r} and {dataset.names[b]!r}" for a, b in twins]
        states = dict(zip(dataset.names, dataset.states, strict=True))
        involved = dict.fromkeys(dataset.names[place] for pair in twins for place in pair)
        many = [
            name
            for name in involved
            if too_many(len(states[name]), dataset.rows) and are_numbers(states[name])
        ]
        instead = f", or take numbers as continuous with {saying(many, 'continuous')}"
        raise KesError(
            f"collinear columns, each of which determines the other: "
            f"{listed(pairs, show=str)}; leave one of each pair out: "
            f"{saying(list(dict.fromkeys(dataset.names[b] for _, b in twins)), 'omit')}"
            f"{instead if many else ''}",
            column=dataset.names[twins[0][0]],
        )
