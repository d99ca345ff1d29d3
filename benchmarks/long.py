"""Measure peak memory and processor time for long tables (`make bench-long`).

A separate process draws cases into files, chunk by chunk: of ALARM, where many rows are equal, or
of as many columns with hardly two equal rows (`KIND=distinct`), which is the most a table can take.
A fresh process then reads each file, does GES on one thread, and reports the cost.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow.csv import CSVWriter
from pyarrow.parquet import ParquetWriter
from timing import show

import kes
from kes.data import encode

PIECE = 200_000
MB = 10**6
COPIES, PROCESS = 2.5, 300 * MB
"""The target: a multiple of the encoded size, plus the base memory of a process."""


def alarm(rows: int, seed: int) -> dict[str, pa.Array]:
    """Return cases of ALARM."""
    data = kes.datasets.alarm(rows=rows, seed=seed)
    columns = zip(data.names, data.codes, data.states, strict=True)
    return {name: text(codes, states) for name, codes, states in columns}


def distinct(rows: int, seed: int) -> dict[str, pa.Array]:
    """Return cases of 37 columns, each of three states that are often those of an earlier one."""
    random = np.random.default_rng(seed)
    columns = [random.integers(0, 3, rows)]
    for number in range(36):
        same, new = random.random(rows) < 0.3, random.integers(0, 3, rows)
        columns.append(np.where(same, columns[max(0, number - 2)], new))
    return {f"x{number}": text(codes, "abc") for number, codes in enumerate(columns)}


def text(codes: np.ndarray, states: Sequence[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(states))).cast(pa.string())


KINDS = {"alarm": alarm, "distinct": distinct}


def draw(rows: int, path: Path) -> None:
    """Write cases, as text, to a Parquet or a CSV file."""
    cases = KINDS[path.stem.partition("-")[0]]
    writer = None
    for number, start in enumerate(range(0, rows, PIECE)):
        piece = pa.table(cases(min(PIECE, rows - start), number))
        if writer is None:
            kind = CSVWriter if path.suffix == ".csv" else ParquetWriter
            writer = kind(path.with_suffix(".part"), piece.schema)
        writer.write_table(piece)
    writer.close()
    path.with_suffix(".part").rename(path)


def measure(path: Path) -> dict[str, float]:
    """Read a file and learn from it; return seconds of the processor, and bytes."""
    started = time.process_time()
    data = encode(path)
    read = time.process_time()
    optima = kes.learn(data, k=1, runs=1, n_jobs=1, improve=False, prove=False)
    return {
        "rows": data.rows,
        "columns": len(data.names),
        "read": read - started,
        "ges": time.process_time() - read,
        "coded": sum(column.codes.nbytes for column in data.columns),
        "peak": peak(),
        "score": optima.best.score,
    }


def peak() -> int:
    """Return the highest resident set of this process, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # what Linux says elsewhere counts the process that started this one
        [line] = [one for one in status.read_text().splitlines() if one.startswith("VmHWM:")]
        return 1024 * int(line.split()[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024)


def call(*arguments: str) -> str:
    """Run this script in a separate process and return its output."""
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def line(found: dict[str, float]) -> list[str]:
    """Return the row for one table."""
    most = COPIES * found["coded"] + PROCESS
    return [
        f"{found['rows']:,}".replace(",", " "),
        f"{found['read']:.1f}",
        f"{found['ges']:.1f}",
        f"{found['coded'] / MB:.0f}",
        f"{found['peak'] / MB:.0f}",
        f"{(found['peak'] - PROCESS) / found['coded']:.2f} x",
        "pass" if found["peak"] <= most else "FAIL",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="1000000,10000000", help="numbers of cases")
    parser.add_argument("--format", default="parquet", choices=["parquet", "csv"])
    parser.add_argument("--kind", default="alarm", choices=KINDS)
    parser.add_argument("--folder", type=Path, default=Path("target/long"))
    parser.add_argument("--draw", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.draw:
        draw(int(options.draw[0]), Path(options.draw[1]))
        return
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    results = []
    for rows in map(int, options.rows.split(",")):
        path = options.folder / f"{options.kind}-{rows}.{options.format}"
        if not path.exists():
            call("--draw", str(rows), str(path))
        results.append(json.loads(call("--measure", str(path))))
    print(
        f"{options.kind}, 37 columns of text, {options.format}, GES by BIC, seconds of one core\n"
    )
    header = ["rows", "read", "GES", "coded MB", "peak MB", "(peak - 300 MB) / coded", "<= 2.5 x"]
    show(header, [line(found) for found in results])
    for small, large in pairwise(results):
        cost = [one["read"] + one["ges"] for one in (small, large)]
        ges, rows = large["ges"] / small["ges"], large["rows"] / small["rows"]
        print(
            f"\n{rows:g} x as many rows: {cost[1] / cost[0]:.1f} x the cost, GES alone {ges:.1f} x"
        )


if __name__ == "__main__":
    main()
