"""Posterior probabilities by Markov chains, where the sum over all networks is too large.

The chains of `kes.analysis.chains` give shares of models with an edge, an arc and so on. Their
errors are estimated from the spread of batches of rounds and of the chains. Numbers on which the
chains do not agree are not settled, and are not shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.analysis.chains import CHAINS, ChainBatch, ChainRecord, Chains, ChainWork, Scored, Triple
from kes.analysis.convergence import Convergence, Diagnostics, converged
from kes.analysis.probabilities import ModelProbability, Structures
from kes.errors import KesError, option
from kes.graph import EssentialGraph
from kes.graph.core_graph import CoreGraph
from kes.search.problem import Problem

AGREEMENT = 0.05
"""Chains whose probabilities of an edge differ by more have not settled it."""

_DRAWN = 0.1  # as `AGREEMENT`, of numbers from DAGs drawn once in a round
_PRECISE = 0.01  # standard error of an edge with which chains of no given length stop
_RELATIVE = 0.25  # relative standard error below which the effective number of models is settled
_BURN_IN = 0.2
_MODELS = 1000
_FIRST, _LONGEST, _SHORTEST = 2_000, 16_000, 400  # rounds
_WORK = 5e6  # rounds x squared number of variables that take about half a minute


def sampled(
    problem: Problem,
    prior: str,
    rounds: int | None,
    work: ChainWork,
    optima: Sequence[Scored] = (),
) -> Mapping[str, Any]:
    """Return the fields of a `StructurePosterior` that chains find.

    Without a number of rounds, the chains are made longer until they agree.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C. Its attribute ``found`` has the fields, if chains got anywhere.
    """
    names = tuple(problem.dataset.names)
    first, last = planned(len(names)) if rounds is None else (rounds, rounds)
    chains = Chains(problem, prior, first, work, optima)
    try:
        while chains.run(first) and first < last:
            if _is_settled(_Statistics(names, chains.record)):
                break
            first = min(2 * first, last)
    except KeyboardInterrupt as stop:
        if _is_enough(chains.record):
            stop.found = _Statistics(names, chains.record).fields()  # type: ignore[attr-defined]
        raise
    if not _is_enough(chains.record):
        raise KesError(
            f"the chains did not get anywhere in time: raise {option('budget')}",
            option="budget",
        )
    return _Statistics(names, chains.record).fields()


def planned(variables: int) -> tuple[int, int]:
    """Return the rounds after which chains first look whether they agree, and at most."""
    last = int(min(max(_WORK / variables**2, _SHORTEST), _LONGEST))
    return min(_FIRST, last), last


def _is_enough(record: ChainRecord | None) -> bool:
    return record is not None and len(record.batches) >= 3


def _is_settled(found: _Statistics) -> bool:
    return bool(found.edges.settled.all() and found.edges.error.max() <= _PRECISE)


class _Statistics:
    """Means, errors and agreement of what chains have found."""

    def __init__(self, names: tuple[str, ...], record: ChainRecord | None) -> None:
        if record is None:
            raise RuntimeError("the chains have not begun")
        self._names, self._record = names, record
        burnt = max(int(len(record.batches) * _BURN_IN), 1)
        self._batches: Sequence[ChainBatch] = record.batches[burnt:]
        self.edges = self._of("edges", AGREEMENT)

    def fields(self) -> Mapping[str, Any]:
        """Put together what all chains found."""
        arcs, paths, blankets = (
            self._of(name, _DRAWN) for name in ("arcs", "ancestors", "blankets")
        )
        triples, colliders = self._colliders()
        graphs, models = self._models()
        effective, spread = _effective(self._counts(), models)
        rounds = self._record.rounds * len(self._batches)
        diagnostics = Diagnostics(
            chains=CHAINS,
            rounds=rounds,
            jumps=sum(batch.jumps for batch in self._batches),
            of={
                "edges": self.edges,
                "arcs": arcs,
                "ancestors": paths,
                "blankets": blankets,
                "v_structures": colliders,
                "models": models,
            },
        )
        shares = dict(zip(triples, colliders.shown.tolist(), strict=True))
        likely = tuple(
            ModelProbability(EssentialGraph.from_core(self._names, graph), share, error)
            for graph, share, error in zip(
                graphs, models.shown.tolist(), models.error.tolist(), strict=True
            )
        )
        return {
            "status": "converged" if self.edges.settled.all() else "not settled",
            "dropped": 0.0,
            "rounding": 0.0,
            "log_sum": float("nan"),
            "method": f"{CHAINS} chains, {rounds:,} rounds each",
            "arcs": self._arcs(arcs),
            "edge_shares": self.edges.shown,
            "paths": paths.shown,
            "structures": Structures(shares, blankets.shown, likely, effective, spread),
            "diagnostics": diagnostics,
        }

    def _of(self, name: str, most: float) -> Convergence:
        batches = np.array([batch.shares[name] for batch in self._batches])
        return converged(batches.swapaxes(0, 1), most)

    def _arcs(self, arcs: Convergence) -> NDArray[np.float64]:
        """Divide the shares of edges, which are more precise, between their directions."""
        both = arcs.mean + arcs.mean.T
        half = np.full_like(both, 0.5)
        forward = np.divide(arcs.mean, both, out=half, where=both > 0)
        found = np.where(arcs.settled, self.edges.mean * forward, np.nan)
        np.fill_diagonal(found, 0.0)
        return found

    def _colliders(self) -> tuple[list[tuple[str, str, str]], Convergence]:
        """Return the v-structures that occur, and their shares."""
        every: list[Triple] = sorted(
            set().union(*(own for batch in self._batches for own in batch.v_structures))
        )
        shares = np.array(
            [
                [[own.get(triple, 0.0) for triple in every] for own in batch.v_structures]
                for batch in self._batches
            ]
        )
        triples = [(self._names[a], self._names[c], self._names[b]) for a, c, b in every]
        return triples, converged(shares.swapaxes(0, 1), _DRAWN)

    def _counts(self) -> list[Counter[CoreGraph]]:
        """Return the models that the rounds of each chain ended in."""
        counts = [Counter[CoreGraph]() for _ in range(CHAINS)]
        for batch in self._batches:
            for chain, own in zip(counts, batch.classes, strict=True):
                chain.update(own)
        return counts

    def _models(self) -> tuple[list[CoreGraph], Convergence]:
        """Return the most probable models, and the shares of rounds that ended in them."""
        every: Counter[CoreGraph] = sum(self._counts(), Counter())
        graphs = [graph for graph, _ in every.most_common(_MODELS)]
        shares = np.array(
            [
                [[own[graph] / own.total() for graph in graphs] for own in batch.classes]
                for batch in self._batches
            ]
        )
        return graphs, converged(shares.swapaxes(0, 1), _DRAWN)


def _effective(counts: Sequence[Counter[CoreGraph]], models: Convergence) -> tuple[float, float]:
    """Return the effective number of models and its standard error; NaN if it is not settled.

    The number is the inverse of the probability that two chains are in the same class. The error of
    that is the larger of two: that of the jackknife, from the numbers that three chains give, and
    that which follows from the errors of the probabilities of models.
    """
    same = np.zeros((CHAINS, CHAINS))
    for (a, first), (b, second) in combinations(enumerate(counts), 2):
        pairs = sum(count * second[graph] for graph, count in first.items())
        same[a, b] = same[b, a] = pairs / (first.total() * second.total())
    mean = same.sum() / (CHAINS * (CHAINS - 1))
    without = [
        np.delete(np.delete(same, one, 0), one, 1).sum() / ((CHAINS - 1) * (CHAINS - 2))
        for one in range(CHAINS)
    ]
    propagated = 2 * np.linalg.norm(models.mean * models.error)
    error = float(max(np.sqrt((CHAINS - 1) * np.var(without)), propagated))
    if error >= _RELATIVE * mean:
        return math.nan, math.nan
    return float(1 / mean), float(error / mean**2)
