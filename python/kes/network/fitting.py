"""Estimating a network: a DAG of the class, and its tables from counts."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite, prod
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data import Dataset, encode
from kes.data.dataset import Data, Weights
from kes.errors import KesError, checked_options, listed
from kes.graph.orientation import checked_arc, preferred_dag
from kes.graph.pdag import Pdag
from kes.network.cases import configurations
from kes.network.discrete import BayesianNetwork

Arcs: TypeAlias = Iterable[tuple[str, str]]
Prior: TypeAlias = Literal["ml", "bdeu"] | float | None

MOST_CELLS = 2**27
"""Cells of the largest table that is made: 1 GB."""


@checked_options()
def fit(
    structure: Pdag | Arcs,
    data: Data,
    *,
    prior: Prior = None,
    ess: float = 1.0,
    prefer: Arcs = (),
    weights: Weights = None,
    missing: str = "error",
) -> BayesianNetwork:
    """Estimate a Bayesian network from data.

    Parameters
    ----------
    structure
        An essential graph, of whose class a DAG is taken, or an MPDAG, of whose DAGs one is taken;
        or the arcs of a DAG, which is taken as it is.
    data
        A table with a column for every node, and no others; see `kes.learn`. The states of the
        network are those of the data.
    prior
        How to estimate the tables. None or "ml": maximum likelihood, that is, relative frequencies;
        a configuration of the parents that never occurs gets the uniform distribution. "bdeu": the
        expected table after the data under the Dirichlet prior of the criterion BDeu, with `ess`
        cases spread evenly over each table. A number: the same with so many cases in each cell (1
        is Laplace's rule).
    ess
        Equivalent sample size, for "bdeu".
    prefer
        Arcs (a, b) to have as a -> b where an essential graph leaves the direction open. Taken one
        after the other; those between nodes that are not joined have no effect.
    weights, missing
        As in `kes.learn`: how many cases each row stands for, and what to do with missing values.

    Returns
    -------
    BayesianNetwork
        With the nodes in the order of the graph, or else of the columns.

    Raises
    ------
    KesError
        If the nodes and the columns do not match, an arc in `prefer` points against a direction
        that the class or the arcs before it compel, or a table would be too large.

    Examples
    --------
    >>> import numpy as np
    >>> from kes.network import fit
    >>> network = fit([("x0", "x1")], np.array([[0, 0], [0, 1], [1, 1], [1, 1]]))
    >>> network.cpts["x1"]
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    _cases_per_cell(prior, ess, cells=1)  # complain before any work is done
    table = encode(data, weights=weights, missing=missing)
    if isinstance(structure, Pdag):
        nodes = structure.nodes
        _refuse_mismatch(nodes, table.names)
        arcs = preferred_dag(structure, prefer)
    else:
        nodes = table.names
        arcs = [checked_arc(arc, nodes) for arc in structure]
    parents: dict[str, list[str]] = {node: [] for node in nodes}
    for a, b in arcs:
        parents[b].append(a)
    states = dict(zip(table.names, table.states, strict=True))
    return BayesianNetwork(
        nodes=nodes,
        states={node: states[node] for node in nodes},
        parents=parents,
        cpts={node: _estimate(node, parents[node], table, prior, ess) for node in nodes},
    )


def _estimate(
    node: str, parents: list[str], table: Dataset, prior: Prior, ess: float
) -> NDArray[np.float64]:
    """Estimate a table: (count + prior cases) of each cell over their sum over the states."""
    row_of = {name: i for i, name in enumerate(table.names)}
    family = [row_of[member] for member in (*parents, node)]
    shape = [table.cardinalities[row] for row in family]
    if prod(shape) > MOST_CELLS:
        raise KesError(
            f"the table of {node!r} given its {len(parents)} parents would have "
            f"{' x '.join(map(str, shape))} cells, which is too large; learn with a smaller "
            "max_parents, or merge states"
        )
    codes = table.select([*parents, node]).codes
    cells = configurations(codes, shape)
    counts = np.bincount(cells, weights=table.weights, minlength=prod(shape)).astype(np.float64)
    counts = counts.reshape(shape) + _cases_per_cell(prior, ess, prod(shape))
    sums = counts.sum(axis=-1, keepdims=True)
    cpt = np.full(shape, 1 / shape[-1])
    np.divide(counts, sums, out=cpt, where=sums > 0)
    return cpt


def _cases_per_cell(prior: Prior, ess: float, cells: int) -> float:
    """Return the cases that a prior adds to each of the cells of a table."""
    match prior:
        case None | "ml":
            return 0.0
        case "bdeu":
            return _positive("ess", ess) / cells
        case int() | float() if not isinstance(prior, bool):
            return _positive("prior", prior)
    raise KesError(f'prior must be None, "ml", "bdeu" or a number of cases, not {prior!r}')


def _positive(name: str, value: float) -> float:
    if not (isinstance(value, int | float) and isfinite(value) and value > 0):
        raise KesError(f"{name} must be a positive number, not {value!r}")
    return float(value)


def _refuse_mismatch(nodes: tuple[str, ...], columns: tuple[str, ...]) -> None:
    missing = [node for node in nodes if node not in set(columns)]
    further = [column for column in columns if column not in set(nodes)]
    if missing or further:
        parts = [f"the data have no column for {listed(missing)}"] * bool(missing)
        parts += [f"the graph has no node for the columns {listed(further)}"] * bool(further)
        raise KesError("; ".join(parts))
