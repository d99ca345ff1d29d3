"""Shared parts of the benchmarks: tables, fair timing, and a plain-text table."""

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import pandas as pd

SAMPLE = Path(__file__).parents[1] / "../shared/data/samples/alarm_20000.csv.gz"
"""The sample behind published numbers, if it exists."""


def sample() -> pd.DataFrame:
    """Return the sample as a table of categoricals."""
    return pd.read_csv(SAMPLE, dtype=str).astype("category")


def built_in() -> pd.DataFrame:
    """Return 20 000 cases of the built-in ALARM network as a table of categoricals."""
    import kes  # here, because the workers of `against.py` choose the version

    data = kes.datasets.alarm(rows=20_000, seed=0)
    columns = zip(data.names, data.codes, data.states, strict=True)
    return pd.DataFrame(
        {name: pd.Categorical.from_codes(codes, states) for name, codes, states in columns}
    )


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    **({"alarm_20000 sample": sample} if SAMPLE.exists() else {}),
    "built-in ALARM": built_in,
}
"""The tables available on this machine, the preferred one first."""


Clock: TypeAlias = Callable[[], float]


def seconds(call: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    start = clock()
    call()
    return clock() - start


def interleaved(
    tasks: dict[str, Callable[[], object]], repetitions: int, clock: Clock = time.perf_counter
) -> dict[str, list[float]]:
    """Time every task once in each repetition.

    A machine is not equally fast at all times. Taking turns makes a slow moment hit all tasks, so
    that the ratios of their times stay comparable.
    """
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repetitions):
        for name, task in tasks.items():
            times[name].append(seconds(task, clock))
    return times


def ratio(times: Sequence[float], unit: Sequence[float]) -> float:
    """Return the median of the ratios within each repetition."""
    return statistics.median(t / u for t, u in zip(times, unit, strict=True))


def show(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: first column left-aligned, the others right-aligned."""
    lines = [header, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for number, line in enumerate(lines):
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        print("  ".join(cells).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))
