"""Measure speed and memory relative to PyBNesian's hill climbing (`make bench`).

Both libraries get the same in-memory table and are called as a user would call them. The seconds of
one hill climb are the unit. Everything is timed in alternation, several times; medians are shown.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import networkx as nx
import numpy as np
import pandas as pd
from timing import TABLES, interleaved, ratio, show

import kes

RUNS = 1000
FORBIDDEN, REQUIRED = 20, 5
"""Numbers of random forbidden arcs and of required true arcs."""
GES_SCORE = -213038.095
"""Score of GES on the sample; pcalg, Tetrad and the baseline of XGES agree."""
BEST_KNOWN = -211586.35
"""The highest score known for the sample."""


@dataclass
class Row:
    """A row of the result: name, measurement and target."""

    what: str
    value: str
    target: str = ""
    met: bool | None = None

    def cells(self) -> list[str]:
        return [
            self.what,
            self.value,
            self.target,
            {None: "", True: "pass", False: "FAIL"}[self.met],
        ]


def hill_climb(table: pd.DataFrame) -> object:
    import pybnesian

    return pybnesian.hc(table, bn_type=pybnesian.DiscreteBNType(), score="bic", operators=["arcs"])


def searches(table: pd.DataFrame) -> dict[str, Callable[[], object]]:
    """Return the timed tasks. `warm` repeats runs whose set terms are all cached."""
    first = kes.learn(table, k=0.8, runs=RUNS, n_jobs=1, improve=False)

    def warm() -> object:
        return first.extend(RUNS, n_jobs=1)

    warm()
    return {
        "hc": lambda: hill_climb(table),
        "ges": lambda: kes.learn(table, k=1, runs=1, n_jobs=1, improve=False),
        "many": lambda: kes.learn(table, k=0.8, runs=RUNS, n_jobs=2, improve=False),
        "broad": lambda: kes.learn(table, k=0.4, runs=RUNS, n_jobs=2, improve=False),
        "warm": warm,
    }


def speed_rows(table: pd.DataFrame, repetitions: int) -> list[Row]:
    times = interleaved(searches(table), repetitions)
    unit = times["hc"]
    ges, many, broad = (ratio(times[name], unit) for name in ("ges", "many", "broad"))
    warm_ms = 1000 * statistics.median(times["warm"]) / RUNS

    def timed(name: str, relative: float) -> str:
        return f"{relative:.2f} x  ({statistics.median(times[name]):.3f} s)"

    return [
        Row("PyBNesian hill climbing, the unit", timed("hc", 1.0)),
        Row("GES, nothing cached, 1 thread", timed("ges", ges), "<= 0.5 x", ges <= 0.5),
        Row(f"{RUNS} runs, k=0.8, 2 threads", timed("many", many), "<= 0.7 x", many <= 0.7),
        Row(f"{RUNS} runs, k=0.4, 2 threads", timed("broad", broad)),
        Row("a warm run, k=0.8, 1 thread", f"{warm_ms:.3f} ms", "< 0.7 ms", warm_ms < 0.7),
    ]


def what_is_known() -> dict[str, kes.Knowledge | None]:
    """Return no knowledge, the true generations as tiers, and required and forbidden arcs."""
    network = kes.datasets.alarm_network()
    arcs, rng = sorted(network.arcs), np.random.default_rng(0)
    others = [pair for pair in permutations(network.nodes, 2) if pair not in network.arcs]
    required = [arcs[i] for i in rng.permutation(len(arcs))[:REQUIRED]]
    forbidden = [others[i] for i in rng.permutation(len(others))[:FORBIDDEN]]
    tiers = [sorted(level) for level in nx.topological_generations(nx.DiGraph(arcs))]
    return {
        "nothing": None,
        "tiers": kes.Knowledge(tiers=tiers),
        "arcs": kes.Knowledge(required=required, forbidden=forbidden),
    }


def knowledge_rows(table: pd.DataFrame, repetitions: int) -> list[Row]:
    """Measure the cost of knowledge in processor time, independent of threads and other work."""

    def search(known: kes.Knowledge | None) -> Callable[[], object]:
        return lambda: kes.learn(table, k=0.8, runs=RUNS, improve=False, knowledge=known)

    tasks = {name: search(known) for name, known in what_is_known().items()}
    times = interleaved(tasks, repetitions, time.process_time)
    tiers, arcs = (ratio(times[name], times["nothing"]) for name in ("tiers", "arcs"))
    few = f"{FORBIDDEN} forbidden, {REQUIRED} required arcs"
    return [
        Row("true generations as tiers / no knowledge", f"{tiers:.2f} x", "<= 1.2 x", tiers <= 1.2),
        Row(f"{few} / no knowledge", f"{arcs:.2f} x", "<= 3 x", arcs <= 3),
    ]


def score_rows(table: pd.DataFrame, known: bool) -> list[Row]:
    """Report scores; the targets apply to the sample, whose optima are known."""
    ges = kes.learn(table, k=1, runs=1, improve=False).best.score
    best = kes.learn(table, k=0.4, runs=RUNS, improve=False).best.score
    rows = [Row("GES, BIC", f"{ges:.3f}"), Row(f"best of {RUNS} runs at k=0.4, BIC", f"{best:.2f}")]
    if known:
        rows[0].target, rows[0].met = f"{GES_SCORE:.3f}", abs(ges - GES_SCORE) < 1e-3
        rows[1].target, rows[1].met = f">= {BEST_KNOWN:.2f}", best >= BEST_KNOWN - 0.01
    return rows


def memory_row(name: str) -> Row:
    """Measure the peak memory of a fresh process that does all searches of kes on the table."""
    command = [sys.executable, __file__, "--memory", name]
    megabytes = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return Row("peak memory of the process", f"{megabytes:.0f} MB", "< 300 MB", megabytes < 300)


def peak_memory(name: str) -> float:
    table = TABLES[name]()
    kes.learn(table, k=1, runs=1, n_jobs=1, improve=False)
    kes.learn(table, k=0.8, runs=RUNS, n_jobs=2, improve=False)
    kes.learn(table, k=0.4, runs=RUNS, n_jobs=2, improve=False)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)  # macOS counts in bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--memory", metavar="TABLE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        print(peak_memory(options.memory))
        return
    for name, read in TABLES.items():
        table = read()
        print(f"\n{name}: {len(table)} cases, {table.shape[1]} variables, BIC\n")
        rows = speed_rows(table, options.repetitions)
        rows += knowledge_rows(table, options.repetitions)
        rows += score_rows(table, known=name.endswith("sample"))
        rows.append(memory_row(name))
        show(["", "measured", "aim", ""], [row.cells() for row in rows])


if __name__ == "__main__":
    main()
