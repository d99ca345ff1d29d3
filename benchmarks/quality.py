"""Highest score against time, and distance from the truth: kes and peers (`make bench-quality`).

Five samples of each network, and of each other data set five tables drawn from it. Every search
gets the same tables, with the columns of each sample in an order of its own. The sample is the
unit: differences between two searches are taken within samples. Scores are BIC by one function,
kes's own, in natural logarithms; the distance is the structural Hamming distance of essential
graphs. Each search is a process, in the environment that `peers.py --install` made for its peer.

A search that takes longer than the limit on a table is given up on that data set and on those that
follow, which are larger.
"""

import argparse
import json
import math
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from peer_worker import SEARCHES
from peers import HERE, python_of
from timing import show

import kes

SHARED = HERE.parent / "../shared/data"
SAMPLES = 5
OURS = "kes, 100 runs, improved"


@dataclass(frozen=True)
class Sample:
    """A table, and the class of the network it was drawn from, if there is one."""

    data: kes.Dataset
    truth: kes.EssentialGraph | None


@dataclass(frozen=True)
class Cell:
    """What a search made of a sample."""

    data: str
    sample: int
    search: str
    version: str
    seconds: float
    cpu: float
    score: float
    shd: int | None


# --- data ----------------------------------------------------------------------------------------


def drawn(network: str, rows: int) -> Callable[[int], Sample]:
    """Return the maker of samples of a network; number 0 is the stored one, if there is one."""

    def make(number: int) -> Sample:
        bayes = kes.read_network(SHARED / f"bif/{network}.bif.gz")
        truth = kes.EssentialGraph.from_dag(bayes.nodes, bayes.arcs)
        stored = SHARED / f"samples/{network}_{rows}.csv.gz"
        if number == 0 and stored.exists():
            return Sample(kes.data.encode(stored), truth)
        return Sample(bayes.sample(rows, seed=number), truth)

    return make


def coil(number: int) -> Sample:
    """Return 4000 of the 5822 cases, drawn without replacement."""
    data = kes.datasets.coil(SHARED / "coil/ticdata2000.csv.gz")
    rows = np.random.default_rng(number).permutation(data.rows)[:4000]
    codes = np.ascontiguousarray(data.codes[:, rows])
    return Sample(kes.Dataset(names=data.names, states=data.states, codes=codes), None)


def trap(number: int) -> Sample:
    return Sample(kes.datasets.trap(seed=number, parameters=(0.11, 0.31, 0.02)), None)


DATA: dict[str, Callable[[int], Sample]] = {
    "asia, 5 000": drawn("asia", 5_000),
    "sachs, 5 000": drawn("sachs", 5_000),
    "ALARM, 1 000": drawn("alarm", 1_000),
    "CoIL, 4 000 of 5 822": coil,
    "insurance, 10 000": drawn("insurance", 10_000),
    "ALARM, 5 000": drawn("alarm", 5_000),
    "Trap-40, 20 000": trap,
    "hailfinder, 10 000": drawn("hailfinder", 10_000),
    "ALARM, 20 000": drawn("alarm", 20_000),
    "win95pts, 10 000": drawn("win95pts", 10_000),
    "andes, 10 000": drawn("andes", 10_000),
}
"""Smaller ones first: what is too slow for one is not tried on those that follow."""


def prepared(sample: Sample, number: int) -> kes.Dataset:
    """Return what the searches get: columns shuffled, without constants and states not in use.

    Some peers refuse constant columns, and most know only states that occur.
    """
    data = sample.data
    names, columns = [], []
    for v in np.random.default_rng(1000 + number).permutation(len(data.names)):
        values, codes = np.unique(data.codes[v], return_inverse=True)
        if len(values) > 1:
            names.append(data.names[v])
            columns.append(codes)
    codes = np.ascontiguousarray(columns, dtype=np.int32)
    states = tuple(tuple(range(column.max() + 1)) for column in columns)
    return kes.Dataset(names=tuple(names), states=states, codes=codes)


# --- searches ------------------------------------------------------------------------------------


def replies(search: str, tables: Sequence[Path], limit: float) -> Iterator[dict[str, object]]:
    """Yield what the search finds on each table, until one takes longer than the limit."""
    package, _ = SEARCHES[search]
    command = [python_of(package), HERE / "peer_worker.py", search, *tables]
    lines: queue.Queue[str | None] = queue.Queue()
    # The threads of pyAgrum wait actively: on a machine that has other things to do, two of them
    # take many times as long as one. Those of kes are its own.
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=one_thread
    ) as process:

        def listen() -> None:
            for line in process.stdout or ():
                lines.put(line)
            lines.put(None)

        threading.Thread(target=listen, daemon=True).start()
        start_up = 60.0  # imports, compilation, and a small table first
        for _ in tables:
            try:
                line = lines.get(timeout=start_up + limit)
            except queue.Empty:
                process.kill()
                return
            if line is None:
                return
            start_up = 0.0
            if line.startswith("{"):
                yield json.loads(line)


