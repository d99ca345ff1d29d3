"""A discrete Bayesian network as plain tables: the truth behind the data drawn here."""

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import numpy as np
from numpy.typing import NDArray

from kes.errors import KesError


@dataclass(frozen=True)
class Cpts:
    """Nodes, their states, their parents, and one conditional probability table (CPT) each.

    Parameters
    ----------
    nodes
        Names, in the order in which they become the columns of a table.
    states
        The states of every node, in order.
    parents
        The parents of every node, in the order of its table's axes.
    cpts
        ``cpts[node]`` has one axis per parent, in the order of ``parents[node]``, and the node
        itself last: ``cpts["C"][a, b, c] = P(C = c | A = a, B = b)``, so the last axis sums to 1.

    Raises
    ------
    KesError
        If a table does not have the shape its states demand, is no set of distributions, or the
        arcs have a directed cycle.
    """

    nodes: tuple[str, ...]
    states: Mapping[str, tuple[str, ...]]
    parents: Mapping[str, tuple[str, ...]]
    cpts: Mapping[str, NDArray[np.float64]]

    def __post_init__(self) -> None:
        for node in self.nodes:
            self._check_table(node)
        self.ancestral_order()

    def _check_table(self, node: str) -> None:
        table, expected = self.cpts[node], tuple(map(self.cardinality, self.family(node)))
        if table.shape != expected:
            raise KesError(
                f"the table of {node!r} has shape {table.shape}, but its parents and itself have "
                f"{expected} states"
            )
        if not (np.all(table >= 0) and np.allclose(table.sum(axis=-1), 1, rtol=0, atol=1e-9)):
            raise KesError(
                f"the table of {node!r} must hold probabilities that sum to 1 over the node's "
                "states, which are its last axis"
            )

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """The arcs (parent, child), sorted."""
        return tuple(sorted((p, node) for node in self.nodes for p in self.parents[node]))

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: (states - 1) per configuration of the parents."""
        return sum(table.size - table.size // table.shape[-1] for table in self.cpts.values())

    def cardinality(self, node: str) -> int:
        """Return the number of states of a node."""
        return len(self.states[node])

    def family(self, node: str) -> tuple[str, ...]:
        """Return the names of the axes of a node's table: its parents, then itself."""
        return (*self.parents[node], node)

    def ancestral_order(self) -> list[str]:
        """Return the nodes ordered so that parents come before their children."""
        try:
            return list(TopologicalSorter({v: self.parents[v] for v in self.nodes}).static_order())
        except CycleError as error:
            raise KesError(
                f"the arcs form a directed cycle: {' -> '.join(error.args[1])}"
            ) from None
