"""Compare the time of runs and tasks with its estimate; measure the cost of tiers and known arcs.

    python benchmarks/effort.py --sizes 200,1000

Random sparse tables of every kind, one thread, processor seconds. `kes/budget.py` chooses
amounts of work by the estimates, which should be right within a factor of three.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from large import sparse
from timing import show

import kes
import kes.data

ROWS, RUNS, FIRST, TASKS = 10_000, 2, 8, 60


def mixed(variables: int, rows: int) -> pd.DataFrame:
    """Cut every other column of a continuous table into three."""
    frame = sparse(variables, rows, states=None)
    for name in frame.columns[1::2]:
        frame[name] = pd.cut(frame[name], 3, labels=list("abc"))
    return frame


KINDS: dict[str, Callable[[int], pd.DataFrame]] = {
    "discrete": lambda variables: sparse(variables, ROWS),
    "continuous": lambda variables: sparse(variables, ROWS, states=None),
    "mixed": lambda variables: mixed(variables, ROWS),
}


def cpu(call: Callable[[], kes.Optima]) -> tuple[float, kes.Optima]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def tasks(optima: kes.Optima) -> float:
    """Return the seconds of a task, without the first ones, an order among them."""
    before, _ = cpu(lambda: optima.improve(tasks=FIRST, n_jobs=1))
    together, _ = cpu(lambda: optima.improve(tasks=TASKS, n_jobs=1))
    return (together - before) / (TASKS - FIRST)


def estimates(sizes: list[int]) -> None:
    """Print what is measured and what is estimated."""
    rows = []
    for variables in sizes:
        for kind, table in KINDS.items():
            data = kes.data.encode(table(variables))
            ges, _ = cpu(lambda data=data: kes.learn(data, k=1, runs=1, n_jobs=1, improve=False))
            optima = kes.learn(data, runs=1, n_jobs=1, improve=False)
            run, optima = cpu(lambda optima=optima: optima.extend(RUNS, n_jobs=1))
            size = optima.problem.size
            rows.append(
                [
                    f"{variables} {kind}",
                    f"{ges:.2f}",
                    f"{run / RUNS:.4f} ({size.run_seconds:.4f})",
                    f"{tasks(optima):.4f} ({size.task_seconds:.4f})",
                ]
            )
    show(["variables", "GES", "a run (estimate)", "a task (estimate)"], rows)


def knowledge(sizes: list[int]) -> None:
    """Print what a run takes under knowledge, over one without."""
    rows = []
    for variables in sizes:
        frame = sparse(variables, 1000)
        names, data = list(frame.columns), kes.data.encode(frame)
        third, rng = variables // 3, np.random.default_rng(0)
        pairs = [sorted(rng.choice(variables, 2, replace=False)) for _ in range(20)]
        tiers = [names[:third], names[third : 2 * third], names[2 * third :]]
        took = []
        for known in (
            None,
            kes.Knowledge(tiers=tiers),
            kes.Knowledge(forbidden=[(names[b], names[a]) for a, b in pairs]),
        ):
            optima = kes.learn(data, runs=1, n_jobs=1, improve=False, knowledge=known)
            took.append(cpu(lambda optima=optima: optima.extend(RUNS, n_jobs=1))[0])
        rows.append([str(variables), *(f"{seconds / took[0]:.2f} x" for seconds in took[1:])])
    show(["variables", "three tiers", "20 forbidden arcs"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="30,200,1000", help="numbers of variables")
    sizes = [int(size) for size in parser.parse_args().sizes.split(",")]
    estimates(sizes)
    print()
    knowledge([size for size in sizes if size >= 100])
