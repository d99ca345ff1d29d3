"""Measure the distance from the truth on curved and linear tables (`make bench-curves`).

Networks of eight variables, each with up to two parents, in three kinds of curves: *parabolas*
(linear plus quadratic), *waves* (sines) and *random functions* (small random neural networks of all
parents together). The noise is normal. To see the harm, also *linear* tables, with normal and with
exponential noise. Each column is scaled before it becomes a parent. The distance is the structural
Hamming distance of essential graphs, over networks.

Each peer runs in an environment of its own (`--install`) with a limit of processor seconds for one
table; one that exceeds it is not tried on further tables of that size. Results are kept in
target/bench/curves.jsonl, so that a command given again goes on.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from curves_worker import SEARCHES
from environments import HERE, install, python_of
from timing import show

import kes

VARIABLES = 8
NETWORKS = 20
PEER_NETWORKS = 5
"""The peers take seconds to minutes for a table: they get the first networks only."""
SIZES = (500, 2000)
KEPT = HERE.parent / "target/bench/curves.jsonl"

Function = Callable[[np.ndarray, np.random.Generator], np.ndarray]
"""Maps scaled parents, shape (rows, parents), to the signal of a child."""


def linear(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x @ (rng.uniform(0.5, 1.2, x.shape[1]) * rng.choice([-1, 1], x.shape[1]))


def parabolas(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return linear(x, rng) * rng.choice([0.0, 0.7]) + linear(x**2 - 1, rng)


def waves(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return 1.5 * linear(np.sin(rng.uniform(1.5, 2.5, x.shape[1]) * x), rng)


def random_functions(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    hidden = np.tanh(1.5 * x @ rng.normal(size=(x.shape[1], 6)) + rng.normal(size=6))
    signal = hidden @ rng.normal(size=6)
    return 1.5 * (signal - signal.mean()) / max(signal.std(), 1e-9)


KINDS: dict[str, tuple[Function, str]] = {
    "parabolas": (parabolas, "normal"),
    "waves": (waves, "normal"),
    "random functions": (random_functions, "normal"),
    "linear": (linear, "normal"),
    "linear, exponential noise": (linear, "exponential"),
}


def draw(kind: str, rows: int, number: int) -> tuple[pd.DataFrame, kes.EssentialGraph]:
    """Draw a network and a table from it, with the columns in random order."""
    function, noise = KINDS[kind]
    rng = np.random.default_rng([number, rows, list(KINDS).index(kind)])
    scaled: list[np.ndarray] = []
    columns, arcs = {}, []
    for child in range(VARIABLES):
        count = int(min(child, rng.integers(0, 3)))
        parents = [int(p) for p in rng.choice(child, count, replace=False)] if count else []
        value = rng.normal(size=rows) if noise == "normal" else rng.exponential(size=rows) - 1
        if parents:
            value = value + function(np.stack([scaled[p] for p in parents], axis=1), rng)
        columns[f"v{child}"] = value
        arcs += [(f"v{parent}", f"v{child}") for parent in parents]
        scaled.append((value - value.mean()) / value.std())
    names = [str(name) for name in rng.permutation(list(columns))]
    truth = kes.EssentialGraph.from_dag(names, arcs)
    return pd.DataFrame({name: columns[name] for name in names}), truth


METHODS: dict[str, dict[str, object]] = {
    "kes: linear": {},
    "kes: ranks": {"transform": "ranks"},
    "kes: three bins": {"discretize": 3},
    "kes: basis=3": {"basis": 3},
    "kes: basis=4": {"basis": 4},
    "kes: basis=auto": {"basis": "auto"},
}


def by_kes(options: dict[str, object], kind: str, rows: int, number: int) -> dict[str, object]:
    table, truth = draw(kind, rows, number)
    start = time.process_time()
    found = kes.learn(table, **options)
    spent = time.process_time() - start
    return {"shd": found.best.graph.shd(truth), "cpu": spent, "basis": found.settings.basis}


def by_peer(
    search: str, limit: float, kind: str, rows: int, numbers: list[int]
) -> Iterator[dict[str, object]]:
    """Yield a result for each network; the last is without a distance if the limit was reached."""
    package, _ = SEARCHES[search]
    drawn = [draw(kind, rows, number) for number in numbers]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.npz" for number in numbers]
        for path, (table, _) in zip(paths, drawn, strict=True):
            np.savez(path, values=table.to_numpy().T)
        command = [python_of(package), HERE / "curves_worker.py", search, str(limit), *paths]
        libraries = python_of(package).parents[1] / "lib"
        environment = os.environ | {
            "OCL_ICD_FILENAMES": f"{libraries / 'libintelocl.so'}",
            "LD_LIBRARY_PATH": f"{libraries}",
        }
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        ) as process:
            lines = (line for line in process.stdout or () if line.startswith("{"))
            for (table, truth), line in zip(drawn, lines, strict=False):
                reply, names = json.loads(line), list(table)
                yield {"shd": distance(reply, names, truth), "cpu": reply["cpu"]}
        if process.returncode == -signal.SIGPROF:
            yield {"shd": None, "cpu": limit}
        elif process.returncode:
            raise SystemExit(f"{search} failed")


def distance(reply: dict[str, list], names: list[str], truth: kes.EssentialGraph) -> int:
    """Count the pairs whose status differs; what a peer returns may not be an essential graph."""
    directed = [(names[a], names[b]) for a, b in reply["directed"]]
    if not reply["undirected"]:
        return kes.EssentialGraph.from_dag(names, directed).shd(truth)
    mine = {frozenset(arc): arc for arc in directed}
    mine |= {frozenset((names[a], names[b])): None for a, b in reply["undirected"]}
    theirs = {frozenset(arc): arc for arc in truth.directed}
    theirs |= dict.fromkeys(truth.undirected)
    return sum(mine.get(pair, ()) != theirs.get(pair, ()) for pair in {*mine, *theirs})


class Kept:
    """Results in a file, one per line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.found = {tuple(key): result for key, result in map(json.loads, lines)}

    def add(self, key: tuple[str, str, int, int], result: dict[str, object]) -> None:
        self.found[key] = result
        with self._path.open("a", encoding="utf-8") as file:
            print(json.dumps([key, result]), file=file)

    def gave_up(self, method: str, rows: int) -> bool:
        return any(
            key[0] == method and key[2] <= rows and result["shd"] is None
            for key, result in self.found.items()
        )


