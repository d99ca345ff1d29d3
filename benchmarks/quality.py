"""Compare scores, time and distance from the truth: kes and peers (`make bench-quality`).

Five samples of each network, and five subsamples of each other data set. Every search gets the same
tables, with the columns of each sample in a random order. The sample is the unit: differences
between two searches are taken within samples. Scores are kes's BIC, in natural logarithms; the
distance is the structural Hamming distance of essential graphs. Each search is a process, in the
environment that `peers.py --install` created for its peer.

A search that exceeds the time limit on a table is not tried on that data set and the following,
larger ones. `--fill` writes the tables of docs.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import tables
from document import QUALITY, TABLES, fill
from environments import installed
from peer_worker import SEARCHES
from results import Results, measure
from samples import SHARED, Draw, Sample, coil, network
from timing import show

import kes
from kes.data.random_stream import Stream

SAMPLES = 5
OURS = "kes, improved, k=0.4"
"""The reference search."""
WITHIN = ("kes GES", "kes, 100 runs, k=0.4", "kes, 1000 runs, k=0.8", "kes, 1000 runs, k=0.4")
PEERS = (
    "PyBNesian hill climbing",
    "pyAgrum greedy hill climbing",
    "Tetrad FGES",
    "Tetrad BOSS, 1 start",
    "Tetrad 7.6.3 BOSS, 1 start",
    "xges XGES-0, our discrete BIC",
    "xges XGES, our discrete BIC",
    "pgmpy hill climbing",
    "pgmpy GES with turning",
    "causal-learn GES, BDeu",
)


def drawn(name: str, rows: int) -> Draw:
    """Return a function that draws samples of a network; number 0 is the stored one, if any."""

    def make(number: int) -> Sample:
        bayes = network(name)
        stored = SHARED / f"samples/{name}_{rows}.csv.gz"
        if number == 0 and stored.exists():
            return Sample(kes.data.encode(stored), bayes.graph)
        return Sample(bayes.sample(rows, seed=Stream(number)), bayes.graph)

    return make


def selected(number: int) -> Sample:
    """Return 4000 of the 5822 cases of CoIL, drawn without replacement."""
    data = coil()
    return Sample(data.take(np.random.default_rng(number).permutation(data.rows)[:4000]))


def trap(number: int) -> Sample:
    return Sample(kes.datasets.trap(seed=Stream(number), parameters=(0.11, 0.31, 0.02)))


DATA: dict[str, Draw] = {
    "asia, 5 000": drawn("asia", 5_000),
    "sachs, 5 000": drawn("sachs", 5_000),
    "ALARM, 1 000": drawn("alarm", 1_000),
    **({"CoIL, 4 000 of 5 822": selected} if SHARED.exists() else {}),
    "insurance, 10 000": drawn("insurance", 10_000),
    "ALARM, 5 000": drawn("alarm", 5_000),
    "Trap-40, 20 000": trap,
    "hailfinder, 10 000": drawn("hailfinder", 10_000),
    "ALARM, 20 000": drawn("alarm", 20_000),
    "win95pts, 10 000": drawn("win95pts", 10_000),
    "andes, 10 000": drawn("andes", 10_000),
}
"""Smaller ones first: a search too slow for one is not tried on the following ones."""


gap = tables.gap(OURS, "score", digits=1, tie=1e-6)


def documented(results: Results) -> None:
    """Write the tables of the documentation."""
    every = (*WITHIN, OURS, *PEERS)
    fill(QUALITY, "scores within kes", tables.by_data(results, DATA, WITHIN, gap))
    fill(TABLES, "scores of peers", tables.by_data(results, DATA, PEERS, gap))
    fill(TABLES, "distances", tables.by_data(results, DATA, every, tables.distance))
    fill(TABLES, "seconds", tables.by_data(results, DATA, every, tables.cpu))


def compared(results: Results, data: str) -> None:
    """Print how far each search stays below ours on a data set, its distance and its time."""
    rows = [
        [search, *(entry(results, data, search) for entry in (gap, tables.distance, tables.cpu))]
        for search in (OURS, *WITHIN, *PEERS)
    ]
    print(f"\n{data}\n")
    show(["search", "ours - it (min to max), higher/same/lower", "SHD", "CPU s"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds for one search")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples of each data set")
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--only", nargs="*", choices=SEARCHES, default=[OURS, *WITHIN, *PEERS])
    parser.add_argument("--results", type=Path, default=Path("target/bench/quality.jsonl"))
    parser.add_argument("--fill", action="store_true", help="write the tables of the documentation")
    options = parser.parse_args()
    results, searches = Results(options.results), installed(options.only)
    for name in options.data:
        for cell in measure(results, name, DATA[name], options.samples, searches, options.limit):
            print(name, cell.search, cell.sample, f"{cell.cpu:.1f} s", file=sys.stderr, flush=True)
        compared(results, name)
    if options.fill:
        documented(results)


if __name__ == "__main__":
    main()
