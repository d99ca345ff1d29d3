"""Measure what `kes.learn(table)` does by default (`make bench-default`).

* On random tables of every kind with 10 to 1 000 variables: seconds, work done, and outcome.
* On breast cancer (from scikit-learn, cut at terciles) and AML (if its file exists), with five
  seeds: whether each of them ends in the proven optimum.
* With `--networks` and `--against`: compared with an earlier version on five samples of each
  network, on one thread. The earlier version uses its defaults. This one gets the same number of
  seconds, and then uses its own defaults. The sample is the unit: lowest and highest are shown.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
from against import HOME, Table, Version, commit_of, installed_earlier
from effort import KINDS, cpu
from heldout import binned
from large import FIRST_SEED, ROWS, span
from samples import SHARED, file_of
from timing import show

import kes

SIZES = (10, 30, 200, 1000)
SEEDS = range(5)
NETWORKS = ("alarm", "insurance", "hailfinder", "win95pts", "andes")
SAMPLES = 5
GOLUB = SHARED / "golub/golub72_expression.csv.gz"


def by_itself(data: kes.Dataset, seed: int = 0) -> list[str]:
    """Learn on two threads; return wall-clock and processor seconds, work done, and outcome."""
    start = time.perf_counter()
    processor, optima = cpu(lambda: kes.learn(data, random_state=seed, n_jobs=2))
    clock = time.perf_counter() - start
    end = "proven" if optima.proven else "not proven"
    return [f"{clock:.1f}", f"{processor:.1f}", f"{len(optima.runs)}, {optima.tasks}", end]


def sizes() -> Iterator[list[str]]:
    for variables in SIZES:
        for kind, table in KINDS.items():
            data = kes.data.encode(table(variables))
            yield [f"{variables} {kind} variables", *by_itself(data)]


def seeds() -> Iterator[list[str]]:
    tables = {"breast cancer": binned("breast_cancer")()}
    if GOLUB.exists():
        tables["AML"] = kes.datasets.leukemia(GOLUB, group="AML")
    for name, data in tables.items():
        for seed in SEEDS:
            yield [f"{name}, seed {seed}", *by_itself(data, seed)]


def beside(earlier: Version, name: str, files: Path, folder: Path) -> list[str]:
    """Return a row for the samples of a network."""
    lines = [one_sample(earlier, table) for table in tables_of(name, files, folder)]
    then, given, now, more, most = zip(*lines, strict=True)
    seconds = [f"{min(values):.2f} to {max(values):.2f}" for values in (then, given, now)]
    return [name, *seconds, span(more), span(most)]


def tables_of(name: str, files: Path, folder: Path) -> list[Table]:
    network = str(file_of(name, files).resolve())
    return [
        Table(folder / f"{name}_{ROWS}_{seed}.csv", network, ROWS, seed)
        for seed in range(FIRST_SEED, FIRST_SEED + SAMPLES)
    ]


def one_sample(earlier: Version, table: Table) -> Sequence[float]:
    """Return seconds then, with as many given, and now; and how far the scores are above then's."""
    path = table.drawn_by(earlier)
    earlier.ask(read=str(path))
    then = earlier.ask(learn="by default")
    data = kes.data.encode(pd.read_csv(path, dtype="category", keep_default_na=False))
    budget = then["cpu"]
    given, with_as_many = cpu(lambda: kes.learn(data, n_jobs=1, budget=budget))
    took, optima = cpu(lambda: kes.learn(data, n_jobs=1))
    return [
        *(budget, given, took),
        *(found.best.score - then["score"] for found in (with_as_many, optima)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--networks", type=Path, help="folder of BIF files, plain or .gz")
    parser.add_argument("--against", metavar="REV", help="an earlier version, by commit or tag")
    parser.add_argument(
        "--only", default="sizes,seeds,networks", help="parts to do, comma-separated"
    )
    options = parser.parse_args()
    header = ["", "seconds", "of the processor", "runs, tasks", "end"]
    only = options.only.split(",")
    for part in (sizes, seeds):
        if part.__name__ in only:
            show(header, list(part()))
            print()
    if "networks" in only and options.networks and options.against:
        commit = commit_of(options.against)
        folder = HOME / commit[:12] / "tables"
        with Version(options.against, installed_earlier(commit)) as earlier:
            rows = [beside(earlier, name, options.networks, folder) for name in NETWORKS]
        show(["", "then, CPU s", "given as many", "by default", "nats above then", "default"], rows)


if __name__ == "__main__":
    main()
