"""A network as files know it: nodes, states, parents and models, and nothing computed from them.

Readers return `Parts` and writers take whatever has these parts, so that no format needs to know
what else a network can do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kes.data.column import State
from kes.data.discretizer import Discretizer
from kes.data.normal_scores import Ranks


@dataclass(frozen=True)
class Parts:
    """What a file says of a network, unchecked.

    Attributes
    ----------
    nodes, states, parents
        As in `kes.MixedNetwork`.
    cpts
        The tables of nodes that have one.
    models
        Of the other nodes, the kind of their local model and its numbers, by name.
    cuts
        Where columns are cut, by node.
    ranks
        Values and normal scores of columns, by node.
    """

    nodes: Iterable[str]
    states: Mapping[str, Iterable[State]]
    parents: Mapping[str, Iterable[str]]
    cpts: Mapping[str, Any]
    models: Mapping[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    cuts: Mapping[str, Sequence[float]] | None = None
    ranks: Mapping[str, Any] | None = None


class Describable(Protocol):
    """A local model, as far as files are concerned."""

    def describe(self) -> tuple[str, Any]:
        """Return what kind of model it is, and plain data from which it can be made again."""


class Writable(Protocol):
    """What writers of all kinds of networks need; see `kes.MixedNetwork` for the meaning."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes, in order."""

    @property
    def states(self) -> Mapping[str, tuple[State, ...]]:
        """States of each node, in order; none of continuous ones."""

    @property
    def parents(self) -> Mapping[str, tuple[str, ...]]:
        """Parents of each node, in the order of its local model."""

    @property
    def arcs(self) -> Sequence[tuple[str, str]]:
        """The arcs (parent, child), sorted."""

    @property
    def discretizer(self) -> Discretizer | None:
        """How columns are cut, if they are."""

    @property
    def transform(self) -> Ranks | None:
        """How columns are transformed, if they are."""

    def local(self, node: str) -> Describable:
        """Return the local model of a node."""


class WritableTables(Writable, Protocol):
    """What writers of discrete networks need."""

    @property
    def cpts(self) -> Mapping[str, NDArray[np.float64]]:
        """Tables: one axis per parent, then the node's own states."""
