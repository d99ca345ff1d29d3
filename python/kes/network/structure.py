"""The structure of a network: nodes, states, parents, and what follows from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from kes.data import State
from kes.data.discretizer import Discretizer
from kes.data.intervals import named_cuts
from kes.data.normal_scores import Ranks
from kes.data.notation import Notation
from kes.errors import unknown
from kes.graph import EssentialGraph
from kes.network.cpds import Linear, Local


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Structure(ABC):
    """A DAG whose nodes have states; immutable.

    Attributes
    ----------
    nodes : tuple of str
        Names of the nodes, in order.
    states : mapping of str to tuple
        For each node its states, in order; empty for continuous nodes.
    parents : mapping of str to tuple of str
        For each node its parents, in the order of its CPD.
    discretizer, transform
        How raw columns are discretized or transformed (`kes.Discretizer`,
        `kes.data.normal_scores.Ranks`), or None. They apply to all data passed to the network.
    notations : mapping of str to Notation
        How the columns of some nodes were written: new dates are read in the same way, and numbers
        in another unit are refused.
    """

    nodes: tuple[str, ...]
    states: Mapping[str, tuple[State, ...]]
    parents: Mapping[str, tuple[str, ...]]
    discretizer: Discretizer | None
    transform: Ranks | None
    notations: Mapping[str, Notation]

    def _set(self, **parts: object) -> None:
        for name, value in parts.items():
            known = MappingProxyType(value) if isinstance(value, dict) else value
            object.__setattr__(self, name, known)

    @abstractmethod
    def local(self, node: str) -> Local:
        """Return the CPD of a node."""

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """The arcs (parent, child), sorted."""
        return tuple(sorted((p, node) for node, parents in self.parents.items() for p in parents))

    @property
    def kinds(self) -> dict[str, Literal["discrete", "continuous"]]:
        """Whether each node is discrete or continuous."""
        return {n: "discrete" if self.states[n] else "continuous" for n in self.nodes}

    @property
    def exogenous(self) -> tuple[str, ...]:
        """The nodes that are not modelled: contexts, indicators of experiments, earlier values."""
        marked = {node for node, own in self.notations.items() if own.exogenous}
        return tuple(node for node in self.nodes if node in marked)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return sum(self.local(node).n_parameters for node in self.nodes)

    @cached_property
    def constants(self) -> dict[str, float]:
        """The value of each continuous node that has only one."""
        models = ((node, self.local(node)) for node in self.nodes)
        return {n: m.intercept for n, m in models if isinstance(m, Linear) and m.deviation == 0}

    @cached_property
    def graph(self) -> EssentialGraph:
        """Essential graph of the equivalence class of the network's DAG."""
        return EssentialGraph.from_dag(self.nodes, self.arcs)

    @cached_property
    def cuts(self) -> dict[str, tuple[float, ...]]:
        """Cut points of discretized nodes: those of the discretizer, or of labels like "(1.5, 3]".

        Labels let networks from formats that cannot store cuts take numbers, too.
        """
        return named_cuts(self.states) | dict(self.discretizer.cuts if self.discretizer else {})

    def markov_blanket(self, node: str) -> frozenset[str]:
        """Return the Markov blanket of a node: its parents, children and the children's parents.

        Given these, all other nodes are irrelevant for it.
        """
        self._checked(node)
        families = [{child, *parents} for child, parents in self.parents.items()]
        return frozenset().union(*(f for f in families if node in f)) - {node}

    def relevant(self, target: str, observed: Iterable[str]) -> list[str]:
        """Return the observed nodes that predict a target: its Markov blanket if complete."""
        others = set(observed) - {target}
        blanket = self.markov_blanket(target)
        relevant = blanket if blanket <= others else others
        return [node for node in self.nodes if node in relevant]

    def _checked(self, node: str) -> str:
        if node not in self.states:
            raise unknown("node", node, self.nodes, column=str(node))
        return node
