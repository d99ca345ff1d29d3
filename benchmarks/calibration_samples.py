"""Samples of known networks, and what each way to judge edges says about all pairs of variables.

Ten networks: six published discrete ones, and four linear Gaussian ones with published structures
and random coefficients, new ones for each sample. The seeds start at 3001, none of which was used
during development. The rule for clear directions was then chosen on these samples, so it is judged
on others: seeds from 5001, and three more networks.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from samples import linear, network

import kes
from kes.analysis.certainty import EdgeCertainty
from kes.data.random_stream import Stream
from kes.network import GaussianNetwork

FIRST_SEED = 3001
DISCRETE = ("asia", "sachs", "child", "insurance", "alarm", "hailfinder")
GAUSSIAN = tuple(f"{name} (Gaussian)" for name in ("asia", "sachs", "child", "alarm"))
NETWORKS = (*DISCRETE, *GAUSSIAN)
SIZES = (500, 1_000, 2_000)

FIRST_HELD_OUT = 5001
HELD_OUT = (*NETWORKS, "water", "win95pts", "hepar2")

ROUNDS = 400
"""Length of chains; with up to `SUMMED` variables, the sum is exact."""
SUMMED = 12
RESAMPLES = 10

RIGHT, REVERSED, FALSE = "right", "reversed", "false edge"
"""The direction of an edge in the network that generated the data."""


@dataclass(frozen=True)
class Pair:
    """Two variables: what is true of them, and what each method says. None: it says nothing."""

    is_adjacent: bool
    truth: int  # 1 if the network's essential graph has x -> y, -1 if y -> x, 0 otherwise
    evidence: float | None = None
    direction: float | None = None  # nats for x -> y, against y -> x
    drawn: int = 0  # the direction in the best network found, as `truth`
    probability: float | None = None  # by BDeu or BGe
    forward: float | None = None
    backward: float | None = None
    weight: float | None = None  # BIC weight
    weight_forward: float | None = None
    weight_backward: float | None = None
    search: float = 0.0
    resampling: float = 0.0
    disputed: str = ""  # criteria whose best network lacks the direction
    arc: int = 0  # the direction in the network itself, as `truth`
    error: float | None = None  # standard error of the direction
    clear: int = 0  # the direction that kes calls clear, as `truth`

    def standing(self, way: int) -> str:
        """Return what a direction, 1 for x -> y and -1 for y -> x, is in the network."""
        return FALSE if self.arc == 0 else RIGHT if self.arc == way else REVERSED


@dataclass(frozen=True)
class Judged:
    """A sample with all its pairs."""

    network: str
    rows: int
    seed: int
    pairs: tuple[Pair, ...]

    @property
    def key(self) -> tuple[str, int, int]:
        return self.network, self.rows, self.seed

    def line(self) -> str:
        """Return it as a line of JSON."""
        values = [list(asdict(pair).values()) for pair in self.pairs]
        return json.dumps([*self.key, values])

    @classmethod
    def parse(cls, line: str) -> "Judged":
        name, rows, seed, values = json.loads(line)
        return cls(name, rows, seed, tuple(Pair(*own) for own in values))


def stored(path: Path) -> list[Judged]:
    """Return the samples in a file."""
    if not path.exists():
        return []
    return [Judged.parse(line) for line in path.read_text(encoding="utf-8").splitlines()]


def judge_all(
    path: Path, names: list[str], sizes: list[int], samples: int, *, held_out: bool = False
) -> Iterator[Judged]:
    """Judge what the file lacks, add it there, and yield it; of held-out samples, only evidence."""
    done = {judged.key for judged in stored(path)}
    path.parent.mkdir(parents=True, exist_ok=True)
    first = FIRST_HELD_OUT if held_out else FIRST_SEED
    for seed in range(first, first + samples):
        for name in names:
            for rows in sizes:
                if (name, rows, seed) not in done:
                    judged = judge(name, rows, seed, evidence_only=held_out)
                    with path.open("a", encoding="utf-8") as file:
                        print(judged.line(), file=file)
                    yield judged


def source(name: str, seed: int) -> kes.BayesianNetwork | GaussianNetwork:
    """Return a network; Gaussian ones depend on the seed."""
    own = name.removesuffix(" (Gaussian)")
    found = kes.datasets.alarm_network() if own == "alarm" else network(own)
    return found if own == name else linear(found.parents, seed)


def judge(name: str, rows: int, seed: int, *, evidence_only: bool = False) -> Judged:
    """Draw a sample, and ask every method about all pairs."""
    truth = source(name, seed)
    data = truth.sample(rows, seed=Stream(seed))
    told: dict[tuple[str, str], dict[str, Any]] = {
        pair: _truth(truth, *pair) for pair in combinations(data.names, 2)
    }
    ways = (_certainties,) if evidence_only else (_search, _probabilities, _weights)
    for way in ways:
        for pair, more in way(data).items():
            told[pair] |= more
    return Judged(name, rows, seed, tuple(Pair(**own) for own in told.values()))


Told = dict[tuple[str, str], dict[str, Any]]


def _truth(network: kes.BayesianNetwork | GaussianNetwork, x: str, y: str) -> dict[str, Any]:
    arc = 1 if x in network.parents[y] else -1 if y in network.parents[x] else 0
    return {"is_adjacent": arc != 0, "truth": _way(network.graph, x, y), "arc": arc}


def _way(graph: kes.EssentialGraph, x: str, y: str) -> int:
    return 1 if (x, y) in graph.directed else -1 if (y, x) in graph.directed else 0


def _search(data: kes.Dataset) -> Told:
    """Return evidence and supports of a search with default settings."""
    optima = kes.learn(data)
    stability = kes.stability(data, resamples=RESAMPLES, runs=1, improve=False)
    found: Told = {}
    evidence = optima.evidence(posterior=False)
    disputed = {(row["x"], row["y"]): row["disputed"] for row in evidence}
    for row in optima.edges(stability=stability, evidence=evidence):
        x, y = row["x"], row["y"]
        found[x, y] = {
            "evidence": row["evidence"],
            "direction": row["direction"],
            "drawn": _way(optima.best.graph, x, y),
            "search": row["search_support"],
            "resampling": row["resampling_support"],
            "disputed": disputed.get((x, y), ""),
        }
    return found


def _certainties(data: kes.Dataset) -> Told:
    """Return the statements of kes on edges and directions, by the whole rule."""
    optima = kes.learn(data)
    found: Told = {}
    for row in optima.evidence(posterior=False):
        own = EdgeCertainty.of(row)
        found[row["x"], row["y"]] = {
            "evidence": own.evidence,
            "direction": own.direction,
            "drawn": _way(optima.best.graph, row["x"], row["y"]),
            "disputed": own.disputed,
            "error": own.error,
            "clear": (0, 1, -1)[own.clear_direction],
        }
    return found


def _probabilities(data: kes.Dataset) -> Told:
    """Return posterior probabilities."""
    criterion = "bge" if set(data.kinds) == {"continuous"} else "bdeu"
    method = "exact" if len(data.names) <= SUMMED else "chains"
    post = kes.posterior(data, criterion=criterion, method=method, rounds=ROUNDS)
    return _told(post, ("probability", "forward", "backward"))


def _weights(data: kes.Dataset) -> Told:
    """Return BIC weights, if there are few variables."""
    if len(data.names) > SUMMED:
        return {}
    post = kes.posterior(data, criterion="bic", method="exact")
    return _told(post, ("weight", "weight_forward", "weight_backward"))


def _told(post: Any, names: tuple[str, str, str]) -> Told:
    shown: Callable[[float], float | None] = lambda p: None if np.isnan(p) else p  # noqa: E731
    return {
        (x, y): dict(
            zip(names, map(shown, (post.edge(x, y), post.arc(x, y), post.arc(y, x))), strict=True)
        )
        for x, y in combinations(post.names, 2)
    }
