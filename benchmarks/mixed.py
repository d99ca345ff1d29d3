"""Measure the distance from the truth on mixed tables, by treatment (`make bench-mixed`).

Ten variables, half of them discrete, each with up to two parents, in four designs. *Linear*: all
are linear in their parents, and the discrete ones are a hidden number cut into three intervals.
*Conditional linear Gaussian*: discrete variables have only discrete parents, each state of which
shifts the mean of a continuous child. *Slopes by cell*: the same, and each cell of discrete parents
has slopes of its own. *Skewed*: linear, with numbers transformed nonlinearly afterwards. The
distance is the structural Hamming distance of essential graphs, over replicates of network and
table.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from timing import show

import kes

VARIABLES = 10
STATES = 3
REPLICATES = 20
SIZES = (500, 2000)


@dataclass(frozen=True)
class Sample:
    """A table and the class of the network that it was drawn from."""

    frame: pd.DataFrame
    truth: kes.EssentialGraph


def families(rng: np.random.Generator, discrete: np.ndarray, *, apart: bool) -> list[list[int]]:
    """Draw the parents of each variable among those before it.

    If kinds are kept `apart`, discrete variables have discrete parents only.
    """
    parents = []
    for child in range(VARIABLES):
        allowed = [p for p in range(child) if not (apart and discrete[child]) or discrete[p]]
        most = min(len(allowed), int(rng.integers(0, 3)))
        parents.append([int(p) for p in rng.choice(allowed, most, replace=False)] if most else [])
    return parents


def coefficient(rng: np.random.Generator) -> float:
    return float(rng.uniform(0.5, 1.2) * rng.choice([-1, 1]))


def linear(rows: int, rng: np.random.Generator) -> Sample:
    discrete = rng.permutation(np.arange(VARIABLES) % 2 == 0)
    parents = families(rng, discrete, apart=False)
    shown: list[np.ndarray] = []  # what parents hand on: a number, or that of the interval
    columns: dict[str, object] = {}
    for child in range(VARIABLES):
        value = rng.normal(size=rows)
        for parent in parents[child]:
            value = value + coefficient(rng) * shown[parent]
        if discrete[child]:
            codes = np.searchsorted(np.quantile(value, [1 / 3, 2 / 3]), value)
            columns[f"v{child}"] = np.array(["low", "mid", "high"])[codes]
            value = (codes - 1) * 1.2  # as wide as a number
        else:
            columns[f"v{child}"] = value
        shown.append(value)
    return sample(columns, parents, rng)


def conditional(rows: int, rng: np.random.Generator, *, slopes: bool = False) -> Sample:
    """Draw from a conditional linear Gaussian network, if asked with slopes by cell."""
    discrete = rng.permutation(np.arange(VARIABLES) % 2 == 0)
    parents = families(rng, discrete, apart=True)
    values: list[np.ndarray] = []
    columns: dict[str, object] = {}
    for child in range(VARIABLES):
        cells = np.zeros(rows, dtype=int)
        for parent in parents[child]:
            if discrete[parent]:
                cells = cells * STATES + values[parent]
        if discrete[child]:
            chances = rng.dirichlet(np.full(STATES, 0.6), STATES**2)
            heap = chances[cells].cumsum(axis=1)
            value = (rng.random((rows, 1)) > heap[:, :-1]).sum(axis=1)
            columns[f"v{child}"] = [f"s{code}" for code in value]
        else:
            value = rng.normal(size=rows)
            for parent in parents[child]:
                if discrete[parent]:
                    value = value + rng.normal(0.0, 1.5, STATES)[values[parent]]
                elif slopes:
                    own = np.array([coefficient(rng) for _ in range(STATES**2)])
                    value = value + own[cells] * values[parent]
                else:
                    value = value + coefficient(rng) * values[parent]
            columns[f"v{child}"] = value
        values.append(value)
    return sample(columns, parents, rng)


def sample(
    columns: dict[str, object], parents: list[list[int]], rng: np.random.Generator
) -> Sample:
    """Return the columns in random order, and the truth."""
    names = [str(name) for name in rng.permutation(list(columns))]
    arcs = [(f"v{p}", f"v{child}") for child, own in enumerate(parents) for p in own]
    truth = kes.EssentialGraph.from_dag(names, arcs)
    return Sample(pd.DataFrame({name: columns[name] for name in names}), truth)


def skewed(make: Callable[[int, np.random.Generator], Sample]) -> Callable[..., Sample]:
    """Return a design whose numbers are then skewed, as lengths and incomes are."""

    def bent(rows: int, rng: np.random.Generator) -> Sample:
        drawn = make(rows, rng)
        frame = drawn.frame.copy()
        for name in frame.select_dtypes("number"):
            frame[name] = np.exp(frame[name] / frame[name].std())
        return Sample(frame, drawn.truth)

    return bent


DESIGNS = {
    "linear": linear,
    "conditional linear Gaussian": conditional,
    "slopes by cell": partial(conditional, slopes=True),
    "linear, skewed": skewed(linear),
}


def by_kes(**options: object) -> Callable[[pd.DataFrame], kes.EssentialGraph]:
    return lambda frame: kes.learn(frame, **options).best.graph


def by_pybnesian(frame: pd.DataFrame) -> kes.EssentialGraph:
    """Hill climbing for conditional linear Gaussian networks."""
    import pybnesian

    table = frame.astype({name: "category" for name in frame if frame[name].dtype.kind not in "f"})
    kind = pybnesian.CLGNetworkType()
    model = pybnesian.hc(table, bn_type=kind, score="bic", operators=["arcs"])
    return kes.EssentialGraph.from_dag(list(frame), list(model.arcs()))


def by_pgmpy(frame: pd.DataFrame) -> kes.EssentialGraph:
    """Hill climbing with the conditional Gaussian BIC."""
    from pgmpy.estimators import HillClimbSearch

    search = HillClimbSearch(frame)
    model = search.estimate(scoring_method="bic-cg", show_progress=False)
    return kes.EssentialGraph.from_dag(list(frame), list(model.edges()))


METHODS: dict[str, Callable[[pd.DataFrame], kes.EssentialGraph]] = {
    "kes: location model on ranks": by_kes(),
    "kes: location model": by_kes(transform="none"),
    "kes: degenerate Gaussian": by_kes(criterion="degenerate-bic", transform="none"),
    "kes: degenerate Gaussian on ranks": by_kes(criterion="degenerate-bic", transform="ranks"),
    "kes: three bins": by_kes(discretize=3),
    "PyBNesian: conditional linear Gaussian": by_pybnesian,
}
SLOW = {"pgmpy: conditional Gaussian": by_pgmpy}
"""Takes about ten seconds for a table; `--slow` runs it, too."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--slow", action="store_true")
    options = parser.parse_args()
    methods = METHODS | SLOW if options.slow else METHODS
    rows = []
    for design, make in DESIGNS.items():
        for cases in options.sizes:
            samples = [make(cases, np.random.default_rng(s)) for s in range(options.replicates)]
            for method, learn in methods.items():
                start = time.perf_counter()
                try:
                    distances = [learn(one.frame).shd(one.truth) for one in samples]
                except (ImportError, AttributeError, ValueError) as error:
                    print(f"{method}: {error}", file=sys.stderr)
                    continue
                seconds = (time.perf_counter() - start) / len(samples)
                spread = statistics.stdev(distances) / len(distances) ** 0.5
                mean = f"{statistics.mean(distances):.1f} ± {spread:.1f}"
                rows.append([design, f"{cases}", method, mean, f"{seconds:.2f}"])
    show(["design", "cases", "method", "mean distance", "seconds"], rows)


if __name__ == "__main__":
    main()
