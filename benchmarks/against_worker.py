"""Run timed tasks with one version of kes; `against.py` starts one process for each version.

A request is a line of JSON on standard input, its answer a line on standard output:

* ``{"draw": NETWORK, "rows": n, "seed": s, "out": CSV}`` writes a sample of a network;
* ``{"read": CSV, "numbers": false}`` reads the table for all following requests, its cells as
  states or as numbers;
* ``{"prepare": TASK}`` does what a task needs, and the task itself once, untimed;
* ``{"time": TASK}`` does the task and returns its seconds, a fingerprint of its result, and its
  value;
* ``{"learn": "by default"}`` learns with the defaults of the version, on one thread, and returns
  processor seconds and the best score.

PYTHONPATH selects the version of kes. Versions differ in their options, so this script uses only
what all of them have had since the first, and tries newer options before.
"""

import functools
import gc
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from wide_engine import Case, drawn, frame_of

import kes
import kes.data

RUNS = 1000
TASKS_OF_IMPROVING = 1000
CERTIFIED = 20  # variables
BUILT_IN = "alarm"  # the network that needs no file
LINEAR = "linear:"  # with the number of variables: a sparse random network on numbers
WIDE_PENALTY = 4.0  # for numbers; with less, noise gives each of thousands of columns edges

Answer = tuple[Any, float]  # all of a result in plain values; the one figure to show of it
Task = tuple[Callable[[], Any], Callable[[Any], Answer]]  # what is timed; how to read its result


@functools.cache
def options_off(command: str) -> dict[str, Any]:
    """Return the options that switch off what an earlier version does not do by default.

    Signatures do not tell: options may hide behind ``**``. A tiny table does.
    """
    tiny = pd.DataFrame({"a": ["x", "y"] * 8, "b": ["x", "x", "y", "y"] * 4})

    def takes(option: str, value: Any) -> bool:
        given = {option: value}
        try:
            if command == "learn":
                kes.learn(tiny, runs=1, **given)
            elif command == "certify":
                kes.certify(tiny, **given)
            else:
                kes.inclusion_boundary(kes.EssentialGraph(["a", "b"]), tiny, **given)
        except (TypeError, kes.KesError):
            return False
        return True

    options = {"improve": False, "prove": False, "edge_prior": 0}
    return {option: value for option, value in options.items() if takes(option, value)}


def runs_of(data: Any, **options: Any) -> Any:
    if data.kind == "continuous":
        options["penalty"] = WIDE_PENALTY
    return kes.learn(data, **options, **options_off("learn"))


# --- results in plain values, floats by their bits ---


def model(found: Any) -> Answer:
    graph = found.graph
    edges = [sorted(graph.directed), sorted(sorted(pair) for pair in graph.undirected)]
    return [float(found.score).hex(), edges], found.score


def runs(optima: Any) -> Answer:
    """Return all scores, and the best model of the runs: later versions list others as well."""
    best = optima.best_run if hasattr(optima, "best_run") else optima.best
    return [[float(score).hex() for score in optima.run_scores], model(best)[0]], best.score


def neighbours(boundary: Any) -> Answer:
    listed = [[n.kind, n.x, n.y, sorted(n.given), float(n.delta).hex()] for n in boundary]
    return listed, len(boundary)


# --- tasks: each prepares what it needs, and returns what to time ---


def cold(table: pd.DataFrame) -> Task:
    data = kes.data.encode(table)
    return lambda: runs_of(data, k=1, runs=1, n_jobs=1), runs


def many(table: pd.DataFrame) -> Task:
    data = kes.data.encode(table)
    return lambda: runs_of(data, k=0.8, runs=RUNS, n_jobs=2), runs


def warm(table: pd.DataFrame) -> Task:
    first = runs_of(kes.data.encode(table), k=0.8, runs=RUNS, n_jobs=1)
    return lambda: first.extend(RUNS, n_jobs=1), runs


