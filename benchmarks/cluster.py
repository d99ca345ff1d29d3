"""Measure runs per second with one, two and four worker processes (`make bench-cluster`).

The workers are processes on this machine with one thread each; more of them than cores cannot be
faster. They read the table themselves. A few runs beforehand let all of them read it and count what
every run needs; the time is that of the runs after these, until the last one is back.
"""

import argparse
import tempfile
import time
from pathlib import Path

from timing import show

import kes
from kes.native import cores


def measure(path: Path, workers: int, runs: int, k: float) -> float:
    """Return the runs per second for a number of workers."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as local,
        Client(local, set_as_default=False) as client,
    ):
        client.wait_for_workers(workers, timeout=120)
        first = kes.learn(path, k=k, runs=50 * workers, client=client, improve=False, prove=False)
        started = time.perf_counter()
        first.extend(runs, client=client)
        return runs / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000, help="cases of ALARM")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--k", type=float, default=0.4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "alarm.parquet"
        kes.datasets.alarm(rows=options.rows).to_pandas().to_parquet(path)
        speeds = {}
        for workers in (1, 2, 4):
            speeds[workers] = measure(path, workers, options.runs, options.k)
    print(
        f"ALARM, {options.rows} cases, {options.runs} runs at k={options.k:g}, "
        f"worker processes with one thread each on {cores()} cores\n"
    )
    show(
        ["worker processes", "runs / s", "of one"],
        [
            [str(workers), f"{speed:.0f}", f"{speed / speeds[1]:.2f} x"]
            for workers, speed in speeds.items()
        ],
    )


if __name__ == "__main__":
    main()
