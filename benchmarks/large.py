"""Measure score against CPU seconds on large networks, and scaling (`make bench-large`).

Tables of 10 000 cases are drawn from the networks in a folder of BIF files, with seeds from 1001.
GES is done first and its model improved, both on one thread; scores are shown as nats above that of
the true graph. Seconds are processor seconds, so that other work on the machine matters less. The
sample is the unit: lowest and highest are shown. The first part needs no networks: how the cost of
runs grows with the number of variables, and what the largest tables take. For earlier versions see
`make bench-against`.
"""

import argparse
import contextlib
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from samples import file_of, network
from timing import interleaved, ratio, show

import kes
from kes.data.random_stream import Stream

ROWS, FIRST_SEED = 10_000, 1001
NETWORKS = {
    "link": (3, (10, 30, 60, 120, 300, 600)),
    "munin": (2, (30, 60, 120)),
    "pigs": (2, (10, 30)),
    "andes": (5, (3, 10, 30)),
    "win95pts": (5, (1, 3, 10)),
    "hailfinder": (5, (1, 3, 10)),
    "insurance": (5, (1, 3, 10)),
    "alarm": (5, (1, 3, 10)),
}
"""For each network, the number of samples and the seconds of improving to report."""
SIZES, TURNS = (250, 500, 1000), 7
"""Numbers of variables between which the growth is measured, and how often."""


