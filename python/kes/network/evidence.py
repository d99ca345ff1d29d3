"""Evidence: the observed columns of some rows, and the hidden nodes that are relevant to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from itertools import product
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kes import _core
from kes.data.random_stream import Purpose, Stream
from kes.network.cpds import Inputs, Linear, Tabular
from kes.network.inference import table_limit
from kes.network.regressors import Values
from kes.validation import integer

if TYPE_CHECKING:
    from kes.network.base import Network

_BLOCK = 2**22
"""Cells of tables, of all rows together, that are held at a time: 32 MB."""


@dataclass(frozen=True)
class Evidence:
    """Observed columns of a network, without missing values.

    `bounds` are those of continuous nodes that are known to lie between two values, in all rows.
    """

    network: Network
    columns: Mapping[str, Values]
    rows: int
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def with_columns(self, columns: Mapping[str, Values]) -> Evidence:
        """Return the same with further columns."""
        return replace(self, columns={**self.columns, **columns})

    def blocks(self, size: int) -> Iterator[Evidence]:
        """Iterate over blocks of rows."""
        for start in range(0, self.rows, size):
            part = {node: column[start : start + size] for node, column in self.columns.items()}
            yield replace(self, columns=part, rows=min(size, self.rows - start))

    def inputs(self, node: str) -> Inputs:
        """Return the inputs of the CPD of a node, whose parents are all observed."""
        parents = self.network.parents[node]
        levels = [len(self.network.states[parent]) for parent in parents]
        given = [self.columns[parent] for parent in parents]
        return self.network.local(node).inputs(given, levels, self.rows)

    def is_curved(self, node: str, hidden: Collection[str]) -> bool:
        """Return whether the mean of a node is a curve in some hidden continuous nodes."""
        model, states = self.network.local(node), self.network.states
        return (
            isinstance(model, Linear)
            and model.degree > 1
            and any(p in hidden and not states[p] for p in self.network.parents[node])
        )

    def log_probabilities(self, nodes: Iterable[str]) -> NDArray[np.float64]:
        """Return in each row the sum over some nodes of ln P(value | values of the parents)."""
        result = np.zeros(self.rows)
        for node in nodes:
            model = self.network.local(node)
            result += model.log_probability(self.inputs(node), self.columns[node])
        return result


def in_order(network: Network) -> list[str]:
    """Return the nodes in topological order."""
    return list(TopologicalSorter(network.parents).static_order())


def uniforms(n: int, seed: int | Stream, nodes: int) -> NDArray[np.float64]:
    """Return the random numbers of n cases, a row for each; see `Network.sample`."""
    return Stream.of(seed, Purpose.SAMPLES).uniforms(integer("n", n, minimum=1), nodes)


def draw(
    network: Network,
    numbers: NDArray[np.float64],
    given: Mapping[str, Values] = MappingProxyType({}),
) -> dict[str, Values]:
    """Draw a case for each row of random numbers, each node after its parents.

    Nodes of which the values are given keep them.
    """
    number = dict(zip(network.nodes, np.ascontiguousarray(numbers.T), strict=True))
    columns = dict(given)
    drawn = Evidence(network, columns, len(numbers))
    for node in in_order(network):
        if node not in given:
            columns[node] = network.local(node).draw(drawn.inputs(node), number[node])
    return {node: columns[node] for node in network.nodes}


class HiddenNodes:
    """The hidden nodes of a network that matter, in components that can be treated separately.

    A hidden node without observed descendants is *barren*: it does not change the probability of
    the others. Two other hidden nodes belong to the same component if they share a family (a node
    and its parents), directly or through a chain of hidden nodes. Sums over hidden nodes are
    products of sums over components.

    The evidence includes the constants. Targets are asked about, so they are not barren. `families`
    has the hidden nodes in the family of each node that is not barren, `components` the hidden
    nodes of each component in topological order.
    """

    def __init__(self, evidence: Evidence, targets: Iterable[str] = ()) -> None:
        network = evidence.network
        ordered = in_order(network)
        matters = {*evidence.columns, *evidence.bounds, *targets}
        for node in reversed(ordered):
            if node in matters and node not in network.constants:
                matters.update(network.parents[node])
        self._evidence = evidence
        self.families = {
            node: [
                member
                for member in (*network.parents[node], node)
                if member not in evidence.columns
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
        """Return the component of a hidden node."""
        return next(group for group in self.components if node in group)

    def touching(self, nodes: Iterable[str]) -> list[str]:
        """Return the nodes whose families contain any of these hidden nodes."""
        wanted = set(nodes)
        return [n for n, family in self.families.items() if wanted.intersection(family)]

    def settled(self) -> list[str]:
        """Return the nodes whose families are fully observed."""
        return [node for node, family in self.families.items() if not family]

    def log_evidence(self, component: Sequence[str]) -> NDArray[np.float64]:
        """Return the logarithm of the sum over a discrete component, in each row."""
        parts = []
        for inference, observed, codes, names, states in self._factors(component):
            with table_limit(names, states):
                parts.append(inference.log_evidence(observed, codes))
        return np.concatenate(parts)

    def posterior(self, component: Sequence[str], target: str) -> NDArray[np.float64]:
        """Return the distribution of a node of a discrete component, shape (rows, states).

        It is NaN in rows of probability zero.
        """
        parts = []
        for inference, observed, codes, names, states in self._factors(component):
            with table_limit(names, states):
                parts.append(inference.posteriors(names.index(target), observed, codes))
        return np.concatenate(parts)

    def _factors(
        self, component: Sequence[str]
    ) -> Iterator[tuple[_core.Inference, list[int], NDArray[np.int32], list[str], dict[str, int]]]:
        """Hand the families that a component touches to the core, for a block of rows at a time.

        A table depends on observed states only. The factor of another CPD differs from row to row,
        so it gets the row number as a further variable, whose value is observed.
        """
        network, touched = self._evidence.network, self.touching(component)
        tables = [node for node in touched if isinstance(network.local(node), Tabular)]
        others = [node for node in touched if node not in tables]
        members = [(*network.parents[node], node) for node in tables]
        names = sorted({*component, *(member for family in members for member in family)})
        states = {name: len(network.states[name]) for name in names}
        place = {name: i for i, name in enumerate(names)}
        observed = [name for name in names if name not in component]
        cells = sum(prod(states[m] for m in self.families[node]) for node in others)
        factors = []
        for node, family in zip(tables, members, strict=True):
            model = network.local(node)
            assert isinstance(model, Tabular), "selected above"
            table = model.log_table() if others else model.cpt
            factors.append(([place[member] for member in family], table.ravel()))
        for block in self._evidence.blocks(max(1, _BLOCK // max(cells, 1)) if others else 2**62):
            codes = np.array([block.columns[name] for name in observed], dtype=np.int32)
            codes = codes.reshape(len(observed), block.rows)
            indices, sizes, own = [place[name] for name in observed], [*states.values()], factors
            if others:
                number = len(sizes)
                codes = np.vstack([codes, np.arange(block.rows, dtype=np.int32)])
                indices, sizes = [*indices, number], [*sizes, block.rows]
                own = factors + [
                    ([number, *(place[m] for m in self.families[node])], self._logs(block, node))
                    for node in others
                ]
            inference = _core.Inference(sizes, own, directed=False, logarithms=bool(others))
            yield inference, indices, codes, names, states

    def _logs(self, block: Evidence, node: str) -> NDArray[np.float64]:
        """Return ln P of a node for each row and all states of the hidden nodes in its family."""
        scope = self.families[node]
        sizes = [len(block.network.states[member]) for member in scope]
        logs = np.empty((block.rows, prod(sizes)))
        for cell, codes in enumerate(product(*map(range, sizes))):
            states = {m: np.full(block.rows, code) for m, code in zip(scope, codes, strict=True)}
            logs[:, cell] = block.with_columns(states).log_probabilities([node])
        return logs.ravel()
