"""Measure GES on tables of thousands of columns (`make bench-wide-engine`).

Tables are drawn from sparse random linear models with an average degree of 2 or 4 (`er2`, `er4`),
from models of which a few nodes have 500 children each (`hubs`), and from `er2` cut into three
states (`states`); `golub` is the expression table of 7 129 genes and 72 patients, searched with all
defaults, where it is available. Each search has a process of its own, and thus its own peak of
memory. Seconds are of the processor and of the whole call: reading the data frame, all pairs, GES
as one run at k = 1, and its certificate. Precision and recall are of adjacencies; the distance is
the number of pairs of variables that the graph found and the class of the true one join
differently. With `--peers`, Tetrad's FGES and BOSS search the same continuous tables with a penalty
of 2, until their time or heap is spent. `--threads` adds the seconds of the clock on one and on two
threads, and `--fill` writes the table into docs/performance.md. What was measured before is kept in
target/bench/wide and not measured again.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from environments import python_of
from timing import show

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "target" / "bench" / "wide"
GENES = ROOT / "../shared/data/golub/golub72_expression.csv.gz"
CONTINUOUS = ("er2", "er4", "hubs")
CASES = 1000  # if a table does not say
TABLES = (
    *(f"{shape}:{size}" for shape in ("er2", "er4") for size in (1000, 2000, 4000, 10_000, 20_000)),
    *("er2:20000x500", "er4:20000x500", "hubs:10000"),
    *("states:1000", "states:4000", "states:10000", "golub"),
)
CHILDREN = 500
PENALTY = 2.0
PEERS = {"fges": "FGES", "boss": "BOSS"}
HEADER = ["table", "search", "CPU s", "MB", "precision", "recall", "distance"]

Arcs = set[tuple[int, int]]
Graph = tuple[list[tuple[int, int]], list[tuple[int, int]]]  # directed and undirected edges


@dataclass(frozen=True)
class Case:
    """A search on a table."""

    shape: str
    variables: int
    cases: int
    search: str = "kes"
    threads: int = 1

    @property
    def name(self) -> str:
        """The name of the table."""
        return (
            self.shape if self.shape == "golub" else f"{self.shape} {self.variables} × {self.cases}"
        )

    @property
    def file(self) -> Path:
        """The file of its figures."""
        parts = (self.search, self.shape, self.variables, self.cases, self.threads)
        return FOLDER / f"{'_'.join(map(str, parts))}.json"


# --- tables ---


def arcs_of(shape: str, variables: int, rng: np.random.Generator) -> Arcs:
    """Draw the arcs of a network; parents have lower numbers."""
    if shape == "hubs":
        step = CHILDREN + 1
        hubs = range(0, variables, step)
        return {(hub, hub + i) for hub in hubs for i in range(1, min(step, variables - hub))}
    number = variables * (2 if shape == "er4" else 1)
    arcs: Arcs = set()
    while len(arcs) < number:
        a, b = (int(v) for v in rng.integers(0, variables, 2))
        if a != b:
            arcs.add((min(a, b), max(a, b)))
    return arcs


def drawn(case: Case) -> tuple[np.ndarray, Arcs]:
    """Return the numbers of a table, column by column, and the arcs of the network."""
    rng = np.random.default_rng(case.variables)
    arcs = arcs_of(case.shape, case.variables, rng)
    values = rng.standard_normal((case.variables, case.cases))
    for parent, child in sorted(arcs, key=lambda arc: (arc[1], arc[0])):
        values[child] += rng.choice([-1, 1]) * rng.uniform(0.5, 1.0) * values[parent]
    values /= values.std(axis=1, keepdims=True)
    return values, arcs


def frame_of(values: np.ndarray, shape: str) -> pd.DataFrame:
    """Return a table as a data frame; variable i is called vi."""
    names = [f"v{i}" for i in range(len(values))]
    if shape != "states":
        return pd.DataFrame(values.T, columns=names)
    states = np.array(["low", "middle", "high"])[np.digitize(values, [-0.43, 0.43]).T]
    return pd.DataFrame(states, columns=names).astype("category")


# --- searches, each in a process of its own ---


def by_kes(case: Case) -> tuple[Graph, float, float]:
    """Return the graph that kes finds, and the seconds of the processor and of the clock."""
    import kes

    options: dict[str, Any] = {"k": 1.0, "runs": 1, "improve": False, "prove": False}
    if case.shape == "golub":
        frame, options = pd.read_csv(GENES, index_col=0).T, {}
        frame.columns = pd.Index([f"v{i}" for i in range(frame.shape[1])])
    else:
        frame = frame_of(drawn(case)[0], case.shape)
    processor, clock = time.process_time(), time.perf_counter()
    graph = kes.learn(frame, n_jobs=case.threads, **options).best.graph
    spent = time.process_time() - processor, time.perf_counter() - clock
    numbers = [
        [(int(a[1:]), int(b[1:])) for a, b in edges] for edges in (graph.directed, graph.undirected)
    ]
    return (numbers[0], numbers[1]), *spent


def by_tetrad(case: Case) -> tuple[Graph, float, float]:
    """Return the graph that a search of Tetrad finds, and the seconds."""
    import tetrad

    values, _ = drawn(case)
    package = tetrad.start(Path(sys.prefix))
    processor, clock = time.process_time(), time.perf_counter()
    score = tetrad.gaussian_bic(package, np.ascontiguousarray(values))
    score.setPenaltyDiscount(PENALTY)
    found = tetrad.fges(package, score) if case.search == "fges" else tetrad.boss(package, score, 1)
    spent = time.process_time() - processor, time.perf_counter() - clock
    return tetrad.edges(found), *spent


def search(case: Case) -> None:
    """Search in this process, and print graph and figures."""
    graph, seconds, clock = by_kes(case) if case.search == "kes" else by_tetrad(case)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"graph": graph, "seconds": seconds, "clock": clock, "mb": peak}))


def figures(case: Case, limit: int, heap: str) -> dict[str, float] | str:
    """Search in a process of its own, once, and return the figures, or why there are none."""
    if case.file.exists():
        kept: dict[str, float] | str = json.loads(case.file.read_text())
        return kept
    python = Path(sys.executable) if case.search == "kes" else python_of("tetrad")
    if not python.exists():
        return "not installed (see peers.py --install)"
    plain = (case.shape, case.variables, case.cases, case.search, case.threads)
    command = [str(python), __file__, "--case", *map(str, plain)]

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=bounded,
        env=os.environ | {"JAVA_TOOL_OPTIONS": f"-Xmx{heap}"},
    )
    result: dict[str, float] | str
    if done.returncode == 0:
        found = json.loads(done.stdout.splitlines()[-1])
        graph = found.pop("graph")
        result = found | compared(case, graph)
    elif "OutOfMemory" in done.stderr:
        result = f"needs more than {heap}"
    elif done.returncode < 0:
        result = f"more than {limit} s"
    else:
        print(done.stderr, file=sys.stderr)
        return "failed"
    case.file.parent.mkdir(parents=True, exist_ok=True)
    case.file.write_text(json.dumps(result))
    return result


def compared(case: Case, graph: Graph) -> dict[str, float]:
    """Return precision, recall and distance of a graph; of real data, the number of its edges."""
    from kes import _core

    def joined(graph: Graph) -> dict[frozenset[int], tuple[int, ...]]:
        directed, undirected = graph
        arcs = {frozenset(arc): tuple(arc) for arc in directed}
        return arcs | {frozenset(pair): tuple(sorted(pair)) * 2 for pair in undirected}

    found = joined(graph)
    if case.shape == "golub":
        return {"edges": len(found)}
    true = joined(_core.essential_graph(case.variables, sorted(drawn(case)[1])))
    hits = len(found.keys() & true.keys())
    return {
        "precision": hits / max(1, len(found)),
        "recall": hits / len(true),
        "distance": sum(found.get(pair) != true.get(pair) for pair in found.keys() | true.keys()),
    }


# --- the table ---


def rows(cases: list[Case], limit: int, heap: str) -> Iterator[list[str]]:
    """Yield the rows of the table; a doubling of the variables also says how the cost grows."""
    before: dict[tuple[str, int, str], tuple[int, float]] = {}
    spent: set[tuple[str, str]] = set()
    for case in cases:
        if (case.shape, case.search) in spent:
            continue  # a larger table takes even more
        found = figures(case, limit, heap)
        who = PEERS.get(case.search, "kes" if case.threads == 1 else f"kes, {case.threads} threads")
        if isinstance(found, str):
            spent.add((case.shape, case.search))
            yield [case.name, who, found, "", "", "", ""]
            continue
        seconds = f"{found['seconds']:.2f}"
        if case.threads > 1:
            alone = figures(Case(case.shape, case.variables, case.cases), limit, heap)
            if not isinstance(alone, str):
                seconds += f" (by the clock {alone['clock'] / found['clock']:.2f} × as fast as one)"
        kind = (case.shape, case.cases, who)
        if kind in before and case.threads == 1:
            fewer, less = before[kind]
            doublings = np.log2(case.variables / fewer)
            seconds += f" ({(found['seconds'] / less) ** (1 / doublings):.1f} × per doubling)"
        before[kind] = (case.variables, found["seconds"])
        quality = (
            ["", "", f"{found['edges']:.0f} edges"]
            if "edges" in found
            else [f"{found['precision']:.3f}", f"{found['recall']:.3f}", f"{found['distance']:.0f}"]
        )
        yield [case.name, who, seconds, f"{found['mb']:.0f}", *quality]


def chosen(args: argparse.Namespace) -> list[Case]:
    """Return the searches that are asked for."""
    cases = []
    for name in args.tables.split(","):
        shape, _, size = name.partition(":")
        if shape == "golub":
            cases += [Case("golub", 7129, 72)] if GENES.exists() else []
            continue
        variables, _, number = size.partition("x")
        table = (shape, int(variables), int(number or CASES))
        peers = args.peers.split(",") if args.peers and shape in CONTINUOUS else []
        cases += [Case(*table, who) for who in ["kes", *peers]]
        if args.threads:
            cases.append(Case(*table, threads=2))
    return cases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--tables", default=",".join(TABLES), help="SHAPE:VARIABLES or SHAPE:VARIABLESxCASES, ..."
    )
    parser.add_argument("--peers", default="", help=f"some of {', '.join(PEERS)}")
    parser.add_argument("--limit", type=int, default=1800, help="processor seconds of a search")
    parser.add_argument("--heap", default="8g", help="memory of Java, for peers")
    parser.add_argument("--threads", action="store_true", help="search on two threads as well")
    parser.add_argument("--fill", action="store_true", help="write the table into the docs")
    parser.add_argument("--case", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.case:
        shape, variables, cases, who, threads = args.case
        search(Case(shape, int(variables), int(cases), who, int(threads)))
        return
    measured = list(rows(chosen(args), args.limit, args.heap))
    show(HEADER, measured)
    if args.fill:
        import document

        text = document.table(HEADER, measured)
        document.fill(ROOT / "docs/performance.md", "wide", text)


if __name__ == "__main__":
    main()
