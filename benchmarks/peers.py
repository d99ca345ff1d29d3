"""Score-based searches of every peer on the package index: seconds and BIC (`make bench-peers`).

Each peer lives in an environment of its own (`--install` makes them) and every search is a process
of its own with a time limit, so that no peer can disturb another. What they find is scored by one
function, kes's BIC. Seconds are those of the public call on an in-memory table; what a library
imports or compiles at its first call is not counted.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import tetrad
from peer_worker import SEARCHES
from timing import TABLES, show

import kes

HERE = Path(__file__).parent
ENVIRONMENTS = Path(sys.prefix) / "peers"
REQUIREMENTS = {
    "pybnesian": ["pybnesian", "pandas"],
    "pyagrum": ["pyagrum", "pandas"],
    "pgmpy": ["pgmpy"],
    "causal-learn": ["causal-learn"],
    "xges": ["xges"],
    "ges": ["ges"],
    "tetrad": ["jpype1", "numpy"],
}
"""What goes into the environment of each peer; pandas where its table is a data frame."""
QUICK = 10.0
"""Searches faster than this many seconds are done three times, and the median is shown."""


@dataclass
class Outcome:
    """What became of one search."""

    search: str
    version: str = ""
    seconds: str = ""
    score: str = ""


def python_of(package: str) -> Path:
    """Return the interpreter of the environment that a package is installed in."""
    if package == "kes":
        return Path(sys.executable)
    return ENVIRONMENTS / package / "bin" / "python"


def install(packages: set[str]) -> None:
    for package in sorted(packages & REQUIREMENTS.keys()):
        print(f"installing {package} ...", flush=True)
        venv.create(ENVIRONMENTS / package, with_pip=True)
        command = [python_of(package), "-m", "pip", "install", "--quiet", *REQUIREMENTS[package]]
        done = subprocess.run(command, check=False).returncode == 0
        if done and package == "tetrad":
            done = tetrad.install(ENVIRONMENTS / package)
        if not done:
            print(f"{package} cannot be installed here")


def run_once(search: str, table: Path, limit: float) -> dict[str, object]:
    package, _ = SEARCHES[search]
    command = [python_of(package), HERE / "peer_worker.py", search, table]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit)
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def run(search: str, data: pd.DataFrame, table: Path, limit: float) -> Outcome:
    package, _ = SEARCHES[search]
    if not python_of(package).exists():
        return Outcome(search, seconds="not installed")
    try:
        found = run_once(search, table, limit)
        times = [float(found["seconds"])]
        if times[0] < QUICK:
            times += [float(run_once(search, table, limit)["seconds"]) for _ in range(2)]
    except subprocess.TimeoutExpired:
        return Outcome(search, seconds=f"over {limit:.0f}")
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        return Outcome(search, seconds="failed")
    score = scored(found, data)
    return Outcome(search, str(found["version"]), f"{statistics.median(times):.2f}", score)


def scored(found: dict[str, object], data: pd.DataFrame) -> str:
    names = list(data.columns)
    directed = [(names[a], names[b]) for a, b in found["directed"]]
    undirected = [(names[a], names[b]) for a, b in found["undirected"]]
    try:
        graph = kes.EssentialGraph(names, directed, undirected) if undirected else directed
        return f"{kes.score(graph, data):.1f}"
    except kes.KesError as error:
        return f"no score: {error}"


def coded(data: pd.DataFrame, path: Path) -> None:
    """Write the table as codes; only states that occur, as most peers read it."""
    columns = [column.cat.remove_unused_categories().cat for _, column in data.items()]
    codes = np.vstack([column.codes for column in columns]).astype(np.int64)
    np.savez(path, codes=codes, states=[len(column.categories) for column in columns])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--install", action="store_true", help="make the environments first")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one search")
    parser.add_argument("--only", nargs="+", choices=SEARCHES, default=list(SEARCHES))
    options = parser.parse_args()
    if options.install:
        install({SEARCHES[search][0] for search in options.only})
    name, read = next(iter(TABLES.items()))
    data = read()
    print(f"\n{name}: {len(data)} cases, {data.shape[1]} variables\n")
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.npz"
        coded(data, table)
        for search in options.only:
            print(f"{search} ...", file=sys.stderr, flush=True)
            outcomes.append(run(search, data, table, options.limit))
    show(
        ["search", "version", "seconds", "BIC"],
        [[o.search, o.version, o.seconds, o.score] for o in outcomes],
    )


if __name__ == "__main__":
    main()
