"""Search for curved relations in the environment of a peer; `curves.py` starts it.

Usage: python curves_worker.py SEARCH LIMIT TABLE.npz ..., where each table has ``values``
(variables x cases). Prints one line of JSON for each: seconds of the processor and the edges found,
as indices. The process is ended when one table takes longer than the limit, in such seconds.
"""

import json
import signal
import sys
import time
from collections.abc import Callable

import numpy as np

Edges = list[tuple[int, int]]


def semiparametric(values: np.ndarray) -> tuple[Edges, Edges]:
    """PyBNesian: hill climbing over arcs and kinds of nodes, by held-out likelihood."""
    import pandas as pd
    import pybnesian

    table = pd.DataFrame({f"v{i}": column for i, column in enumerate(values)})
    model = pybnesian.hc(
        table,
        bn_type=pybnesian.SemiparametricBNType(),
        score="validated-lik",
        operators=["arcs", "node_type"],
        seed=0,
    )
    return [(int(a[1:]), int(b[1:])) for a, b in model.arcs()], []


def generalised(values: np.ndarray) -> tuple[Edges, Edges]:
    """causal-learn: GES with the generalised score, a marginal likelihood of kernel regressions."""
    from causallearn.search.ScoreBased.GES import ges

    # graph[i, j] = -1 and graph[j, i] = 1: i -> j; both -1: undirected.
    graph = ges(values.T, score_func="local_score_marginal_general")["G"].graph
    pairs = list(zip(*np.nonzero(graph == -1), strict=True))
    directed = [(int(i), int(j)) for i, j in pairs if graph[j, i] == 1]
    return directed, [(int(i), int(j)) for i, j in pairs if i < j and graph[j, i] == -1]


SEARCHES: dict[str, tuple[str, Callable[[np.ndarray], tuple[Edges, Edges]]]] = {
    "PyBNesian: semiparametric": ("pybnesian", semiparametric),
    "causal-learn: generalised score": ("causal-learn", generalised),
}
"""The package of each search, and its function."""


def main() -> None:
    name, limit, *tables = sys.argv[1:]
    _, search = SEARCHES[name]
    for table in tables:
        values = np.load(table)["values"]
        signal.setitimer(signal.ITIMER_PROF, float(limit))
        start = time.process_time()
        directed, undirected = search(values)
        spent = time.process_time() - start
        reply = {"cpu": spent, "directed": directed, "undirected": undirected}
        print("\n" + json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
