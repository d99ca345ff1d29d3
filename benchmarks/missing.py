"""Measure the distance from the truth with missing values (`make bench-missing`).

ALARM with 5 000 cases and a random linear Gaussian network with 1 000, five samples each. Values
are removed in three ways: every value with probability 10 or 20 % (completely at random), and from
half of the columns with a probability that depends on a value of the other half, which is always
observed (at random). The distance is the structural Hamming distance of essential graphs; the
complete table comes first.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from timing import show

import kes
from kes.data.random_stream import Stream

SEEDS = 5
Gaps = Callable[[pd.DataFrame, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Sample:
    """A table and the class of the network that it was drawn from."""

    frame: pd.DataFrame
    truth: kes.EssentialGraph


def alarm(seed: int) -> Sample:
    frame = kes.datasets.alarm(rows=5000, seed=Stream(seed)).to_pandas().astype(str)
    return Sample(frame, kes.datasets.alarm_network().graph)


def gaussian(seed: int) -> Sample:
    """Twenty variables, each with up to three parents among those before it."""
    rng = np.random.default_rng(seed)
    names = [f"x{i:02}" for i in range(20)]
    arcs, columns = [], {}
    for i, name in enumerate(names):
        columns[name] = rng.normal(size=1000)
        for parent in rng.choice(names[:i], size=min(i, int(rng.integers(0, 4))), replace=False):
            arcs.append((str(parent), name))
            columns[name] += rng.uniform(0.4, 1.0) * rng.choice([-1, 1]) * columns[parent]
    return Sample(pd.DataFrame(columns), kes.EssentialGraph.from_dag(names, arcs))


def completely_at_random(share: float) -> Gaps:
    return lambda frame, rng: rng.random(frame.shape) < share


def at_random(frame: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Remove values of half of the columns in 40 or 5 % of the rows, given another column."""
    order = rng.permutation(frame.shape[1])
    witnesses, others = np.array_split(order, 2)
    gaps = np.zeros(frame.shape, dtype=bool)
    for column in others:
        witness = frame.iloc[:, rng.choice(witnesses)]
        often = witness > 0 if witness.dtype.kind == "f" else witness != witness.mode()[0]
        gaps[:, column] = rng.random(len(frame)) < np.where(often, 0.4, 0.05)
    return gaps


DESIGNS: dict[str, Gaps] = {
    "10 % completely at random": completely_at_random(0.1),
    "20 % completely at random": completely_at_random(0.2),
    "at random, given other columns": at_random,
}
SAMPLES = {"ALARM, 5 000 cases": alarm, "Gaussian, 20 variables, 1 000 cases": gaussian}


@dataclass(frozen=True)
class Outcome:
    """Results of one treatment of missing values, by sample."""

    distances: list[int]
    seconds: list[float]
    remark: str = ""

    def row(self, *labels: str) -> tuple[str, ...]:
        if not self.distances:
            return (*labels, "-", "", "", self.remark)
        each = " ".join(map(str, self.distances))
        mean, took = statistics.mean(self.distances), statistics.mean(self.seconds)
        return (*labels, f"{mean:.1f}", each, f"{took:.1f}", self.remark)


def judged(make: Callable[[int], Sample], gaps: Gaps | None, how: str, seeds: int) -> Outcome:
    """Learn from every sample with one treatment."""
    distances, seconds, remarks = [], [], []
    for seed in range(seeds):
        sample = make(seed)
        frame = sample.frame
        if gaps is not None:
            frame = frame.mask(gaps(frame, np.random.default_rng(1000 + seed)))
        start = time.perf_counter()
        try:
            optima = kes.learn(frame, missing=how, random_state=seed)
        except kes.KesError as error:
            return Outcome([], [], str(error).partition(";")[0][:60])
        seconds.append(time.perf_counter() - start)
        distances.append(optima.best.graph.shd(sample.truth))
        if optima.record.completion is not None:
            completion = optima.record.completion
            remarks.append(f"{completion.rounds}{'' if completion.settled else '*'}")
        elif how == "drop":
            remarks.append(f"{optima.cases:.0f}")
    what = {"em": "rounds", "drop": "rows left"}.get(how, "")
    return Outcome(distances, seconds, f"{what} {' '.join(remarks)}" if remarks else "")


def rows(seeds: int, only: str) -> Iterator[tuple[str, ...]]:
    for name, make in SAMPLES.items():
        if only not in name:
            continue
        yield judged(make, None, "error", seeds).row(name, "none", "")
        for design, gaps in DESIGNS.items():
            for how in ("em", "drop", "state"):
                yield judged(make, gaps, how, seeds).row(name, design, how)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=SEEDS, help="samples of each table")
    parser.add_argument("--only", default="", help="only tables whose name contains this")
    options = parser.parse_args()
    head = ("table", "missing", "treated by", "mean", "distances", "seconds", "remark")
    show(head, list(rows(options.seeds, options.only)))
    print("Rounds with a star: the model still changed after the last of them.")


if __name__ == "__main__":
    main()
