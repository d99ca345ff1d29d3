"""Measure GES on tables of thousands of columns (`make bench-wide-engine`).

Tables are drawn from sparse random linear models of a given average degree, from models in which a
few hubs have hundreds of children, and from the former cut into three states. Each search has its
own process, so that its peak memory is its own. Seconds are of the processor and of the whole call:
reading the data frame, all pairs, GES, one run at k = 1 and the certificate of its end. With
`--tetrad`, Tetrad's FGES searches the same continuous tables, where it is installed.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from environments import python_of
from timing import show

SHAPES = ("er2", "er4", "hubs", "states")
FOLDER = Path(__file__).parents[1] / "target" / "bench" / "wide"
PENALTY = 2.0


def arcs_of(shape: str, variables: int, rng: np.random.Generator) -> set[tuple[int, int]]:
    """Draw the arcs of a network; parents have lower numbers."""
    if shape == "hubs":
        hubs = range(0, variables, 501)
        return {(hub, hub + i) for hub in hubs for i in range(1, min(501, variables - hub))}
    number = variables * (2 if shape == "er4" else 1)
    arcs: set[tuple[int, int]] = set()
    while len(arcs) < number:
        a, b = (int(v) for v in rng.integers(0, variables, 2))
        if a != b:
            arcs.add((min(a, b), max(a, b)))
    return arcs


def table(
    shape: str, variables: int, cases: int
) -> tuple[pd.DataFrame, np.ndarray, set[tuple[int, int]]]:
    """Draw a table; return it with its numbers and the arcs of the network."""
    rng = np.random.default_rng(variables)
    arcs = arcs_of(shape, variables, rng)
    values = rng.standard_normal((variables, cases))
    for parent, child in sorted(arcs, key=lambda arc: (arc[1], arc[0])):
        values[child] += rng.choice([-1, 1]) * rng.uniform(0.5, 1.0) * values[parent]
    values /= values.std(axis=1, keepdims=True)
    names = [f"v{i}" for i in range(variables)]
    if shape != "states":
        return pd.DataFrame(values.T, columns=names), values, arcs
    cuts = np.digitize(values, [-0.43, 0.43])
    states = pd.DataFrame(np.array(["low", "middle", "high"])[cuts.T], columns=names)
    return states.astype("category"), values, arcs


def measure(shape: str, variables: int, cases: int, peer: bool) -> dict[str, float]:
    """Search in this process."""
    frame, values, true = table(shape, variables, cases)
    before = time.process_time()
    if peer:
        import tetrad

        package = tetrad.start(Path(sys.prefix))
        score = tetrad.gaussian_bic(package, np.ascontiguousarray(values))
        score.setPenaltyDiscount(PENALTY)
        directed, undirected = tetrad.edges(tetrad.fges(package, score))
        found = {(min(arc), max(arc)) for arc in [*directed, *undirected]}
    else:
        import kes

        optima = kes.learn(frame, k=1.0, runs=1, improve=False, prove=False, n_jobs=1)
        graph = optima.best.graph
        pairs = [*graph.directed, *(tuple(edge) for edge in graph.undirected)]
        found = {(min(pair), max(pair)) for pair in (tuple(int(v[1:]) for v in p) for p in pairs)}
    hits = len(found & true)
    return {
        "seconds": time.process_time() - before,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "precision": hits / max(1, len(found)),
        "recall": hits / len(true),
    }


def in_process(shape: str, variables: int, cases: int, peer: bool) -> dict[str, float] | None:
    """Search in a process of its own, once; None if it fails."""
    who = "tetrad" if peer else "kes"
    kept = FOLDER / f"{who}_{shape}_{variables}_{cases}.json"
    if kept.exists():
        return dict(json.loads(kept.read_text()))
    python = str(python_of("tetrad")) if peer else sys.executable
    case = ["--case", shape, str(variables), str(cases), *(["--tetrad"] if peer else [])]
    done = subprocess.run([python, __file__, *case], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1:], file=sys.stderr)
        return None
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(done.stdout)
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,4000,10000", help="numbers of variables")
    parser.add_argument("--shapes", default="er2,er4", help=", ".join(SHAPES))
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--tetrad", action="store_true", help="search by Tetrad's FGES too")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.case:
        shape, variables, cases = args.case
        print(json.dumps(measure(shape, int(variables), int(cases), args.tetrad)))
        return
    rows = []
    for shape in args.shapes.split(","):
        for variables in map(int, args.sizes.split(",")):
            for peer in [False, True] if args.tetrad and shape != "states" else [False]:
                found = in_process(shape, variables, args.cases, peer)
                if found is None:
                    continue
                figures = [f"{found['seconds']:.2f}", f"{found['mb']:.0f}"]
                figures += [f"{found[name]:.3f}" for name in ("precision", "recall")]
                rows.append([f"{shape} {variables}", "FGES" if peer else "kes", *figures])
    show(["table", "search", "CPU s", "MB", "precision", "recall"], rows)


if __name__ == "__main__":
    main()
