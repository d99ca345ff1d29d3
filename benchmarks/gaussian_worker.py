"""Run one search on continuous data, in the environment of its package; `gaussian.py` starts it.

Usage: python gaussian_worker.py SEARCH TABLE.npz, where the table has ``values`` (variables x
cases). Prints one line of JSON: seconds of the public call alone, version, and the edges found, as
indices. All searches maximise the Gaussian BIC. Only the searches of kes itself import kes.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from peer_worker import Edges, by_name, version_of

Found = tuple[float, Edges, Edges]  # seconds, directed, undirected
Search = Callable[[np.ndarray], Found]


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    value = call()
    return time.perf_counter() - start, value


def frame(values: np.ndarray) -> Any:
    """Return a pandas DataFrame; column i is called vi."""
    import pandas as pd

    return pd.DataFrame({f"v{i}": column for i, column in enumerate(values)})


def kes_search(**options: Any) -> Search:
    def search(values: np.ndarray) -> Found:
        import kes

        table = frame(values)
        seconds, optima = timed(lambda: kes.learn(table, **options))
        return seconds, by_name(optima.best.graph.to_dag()), []

    return search


def pybnesian_hc(values: np.ndarray) -> Found:
    import pybnesian

    table, kind = frame(values), pybnesian.GaussianNetworkType()
    seconds, model = timed(
        lambda: pybnesian.hc(table, bn_type=kind, score="bic", operators=["arcs"])
    )
    return seconds, by_name(model.arcs()), []


def ges_search(values: np.ndarray) -> Found:
    import ges

    table = np.ascontiguousarray(values.T)
    seconds, (graph, _) = timed(lambda: ges.fit_bic(table, phases=["forward", "backward"]))
    pairs = [(int(a), int(b)) for a, b in np.argwhere(graph)]
    directed = [(a, b) for a, b in pairs if not graph[b, a]]
    return seconds, directed, [(a, b) for a, b in pairs if a < b and graph[b, a]]


def xges_search(extended: bool) -> Search:
    def search(values: np.ndarray) -> Found:
        from xges import XGES

        table = np.ascontiguousarray(values.T)

        def learn() -> Any:
            learner = XGES(alpha=1.0)  # plain BIC
            learner.fit(table, extended_search=extended, verbose=0)
            return learner.get_a_dag()

        seconds, dag = timed(learn)
        return seconds, [(int(p), y) for y in dag.get_nodes() for p in dag.get_parents(y)], []

    return search


def tetrad_search(name: str, *settings: int) -> Search:
    def search(values: np.ndarray) -> Found:
        import tetrad

        package = tetrad.start(Path(sys.prefix))
        score = tetrad.gaussian_bic(package, np.ascontiguousarray(values))
        seconds, graph = timed(lambda: getattr(tetrad, name)(package, score, *settings))
        return seconds, *tetrad.edges(graph)

    return search


SEARCHES: dict[str, tuple[str, Search]] = {
    "kes GES": ("kes", kes_search(k=1, runs=1, improve=False, n_jobs=1)),
    "kes": ("kes", kes_search()),
    "xges XGES-0": ("xges", xges_search(extended=False)),
    "xges XGES": ("xges", xges_search(extended=True)),
    "PyBNesian hill climbing": ("pybnesian", pybnesian_hc),
    "ges": ("ges", ges_search),
    "Tetrad FGES": ("tetrad", tetrad_search("fges")),
    "Tetrad BOSS, 1 start": ("tetrad", tetrad_search("boss", 1)),
}
"""Name of the search: (name on the package index, how it is called)."""


def main() -> None:
    name, path = sys.argv[1:]
    package, search = SEARCHES[name]
    with np.load(Path(path)) as table:
        values = table["values"]
    search(values[:3])  # imports and compiles what a first call does
    seconds, directed, undirected = search(values)
    found = {"seconds": seconds, "directed": directed, "undirected": undirected}
    print(json.dumps({"version": version_of(package), **found}), flush=True)


if __name__ == "__main__":
    main()
