"""Compare chains with exact probabilities and with sumu (`make bench-posterior`).

*Small networks*: the largest error of the probability of an edge against the sum, of our chains
with their default length and of sumu [Viinikka 2020], with processor seconds. *Larger ones*: on how
many pairs chains from different optima do not agree.
"""

import argparse
import json
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from document import seconds, table
from environments import ENVIRONMENTS, HERE, install, python_of
from samples import SHARED, coil, network

import kes

EXACT = {"asia": 500, "sachs": 1_000, "child": 500}
LARGER = {"alarm": 500, "insurance": 1_000, "hailfinder": 1_000}
ITERATIONS = 20_000


def sampled(name: str, rows: int) -> kes.Dataset:
    if name == "CoIL":
        return coil()
    source = kes.datasets.alarm_network() if name == "alarm" else network(name)
    return source.sample(rows, seed=1)


def by_sumu(data: kes.Dataset) -> tuple[float, np.ndarray] | None:
    """Return processor seconds and probabilities of edges; None if sumu is not installed."""
    if not python_of("sumu").exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npz"
        np.savez(path, codes=data.codes.astype(np.int64))
        command = [python_of("sumu"), HERE / "sumu_worker.py", path, str(ITERATIONS)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"sumu failed:\n{done.stderr[-500:]}")
        return None
    reply = json.loads(done.stdout.splitlines()[-1])
    arcs = np.array(reply["arcs"])
    return reply["seconds"], arcs + arcs.T


def small(names: dict[str, int]) -> Iterator[list[str]]:
    """Yield a row for each network on which the sum is exact."""
    for name, rows in names.items():
        data = sampled(name, rows)
        started = time.process_time()
        exact = kes.posterior(data, method="exact")
        spent = time.process_time() - started
        right = exact.arcs + exact.arcs.T
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        started = time.process_time()
        chains = kes.posterior(data, method="chains")
        chain_time = time.process_time() - started
        found = chains.diagnostics.of["edges"].mean
        rate = chains.diagnostics.jumps / chain_time
        peer = by_sumu(data)
        other = (
            ["", ""] if peer is None else [f"{np.abs(peer[1] - right).max():.3f}", seconds(peer[0])]
        )
        yield [
            f"{name}, {data.rows:,}",
            str(len(data.names)),
            f"{seconds(spent)} s, {memory:.0f} MB",
            f"{np.abs(found - right).max():.4f}",
            chains.status,
            seconds(chain_time),
            f"{rate:,.0f}",
            *other,
        ]


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
        "status",
        "CPU s",
        "jumps per CPU s",
        "largest error of sumu",
        "CPU s",
    ]
    tables = {"chains and exact": table(header, list(small(exact)))}
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
