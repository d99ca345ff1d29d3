"""Measure how good the estimates of coverage are (`make bench-coverage`).

*Unseen mass*: after n runs, what share of further runs ends in a new model? The estimates of many
results, each with its own seed, are compared with the ends of 3000 other runs. *Gain*: what do more
runs gain? The estimate from 100 runs is compared with what the next ones find.
"""

import functools
import statistics
from collections.abc import Iterator

from document import number
from timing import show

import kes
from kes.data.random_stream import Stream

POOL, TRIALS = 3000, 100
GAIN_TRIALS = 50
SEEN = ((400, 0.8, 50), (400, 0.8, 150), (400, 0.8, 400), (2000, 0.4, 150), (2000, 0.4, 400))
GAINS = tuple((rows, k) for rows in (400, 1000, 5000) for k in (0.4, 0.8))
MORE = (100, 300)
UNSEEN_HEADER = ["cases, k, runs", "estimate", "truth", "truth within the 95 % interval"]
GAIN_HEADER = ["cases, k", *(f"{more} more runs: estimated, real" for more in MORE)]


sample = functools.cache(lambda rows: kes.datasets.alarm(rows=rows, seed=Stream(1)))


def search(rows: int, k: float, runs: int, seed: int) -> kes.Optima:
    return kes.learn(sample(rows), k=k, runs=runs, random_state=seed, improve=False)


def unseen() -> Iterator[list[str]]:
    """Yield rows of mean estimate, mean truth, and how often the interval contains it."""
    for rows, k, runs in SEEN:
        pool = search(rows, k, POOL, seed=TRIALS)
        estimates, truths, held = [], [], 0
        for seed in range(TRIALS):
            found = search(rows, k, runs, seed)
            seen = {optimum.graph for optimum in found.of_runs}
            truth = sum(o.hits for o in pool.of_runs if o.graph not in seen) / POOL
            mass = found.coverage().unseen_mass
            estimates.append(mass.value)
            truths.append(truth)
            held += mass.low <= truth <= mass.high
        means = [number(statistics.mean(values), 3) for values in (estimates, truths)]
        yield [f"{rows}, {k}, {runs}", *means, f"{held} of {TRIALS}"]


def gains() -> Iterator[list[str]]:
    """Yield rows of the mean gain in nats, estimated from 100 runs and observed."""
    for rows, k in GAINS:
        pairs: dict[int, list[tuple[float, float]]] = {more: [] for more in MORE}
        for seed in range(GAIN_TRIALS):
            found = search(rows, k, 100, seed)
            longer = search(rows, k, 100 + max(MORE), seed).run_scores
            for more in MORE:
                real = max(longer[: 100 + more]) - max(longer[:100])
                pairs[more].append((estimate(found, more), real))
        means = [[statistics.mean(values) for values in zip(*pairs[m], strict=True)] for m in MORE]
        yield [f"{rows}, {k}", *(", ".join(number(value) for value in mean) for mean in means)]


def estimate(found: kes.Optima, more: int) -> float:
    gain = found.coverage().expected_gain(more)
    return gain.score if gain else 0.0


def main() -> None:
    for header, rows in ((UNSEEN_HEADER, unseen()), (GAIN_HEADER, gains())):
        show(header, list(rows))
        print()


if __name__ == "__main__":
    main()
