"""Run one search of one peer, in that peer's environment; `peers.py` starts it.

Usage: python peer_worker.py SEARCH LIMIT TABLE.npz ..., where a table has ``codes`` (variables x
cases) and ``states`` (the number of states of each variable). Prints one line of JSON for each
table: wall-clock and processor seconds of the public call alone, version, and the edges found, as
indices; an average has the arcs of each member. After LIMIT processor seconds on one table, the
system ends the process by SIGPROF. Only the searches of kes itself import kes.
"""

import importlib
import json
import random
import signal
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

Edges = list[tuple[int, int]]
Seconds = tuple[float, float]  # by the clock, and of all processors together
Found = tuple[Seconds, Edges, Edges]  # seconds, directed, undirected
Averaged = tuple[Seconds, list[Edges]]  # seconds, the arcs of each member


def timed(call: Callable[[], Any]) -> tuple[Seconds, Any]:
    start, start_cpu = time.perf_counter(), time.process_time()
    value = call()
    return (time.perf_counter() - start, time.process_time() - start_cpu), value


def frame(codes: np.ndarray, states: np.ndarray) -> Any:
    """Return a pandas DataFrame of categoricals; column i is called vi, state j is called sj."""
    import pandas as pd

    return pd.DataFrame(
        {
            f"v{i}": pd.Categorical.from_codes(column, [f"s{j}" for j in range(states[i])])
            for i, column in enumerate(codes)
        }
    )


def by_name(arcs: list[tuple[str, str]]) -> Edges:
    return [(int(a[1:]), int(b[1:])) for a, b in arcs]


def kes_search(**options: Any) -> Callable[[np.ndarray, np.ndarray], Found]:
    def search(codes: np.ndarray, states: np.ndarray) -> Found:
        import kes

        table = frame(codes, states)
        seconds, optima = timed(lambda: kes.learn(table, random_state=0, **options))
        return seconds, by_name(optima.best.graph.to_dag()), []

    return search


def kes_average(**options: Any) -> Callable[[np.ndarray, np.ndarray], Averaged]:
    def search(codes: np.ndarray, states: np.ndarray) -> Averaged:
        import kes

        table = frame(codes, states)
        seconds, average = timed(lambda: kes.ensemble(table, random_state=0, **options))
        return seconds, [by_name(member.arcs) for member in average.members]

    return search


def pybnesian_hc(codes: np.ndarray, states: np.ndarray) -> Found:
    import pybnesian

    table = frame(codes, states)
    seconds, model = timed(
        lambda: pybnesian.hc(
            table, bn_type=pybnesian.DiscreteBNType(), score="bic", operators=["arcs"]
        )
    )
    return seconds, by_name(model.arcs()), []


def pyagrum_greedy(codes: np.ndarray, states: np.ndarray) -> Found:
    import pyagrum

    table = frame(codes, states)

    def learn() -> list[tuple[str, str]]:
        learner = pyagrum.BNLearner(table)
        learner.useScoreBIC()
        learner.useNoPrior()
        learner.useGreedyHillClimbing()
        arcs = learner.learnDAG().arcs()
        return [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in arcs]

    seconds, arcs = timed(learn)
    return seconds, by_name(arcs), []


def pgmpy_search(name: str) -> Callable[[np.ndarray, np.ndarray], Found]:
    def search(codes: np.ndarray, states: np.ndarray) -> Found:
        from pgmpy import causal_discovery

        options = {"show_progress": False} if name == "HillClimbSearch" else {}
        learner = getattr(causal_discovery, name)(
            scoring_method="bic-d", return_type="dag", **options
        )
        table = frame(codes, states)
        seconds, fitted = timed(lambda: learner.fit(table))
        return seconds, by_name(list(fitted.causal_graph_.edges())), []

    return search


def causal_learn_ges(codes: np.ndarray, states: np.ndarray) -> Found:
    """Its discrete score is BDeu; it has no discrete BIC."""
    from causallearn.search.ScoreBased.GES import ges

    table = np.ascontiguousarray(codes.T)
    seconds, record = timed(lambda: ges(table, score_func="local_score_BDeu"))
    return seconds, *causal_learn_edges(record["G"].graph)


def causal_learn_orders(name: str) -> Callable[[np.ndarray, np.ndarray], Found]:
    """BOSS and GRaSP of causal-learn; its BDeu has a prior for sparse structures."""

    def search(codes: np.ndarray, states: np.ndarray) -> Found:
        module = importlib.import_module(f"causallearn.search.PermutationBased.{name}")
        find = getattr(module, name.lower())
        table = np.ascontiguousarray(codes.T)
        seconds, graph = timed(lambda: find(table, score_func="local_score_BDeu", verbose=False))
        return seconds, *causal_learn_edges(graph.graph)

    return search


def causal_learn_edges(marks: np.ndarray) -> tuple[Edges, Edges]:
    """Read its matrix: marks[j, i] = 1 and marks[i, j] = -1 for i -> j, both -1 for i - j."""
    pairs = [(i, j) for i in range(len(marks)) for j in range(len(marks)) if marks[i, j] == -1]
    directed = [(i, j) for i, j in pairs if marks[j, i] == 1]
    return directed, [(i, j) for i, j in pairs if i < j and marks[j, i] == -1]


def tetrad_search(name: str, *settings: int) -> Callable[[np.ndarray, np.ndarray], Found]:
    """FGES or BOSS of Tetrad."""

    def search(codes: np.ndarray, states: np.ndarray) -> Found:
        import tetrad

        package = tetrad.start(Path(sys.prefix))
        score = tetrad.discrete_bic(package, codes, states)
        find = getattr(tetrad, name)
        seconds, graph = timed(lambda: find(package, score, *settings))
        return seconds, *tetrad.edges(graph)

    return search


