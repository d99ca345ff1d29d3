"""Distributions on the page: of each variable, and the CPDs of the best networks.

Probability tables are sent as counts: they are shorter, show how many cases support each
probability, and give exactly the probabilities of `kes.fit`. Networks that share a family share its
CPD, which is estimated once.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Continuous, Discrete
from kes.data.dataset import AnyTable, Dataset, Incomplete
from kes.data.normal_scores import Ranks
from kes.network.fitting import Estimates, Fitted, Model, fitting_dag
from kes.network.fitting import families as parents_of
from kes.network.regressors import configurations
from kes.results.optimum import Optimum

ESS = 1.0
"""Equivalent sample size of the prior: the default of `kes.fit`."""

MOST_CELLS = 2**14
"""Cells of the largest table on the page; larger ones are unreadable."""

_MOST_IN_ALL = 2**18
"""Cells of all tables together; further models are left out."""

_MOST_WORK = 2**26
"""Rows times coefficients of all other CPDs together, which take a second or two."""

Family: TypeAlias = tuple[int, ...]
"""The numbers of a node and its parents."""

Parents: TypeAlias = Mapping[str, Sequence[str]]
"""The parents of every node of a network."""

_POINTS = 257
"""Values of a variable whose normal scores are on the page; others are interpolated."""

BINS = 16
"""Bars of a histogram: enough to show a shape, few enough to hit one with a finger."""


class FittedNetworks:
    """Networks of optima, fitted to one table; families that they share are estimated once.

    They are in the units of the columns; those with curves (`basis`) in normal scores.
    """

    def __init__(self, table: Dataset, basis: int | None = None, ess: float = ESS) -> None:
        self.table, self.ess, self._degree = table, ess, basis or 1
        self._ranks = Ranks.of(table) if self._degree > 1 else None
        self._values = table if self._ranks is None else self._ranks.apply(table)
        self._cpds: dict[tuple[str, ...], Model] = {}
        self._parents: dict[Optimum, Parents] = {}

    def network(self, parents: Parents) -> Fitted:
        """Return the network in which the nodes have these parents."""
        how: dict[str, Any] = {"degree": self._degree, "transform": self._ranks}
        own = {name: list(parents[name]) for name in self.table.names}
        return Estimates(own, last=self._cpds, **how)(self._values, ess=self.ess)

    def parents(self, optimum: Optimum) -> Parents:
        """Return the parents of every node in the network of an optimum."""
        if optimum not in self._parents:
            dag = fitting_dag(optimum.mpdag, self._values, self._degree)
            self._parents[optimum] = parents_of(optimum.names, dag)
        return self._parents[optimum]

    def families(self, parents: Parents) -> list[Family]:
        """Return the families of a network by number, in the order of the nodes."""
        number = {name: i for i, name in enumerate(self.table.names)}
        return [(node, *(number[p] for p in parents[name])) for name, node in number.items()]

    def has_large(self, parents: Parents) -> bool:
        """Return whether a network has a probability table too large for the page."""
        return any(not _cells(self.table, family) for family in self.families(parents))

    def scores(self) -> dict[int, dict[str, list[float]]] | None:
        """Return some values of each continuous variable with their normal scores, for curves."""
        if self._ranks is None:
            return None
        shown = {}
        for node, name in enumerate(self.table.names):
            if (own := self._ranks.columns.get(name)) is not None:
                even = np.linspace(own.scores[0], own.scores[-1], _POINTS)
                some = np.unique(np.searchsorted(own.scores, even))
                shown[node] = {
                    "values": own.values[some].tolist(),
                    "scores": own.scores[some].round(6).tolist(),
                }
        return shown


def families(networks: Mapping[int, Parents], fitted: FittedNetworks) -> dict[str, Any]:
    """Return the CPDs of some networks, given by their numbers.

    ``families`` lists for each family the node, its parents, the kind of its CPD ("cases",
    "linear", "logistic", or "large" for a table that is left out) and its parameters; ``of`` maps
    the number of each network within the limits to the family of each node. Networks with curves
    come with ``scores`` of their variables.
    """
    table = fitted.table
    known: dict[Family, int] = {}
    rows: list[list[Any]] = []
    of: dict[int, list[int]] = {}
    room, work = _MOST_IN_ALL, _MOST_WORK
    for number, parents in networks.items():
        own = fitted.families(parents)
        new = [family for family in own if family not in known]
        room -= sum(_cells(table, family) for family in new)
        work -= table.rows * sum(_coefficients(table, family) for family in new)
        if min(room, work) < 0 and of:
            break
        for family, entry in zip(new, _entries(fitted, parents, new), strict=True):
            known[family] = len(rows)
            rows.append([family[0], family[1:], *entry])
        of[number] = [known[family] for family in own]
    return {"ess": fitted.ess, "families": rows, "of": of, "scores": fitted.scores()}


def _is_table(table: Dataset, family: Family) -> bool:
    return all(isinstance(table.columns[node], Discrete) for node in family)


def _cells(table: Dataset, family: Family) -> int:
    """Return the number of parameters of a family on the page; 0 if it is left out."""
    if not _is_table(table, family):
        return len(family)
    size = prod(len(table.states[node]) for node in family)
    return size if size <= MOST_CELLS else 0


def _coefficients(table: Dataset, family: Family) -> int:
    """Return the number of coefficients of a family; 0 if it has a table."""
    if _is_table(table, family):
        return 0
    own, *parents = (max(1, len(table.states[node]) - 1) for node in family)
    return own * (1 + sum(parents))


def _entries(
    fitted: FittedNetworks, parents: Parents, wanted: Iterable[Family]
) -> list[tuple[str, list[float] | dict[str, Any] | None]]:
    """Return the kind and the parameters of each family."""
    table, network = fitted.table, None
    found: list[tuple[str, list[float] | dict[str, Any] | None]] = []
    for family in wanted:
        if _is_table(table, family):
            cells = _cells(table, family)
            found.append(("cases", _counted(table, family)) if cells else ("large", None))
            continue
        network = network or fitted.network(parents)
        found.append(network.local(table.names[family[0]]).describe())
    return found


def _counted(table: Dataset, family: Family) -> list[float]:
    """Count the cases of each parent configuration, in order, and each state."""
    node, *parents = family
    columns = [table.columns[i] for i in (*parents, node)]
    shape = [len(table.states[i]) for i in (*parents, node)]
    codes = [column.codes for column in columns if isinstance(column, Discrete)]
    cells = configurations(codes, shape, table.rows)
    return _cases(np.bincount(cells, table.weights, prod(shape)).astype(np.float64))


# --- variables -----------------------------------------------------------------------------------


def variables(table: AnyTable) -> list[dict[str, Any]]:
    """Return the number of observed cases in each state or bin of each variable.

    Continuous variables also have range, mean and standard deviation. ``missing`` is the number of
    cases in which a variable was not observed, if there are any.
    """
    weights = np.ones(table.rows) if table.weights is None else table.weights
    columns = table.dataset.columns if isinstance(table, Incomplete) else table.columns
    gaps = table.gaps if isinstance(table, Incomplete) else np.zeros((len(columns), 1), np.bool_)
    found = []
    for column, gap in zip(columns, gaps, strict=True):
        observed = ~np.broadcast_to(gap, table.rows)
        own = weights[observed]
        if isinstance(column, Continuous):
            shown = _histogram(column.values[observed], own)
        else:
            counts = np.bincount(column.codes[observed], own, len(column.states))
            shown = {"counts": _cases(counts)}
        if not observed.all():
            shown["missing"] = _cases(weights[~observed].sum(keepdims=True))[0]
        found.append(shown)
    return found


def _histogram(values: NDArray[np.float64], weights: NDArray[np.float64]) -> dict[str, Any]:
    least, most = float(values.min()), float(values.max())
    mean = float(np.average(values, weights=weights))
    deviation = float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))
    if least == most:
        counts = _cases(np.array([weights.sum()]))
    else:
        # Halved first: the difference of very large ends would overflow.
        place = (values / 2 - least / 2) / (most / 2 - least / 2)
        bins = np.minimum((place * BINS).astype(np.intp), BINS - 1)
        counts = _cases(np.bincount(bins, weights, BINS))
    return {"range": [least, most], "mean": mean, "deviation": deviation, "counts": counts}


def _cases(counts: NDArray[Any]) -> list[float]:
    """Return numbers of cases in their shortest form: whole ones as integers."""
    return [int(count) if count == int(count) else round(count, 9) for count in counts.tolist()]
