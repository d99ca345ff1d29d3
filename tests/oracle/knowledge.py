"""Background knowledge by its definition: a DAG has every required and no forbidden arc, or not."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from . import brute
from .brute import Dag, Edges

Core = tuple[list[int | None] | None, Edges, Edges]


@dataclass(frozen=True)
class Known:
    """Background knowledge about n variables."""

    n: int
    tiers: tuple[int | None, ...] | None = None
    required: Edges = field(default_factory=list)
    forbidden: Edges = field(default_factory=list)

    @property
    def core(self) -> Core:
        """As the engine takes it."""
        return None if self.tiers is None else list(self.tiers), self.required, self.forbidden

    def admits(self, dag: Dag) -> bool:
        arcs = brute.arcs_of(dag)
        return (
            set(self.required) <= set(arcs)
            and not set(self.forbidden) & set(arcs)
            and not any(self._against_tiers(x, y) for x, y in arcs)
        )

    def _against_tiers(self, x: int, y: int) -> bool:
        if self.tiers is None:
            return False
        earlier, later = self.tiers[y], self.tiers[x]
        return earlier is not None and later is not None and earlier < later

    def admissible(self) -> list[list[Dag]]:
        """Admissible DAGs of every model."""
        return [[d for d in dags if self.admits(d)] for dags in brute.models(self.n).classes]


def tiered(dag: Dag, width: int) -> tuple[int, ...]:
    """Tiers that a DAG obeys: the longest path to each node, with `width` levels to a tier."""
    depth = [0] * len(dag)
    for _ in dag:
        for x, y in brute.arcs_of(dag):
            depth[y] = max(depth[y], depth[x] + 1)
    return tuple(steps // width for steps in depth)


def mixture(n: int, rng: np.random.Generator) -> Known:
    """Tiers (for all nodes, some or none), required and forbidden arcs that a random DAG obeys."""
    dag = brute.all_dags(n)[rng.integers(len(brute.all_dags(n)))]
    arcs = brute.arcs_of(dag)
    share = rng.choice([0.05, 0.15, 0.3, 0.5])
    others = [(x, y) for x in range(n) for y in range(n) if x != y and (x, y) not in arcs]
    tiers = tiered(dag, int(rng.integers(1, 4)))
    listed = {0: None, 1: (None, *tiers[1:]), 2: tiers}[int(rng.integers(3))]
    return Known(
        n,
        listed,
        [arc for arc in arcs if rng.random() < share],
        [arc for arc in others if rng.random() < share],
    )
