"""Compare chains with exact probabilities and with other samplers (`make bench-posterior`).

*Small networks*: time and memory of the exact sum; the largest error of the probability of an edge
by our chains of default length, and by our chains, sumu [Viinikka 2020] and a plain structure MCMC
of growing length: steps a second, and processor seconds until the error stays below 0.02. *Larger
ones*: on how many pairs chains from different optima do not agree.
"""

import argparse
import json
import math
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import structure_mcmc
from document import seconds, table
from environments import ENVIRONMENTS, HERE, install, python_of
from samples import SHARED, coil, network

import kes
from kes.data.random_stream import Stream

EXACT = {"asia": 500, "sachs": 1_000, "child": 500}
MEMORY_MB = 6_000
LARGER = {"alarm": 500, "insurance": 1_000, "hailfinder": 1_000}
ACCURACY = 0.02
LIMIT = 60.0
"""Processor seconds of a sampler."""

Attempt = tuple[float, float, np.ndarray]
"""Processor seconds, steps, and the probabilities of edges that a sampler found by then."""


def sampled(name: str, rows: int) -> kes.Dataset:
    if name == "CoIL":
        return coil()
    source = kes.datasets.alarm_network() if name == "alarm" else network(name)
    return source.sample(rows, seed=Stream(1))


def by_chains(data: kes.Dataset) -> Iterator[Attempt]:
    """Our chains, each time anew with twice the rounds."""
    rounds = 100
    while True:
        started = time.process_time()
        found = kes.posterior(data, method="chains", rounds=rounds)
        spent = time.process_time() - started
        yield spent, found.diagnostics.jumps, found.diagnostics.of["edges"].mean
        rounds *= 2


def by_structure_mcmc(data: kes.Dataset) -> Iterator[Attempt]:
    """A plain chain over DAGs, which goes on."""
    started = time.process_time()
    for steps, shares in structure_mcmc.shares(data, 1):
        yield time.process_time() - started, steps, shares


def by_sumu(data: kes.Dataset) -> Iterator[Attempt]:
    """Sample with sumu, if it is installed, each time anew with twice the iterations."""
    iterations = 1_000
    while python_of("sumu").exists() and (found := sumu(data, iterations)):
        yield found
        iterations *= 2


def sumu(data: kes.Dataset, iterations: int) -> Attempt | None:
    """Sample with sumu; None if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npz"
        np.savez(path, codes=data.codes.astype(np.int64))
        command = [python_of("sumu"), HERE / "sumu_worker.py", path, str(iterations)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"sumu failed:\n{done.stderr[-500:]}")
        return None
    reply = json.loads(done.stdout.splitlines()[-1])
    arcs = np.array(reply["arcs"])
    return reply["seconds"], iterations, arcs + arcs.T


SAMPLERS: dict[str, Callable[[kes.Dataset], Iterator[Attempt]]] = {
    "kes": by_chains,
    "sumu": by_sumu,
    "structure MCMC": by_structure_mcmc,
}


def accuracy(label: str, name: str, data: kes.Dataset, right: np.ndarray) -> list[str] | None:
    """Return a row: when the error of a sampler went below the accuracy, and stayed there."""
    reached, last, smallest = None, None, math.inf
    for spent, steps, found in SAMPLERS[name](data):
        error = float(np.abs(found - right).max())
        smallest, last = min(smallest, error), (spent, steps)
        if error >= ACCURACY:
            reached = None
        elif reached is not None:
            break  # twice in a row
        else:
            reached = spent
        if spent > LIMIT:
            break
    if last is None:
        return None
    rate = f"{last[1] / last[0]:,.0f}"
    until = f"error {smallest:.3f} after {last[0]:.0f} s" if reached is None else seconds(reached)
    return [label, name, rate, until]


def small(names: dict[str, int]) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield, for each network on which the sum is exact, a row, and one for each sampler."""
    for name, rows in names.items():
        data = sampled(name, rows)
        started = time.process_time()
        exact = kes.posterior(data, method="exact", memory_mb=MEMORY_MB)
        spent = time.process_time() - started
        right = exact.arcs + exact.arcs.T
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        started = time.process_time()
        chains = kes.posterior(data, method="chains")
        chain_time = time.process_time() - started
        edges = chains.diagnostics.of["edges"]
        errors = np.abs(edges.mean - right)
        label = f"{name}, {data.rows:,}"
        row = [
            label,
            str(len(data.names)),
            f"{seconds(spent)} s, {memory:.0f} MB",
            f"{errors.max():.4f}",
            f"{errors[edges.settled].max():.4f}",
            f"{(~edges.settled).sum() // 2} of {right.shape[0] * (right.shape[0] - 1) // 2}",
            seconds(chain_time),
        ]
        print(*row, sep=", ", flush=True)
        rows_of_samplers = [accuracy(label, sampler, data, right) for sampler in SAMPLERS]
        yield row, [row for row in rows_of_samplers if row is not None]


def larger(names: dict[str, int]) -> Iterator[list[str]]:
    """Yield a row for each network that only chains can treat."""
    for name, rows in names.items():
        data = sampled(name, rows)
        started = time.process_time()
        chains = kes.posterior(data, method="chains")
        spent = time.process_time() - started
        edges = chains.diagnostics.of["edges"]
        pairs = edges.settled[np.triu_indices(len(data.names), 1)]
        worst = edges.agreement[edges.settled].max()
        yield [
            f"{name}, {rows:,}",
            str(len(data.names)),
            chains.status,
            f"{(~pairs).sum()} of {len(pairs)}",
            f"{worst:.3f}",
            f"{chains.diagnostics.jumps / spent:,.0f}",
            seconds(spent),
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--install", action="store_true", help="install sumu apart")
    parser.add_argument("--coil", action="store_true", help="CoIL, too, which takes minutes")
    arguments = parser.parse_args()
    if arguments.install and not (ENVIRONMENTS / "sumu").exists():
        install({"sumu"})
    exact = EXACT | ({"CoIL": 5_822} if arguments.coil and (SHARED / "coil").exists() else {})
    header = [
        "data, cases",
        "variables",
        "exact sum",
        "largest error of chains",
        "of pairs that are settled",
        "pairs not settled",
        "CPU s",
    ]
    found = list(small(exact))
    tables = {"chains and exact": table(header, [row for row, _ in found])}
    header = ["data, cases", "sampler", "steps per CPU s", f"CPU s to {ACCURACY}"]
    tables["samplers"] = table(header, [row for _, rows in found for row in rows])
    header = [
        "data, cases",
        "variables",
        "status",
        "pairs not settled",
        "largest difference of the others",
        "jumps per CPU s",
        "CPU s",
    ]
    tables["larger networks"] = table(header, list(larger(LARGER)))
    for name, text in tables.items():
        print(f"\n{name}\n{text}")


if __name__ == "__main__":
    main()
