"""Measure how often the words for edges and directions are right (`make bench-calibration`).

Samples of published networks: how many of the pairs with some evidence are adjacent in the network,
and how many of the directions are those of its essential graph? The words of
`kes.analysis.certainty` are set by these rates.

The samples have seeds from 3001, none of which was used during development.
"""

import argparse
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from samples import network
from timing import show

import kes
from kes.analysis.certainty import CLEAR, LIKELY, SURE

FIRST_SEED = 3001
NETWORKS = ("alarm", "insurance", "hailfinder", "sachs", "win95pts")
SIZES = (500, 1_000, 2_000)
EDGE_BINS = (-math.inf, -10.0, -LIKELY, 0.0, 3.0, LIKELY, SURE, 3 * SURE, math.inf)
DIRECTION_BINS = (0.0, 3.0, CLEAR, 3 * CLEAR, 10 * CLEAR, math.inf)


@dataclass(frozen=True)
class Pair:
    """A pair of variables: what a search says about it, and what is true."""

    network: str
    rows: int
    seed: int
    evidence: float
    direction: float | None  # nats for the direction of the best network; None if it has none
    is_adjacent: bool
    truth: str  # of the direction: "right", "reversed", "open" or "false edge"


def judged(name: str, rows: int, seed: int) -> list[Pair]:
    """Learn from a sample, and compare every pair that some optimum connects with the truth."""
    source = kes.datasets.alarm_network() if name == "alarm" else network(name)
    truth = source.graph
    optima = kes.learn(source.sample(rows, seed=seed))
    found = []
    for row in optima.evidence():
        x, y = row["x"], row["y"]
        is_adjacent = frozenset((x, y)) in truth.skeleton
        arc = next((a for a in ((x, y), (y, x)) if a in optima.best.graph.directed), None)
        nats = row["direction"]
        if arc is not None and nats is not None:
            nats = nats if arc == (x, y) else -nats
        standing = "false edge" if not is_adjacent else "open"
        if arc in truth.directed:
            standing = "right"
        elif arc is not None and arc[::-1] in truth.directed:
            standing = "reversed"
        shown = None if arc is None else nats
        found.append(Pair(name, rows, seed, row["evidence"], shown, is_adjacent, standing))
    return found


def binned(
    pairs: Iterable[Pair], value: Callable[[Pair], float | None], bins: Sequence[float]
) -> dict[str, list[Pair]]:
    """Group pairs by the interval that contains their value."""
    known = [(nats, pair) for pair in pairs if (nats := value(pair)) is not None]
    return {
        _interval(low, high): [pair for nats, pair in known if low <= nats < high]
        for low, high in pairwise(bins)
    }


def _interval(low: float, high: float) -> str:
    if math.isinf(low):
        return f"less than {high:g}"
    return f"{low:g} and more" if math.isinf(high) else f"{low:g} to {high:g}"


def percent(part: int, whole: int) -> str:
    """Return a share with its standard error, in percent."""
    if not whole:
        return ""
    share = part / whole
    return f"{100 * share:.0f} ± {100 * math.sqrt(share * (1 - share) / whole):.0f}"


def show_edges(pairs: Sequence[Pair], names: Sequence[str]) -> None:
    """Print the share of true adjacencies by evidence."""
    print("\nPairs that are adjacent in the network, in percent, by evidence in nats")
    lines = [
        [
            interval,
            str(len(own)),
            percent(sum(pair.is_adjacent for pair in own), len(own)),
            *(_true(one for one in own if one.network == name) for name in names),
        ]
        for interval, own in binned(pairs, lambda pair: pair.evidence, EDGE_BINS).items()
    ]
    show(["evidence", "pairs", "true", *names], lines)


def _true(pairs: Iterable[Pair]) -> str:
    own = list(pairs)
    return percent(sum(pair.is_adjacent for pair in own), len(own))


def show_directions(pairs: Sequence[Pair]) -> None:
    """Print what directions of the best networks are in truth, by evidence in nats."""
    for title, chosen in (
        ("all edges", pairs),
        ("sure edges", [pair for pair in pairs if pair.evidence >= SURE]),
    ):
        print(f"\nDirections of the best network, in percent: {title}")
        kinds = ("right", "reversed", "open", "false edge")
        lines = [
            [
                interval,
                str(len(own)),
                *(percent(sum(pair.truth == kind for pair in own), len(own)) for kind in kinds),
            ]
            for interval, own in binned(chosen, lambda pair: pair.direction, DIRECTION_BINS).items()
        ]
        show(["direction", "edges", *kinds], lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=4, help="samples of each size")
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS))
    parser.add_argument("--rows", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--out", type=Path, help="write every pair to this JSON file")
    arguments = parser.parse_args()
    every = [
        pair
        for name in arguments.networks
        for rows in arguments.rows
        for number in range(arguments.samples)
        for pair in judged(name, rows, FIRST_SEED + number)
    ]
    if arguments.out is not None:
        arguments.out.write_text(json.dumps([asdict(pair) for pair in every]))
    show_edges(every, arguments.networks)
    show_directions(every)