def boundary(table: pd.DataFrame) -> Task:
    data = kes.data.encode(table)
    graph = runs_of(data, k=1, runs=1).best.graph
    return lambda: kes.inclusion_boundary(graph, data, **options_off("boundary")), neighbours


def improve(table: pd.DataFrame) -> Task:
    first = runs_of(kes.data.encode(table), k=0.4, runs=100)
    return lambda: first.improve(tasks=TASKS_OF_IMPROVING, n_jobs=1).best, model


def certify(table: pd.DataFrame) -> Task:
    data = kes.data.encode(table.iloc[:, :CERTIFIED])
    return lambda: kes.certify(data, n_jobs=1, **options_off("certify")), model


TASKS: dict[str, Callable[[pd.DataFrame], Task]] = {
    "cold": cold,
    "runs": many,
    "warm": warm,
    "boundary": boundary,
    "improve": improve,
    "certify": certify,
}


def import_seconds() -> float:
    """Return how long a fresh interpreter takes to import kes."""
    code = "import time as t; s = t.perf_counter(); import kes; print(t.perf_counter() - s)"
    command = [sys.executable, "-c", code]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


class Worker:
    """The current table, and the tasks prepared for it."""

    def __init__(self) -> None:
        self._table = pd.DataFrame()
        self._tasks: dict[str, Task] = {}

    def draw(self, network: str, rows: int, seed: int, out: str) -> dict[str, Any]:
        if network.startswith(LINEAR):
            case = Case("er2", int(network.removeprefix(LINEAR)), rows)
            table = frame_of(drawn(case)[0], case.shape)
        elif network == BUILT_IN:
            table = kes.datasets.alarm(rows=rows, seed=seed).to_pandas()
        else:
            table = kes.read_network(network).sample(rows, seed=seed).to_pandas()
        part = Path(f"{out}.part")  # an existing sample is complete
        table.to_csv(part, index=False)
        part.replace(out)
        return {}

    def read(self, path: str, numbers: bool) -> dict[str, Any]:
        self._tasks.clear()
        # As text, so that no version reads codes as numbers.
        kind = "float" if numbers else "category"
        self._table = pd.read_csv(path, dtype=kind, keep_default_na=False)
        return {"rows": len(self._table), "variables": self._table.shape[1]}

    def prepare(self, task: str) -> dict[str, Any]:
        if task != "import":
            self._tasks[task] = TASKS[task](self._table)
        self.time(task)
        return {}

    def time(self, task: str) -> dict[str, Any]:
        if task == "import":
            return {"seconds": import_seconds(), "fingerprint": None, "value": None}
        call, answer = self._tasks[task]
        gc.collect()  # garbage of the last round is not part of this one
        start = time.perf_counter()
        result = call()
        seconds = time.perf_counter() - start
        plain, value = answer(result)
        fingerprint = hashlib.sha256(json.dumps(plain).encode()).hexdigest()
        return {"seconds": seconds, "fingerprint": fingerprint, "value": value}

    def learn(self) -> dict[str, Any]:
        data = kes.data.encode(self._table)
        start = time.process_time()
        optima = kes.learn(data, n_jobs=1)
        return {"cpu": time.process_time() - start, "score": optima.best.score}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            match request:
                case {"draw": network, "rows": rows, "seed": seed, "out": out}:
                    return self.draw(network, rows, seed, out)
                case {"read": path, **more}:
                    return self.read(path, more.get("numbers", False))
                case {"prepare": task}:
                    return self.prepare(task)
                case {"time": task}:
                    return self.time(task)
                case {"learn": "by default"}:
                    return self.learn()
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}
        raise ValueError(f"there is no such request: {request}")


def main() -> None:
    # Keep what the versions print out of standard output, which is for answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps({"kes": kes.__file__}), file=answers, flush=True)
    worker = Worker()
    for line in sys.stdin:
        print(json.dumps(worker.answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)  # Ctrl-C reaches this process too; `against.py` says so
