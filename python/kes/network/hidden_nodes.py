"""What is unknown in a row, and what of it matters.

An unknown node without known descendants is *barren*: whatever it is, the others are as probable.
The rest falls into components. Two unknown nodes bear on each other if they are in one family, that
is, a node and its parents; chains of such pairs make a component. Sums over unknown nodes are
products of sums over their components.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from kes.network.cpds import Tabular, configurations
from kes.network.evidence import Known, in_order
from kes.network.variable_elimination import Potential, check_size, sum_out

_BLOCK = 2**22
"""Cells of the products that are held at a time: 32 MB."""


class Unknown:
    """The nodes of a network that are unknown where others are known.

    Parameters
    ----------
    known
        What is known; constants are.
    asked
        Unknown nodes that are not summed over, so that they are not barren.

    Attributes
    ----------
    families : dict of str to list of str
        For each node that is not barren, the unknown nodes in its family.
    components : list of list of str
        Unknown nodes that bear on each other, parents before children.
    """

    def __init__(self, known: Known, asked: Iterable[str] = ()) -> None:
        network = known.network
        ordered = in_order(network)
        matters = {*known.columns, *asked}
        for node in reversed(ordered):
            if node in matters and node not in network.constants:
                matters.update(network.parents[node])
        self._known = known
        self.families = {
            node: [
                member for member in (*network.parents[node], node) if member not in known.columns
            ]
            if node not in network.constants
            else []
            for node in network.nodes
            if node in matters
        }
        self.components: list[list[str]] = []
        for family in filter(None, self.families.values()):
            joined = [group for group in self.components if not set(group).isdisjoint(family)]
            members = set(family).union(*joined)
            self.components = [group for group in self.components if group not in joined]
            self.components.append([node for node in ordered if node in members])

    def component(self, node: str) -> list[str]:
        """Return the unknown nodes that bear on one of them, itself included."""
        return next(group for group in self.components if node in group)

    def touching(self, nodes: Iterable[str]) -> list[str]:
        """Return the nodes in whose families any of these are."""
        wanted = set(nodes)
        return [n for n, family in self.families.items() if wanted.intersection(family)]

    def settled(self) -> list[str]:
        """Return the nodes in whose families nothing is unknown."""
        return [node for node, family in self.families.items() if not family]

    def sum_over(self, component: Sequence[str], kept: str | None = None) -> NDArray[np.float64]:
        """Return the logarithm of the sum over a component of all that it touches, exactly.

        Parameters
        ----------
        component
            Discrete nodes.
        kept
            One of them over which not to sum.

        Returns
        -------
        ndarray
            Shape (rows,), or (rows, states of the node that is kept).
        """
        known = self._known
        states = {node: len(known.network.states[node]) for node in component}
        hidden = [node for node in component if node != kept]
        scopes = {n: tuple(sorted(self.families[n])) for n in self.touching(component)}
        step = max(1, _BLOCK // check_size(scopes.values(), hidden, states))
        parts = []
        for start in range(0, known.rows, step):
            block = known.block(start, step)
            tables = [_potential(block, node, scope) for node, scope in scopes.items()]
            parts.append(sum_out(tables, hidden, states))
        return np.concatenate(parts)


def _potential(known: Known, node: str, scope: tuple[str, ...]) -> Potential:
    """Return the logarithms of a node's distribution for all states of unknown nodes in it."""
    network = known.network
    sizes = [len(network.states[member]) for member in scope]
    model = network.local(node)
    if isinstance(model, Tabular):  # nothing is computed: known states choose a part
        members = (*network.parents[node], node)
        fixed = [member for member in members if member not in scope]
        order = [members.index(member) for member in (*fixed, *scope)]
        table = model.log_table().transpose(order)
        columns = [known.columns[member] for member in fixed]
        number = configurations(columns, table.shape[: len(fixed)], known.rows)
        return Potential(scope, table.reshape(-1, *sizes)[number])
    logs = np.empty((known.rows, prod(sizes)))
    for cell, codes in enumerate(product(*map(range, sizes))):
        states = {m: np.full(known.rows, code) for m, code in zip(scope, codes, strict=True)}
        logs[:, cell] = known.with_columns(states).log_probabilities([node])
    return Potential(scope, logs.reshape(-1, *sizes))
