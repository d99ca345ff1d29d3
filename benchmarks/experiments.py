"""Measure what experiments add to observations, beside GIES (`make bench-experiments`).

Random DAGs with one and a half arcs for each variable. Half of the variables are the target of one
experiment each, with 50 rows; 300 rows are observed without any. *Perfect* interventions cut the
target off from its parents and set it to noise around a new mean, or to a new distribution; *soft*
ones shift its mean, or change its distribution, and leave its parents in place. Graphs are compared
with the true DAG: arcs directed correctly, arcs directed the wrong way, and the distance, which is
the number of pairs of variables whose status differs (an undirected edge differs from an arc).

Then the flow cytometry data of Sachs et al. (2005), as the package `cdt` ships them: without the
conditions, but with the rows of the nine published experiments one after the other, whose numbers
are known. The truth is the network of 18 arcs that comes with them.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from environments import files_of, install, python_of
from timing import show

import kes

OBSERVED, EACH = 300, 50
LIMIT = 30
"""Seconds of the processor that GIES may take for one table, by default."""

REPLICATES = {10: 10, 20: 6, 50: 2}
STATES = 3


@dataclass(frozen=True)
class Sample:
    """A table with the column `condition`, and the arcs that it was drawn from."""

    frame: pd.DataFrame
    arcs: frozenset[tuple[str, str]]
    targets: tuple[str, ...]


def draw(kind: str, how: str, n: int, seed: int) -> Sample:
    """Draw a DAG, its parameters and the rows of all experiments."""
    rng = np.random.default_rng([n, seed, kind == "discrete", how == "perfect"])
    order = rng.permutation(n)
    pairs = [(int(order[i]), int(order[j])) for j in range(n) for i in range(j)]
    chosen = rng.choice(len(pairs), min(3 * n // 2, len(pairs)), replace=False)
    arcs = [pairs[i] for i in chosen]
    targets = [int(v) for v in rng.choice(n, n // 2, replace=False)]
    conditions = [None] * OBSERVED + [t for t in targets for _ in range(EACH)]
    make = _discrete if kind == "discrete" else _gaussian
    columns = make(rng, order, arcs, conditions, how)
    names = [f"v{i:02}" for i in range(n)]
    frame = pd.DataFrame({name: columns[:, i] for i, name in enumerate(names)})
    if kind == "discrete":
        frame = frame.astype(int).astype(str)
    frame.insert(0, "condition", ["none" if t is None else names[t] for t in conditions])
    named = frozenset((names[a], names[b]) for a, b in arcs)
    return Sample(frame, named, tuple(names[t] for t in targets))


def _gaussian(rng, order, arcs, conditions, how):
    n, rows = len(order), len(conditions)
    weights = {arc: rng.uniform(0.5, 1.2) * rng.choice([-1, 1]) for arc in arcs}
    values = np.zeros((rows, n))
    for v in order:
        touched = np.array([t == v for t in conditions])
        mean = sum((weights[a, b] * values[:, a] for a, b in arcs if b == v), np.zeros(rows))
        if how == "perfect":
            mean = np.where(touched, 0.0, mean)
        values[:, v] = mean + 2.0 * touched + rng.normal(size=rows)
    return values


def _discrete(rng, order, arcs, conditions, how):
    n, rows = len(order), len(conditions)
    values = np.zeros((rows, n), dtype=int)
    for v in order:
        touched = np.array([t == v for t in conditions])
        parents = [a for a, b in arcs if b == v]
        cell = np.zeros(rows, dtype=int)
        for parent in parents:
            cell = cell * STATES + values[:, parent]
        cpt = rng.dirichlet([0.5] * STATES, STATES ** len(parents))
        other = rng.dirichlet([0.5] * STATES, 1 if how == "perfect" else STATES ** len(parents))
        p = np.where(touched[:, None], other[cell if how == "soft" else 0 * cell], cpt[cell])
        values[:, v] = (rng.random(rows)[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return values


# --- searches ------------------------------------------------------------------------------------

Found = tuple[set[tuple[str, str]], set[frozenset[str]]]


def by_kes(**options: object) -> Callable[[Sample, int], Found]:
    def search(sample: Sample, _: int) -> Found:
        known = options.get("known")
        own: dict[str, object] = {}
        frame = sample.frame
        if known is None:
            frame = frame.drop(columns="condition")
        elif known == "whole":
            own = {"contexts": ["condition"]}
        else:
            targets = {name: name for name in sample.targets} if known == "targets" else {}
            own = {"interventions": {"condition": {**targets, "none": None}}}
        if options.get("rows") == "observed":
            frame = frame[sample.frame["condition"] == "none"]
        best = kes.learn(frame, prove=False, n_jobs=1, **own).best.mpdag
        return _among(best, set(sample.frame.columns[1:]))

    return search


def _among(graph: kes.Mpdag, modelled: set[str]) -> Found:
    """Return the arcs and edges between modelled variables."""
    return (
        {arc for arc in graph.directed if modelled.issuperset(arc)},
        {edge for edge in graph.undirected if modelled.issuperset(edge)},
    )


def by_gies(sample: Sample, limit: int) -> Found | None:
    """Run GIES with the true targets, in its own environment."""
    code = (
        "import sys, json, resource, numpy as np, gies\n"
        f"resource.setrlimit(resource.RLIMIT_CPU, ({limit}, {limit}))\n"
        "found = np.load(sys.argv[1])\n"
        "I = json.loads(sys.argv[2])\n"
        "data = [found[f'arr_{i}'] for i in range(len(I))]\n"
        "print(json.dumps(gies.fit_bic(data, I)[0].astype(int).tolist()))\n"
    )
    names = list(sample.frame.columns[1:])
    parts = [("none", []), *((name, [names.index(name)]) for name in sample.targets)]
    data = [sample.frame[sample.frame["condition"] == c][names].to_numpy() for c, _ in parts]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, *data)
        command = [python_of("gies"), "-c", code, path, json.dumps([own for _, own in parts])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None
    if done.returncode != 0:
        raise SystemExit(f"GIES failed:\n{done.stderr}")
    matrix = np.array(json.loads(done.stdout.splitlines()[-1]))
    there = {(names[i], names[j]) for i, j in zip(*matrix.nonzero(), strict=True)}
    both = {frozenset(arc) for arc in there if arc[::-1] in there}
    return {arc for arc in there if frozenset(arc) not in both}, both


Search = Callable[[Sample, int], Found | None]
"""Search a table, with a limit for peers."""

SEARCHES: dict[str, Search] = {
    "kes, rows without experiments": by_kes(rows="observed"),
    "kes, all rows, experiments ignored": by_kes(),
    "kes, one context": by_kes(known="whole"),
    "kes, targets unknown": by_kes(known="values"),
    "kes, targets known": by_kes(known="targets"),
    "GIES, targets known": by_gies,
}


def judged(found: Found, truth: frozenset[tuple[str, str]]) -> tuple[int, int, int]:
    """Return arcs directed correctly, arcs directed the wrong way, and the distance."""
    arcs, edges = found
    right = len(arcs & truth)
    wrong = len({(b, a) for a, b in arcs} & truth)
    joined = {frozenset(arc) for arc in arcs} | edges
    true = {frozenset(arc) for arc in truth}
    return right, wrong, len(true | joined) - right


# --- flow cytometry ------------------------------------------------------------------------------

ROWS = {
    **{"cd3cd28": 853, "icam2": 902, "aktinhib": 911, "g0076": 723, "psitect": 810},
    **{"u0126": 799, "ly": 848, "pma": 913, "b2camp": 707},
}
"""Rows of the nine experiments, in their order."""

TARGETS = {
    **{"aktinhib": "pakts473", "g0076": "PKC", "psitect": "PIP2", "u0126": "pmek"},
    **{"pma": "PKC", "b2camp": "PKA"},
}
"""Targets of the chemicals; those of icam2 and ly are not among the measured molecules."""


def cytometry() -> Sample:
    """Return the logarithms of all measurements, with the condition of each row."""
    folder = files_of("cdt") / "cdt/data/resources"
    table = np.log(pd.read_csv(folder / "cyto_full_data.csv").clip(lower=1e-3))
    arcs = pd.read_csv(folder / "cyto_full_target.csv").itertuples(index=False)
    table.insert(0, "condition", np.repeat(list(ROWS), list(ROWS.values())))
    return Sample(table, frozenset((arc[0], arc[1]) for arc in arcs), ())


def cytometry_rows() -> list[list[str]]:
    sample = cytometry()
    frame, observed = sample.frame, sample.frame[sample.frame["condition"] == "cd3cd28"]
    without = {"columns": "condition"}
    reference = {"cd3cd28": None}
    ways = {
        "rows without experiments": (observed.drop(**without), {}),
        "all rows, experiments ignored": (frame.drop(**without), {}),
        "one context": (frame, {"contexts": ["condition"]}),
        "targets unknown": (frame, {"interventions": {"condition": reference}}),
        "targets known": (frame, {"interventions": {"condition": {**TARGETS, **reference}}}),
    }
    rows = []
    for kind, more in {"ranks": {"transform": "ranks"}, "three states": {"discretize": 3}}.items():
        for name, (table, own) in ways.items():
            best = kes.learn(table, prove=False, n_jobs=1, **own, **more).best.mpdag
            found = _among(best, set(frame.columns[1:]))
            right, wrong, distance = judged(found, sample.arcs)
            rows.append([f"{kind}, {name}", str(right), str(wrong), str(distance)])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="10,20,50")
    parser.add_argument("--replicates", type=int, help="tables of each design; 10, 6 and 2")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--searches", nargs="+", choices=SEARCHES, default=list(SEARCHES))
    parser.add_argument("--limit", type=int, default=LIMIT, help="processor seconds of GIES")
    given = parser.parse_args()
    if not given.no_peers and not python_of("gies").exists():
        install({"gies"})
    rows = []
    for n in map(int, given.sizes.split(",")):
        for kind in ("gaussian", "discrete"):
            for how in ("perfect", "soft"):
                number = given.replicates or REPLICATES.get(n, 3)
                samples = [draw(kind, how, n, seed) for seed in range(number)]
                for name in given.searches:
                    search = SEARCHES[name]
                    if search is by_gies and (kind == "discrete" or given.no_peers):
                        continue
                    found = _measured(search, samples, given.limit)
                    rows.append([f"{n} {kind}, {how}", name, *found])
                    print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    show(["design", "search", "right", "wrong way", "distance", "of arcs", "CPU s"], rows)
    if not given.no_peers and given.searches == list(SEARCHES):
        install({"cdt"} if not python_of("cdt").exists() else set())
        print("\nflow cytometry, 18 arcs")
        show(["kes", "right", "wrong way", "distance"], cytometry_rows())


def _measured(search: Search, samples: list[Sample], limit: int) -> list[str]:
    results, spent = [], 0.0
    for sample in samples:
        before = time.process_time() + _children()
        found = search(sample, limit)
        spent += time.process_time() + _children() - before
        if found is None:
            return ["–"] * 4 + [f"over {limit}"]
        results.append((*judged(found, sample.arcs), len(sample.arcs)))
    means = [f"{np.mean(column):.1f}" for column in zip(*results, strict=True)]
    return [*means, f"{spent / len(samples):.1f}"]


def _children() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