def measure(kept: Kept, kinds: list[str], sizes: list[int], networks: int) -> None:
    for rows in sizes:
        for kind in kinds:
            for method, options in METHODS.items():
                for number in range(networks):
                    if (method, kind, rows, number) not in kept.found:
                        kept.add((method, kind, rows, number), by_kes(options, kind, rows, number))


def measure_peers(
    kept: Kept, kinds: list[str], sizes: list[int], networks: int, limit: float
) -> None:
    for rows in sizes:
        for kind in kinds:
            for method, (package, _) in SEARCHES.items():
                left = [n for n in range(networks) if (method, kind, rows, n) not in kept.found]
                if left and python_of(package).exists() and not kept.gave_up(method, rows):
                    answers = by_peer(method, limit, kind, rows, left)
                    for number, result in zip(left, answers, strict=False):
                        kept.add((method, kind, rows, number), result)


def report(kept: Kept, kinds: list[str], sizes: list[int], networks: int) -> None:
    for rows in sizes:
        lines = []
        for method in [*METHODS, *SEARCHES]:
            cells = [_cell(kept, method, kind, rows, networks) for kind in kinds]
            spent = [r["cpu"] for (m, _, n, _), r in kept.found.items() if (m, n) == (method, rows)]
            seconds = f"{statistics.mean(spent):.2g}" if spent else ""
            lines.append([method, *cells, seconds])
        print(f"\n{rows} cases: mean distance from the truth over {networks} networks")
        show(["method", *kinds, "CPU seconds"], lines)
    chosen = {
        kind: [
            r["basis"] is not None
            for (method, own, _, _), r in kept.found.items()
            if (method, own) == ("kes: basis=auto", kind)
        ]
        for kind in kinds
    }
    shares = [f"{kind} {sum(own)} of {len(own)}" for kind, own in chosen.items()]
    print(f"\nbasis=auto chose curves: {', '.join(shares)}")


def _cell(kept: Kept, method: str, kind: str, rows: int, networks: int) -> str:
    found = [kept.found.get((method, kind, rows, number)) for number in range(networks)]
    values = [one["shd"] for one in found if one is not None and one["shd"] is not None]
    if not values:
        return "over the limit" if kept.gave_up(method, rows) else ""
    spread = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    few = f" ({len(values)})" if len(values) < networks else ""
    return f"{statistics.mean(values):.1f} ± {spread:.1f}{few}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--install", action="store_true", help="make the peers' environments first")
    parser.add_argument("--networks", type=int, default=NETWORKS)
    parser.add_argument("--peer-networks", type=int, default=PEER_NETWORKS)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--limit", type=float, default=30, help="processor seconds for one table")
    options = parser.parse_args()
    if options.install:
        install({package for package, _ in SEARCHES.values()})
    kept = Kept(KEPT)
    measure(kept, options.kinds, options.sizes, options.networks)
    peers = min(options.peer_networks, options.networks)
    measure_peers(kept, options.kinds, options.sizes, peers, options.limit)
    report(kept, options.kinds, options.sizes, options.networks)


if __name__ == "__main__":
    main()
