"""The local models of the best networks, as the page needs them to show and to compute.

Tables are given by the cases that they were counted from, not by probabilities: that is shorter,
tells how much stands behind each number, and the page gets the probabilities of `kes.fit` from it
to the last digit. Networks that share a family share its numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import Any, TypeAlias

import numpy as np

from kes.data.column import Discrete
from kes.data.dataset import Dataset
from kes.network.cpds import configurations
from kes.network.fitting import Fitted, fit
from kes.results.optimum import Optimum
from kes.show.report.variables import cases

ESS = 1.0
"""Cases that smoothing spreads over a table: the default of `kes.fit`."""

MOST_CELLS = 2**14
"""Cells of the largest table in the page: no reader looks through more, no browser needs more."""

_MOST_IN_ALL = 2**18
"""Cells of all tables: models come in until they are used up."""

Family: TypeAlias = tuple[int, ...]
"""A node and its parents, by their numbers."""


def families(optima: Mapping[int, Optimum], table: Dataset) -> dict[str, Any]:
    """Return the local models of some optima, which are given with their numbers.

    Returns
    -------
    dict
        ``families``: for each family the node, its parents, the kind of its model ("cases",
        "linear", "logistic", or "large" for a table that is left out) and its numbers; ``of``: for
        each optimum that has room, by number, the family of each node.
    """
    known: dict[Family, int] = {}
    rows: list[list[Any]] = []
    of: dict[int, list[int]] = {}
    room = _MOST_IN_ALL
    for number, optimum in optima.items():
        own = _families(optimum)
        new = [family for family in own if family not in known]
        room -= sum(_cells(table, family) for family in new)
        if room < 0 and of:
            break
        for family, entry in zip(new, _entries(table, optimum, new), strict=True):
            known[family] = len(rows)
            rows.append([family[0], family[1:], *entry])
        of[number] = [known[family] for family in own]
    return {"ess": ESS, "families": rows, "of": of}


def _families(optimum: Optimum) -> list[Family]:
    """Return the families of the network that `kes.fit` takes from the class, by node."""
    number = {name: i for i, name in enumerate(optimum.names)}
    parents: list[list[int]] = [[] for _ in number]
    for a, b in optimum.mpdag.to_dag():
        parents[number[b]].append(number[a])
    return [(node, *own) for node, own in enumerate(parents)]


def has_large(optimum: Optimum, table: Dataset) -> bool:
    """Tell whether some family of an optimum has a table that is too large for the page."""
    return any(not _cells(table, family) for family in _families(optimum))


def _is_table(table: Dataset, family: Family) -> bool:
    return all(isinstance(table.columns[node], Discrete) for node in family)


def _cells(table: Dataset, family: Family) -> int:
    """Return the numbers that a family takes in the page."""
    if not _is_table(table, family):
        return len(family)
    size = prod(len(table.states[node]) for node in family)
    return size if size <= MOST_CELLS else 0


def _entries(
    table: Dataset, optimum: Optimum, wanted: Iterable[Family]
) -> list[tuple[str, list[float] | dict[str, Any] | None]]:
    """Return the kind and the numbers of each family that is wanted."""
    network: Fitted | None = None
    found: list[tuple[str, list[float] | dict[str, Any] | None]] = []
    for family in wanted:
        if _is_table(table, family):
            found.append(("cases", _counted(table, family)) if _cells(table, family) else _LARGE)
            continue
        if network is None:
            network = fit(optimum.mpdag, table)
        found.append(network.local(table.names[family[0]]).describe())
    return found


_LARGE = ("large", None)


def _counted(table: Dataset, family: Family) -> list[float]:
    """Count the cases of each configuration of the parents, in order, and each state."""
    node, *parents = family
    columns = [table.columns[i] for i in (*parents, node)]
    shape = [len(table.states[i]) for i in (*parents, node)]
    codes = [column.codes for column in columns if isinstance(column, Discrete)]
    cells = configurations(codes, shape, table.rows)
    return cases(np.bincount(cells, table.weights, prod(shape)).astype(np.float64))
