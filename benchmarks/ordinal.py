"""Measure the distance from the truth with whole numbers in three treatments.

Eight variables, each with up to two parents: three are continuous, two have three states, and three
are whole numbers with about as many values as asked for. *Ordered*: a hidden number, linear in the
parents, cut into intervals of about equally many cases, as age or an answer on a scale. *Counts*:
Poisson numbers whose logarithm is linear in the parents, as visits; their number of values varies.
*Codes*: whole numbers in no order, each of which shifts its children by an amount of its own, as
codes of regions. Treatments: as categories, as continuous (ranks), and cut into five intervals. The
distance is the structural Hamming distance of essential graphs, over replicates of network and
table. `make bench-ordinal` runs it.
"""

import argparse
import statistics

import numpy as np
import pandas as pd
from mixed import Sample, coefficient, sample
from timing import show

import kes

VARIABLES = 8
KINDS = ("continuous", "states", "whole", "continuous", "whole", "states", "continuous", "whole")
VALUES = (5, 7, 10, 12, 15, 20, 40)
DESIGNS = ("ordered", "counts", "codes")
TREATMENTS = ("categories", "continuous", "five intervals")
SIZES = (500, 2000)
REPLICATES = 20


def draw(design: str, values: int, rows: int, rng: np.random.Generator) -> Sample:
    kinds = rng.permutation(KINDS)
    parents: list[list[int]] = []
    handed_on: list[np.ndarray] = []
    columns: dict[str, object] = {}
    for child, kind in enumerate(kinds):
        most = min(child, int(rng.integers(0, 3)))
        own = [int(p) for p in rng.choice(child, most, replace=False)] if most else []
        parents.append(own)
        value = rng.normal(size=rows) + sum(coefficient(rng) * handed_on[p] for p in own)
        if kind == "states":
            codes = np.digitize(value, np.quantile(value, [1 / 3, 2 / 3]))
            columns[f"v{child}"] = np.array(["low", "mid", "high"])[codes]
            value = (codes - 1) * 1.2
        elif kind == "whole":
            columns[f"v{child}"], value = whole(design, values, value, rng)
        else:
            columns[f"v{child}"] = value
        handed_on.append(value)
    return sample(columns, parents, rng)


def whole(
    design: str, values: int, hidden: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return whole numbers for a hidden number, and what they hand on to children."""
    if design == "counts":
        rate = values / 4 * np.exp(0.5 * (hidden - hidden.mean()) / hidden.std())
        codes = rng.poisson(rate)
        return codes, (codes - codes.mean()) / codes.std()
    codes = np.digitize(hidden, np.quantile(hidden, np.arange(1, values) / values))
    if design == "codes":
        codes = rng.permutation(values)[codes]
        return codes, rng.normal(size=values)[codes]
    return codes, (codes - codes.mean()) / codes.std()


def treated(treatment: str, frame: pd.DataFrame) -> kes.EssentialGraph:
    integers = [name for name in frame if frame[name].dtype.kind == "i"]
    kind = "discrete" if treatment == "categories" else "continuous"
    kinds = dict.fromkeys(integers, kind)
    cuts = dict.fromkeys(integers, 5) if treatment == "five intervals" else None
    return kes.learn(frame, kinds=kinds, discretize=cuts, runs=20, prove=False).best.graph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--values", type=int, nargs="+", default=list(VALUES))
    options = parser.parse_args()
    rows = []
    for design in DESIGNS:
        for values in options.values:
            for cases in options.sizes:
                seeds = range(options.replicates)
                samples = [draw(design, values, cases, np.random.default_rng(s)) for s in seeds]
                found = []
                for treatment in TREATMENTS:
                    far = [treated(treatment, one.frame).shd(one.truth) for one in samples]
                    error = statistics.stdev(far) / len(far) ** 0.5
                    found.append(f"{statistics.mean(far):.1f} ± {error:.1f}")
                rows.append([design, f"{values}", f"{cases}", *found])
    show(["design", "values", "cases", *TREATMENTS], rows)


if __name__ == "__main__":
    main()
