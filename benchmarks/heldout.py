"""Log-likelihood of new cases: kes and peers (`make bench-heldout`).

A higher score is a means; what a network is worth shows on cases that it was not learned from. Ten
splits of each data set: of a network, a sample to learn from and 10 000 new cases; of a real table,
two halves. Every search gets the same tables, its graph is fitted to the half it was learned from
by one estimator (kes's default, BDeu with an equivalent sample size of 1), and the log-likelihood
of a new case is compared within splits, in nats.

Peers that take over a minute for a table get two splits, and none after it was longer than the
limit. `peers.py --install` makes their environments.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from peer_worker import SEARCHES
from peers import python_of
from quality import SHARED, Sample, edges_of, prepared, replies
from timing import show

import kes

SPLITS = 10
NEW_CASES = 10_000
SLOW = 60.0
FEW = 2
OURS = "kes, improved"
"""What the others are compared with."""
WANTED = (
    "kes, improved",
    "kes, best of 100 runs",
    "kes GES",
    "PyBNesian hill climbing",
    "pyAgrum greedy hill climbing",
    "Tetrad FGES",
    "Tetrad BOSS, 1 start",
    "pgmpy hill climbing",
    "xges XGES, our discrete BIC",
    "causal-learn BOSS, BDeu",
)


@dataclass(frozen=True)
class Cell:
    """What the network of a search is worth on new cases."""

    data: str
    split: int
    search: str
    cpu: float
    per_case: float
    shd: int | None


Split = tuple[Sample, kes.Dataset]
"""What is learned from, with the truth if there is one, and new cases."""


def drawn(network: str, rows: int) -> Callable[[int], Split]:
    def make(number: int) -> Split:
        bayes = kes.read_network(SHARED / f"bif/{network}.bif.gz")
        cases = bayes.sample(rows + NEW_CASES, seed=3000 + number)
        old, new = np.arange(rows), np.arange(rows, rows + NEW_CASES)
        return Sample(cases.take(old), bayes.graph), cases.take(new)

    return make


def halves(read: Callable[[], kes.Dataset]) -> Callable[[int], Split]:
    def make(number: int) -> Split:
        data = read()
        order = np.random.default_rng(3000 + number).permutation(data.rows)
        old, new = np.sort(order[: data.rows // 2]), np.sort(order[data.rows // 2 :])
        return Sample(data.take(old), None), data.take(new)

    return make


def binned(name: str) -> Callable[[], kes.Dataset]:
    """Return the reader of a table of scikit-learn, numbers cut at terciles."""

    def read() -> kes.Dataset:
        import sklearn.datasets

        frame = getattr(sklearn.datasets, f"load_{name}")(as_frame=True).frame
        return kes.data.encode(kes.discretize(frame.loc[:, frame.nunique() > 1], bins=3))

    return read


def coil() -> kes.Dataset:
    return kes.datasets.coil(SHARED / "coil/ticdata2000.csv.gz")


DATA: dict[str, Callable[[int], Split]] = {
    "asia, 500": drawn("asia", 500),
    "sachs, 1 000": drawn("sachs", 1_000),
    "insurance, 1 000": drawn("insurance", 1_000),
    "ALARM, 500": drawn("alarm", 500),
    "ALARM, 2 000": drawn("alarm", 2_000),
    "hailfinder, 1 000": drawn("hailfinder", 1_000),
    "win95pts, 1 000": drawn("win95pts", 1_000),
    "andes, 1 000": drawn("andes", 1_000),
    "wine, half of 178": halves(binned("wine")),
    "breast cancer, half of 569": halves(binned("breast_cancer")),
    "CoIL, half of 5 822": halves(coil),
}


def cells(name: str, searches: Sequence[str], splits: int, limit: float) -> Iterator[Cell]:
    """Yield what each search is worth on each split of a data set."""
    made = [DATA[name](number) for number in range(splits)]
    tables = [prepared(sample, number) for number, (sample, _) in enumerate(made)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.npz" for number in range(splits)]
        for path, table in zip(paths, tables, strict=True):
            np.savez(path, codes=table.codes.astype(np.int64), states=table.cardinalities)
        for search in searches:
            for number, reply in enumerate(replies(search, paths, limit)):
                (sample, new), names = made[number], sample_names(made[number])
                found = edges_of(reply, tables[number].names)
                graph = kes.EssentialGraph(names, found.directed, found.undirected)
                network = kes.fit(graph, sample.data)
                yield Cell(
                    data=name,
                    split=number,
                    search=search,
                    cpu=float(reply["cpu"]),
                    per_case=network.log_likelihood(new) / new.rows,
                    shd=None if sample.truth is None else graph.shd(sample.truth),
                )
                if number + 1 == FEW and float(reply["seconds"]) > SLOW:
                    break


def sample_names(split: Split) -> tuple[str, ...]:
    return split[0].data.names


def compared(name: str, found: Sequence[Cell], searches: Sequence[str]) -> None:
    """Print, for each search, how far below ours its networks are on new cases."""
    ours = {cell.split: cell for cell in found if cell.search == OURS}
    mean = statistics.mean(cell.per_case for cell in ours.values())
    print(f"\n{name}; {OURS}: {mean:.4f} nats per new case on average\n")
    rows = []
    for search in searches:
        mine = [cell for cell in found if cell.search == search]
        if not mine:
            rows.append([search, "0", "", "", "", ""])
            continue
        gaps = [ours[cell.split].per_case - cell.per_case for cell in mine]
        signs = [0 if abs(gap) < 1e-9 else (1 if gap > 0 else -1) for gap in gaps]
        shd = [cell.shd for cell in mine if cell.shd is not None]
        rows.append(
            [
                search,
                str(len(mine)),
                "/".join(str(signs.count(sign)) for sign in (1, 0, -1)),
                f"{statistics.mean(gaps):.4f} ({min(gaps):.4f} to {max(gaps):.4f})",
                f"{statistics.mean(shd):.1f}" if shd else "",
                f"{statistics.median(cell.cpu for cell in mine):.2f}",
            ]
        )
    show(["search", "splits", "ours higher/same/lower", "ours - it", "SHD", "CPU s"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=300, help="seconds for one table")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--only", nargs="+", choices=SEARCHES, default=list(WANTED))
    parser.add_argument("--json", type=Path, help="file for all single results, one per line")
    options = parser.parse_args()
    if not SHARED.exists():
        sys.exit(f"This needs the networks in {SHARED}, which is not there.")
    searches = [s for s in options.only if python_of(SEARCHES[s][0]).exists()]
    for name in options.data:
        found = []
        for cell in cells(name, searches, options.splits, options.limit):
            print(f"{name}, {cell.search}, split {cell.split}", file=sys.stderr, flush=True)
            found.append(cell)
            if options.json:
                with options.json.open("a", encoding="utf-8") as file:
                    print(json.dumps(asdict(cell)), file=file)
        compared(name, found, searches)


if __name__ == "__main__":
    main()