def cpu(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


# --- score against seconds ---


class Spent(Exception):
    """The time is up."""


class Curve:
    """The highest score at given CPU seconds of improving, from progress reports."""

    def __init__(self, marks: Sequence[float]) -> None:
        self.marks = marks
        self.scores: list[float] = []
        self._started = time.process_time()
        self._best = -float("inf")

    def __call__(self, progress: kes.Progress) -> None:
        """Record the previous score at every mark that has passed since."""
        spent = time.process_time() - self._started
        while len(self.scores) < len(self.marks) and spent >= self.marks[len(self.scores)]:
            self.scores.append(self._best)
        self._best = progress.best
        if len(self.scores) == len(self.marks):
            raise Spent

    def of(self, optima: kes.Optima) -> list[float]:
        """Improve on a result until the last mark."""
        self._best = optima.best.score
        with contextlib.suppress(Spent):
            optima.improve(budget="1d", n_jobs=1, progress=self)
        return self.scores


def one_sample(network: kes.BayesianNetwork, seed: int, marks: Sequence[float]) -> list[float]:
    """Return the CPU seconds of GES, its score above the true graph's, and those at the marks."""
    data = network.sample(ROWS, seed=Stream(seed))
    truth = kes.score(network.graph, data)
    start = time.process_time()
    ges = kes.learn(data, k=1, runs=1, n_jobs=1, improve=False)
    seconds = time.process_time() - start
    scores = [ges.best.score, *Curve(marks).of(ges)]
    print(f"seed {seed}: true graph {truth:.1f}, GES {scores[0]:.1f}, improved {scores[-1]:.1f}")
    return [seconds, *(score - truth for score in scores)]


def scores(name: str, file: Path, samples: int | None, longest: float | None) -> None:
    """Print the scores of one network."""
    usual, marks = NETWORKS[name]
    marks = tuple(mark for mark in marks if longest is None or mark <= longest)
    network = kes.read_network(file)
    print(f"\n{name}: {len(network.nodes)} variables, {ROWS} cases, BIC\n")
    seeds = range(FIRST_SEED, FIRST_SEED + (samples or usual))
    columns = list(zip(*(one_sample(network, seed, marks) for seed in seeds), strict=True))
    rows = [["GES", f"{min(columns[0]):.2f} to {max(columns[0]):.2f}", span(columns[1])]]
    for mark, column in zip(marks, columns[2:], strict=True):
        rows.append(["improved", str(mark), span(column)])
    print()
    show(["", "CPU seconds", "nats above the true graph"], rows)


def span(values: Sequence[float]) -> str:
    return f"{min(values):+.1f} to {max(values):+.1f}"


# --- growth and the largest tables ---


def sparse(variables: int, rows: int, *, states: int | None = 3, seed: int = 0) -> pd.DataFrame:
    """Draw from a random network: up to two parents each, among the 20 variables before.

    A discrete variable is the sum of its parents and, in two of five rows, noise, modulo the number
    of states; without states it is linear Gaussian.
    """
    rng = np.random.default_rng(seed)
    values = np.zeros((rows, variables), dtype=float if states is None else int)
    for y in range(variables):
        near = np.arange(max(0, y - 20), y)
        parents = rng.choice(near, size=min(y, int(rng.integers(0, 3))), replace=False)
        if states is None:
            weights = rng.uniform(0.4, 1.0, size=len(parents))
            values[:, y] = values[:, parents] @ weights + rng.normal(size=rows)
        else:
            noise = rng.integers(0, states, size=rows) * (rng.random(rows) < 0.4)
            values[:, y] = (values[:, parents].sum(axis=1) + noise) % states
    frame = pd.DataFrame(values, columns=[f"x{y}" for y in range(variables)])
    return frame if states is None else frame.astype(str).astype("category")


def growth() -> Iterator[list[str]]:
    """Return rows for 20 runs at every size; the sizes take turns."""
    tables = {variables: kes.data.encode(sparse(variables, 1000)) for variables in SIZES}

    def runs(data: kes.Dataset) -> Callable[[], object]:
        return lambda: kes.learn(data, k=0.8, runs=20, n_jobs=1, improve=False)

    tasks = {str(variables): runs(data) for variables, data in tables.items()}
    times = interleaved(tasks, TURNS, time.process_time)
    before = None
    for variables, took in times.items():
        grown = "" if before is None else f"{ratio(took, before):.1f} x"
        what = f"20 runs, {variables} variables x 1000 cases"
        yield [what, f"{statistics.median(took):.2f} s", grown]
        before = took


def largest() -> Iterator[list[str]]:
    """Return rows for GES on tables at the limits."""
    for what, frame in (
        ("GES, 1000 Gaussian variables x 10 000 cases", sparse(1000, 10_000, states=None)),
        ("GES, 4096 variables x 1000 cases", sparse(4096, 1000)),
    ):
        data = kes.data.encode(frame)
        took = cpu(lambda data=data: kes.learn(data, k=1, runs=1, n_jobs=1, improve=False))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield [what, f"{took:.1f} s", f"peak so far {peak:.0f} MB"]


def shared(munin: kes.BayesianNetwork) -> Iterator[list[str]]:
    """Return rows for GES by two threads, beside what two processes do that share no work."""
    data = munin.sample(ROWS, seed=Stream(FIRST_SEED))

    def ges(threads: int) -> None:
        kes.learn(data, k=1, runs=1, n_jobs=threads, improve=False)

    def apart() -> None:
        process = multiprocessing.get_context("fork").Process
        processes = [process(target=ges, args=(1,)) for _ in range(2)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()

    times = interleaved({"one": lambda: ges(1), "two": lambda: ges(2), "apart": apart}, TURNS)
    one = f"{statistics.median(times['one']):.2f} s"
    yield ["GES, munin, one thread, by the clock", one, ""]
    for what, times_as_fast in (
        ("GES, munin, two threads", ratio(times["one"], times["two"])),
        ("GES, munin, twice at once by two processes", 2 * ratio(times["one"], times["apart"])),
    ):
        yield [what, "", f"{times_as_fast:.2f} x as fast"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--networks", type=Path, help="folder of BIF files, plain or .gz")
    parser.add_argument("--only", default="", help="networks, comma-separated")
    parser.add_argument("--samples", type=int, help="samples of each network")
    parser.add_argument("--seconds", type=float, help="upper limit for improving")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else list(NETWORKS)
    if unknown := sorted(set(wanted) - set(NETWORKS)):
        parser.error(f"no network {unknown[0]!r}; there are {', '.join(NETWORKS)}")
    if not options.only:
        show(["", "CPU seconds", ""], [*growth(), *largest()])
        if options.networks:
            show(["", "seconds", ""], list(shared(network("munin", options.networks))))
    for name in wanted if options.networks else ():
        scores(name, file_of(name, options.networks), options.samples, options.seconds)


if __name__ == "__main__":
    main()
