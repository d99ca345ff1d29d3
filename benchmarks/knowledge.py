"""What background knowledge is worth: distance from the truth (`make bench-knowledge`).

Samples of ALARM of several sizes, searched without knowledge, and with the true generations of the
network as three and as five tiers. The distance is that of what a search returns, seen under the
knowledge (its MPDAG), from the true class under the same knowledge, so that a direction which the
tiers give away counts for nobody. Beside GES and the best of 100 runs, improved, stand peers with
the same knowledge, as far as they are asked for: pyAgrum's greedy hill climbing by its own slices,
pgmpy's by forbidden arcs.

The sample is the unit: next to the mean distance stands in how many of the samples it is smaller,
equal and larger than without knowledge.
"""

import argparse
import logging
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

import kes
from kes.graph.pdag import Pdag

SIZES = (500, 1000, 5000)
LEVELS = (0, 3, 5)
SAMPLES = 10
RUNS, K = 100, 0.4
Search: TypeAlias = Callable[["Task"], kes.EssentialGraph]


@dataclass(frozen=True)
class Task:
    """A table with the tiers that a search is told; None if it is told nothing."""

    data: kes.Dataset
    tiers: list[list[str]] | None

    @property
    def knowledge(self) -> kes.Knowledge | None:
        """The tiers as kes takes them."""
        return None if self.tiers is None else kes.Knowledge(tiers=self.tiers)

    def seen(self, graph: kes.EssentialGraph) -> Pdag:
        """Return a class as it looks under the knowledge."""
        return graph if self.knowledge is None else kes.Mpdag(graph, self.knowledge)


def generations(network: kes.BayesianNetwork, levels: int) -> list[list[str]]:
    """Return the nodes by the length of the longest way to them, as so many tiers of like size."""
    depth: dict[str, int] = {}
    for node in TopologicalSorter(network.parents).static_order():
        depth[node] = 1 + max((depth[parent] for parent in network.parents[node]), default=-1)
    ordered = sorted(network.nodes, key=lambda node: (depth[node], network.nodes.index(node)))
    tiers: list[list[str]] = [[] for _ in range(levels)]
    for place, node in enumerate(ordered):
        tiers[place * levels // len(ordered)].append(node)
    return tiers


# --- searches ------------------------------------------------------------------------------------


def ges(task: Task) -> kes.EssentialGraph:
    """Greedy equivalence search."""
    found = kes.learn(task.data, k=1.0, runs=1, improve=False, knowledge=task.knowledge)
    return found.best.graph


def improved(task: Task) -> kes.EssentialGraph:
    """Many runs, improved."""
    return kes.learn(task.data, k=K, runs=RUNS, knowledge=task.knowledge).best.graph


def frame(data: kes.Dataset) -> pd.DataFrame:
    """Return a table of texts, as the peers take it."""
    columns = zip(data.names, data.states, data.codes, strict=True)
    return pd.DataFrame(
        {name: np.array([str(state) for state in states])[codes] for name, states, codes in columns}
    )


def agrum(task: Task) -> kes.EssentialGraph:
    """Search greedily by pyAgrum, from the empty graph."""
    import pyagrum as gum

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame(task.data).to_csv(path, index=False)
        learner = gum.BNLearner(str(path))  # type: ignore[no-untyped-call]
        learner.useScoreBIC()
        learner.useGreedyHillClimbing()
        if task.tiers is not None:
            learner.setSliceOrder(task.tiers)
        arcs = learner.learnDAG().arcs()
        names = learner.names()
        return kes.EssentialGraph.from_dag(task.data.names, [(names[a], names[b]) for a, b in arcs])


def pgmpy(task: Task) -> kes.EssentialGraph:
    """Climb hills by pgmpy."""
    from pgmpy.causal_discovery import HillClimbSearch
    from pgmpy.estimators import ExpertKnowledge

    logging.disable(logging.INFO)
    level = {name: i for i, tier in enumerate(task.tiers or []) for name in tier}
    backwards = [(a, b) for a in level for b in level if level[a] > level[b]]
    known = ExpertKnowledge(forbidden_edges=backwards)
    search = HillClimbSearch(
        "bic-d", expert_knowledge=known, return_type="dag", show_progress=False
    )
    found = search.fit(frame(task.data)).causal_graph_
    return kes.EssentialGraph.from_dag(task.data.names, list(found.edges()))


OURS: dict[str, Search] = {"GES": ges, f"kes, {RUNS} runs, improved": improved}
PEERS: dict[str, Search] = {"pyAgrum, greedy": agrum, "pgmpy, hill climbing": pgmpy}
"""pgmpy takes longer than all others together."""


# --- the table -----------------------------------------------------------------------------------


def measured(sizes: Sequence[int], samples: int, searches: dict[str, Search]) -> None:
    """Print a row for each size and search, as Markdown."""
    network = kes.datasets.alarm_network()
    truth = network.graph
    tiers = {levels: generations(network, levels) if levels else None for levels in LEVELS}
    names = ["no knowledge", *(f"{levels} tiers" for levels in LEVELS if levels)]
    print(f"| cases | search | {' | '.join(names)} | seconds |")
    print("|" + "---|" * (3 + len(names)))
    for size in sizes:
        tables = [network.sample(size, seed=1000 + number) for number in range(samples)]
        for name, search in searches.items():
            started = time.perf_counter()
            found: dict[int, list[int]] = {levels: [] for levels in LEVELS}
            for table in tables:
                for levels in LEVELS:
                    task = Task(table, tiers[levels])
                    found[levels].append(task.seen(search(task)).shd(task.seen(truth)))
            spent = (time.perf_counter() - started) / (samples * len(LEVELS))
            cells = [shown(found[levels], found[0] if levels else None) for levels in LEVELS]
            print(f"| {size} | {name} | {' | '.join(cells)} | {spent:.2f} |", flush=True)


def shown(distances: Sequence[int], without: Sequence[int] | None) -> str:
    """Return the mean distance, and in how many samples it is smaller, equal and larger."""
    mean = f"{statistics.mean(distances):.1f}"
    if without is None:
        return mean
    pairs = list(zip(distances, without, strict=True))
    smaller, larger = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    return f"{mean} ({smaller} / {len(pairs) - smaller - larger} / {larger})"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--peers", nargs="*", choices=("pyagrum", "pgmpy"), default=["pyagrum"])
    chosen = parser.parse_args()
    asked = {n: run for n, run in PEERS.items() if n.split(",")[0].lower() in chosen.peers}
    measured(chosen.sizes, chosen.samples, OURS | asked)


if __name__ == "__main__":
    main()
