"""Compare the log-likelihood of new cases: kes and peers (`make bench-heldout`).

Each data set has ten splits: a sample of a network and 10 000 new cases, or the two halves of a
real table. Every search gets the same tables. Its graph is fitted to the part it was learned from
by one estimator (kes's default, BDeu with an equivalent sample size of 1), and the log-likelihood
of a new case is compared within splits, in nats. Averaged networks are rows of their own: their
members are fitted as `kes.ensemble` fits them (equivalent sample size 5).

All searches have the same limits: `--limit` processor seconds for a table, and any number of
parents. Searches that are slow on a table get two splits, and one that exceeds the time limit on a
table is not tried on that data set and the following, larger ones. A difference is a mean over the
data sets that both searches finished. `peers.py --install` creates the environments; `--splits` and
`--data` reduce the work; `--fill` writes the tables of README.md and docs.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import tables
from document import QUALITY, README, TABLES, fill, number, record, table
from environments import installed
from peer_worker import SEARCHES
from results import Cell, Results, measure
from samples import SHARED, Draw, Sample, coil, network
from timing import show

import kes
from kes.data.random_stream import Stream

SPLITS = 10
TIE = 1e-9
NEW_CASES = 10_000
FEW = 2
OURS = "kes, improved, k=0.8"
"""The reference search."""
AVERAGE = "kes, average of 20"
"""The averaged network with default options."""
WANTED = (
    "kes, improved, k=0.8",
    "kes, average of 20",
    "kes, average of 50",
    "kes, improved, BDeu",
    "kes, 100 runs, k=0.8",
    "kes GES",
    "PyBNesian hill climbing",
    "pyAgrum greedy hill climbing",
    "Tetrad FGES",
    "Tetrad BOSS, 1 start",
    "Tetrad 7.6.3 BOSS, 1 start",
    "Tetrad 7.6.3 BOSS, 10 starts",
    "xges XGES, our discrete BIC",
    "pgmpy hill climbing",
    "pgmpy GES with turning",
    "causal-learn GES, BDeu",
    "causal-learn BOSS, BDeu",
    "causal-learn GRaSP, BDeu",
)


def drawn(name: str, rows: int) -> Draw:
    def make(number: int) -> Sample:
        bayes = network(name)
        cases = bayes.sample(rows + NEW_CASES, seed=Stream(3000 + number))
        old, new = np.arange(rows), np.arange(rows, rows + NEW_CASES)
        return Sample(cases.take(old), bayes.graph, cases.take(new))

    return make


def halves(read: Callable[[], kes.Dataset]) -> Draw:
    def make(number: int) -> Sample:
        data = read()
        order = np.random.default_rng(3000 + number).permutation(data.rows)
        old, new = np.sort(order[: data.rows // 2]), np.sort(order[data.rows // 2 :])
        return Sample(data.take(old), new=data.take(new))

    return make


def binned(name: str) -> Callable[[], kes.Dataset]:
    """Return the reader of a table of scikit-learn, numbers cut at terciles."""

    def read() -> kes.Dataset:
        import sklearn.datasets

        frame = getattr(sklearn.datasets, f"load_{name}")(as_frame=True).frame
        return kes.data.encode(kes.discretize(frame.loc[:, frame.nunique() > 1], bins=3))

    return read


DATA: dict[str, Draw] = {
    "asia, 500": drawn("asia", 500),
    "diabetes, half of 442": halves(binned("diabetes")),
    "sachs, 1 000": drawn("sachs", 1_000),
    "wine, half of 178": halves(binned("wine")),
    "child, 500": drawn("child", 500),
    **({"CoIL, half of 5 822": halves(coil)} if SHARED.exists() else {}),
    "insurance, 1 000": drawn("insurance", 1_000),
    "breast cancer, half of 569": halves(binned("breast_cancer")),
    "ALARM, 500": drawn("alarm", 500),
    "ALARM, 2 000": drawn("alarm", 2_000),
    "hailfinder, 1 000": drawn("hailfinder", 1_000),
    "hepar2, 1 000": drawn("hepar2", 1_000),
    "win95pts, 1 000": drawn("win95pts", 1_000),
    "andes, 1 000": drawn("andes", 1_000),
}
"""Smaller ones first."""


# --- tables ---


def overview(results: Results, ours: str = OURS) -> list[list[str]]:
    """Return one line for each search: all data sets on which it ended, taken together.

    A difference is ours less that of the search; means are over data sets, each of which counts
    once. The distances are of networks only, since real tables have no truth. The last number can
    be compared between searches: it is the mean over the data sets on which all of them ended.
    """
    lines = []
    common = shared(results, ours)
    for search in WANTED:
        gaps = {data: results.gaps(data, ours, search, "per_case") for data in DATA}
        gaps = {data: found for data, found in gaps.items() if found}
        if search == ours or not gaps:
            continue
        single = [gap for found in gaps.values() for gap in found]
        means = [statistics.mean(found) for found in gaps.values()]
        ends = f"{number(min(single), 3)} to {number(max(single), 3)}"
        known = [data for data in gaps if results.gaps(data, ours, search, "shd")]
        nearer = [-statistics.mean(results.gaps(data, ours, search, "shd")) for data in known]
        lines.append(
            [
                search,
                f"{len(gaps)}, {len(single)}",
                f"{number(statistics.mean(means), 3)} ({ends})",
                record(means, TIE),
                record(single, TIE),
                number(statistics.mean(nearer)) if nearer else "–",
                number(statistics.mean(statistics.mean(gaps[data]) for data in common), 2)
                if common
                else "–",
            ]
        )
    return lines


def shared(results: Results, ours: str) -> list[str]:
    """Return the data sets on which all searches with any result ended."""
    tried = [s for s in WANTED if any(results.gaps(data, ours, s, "per_case") for data in DATA)]
    return [data for data in DATA if all(results.gaps(data, ours, s, "per_case") for s in tried)]


OVERVIEW = [
    "search",
    "data sets, splits",
    "difference: mean (smallest to largest split)",
    "higher/same/lower: data sets",
    "splits",
    "additional SHD",
    "mean over the data sets of all",
]
WITHOUT_SHD = [*OVERVIEW[:-2], OVERVIEW[-1]]

BRIEF = (
    "pyAgrum greedy hill climbing",
    "Tetrad FGES",
    "xges XGES, our discrete BIC",
    "Tetrad 7.6.3 BOSS, 10 starts",
)
"""The four peers of the README: hill climbing, GES, and the two that come closest."""


def without_shd(lines: list[list[str]]) -> list[list[str]]:
    """Return the lines without the distance from the truth, which averages do not have."""
    return [[*line[:-2], line[-1]] for line in lines]


def brief(lines: list[list[str]], averaged: list[list[str]]) -> str:
    """Return the table of the README: a single network and an average beside four peers."""
    header = ["peer"]
    for ours in ("one network", "average of 20"):
        header += [f"{ours}: difference, mean (smallest to largest split)", "data sets"]
    known = {line[0]: line for line in averaged}
    shown = [line for line in lines if line[0] in BRIEF]
    cells = [[one[0], *one[2:4], *known[one[0]][2:4]] for one in shown]
    return table(header, cells)


def documented(results: Results) -> None:
    """Write the tables of the documentation."""
    others = [search for search in WANTED if search != OURS]
    gap = tables.gap(OURS, "per_case", digits=3, tie=TIE)
    scores = tables.gap(OURS, "score", digits=1, tie=1e-6)
    lines, averaged = overview(results), overview(results, AVERAGE)
    fill(README, "heldout in short", brief(lines, averaged))
    fill(QUALITY, "heldout", table(OVERVIEW, lines))
    fill(QUALITY, "heldout average", table(WITHOUT_SHD, without_shd(averaged)))
    above = tables.gap(AVERAGE, "per_case", digits=3, tie=TIE)
    rest = [search for search in WANTED if search != AVERAGE]
    fill(TABLES, "heldout average by data", tables.by_data(results, DATA, rest, above))
    fill(TABLES, "heldout by data", tables.by_data(results, DATA, others, gap))
    fill(TABLES, "heldout scores", tables.by_data(results, DATA, others, scores))
    fill(TABLES, "heldout distances", tables.by_data(results, DATA, WANTED, tables.distance))
    fill(TABLES, "heldout seconds", tables.by_data(results, DATA, WANTED, tables.cpu))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=300, help="CPU seconds for one table")
    parser.add_argument("--slow", type=float, default=60, help="CPU seconds, more is slow")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--only", nargs="*", choices=SEARCHES, default=list(WANTED))
    parser.add_argument("--results", type=Path, default=Path("target/bench/heldout.jsonl"))
    parser.add_argument("--fill", action="store_true", help="write the tables of the documentation")
    options = parser.parse_args()

    def enough(found: Sequence[Cell]) -> bool:
        return len(found) >= FEW and statistics.median(c.cpu for c in found) > options.slow

    searches = installed(options.only)
    results = Results(options.results)
    for name in options.data:
        for cell in measure(
            results, name, DATA[name], options.splits, searches, options.limit, enough
        ):
            print(name, cell.search, cell.sample, f"{cell.cpu:.1f} s", file=sys.stderr, flush=True)
    show(OVERVIEW, overview(results))
    print()
    show(WITHOUT_SHD, without_shd(overview(results, AVERAGE)))
    if options.fill:
        documented(results)


if __name__ == "__main__":
    main()