def xges_search(extended: bool) -> Callable[[np.ndarray, np.ndarray], Found]:
    def search(codes: np.ndarray, states: np.ndarray) -> Found:
        from xges import XGES

        table = np.ascontiguousarray(codes.T)

        def learn() -> Any:
            learner = XGES()
            learner.fit(
                table, extended_search=extended, scorer=discrete_bic(codes, states), verbose=0
            )
            return learner.get_a_dag()

        seconds, dag = timed(learn)
        return seconds, [(int(p), y) for y in dag.get_nodes() for p in dag.get_parents(y)], []

    return search


def discrete_bic(codes: np.ndarray, states: np.ndarray) -> Any:
    """Return BIC for xges, which ships a Gaussian score only but takes any other.

    s(y | P) = F(P ∪ y) - F(P) with F(S) = sum of n ln n - 1/2 ln N * (product of the states),
    each F counted once, as in kes itself.
    """
    from xges.scorer import ScorerInterface

    half_log_n = 0.5 * np.log(codes.shape[1])

    class DiscreteBic(ScorerInterface):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.n_variables = len(codes)
            self.terms: dict[frozenset[int], float] = {}

        def term(self, members: frozenset[int]) -> float:
            if members not in self.terms:
                cells = np.zeros(codes.shape[1], dtype=np.int64)
                for v in sorted(members):
                    # Numbered afresh after each variable, or the cell numbers would overflow.
                    cells = np.unique(cells * states[v] + codes[v], return_inverse=True)[1]
                counts = np.bincount(cells)
                parameters = float(np.prod([float(states[v]) for v in members]))
                self.terms[members] = float(counts @ np.log(counts)) - half_log_n * parameters
            return self.terms[members]

        def local_score(self, target: int, parents: set[int]) -> float:
            given = frozenset(int(p) for p in parents)
            return self.term(given | {int(target)}) - self.term(given)

    return DiscreteBic()


SEARCHES: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], Found | Averaged]]] = {
    "kes GES": ("kes", kes_search(k=1, runs=1, n_jobs=1, improve=False)),
    "kes, by default": ("kes", kes_search()),
    "kes, 1000 runs, k=0.8": ("kes", kes_search(k=0.8, runs=1000, improve=False)),
    "kes, 1000 runs, k=0.4": ("kes", kes_search(k=0.4, runs=1000, improve=False)),
    "kes, 100 runs, k=0.8": ("kes", kes_search(k=0.8, runs=100, improve=False)),
    "kes, 100 runs, k=0.4": ("kes", kes_search(k=0.4, runs=100, improve=False)),
    "kes, improved, k=0.8": ("kes", kes_search(k=0.8, runs=100, improve=1000)),
    "kes, improved, k=0.4": ("kes", kes_search(k=0.4, runs=100, improve=1000)),
    "kes, improved, BDeu": ("kes", kes_search(k=0.8, runs=100, improve=1000, criterion="bdeu")),
    "kes, average of 20": ("kes", kes_average()),
    "kes, average of 50": ("kes", kes_average(members=50)),
    "PyBNesian hill climbing": ("pybnesian", pybnesian_hc),
    "pyAgrum greedy hill climbing": ("pyagrum", pyagrum_greedy),
    "pgmpy hill climbing": ("pgmpy", pgmpy_search("HillClimbSearch")),
    "pgmpy GES with turning": ("pgmpy", pgmpy_search("GES")),
    "causal-learn GES, BDeu": ("causal-learn", causal_learn_ges),
    "causal-learn BOSS, BDeu": ("causal-learn", causal_learn_orders("BOSS")),
    "causal-learn GRaSP, BDeu": ("causal-learn", causal_learn_orders("GRaSP")),
    "Tetrad FGES": ("tetrad", tetrad_search("fges")),
    "Tetrad BOSS, 1 start": ("tetrad", tetrad_search("boss", 1)),
    "Tetrad BOSS, 10 starts": ("tetrad", tetrad_search("boss", 10)),
    "Tetrad 7.6.3 BOSS, 1 start": ("tetrad-7.6.3", tetrad_search("boss", 1)),
    "Tetrad 7.6.3 BOSS, 10 starts": ("tetrad-7.6.3", tetrad_search("boss", 10)),
    "xges XGES-0, our discrete BIC": ("xges", xges_search(extended=False)),
    "xges XGES, our discrete BIC": ("xges", xges_search(extended=True)),
}
"""Name of the search: (name on the package index, how it is called)."""


def version_of(package: str) -> str:
    if package.startswith("tetrad"):
        import tetrad

        return tetrad.VERSIONS[package]
    return version(package)


def main() -> None:
    name, limit, *paths = sys.argv[1:]
    package, search = SEARCHES[name]
    for path in paths:
        with np.load(Path(path)) as table:
            codes, states = table["codes"], table["states"]
        if path == paths[0]:
            search(codes[:3], states[:3])  # imports and compiles what a first call does
        random.seed(0)  # of the searches that draw, only causal-learn's take no seed
        signal.setitimer(signal.ITIMER_PROF, float(limit))
        (seconds, cpu), *edges = search(codes, states)
        signal.setitimer(signal.ITIMER_PROF, 0)
        parts = ("directed", "undirected") if len(edges) == 2 else ("members",)
        found = {"seconds": seconds, "cpu": cpu, **dict(zip(parts, edges, strict=True))}
        print(json.dumps({"version": version_of(package), **found}), flush=True)


if __name__ == "__main__":
    main()
