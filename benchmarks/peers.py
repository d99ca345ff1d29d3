"""Compare the score-based searches of all peers on one sample (`make bench-peers`).

The table is the stored sample of 20 000 cases of ALARM if it exists, otherwise as many cases of the
built-in network. All results are scored by kes's BIC. Seconds are processor seconds of the public
call for an in-memory table, the median of three calls if it is fast; what a library imports or
compiles at its first call is not counted.

`--install` creates the environments of the peers first; `--fill` writes the table of
docs/comparison.md, from which `make pictures` draws the chart of the README.
"""

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from document import COMPARISON, fill, number, seconds, table
from environments import install, installed
from peer_worker import SEARCHES
from results import Cell, Results, measure
from samples import Sample, network
from timing import SAMPLE, show

import kes
from kes.data.random_stream import Stream

QUICK = 10.0
"""Searches that take fewer seconds are done three times."""
APART = {
    "kes, 100 runs, k=0.8",
    "kes, 100 runs, k=0.4",
    "kes, improved, k=0.4",
    "kes, average of 20",
    "kes, average of 50",
}
"""Searches that add nothing on one sample (see `quality.py`), and averages, which have no score."""
WANTED = [search for search in SEARCHES if search not in APART]


def sample() -> tuple[str, Sample]:
    """Return the name of the table, the table, and the true class."""
    bayes = network("alarm")
    if SAMPLE.exists():
        return "ALARM, stored sample", Sample(kes.data.encode(SAMPLE), bayes.graph)
    return "ALARM, built-in", Sample(kes.datasets.alarm(rows=20_000, seed=Stream(0)), bayes.graph)


def rows(results: Results, data: str) -> list[list[str]]:
    """Return version, seconds, score and distance for every search."""
    lines = []
    for search in WANTED:
        if found := results.of(data, search):
            took = seconds(statistics.median(cell.cpu for cell in found))
            score, shd = found[0].score or 0.0, found[0].shd
            lines.append([search, found[0].version, took, number(score), str(shd)])
        elif limit := results.gave_up(search, data):
            lines.append([search, "", f"over {limit:.0f}", "", ""])
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--install", action="store_true", help="create the environments first")
    parser.add_argument("--limit", type=float, default=600, help="CPU seconds for one search")
    parser.add_argument("--only", nargs="*", choices=SEARCHES, default=WANTED)
    parser.add_argument("--results", type=Path, default=Path("target/bench/peers.jsonl"))
    parser.add_argument("--fill", action="store_true", help="write the tables of the documentation")
    options = parser.parse_args()
    if options.install:
        install({SEARCHES[search][0] for search in options.only})
    name, drawn = sample()

    def enough(found: Sequence[Cell]) -> bool:
        return bool(found) and found[-1].cpu > QUICK

    results, searches = Results(options.results), installed(options.only)
    for cell in measure(
        results, name, lambda _: drawn, 3, searches, options.limit, enough, shuffle=False
    ):
        print(f"{cell.search}: {cell.cpu:.2f} s", file=sys.stderr, flush=True)
    truth = number(kes.score(drawn.truth, drawn.data))
    caption = f"{name}: {drawn.data.rows} cases; the true graph has a BIC of {truth}."
    header = ["search", "version", "CPU seconds", "BIC", "SHD"]
    lines = rows(results, name)
    print(f"\n{caption}\n")
    show(header, lines)
    if options.fill:
        fill(COMPARISON, "peers", f"{table(header, lines, left=2)}\n\n{caption}")


if __name__ == "__main__":
    main()