def cells(name: str, searches: Iterable[str], samples: int, limit: float) -> Iterator[Cell]:
    """Yield what each search makes of each sample of a data set."""
    drawn_samples = [DATA[name](number) for number in range(samples)]
    tables = [prepared(sample, number) for number, sample in enumerate(drawn_samples)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.npz" for number in range(samples)]
        for path, table in zip(paths, tables, strict=True):
            np.savez(path, codes=table.codes.astype(np.int64), states=table.cardinalities)
        for search in searches:
            found = replies(search, paths, limit)
            for number, reply in enumerate(found):
                yield judged(name, number, search, reply, tables[number], drawn_samples[number])


def judged(
    name: str,
    number: int,
    search: str,
    reply: dict[str, object],
    table: kes.Dataset,
    sample: Sample,
) -> Cell:
    """Score what was found, and compare it with the truth."""
    graph = edges_of(reply, table.names)
    truth = sample.truth
    whole = kes.EssentialGraph(sample.data.names, graph.directed, graph.undirected)
    return Cell(
        data=name,
        sample=number,
        search=search,
        version=str(reply["version"]),
        seconds=float(reply["seconds"]),
        cpu=float(reply["cpu"]),
        score=kes.score(graph, table),
        shd=None if truth is None else whole.shd(truth),
    )


def edges_of(reply: dict[str, object], names: Sequence[str]) -> kes.EssentialGraph:
    """Return the class of what was found, of a DAG or of a graph with undirected edges."""
    directed = [(names[a], names[b]) for a, b in reply["directed"]]
    undirected = [(names[a], names[b]) for a, b in reply["undirected"]]
    if undirected:
        return kes.EssentialGraph(names, directed, undirected)
    return kes.EssentialGraph.from_dag(names, directed)


# --- tables --------------------------------------------------------------------------------------


def compared(name: str, found: Sequence[Cell], searches: Iterable[str], samples: int) -> None:
    """Print, for each search, how far below ours it stays, its distance and its time."""
    ours = {cell.sample: cell.score for cell in found if cell.search == OURS}
    if len(ours) < samples:
        print(f"\n{name}: {OURS} was asked for on {samples} samples, and ended on {len(ours)}")
        return
    print(f"\n{name}; {OURS}: {statistics.mean(ours.values()):.1f} on average\n")
    rows = []
    for search in searches:
        mine = [cell for cell in found if cell.search == search]
        if len(mine) < samples:
            rows.append([search, "", "", "", f"{len(mine)} of {samples} in time"])
            continue
        gaps = [ours[cell.sample] - cell.score for cell in mine]
        signs = [0 if abs(gap) < 1e-6 else math.copysign(1, gap) for gap in gaps]
        shd = [cell.shd for cell in mine if cell.shd is not None]
        rows.append(
            [
                search,
                "/".join(str(signs.count(sign)) for sign in (1, 0, -1)),
                spread(gaps),
                f"{statistics.mean(shd):.1f}" if shd else "",
                f"{statistics.median(cell.cpu for cell in mine):.2f}",
            ]
        )
    show(["search", "ours higher/same/lower", "ours - it (min to max)", "SHD", "CPU s"], rows)


def spread(differences: Sequence[float]) -> str:
    """Return the mean difference with the smallest and the largest over samples.

    No interval of Student's: the differences are mostly bounded below by 0, and selections of the
    cases of one table overlap.
    """
    mean = statistics.mean(differences)
    return f"{mean:.1f} ({min(differences):.1f} to {max(differences):.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=60, help="seconds for one search")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples of each data set")
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--only", nargs="+", choices=SEARCHES, default=list(SEARCHES))
    parser.add_argument("--json", type=Path, help="file for all single results, one per line")
    options = parser.parse_args()
    if not SHARED.exists():
        sys.exit(f"This needs the networks and samples in {SHARED}, which is not there.")
    searches = [s for s in options.only if python_of(SEARCHES[s][0]).exists()]
    lacking = sorted({SEARCHES[s][0] for s in options.only} - {SEARCHES[s][0] for s in searches})
    if lacking:
        print(f"not installed (see peers.py --install): {', '.join(lacking)}")
    for name in options.data:
        found = []
        for cell in cells(name, searches, options.samples, options.limit):
            print(f"{name}, {cell.search}, sample {cell.sample}", file=sys.stderr, flush=True)
            found.append(cell)
            if options.json:
                with options.json.open("a", encoding="utf-8") as file:
                    print(json.dumps(asdict(cell)), file=file)
        compared(name, found, options.only, options.samples)
        done = {cell.search for cell in found if cell.sample == options.samples - 1}
        searches = [search for search in searches if search in done]


if __name__ == "__main__":
    main()
