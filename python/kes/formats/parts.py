"""A network as files know it: nodes, states, parents and tables, and nothing computed from them.

Readers return `Parts` and writers take whatever has these parts, so that no format needs to know
what else a network can do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kes.data.column import State


@dataclass(frozen=True)
class Parts:
    """What a file says of a network, unchecked; the arguments of `kes.BayesianNetwork`."""

    nodes: Iterable[str]
    states: Mapping[str, Iterable[State]]
    parents: Mapping[str, Iterable[str]]
    cpts: Mapping[str, Any]


class Writable(Protocol):
    """What writers need of a network; see `kes.BayesianNetwork` for the meaning."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes, in order."""

    @property
    def states(self) -> Mapping[str, tuple[State, ...]]:
        """States of each node, in order."""

    @property
    def parents(self) -> Mapping[str, tuple[str, ...]]:
        """Parents of each node, in the order of the axes of its table."""

    @property
    def cpts(self) -> Mapping[str, NDArray[np.float64]]:
        """Tables: one axis per parent, then the node's own states."""

    @property
    def arcs(self) -> Sequence[tuple[str, str]]:
        """The arcs (parent, child), sorted."""
