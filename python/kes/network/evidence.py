"""Cases: how probable a network holds them, and drawing new ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kes.data.random_stream import Stream
from kes.network.cpds import Values
from kes.validation import integer

if TYPE_CHECKING:
    from kes.network.base import Network


@dataclass(frozen=True)
class Known:
    """What is known of the nodes of a network in some rows.

    Attributes
    ----------
    network
        The network.
    columns
        A column, without gaps, for each known node.
    rows
        Number of rows.
    """

    network: Network
    columns: Mapping[str, Values]
    rows: int

    def with_columns(self, columns: Mapping[str, Values]) -> Known:
        """Return the same with more known."""
        return Known(self.network, {**self.columns, **columns}, self.rows)

    def block(self, start: int, size: int) -> Known:
        """Return some of the rows."""
        part = {node: column[start : start + size] for node, column in self.columns.items()}
        return Known(self.network, part, min(size, self.rows - start))

    def inputs(self, node: str) -> NDArray[Any]:
        """Return what the local model of a node needs of its parents, which are known."""
        parents = self.network.parents[node]
        levels = [len(self.network.states[parent]) for parent in parents]
        given = [self.columns[parent] for parent in parents]
        return self.network.local(node).inputs(given, levels, self.rows)

    def log_probabilities(self, nodes: Iterable[str]) -> NDArray[np.float64]:
        """Return in each row the sum over some nodes of ln P(value | values of the parents)."""
        result = np.zeros(self.rows)
        for node in nodes:
            model = self.network.local(node)
            result += model.log_probability(self.inputs(node), self.columns[node])
        return result


def in_order(network: Network) -> list[str]:
    """Return the nodes, parents before their children."""
    return list(TopologicalSorter(network.parents).static_order())


def draw(network: Network, n: int, seed: int) -> dict[str, Values]:
    """Draw n cases, each node after its parents; see `Network.sample` for the rule."""
    cases = integer("n", n, minimum=1)
    uniforms = np.ascontiguousarray(Stream(seed).uniforms(cases, len(network.nodes)).T)
    number = dict(zip(network.nodes, uniforms, strict=True))
    columns: dict[str, Values] = {}
    drawn = Known(network, columns, cases)
    for node in in_order(network):
        columns[node] = network.local(node).draw(drawn.inputs(node), number[node])
    return {node: columns[node] for node in network.nodes}
