"""Posterior probabilities by Markov chains, where the sum over all networks is too large.

Several chains start at different local optima, hop between them, and have a second walker at a
higher temperature: see the core's module `posterior/chain`. Numbers on which the chains do not
agree are not settled, and are not shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes import _core
from kes.analysis.probabilities import Diagnostics, ModelProbability, Structures
from kes.budget import Budget
from kes.errors import KesError, option
from kes.graph import EssentialGraph
from kes.graph.core_graph import CoreGraph
from kes.search.problem import Problem

Scored = tuple[CoreGraph, float]

CHAINS = 4
BETAS = (1.0, 0.6)
AGREEMENT = 0.05
"""Chains whose probabilities of an edge differ by more have not settled it."""

_BLOCK = 20  # rounds
_SLICE = 5  # blocks between two checks of the clock
_BURN_IN = 0.2
_SEARCH = Budget(runs=40, tasks=200)
_LISTED, _NEAR = 50, 20.0  # optima to hop between, and nats below the best
_DIRECTIONS = 0.1  # as `AGREEMENT`, of numbers from DAGs drawn once in a round
_MODELS = 1000
_CERTAIN = 1e-9


@dataclass(frozen=True)
class ChainWork:
    """Resources of chains; `report(rounds done)` shows progress and returns whether to continue."""

    rounds: int
    threads: int
    report: Callable[[int], bool]


def sampled(
    problem: Problem, prior: str, work: ChainWork, optima: Sequence[Scored] = ()
) -> Mapping[str, Any]:
    """Return the fields of a `StructurePosterior` that chains find."""
    found = _Chains(problem, prior, work, optima or _optima(problem, work))
    found.run()
    return found.result()


def _optima(problem: Problem, work: ChainWork) -> Sequence[Scored]:
    """Search for models to start from."""
    keep_going = lambda: work.report(0)  # noqa: E731
    return problem.driver(work.threads).search(_SEARCH, keep_going)


class _Chains:
    """Chains with what they have found so far."""

    def __init__(
        self, problem: Problem, prior: str, work: ChainWork, optima: Sequence[Scored]
    ) -> None:
        self._problem, self._work = problem, work
        if not optima:
            raise KesError(
                f"no model was found in time to start from: raise {option('budget')}",
                option="budget",
            )
        best = sorted(dict(optima).items(), key=lambda model: -model[1])
        near = [graph for graph, score in best if score >= best[0][1] - _NEAR]
        self._listed = near[:_LISTED]
        places = np.linspace(0, len(self._listed) - 1, CHAINS).round().astype(int)
        self._state = [[self._listed[place]] * len(BETAS) for place in places]
        self._options: dict[str, Any] = {
            "prior": prior,
            "betas": list(BETAS),
            "seed": problem.settings.seed,
            "duration": 1.0,
            "rounds": _BLOCK,
            "before": 0,
            "blocks": 0,
            "max_parents": problem.settings.max_parents,
            "n_jobs": work.threads,
        }
        self._parts: list[list[_core.Chain]] = []  # of each slice after burning in, all chains

    def run(self) -> None:
        """Continue until all rounds are done or the time is up."""
        core, known = self._problem.core, self._problem.knowledge
        self._options["duration"] = core.pilot(self._state[0][0], known, **self._options)
        wanted = max(self._work.rounds // _BLOCK, 5)
        burn_in = max(int(wanted * _BURN_IN), 1)
        while self._options["before"] < wanted:
            before = self._options["before"]
            end = burn_in if before < burn_in else wanted
            self._options["blocks"] = min(_SLICE, end - before)
            found = core.chains(
                partial(self._report, before * _BLOCK * CHAINS),
                self._state,
                self._listed,
                known,
                **self._options,
            )
            if not found:  # the time is over
                break
            self._state = [[CoreGraph.of(graph) for graph in chain.state] for chain in found]
            self._options["before"] += self._options["blocks"]
            if before >= burn_in:
                self._parts.append(found)
        if not self._parts:
            raise KesError(
                f"the chains finished no round in time: raise {option('budget')}",
                option="budget",
            )

    def _report(self, before: int, rounds: int) -> bool:
        return self._work.report((before + rounds) // CHAINS)

    def result(self) -> Mapping[str, Any]:
        """Put together what all chains found."""
        names = tuple(self._problem.dataset.names)
        n = len(names)
        edges = self._blocks("edges", n)
        edges += edges.transpose(0, 1, 3, 2)
        diagnostics = _diagnostics(edges, self._rounds, self._jumps)
        arcs = self._blocks("arcs", n)
        share = edges.mean(axis=(0, 1))
        drawn = arcs.mean(axis=(0, 1))
        both = drawn + drawn.T
        forward = np.divide(drawn, both, out=np.full((n, n), 0.5), where=both > 0)
        matrix = np.where(_agree(arcs, _DIRECTIONS), share * forward, np.nan)
        np.fill_diagonal(matrix, 0.0)
        settled = diagnostics.agreement <= AGREEMENT
        return {
            "status": "converged" if settled.all() else "not settled",
            "dropped": 0.0,
            "rounding": 0.0,
            "log_sum": float("nan"),
            "method": f"{CHAINS} chains, {self._rounds:,} rounds each",
            "arcs": matrix,
            "edge_shares": np.where(settled, share, np.nan),
            "paths": self._pooled("ancestors", n),
            "structures": self._structures(names),
            "diagnostics": diagnostics,
        }

    def _blocks(self, name: str, n: int) -> NDArray[np.float64]:
        """Return matrices by chain and block."""
        of_chain = [
            [block for part in self._parts for block in getattr(part[chain], name)]
            for chain in range(CHAINS)
        ]
        return np.array(of_chain).reshape(CHAINS, -1, n, n)

    def _pooled(self, name: str, n: int) -> NDArray[np.float64]:
        """Return a matrix over all chains, NaN where they do not agree."""
        parts = np.array([[getattr(chain, name) for chain in part] for part in self._parts])
        weights = [len(part[0].edges) for part in self._parts]
        of_chain = np.average(parts, axis=0, weights=weights).reshape(CHAINS, 1, n, n)
        mean = of_chain.mean(axis=(0, 1))
        return np.where(_agree(of_chain, _DIRECTIONS), mean, np.nan)

    def _structures(self, names: tuple[str, ...]) -> Structures:
        counts = [Counter[CoreGraph]() for _ in range(CHAINS)]
        colliders = [Counter[tuple[int, int, int]]() for _ in range(CHAINS)]
        blocks = sum(len(part[0].edges) for part in self._parts)
        for part in self._parts:
            for chain, found in enumerate(part):
                counts[chain].update({CoreGraph.of(g): count for g, count in found.classes})
                for triple, share in found.v_structures:
                    colliders[chain][triple] += share * len(found.edges) / blocks  # type: ignore[assignment]
        every = sum(counts, Counter())
        total = sum(every.values())
        models = tuple(
            ModelProbability(EssentialGraph.from_core(names, graph), count / total)
            for graph, count in every.most_common(_MODELS)
        )
        v_structures = {}
        for a, c, b in sorted(set().union(*colliders)):
            shares = [own[a, c, b] for own in colliders]
            agreed = max(shares) - min(shares) <= _DIRECTIONS
            v_structures[names[a], names[c], names[b]] = (
                float(np.mean(shares)) if agreed else float("nan")
            )
        return Structures(
            v_structures, self._pooled("blankets", len(names)), models, _effective(counts)
        )

    @property
    def _rounds(self) -> int:
        return _BLOCK * sum(len(part[0].edges) for part in self._parts)

    @property
    def _jumps(self) -> int:
        return sum(chain.jumps for part in self._parts for chain in part)


def _agree(blocks: NDArray[np.float64], most: float) -> NDArray[np.bool_]:
    """Return whether the means of the chains differ by at most this much."""
    means = blocks.mean(axis=1)
    return np.asarray(means.max(axis=0) - means.min(axis=0) <= most)


def _diagnostics(blocks: NDArray[np.float64], rounds: int, jumps: int) -> Diagnostics:
    """Estimate errors from the spread of blocks within chains, and of the chains' means."""
    chains, number = blocks.shape[:2]
    means = blocks.mean(axis=1)
    within = blocks.var(axis=1, ddof=1).mean(axis=0)
    between = means.var(axis=0, ddof=1)
    mean = means.mean(axis=0)
    # The larger of both: chains that were at different places all the time differ by more.
    variance = np.maximum(within / number, between) / chains
    varies = mean * (1 - mean) > _CERTAIN  # otherwise there is nothing to estimate from
    with np.errstate(divide="ignore", invalid="ignore"):
        r_hat = np.sqrt((number - 1) / number + between / within)
        ess = mean * (1 - mean) / variance
    return Diagnostics(
        chains=chains,
        rounds=rounds,
        jumps=jumps,
        error=np.sqrt(variance),
        agreement=means.max(axis=0) - means.min(axis=0),
        ess=np.where(varies, ess, np.inf),
        r_hat=np.where(varies, r_hat, 1.0),
    )


def _effective(counts: Sequence[Counter[CoreGraph]]) -> float:
    """Return the inverse of the probability that two chains are in the same class."""
    shares = []
    for first, second in combinations(counts, 2):
        same = sum(count * second[graph] for graph, count in first.items())
        shares.append(same / (first.total() * second.total()))
    mean = float(np.mean(shares))
    return 1 / mean if mean > 0 else float("inf")
