"""Compare searches for Gaussian networks: seconds and BIC (`make bench-gaussian`).

Tables of 10 000 cases are drawn from random sparse linear models (each variable has up to three
parents among the twenty preceding ones, with coefficients of 0.3 to 1 in absolute value), and from
linear models on the arcs of the networks in a folder of BIF files. Every search has its own process
and environment, and a time limit. Results are scored by kes's Gaussian BIC. Ratios are relative to
kes GES on one thread, in the same run.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from environments import install, python_of
from gaussian_worker import SEARCHES
from timing import show

import kes

HERE = Path(__file__).parent
NETWORKS = HERE.parent / "../shared/data/bif"
ROWS = 10_000
NEAR = 20
OURS = ("kes GES", "kes")


def random_arcs(variables: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    return [
        (int(parent), child)
        for child in range(1, variables)
        for parent in rng.choice(
            np.arange(max(0, child - NEAR), child),
            size=min(child, int(rng.integers(0, 4))),
            replace=False,
        )
    ]


def drawn(variables: int, arcs: Sequence[tuple[int, int]], rng: np.random.Generator) -> np.ndarray:
    """Draw cases of a linear model; arcs are sorted by child, parents come before children."""
    values = rng.normal(size=(variables, ROWS))
    for parent, child in arcs:
        values[child] += rng.uniform(0.3, 1.0) * rng.choice([-1, 1]) * values[parent]
    return values[rng.permutation(variables)]


def structure(path: Path) -> tuple[int, list[tuple[int, int]]]:
    """Return the number of nodes of a network, and its arcs: parents have lower numbers."""
    network = kes.read_network(path)
    parents = network.parents
    order: list[str] = []
    waiting = list(network.nodes)
    while waiting:
        ready = [node for node in waiting if set(parents[node]) <= set(order)]
        order += ready
        waiting = [node for node in waiting if node not in set(ready)]
    place = {node: i for i, node in enumerate(order)}
    return len(order), [(place[p], place[node]) for node in order for p in parents[node]]


def tables(sizes: Sequence[int], networks: Path) -> Iterator[tuple[str, np.ndarray]]:
    for size in sizes:
        rng = np.random.default_rng(size)
        yield f"random, {size} variables", drawn(size, random_arcs(size, rng), rng)
    for path in sorted(networks.glob("*.bif*")) if networks.is_dir() else []:
        variables, arcs = structure(path)
        if variables >= min(sizes, default=0):
            name = path.name.partition(".")[0]
            rng = np.random.default_rng(variables)
            yield f"{name}, {variables} variables", drawn(variables, arcs, rng)


def run(search: str, table: Path, limit: float) -> tuple[str, dict[str, object] | None]:
    """Do one search; return the result, or why there is none."""
    package, _ = SEARCHES[search]
    if not python_of(package).exists():
        return "not installed", None
    command = [python_of(package), HERE / "gaussian_worker.py", search, table]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"over {limit:.0f} s", None
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        return "failed", None
    return "", json.loads(done.stdout.splitlines()[-1])


def scored(found: dict[str, object], data: pd.DataFrame) -> float:
    names = list(data.columns)
    directed = [(names[a], names[b]) for a, b in found["directed"]]
    undirected = [(names[a], names[b]) for a, b in found["undirected"]]
    graph = kes.EssentialGraph(names, directed, undirected) if undirected else directed
    return kes.score(graph, data)


def compare(name: str, values: np.ndarray, searches: Sequence[str], limit: float) -> None:
    """Print the results of all searches on a table."""
    data = pd.DataFrame({f"v{i}": column for i, column in enumerate(values)})
    results: dict[str, tuple[float, float, str]] = {}
    failures = {}
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.npz"
        np.savez(table, values=values)
        for search in searches:
            print(f"{name}: {search} ...", file=sys.stderr, flush=True)
            failure, found = run(search, table, limit)
            if found is None:
                failures[search] = failure
                continue
            try:
                score = scored(found, data)
            except kes.KesError as error:  # not the graph of a class
                failures[search] = str(error).partition(";")[0][:60]
                continue
            results[search] = float(found["seconds"]), score, str(found["version"])
    unit, mark = results.get("kes GES", (1.0, 0.0, ""))[:2]
    peers = [seconds for search, (seconds, *_) in results.items() if search not in OURS]
    print(f"\n{name}, {ROWS} cases")
    rows = [
        [search, version, f"{seconds:.2f}", f"{seconds / unit:.2f}", f"{score - mark:+.1f}"]
        for search, (seconds, score, version) in results.items()
    ]
    rows += [[search, "", why, "", ""] for search, why in failures.items()]
    show(["search", "version", "seconds", "x kes GES", "BIC above kes GES"], rows)
    if peers:
        print(f"kes GES takes {unit / min(peers):.2f} x the time of the fastest peer")


def heights(count: int, limit: float) -> None:
    """Compare the scores of kes, improving included, and of XGES on tables of 50 variables."""
    rows, wins = [], 0
    for seed in range(count):
        rng = np.random.default_rng(1000 + seed)
        values = drawn(50, random_arcs(50, rng), rng)
        data = pd.DataFrame({f"v{i}": column for i, column in enumerate(values)})
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.npz"
            np.savez(table, values=values)
            found = {name: run(name, table, limit)[1] for name in ("kes", "xges XGES")}
        if None in found.values():
            print(f"table {seed}: no result of XGES, or of kes", file=sys.stderr)
            continue
        ours, theirs = (scored(one, data) for one in found.values())
        wins += ours >= theirs - 1e-6
        rows.append([f"{seed}", f"{ours:.2f}", f"{theirs:.2f}", f"{ours - theirs:+.2f}"])
    print("\nScores of kes, improving included, and of XGES: 50 variables")
    show(["table", "kes", "XGES", "difference"], rows)
    print(f"kes at or above XGES on {wins} of {len(rows)} tables")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--install", action="store_true", help="make the environments first")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one search")
    parser.add_argument("--sizes", type=int, nargs="*", default=[50, 200, 1000])
    parser.add_argument("--networks", type=Path, default=NETWORKS, help="folder of BIF files")
    parser.add_argument("--heights", type=int, default=10, help="tables to compare scores on")
    parser.add_argument("--only", nargs="+", choices=SEARCHES, default=list(SEARCHES))
    options = parser.parse_args()
    if options.install:
        install({SEARCHES[search][0] for search in options.only})
    for name, values in tables(options.sizes, options.networks):
        compare(name, values, options.only, options.limit)
    if options.heights:
        heights(options.heights, options.limit)


if __name__ == "__main__":
    main()
