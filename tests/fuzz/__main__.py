"""Run many cases: ``python -m tests.fuzz --cases 100000 --seed 0``."""

import argparse
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from tests.fuzz.targets import Bench, Fallen, attempt, targets

SECONDS = 5.0
"""Time of the processor that a case may take."""
MEMORY = 4 * 2**30
"""Memory that the process may use."""
SHOWN = 5
"""Cases of a target that are written out when they fall."""


def too_slow(*_: object) -> None:
    raise Fallen(f"more than {SECONDS:g} s")


def fuzz(name: str, numbers: range, seed: int, bench: Bench) -> tuple[int, int, float]:
    """Do cases of a target; return how many were taken, how many fell, and the longest time."""
    taken = fallen = 0
    longest = 0.0
    for number in numbers:
        draw = random.Random(f"{seed}/{name}/{number}")
        started = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            taken += attempt(targets()[name], bench, draw)
        except BaseException as error:  # also a panic of the core
            if isinstance(error, KeyboardInterrupt):
                raise
            fallen += 1
            if fallen <= SHOWN:
                again = f"python -m tests.fuzz --seed {seed} --target {name} --only {number}"
                where = traceback.extract_tb(error.__traceback__)[-1]
                print(f"FALLEN {type(error).__name__}: {str(error)[:300]!r} at {where}\n  {again}")
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        longest = max(longest, time.process_time() - started)
    return taken, fallen, longest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=17_000, help="in all, over all targets")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", action="append", choices=[*targets()])
    parser.add_argument("--only", type=int, help="do this one case")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGVTALRM, too_slow)
    warnings.simplefilter("ignore")
    names = options.target or [*targets()]
    numbers = range(options.cases // len(names))
    if options.only is not None:
        numbers = range(options.only, options.only + 1)
    every = 0
    with tempfile.TemporaryDirectory(prefix="kes-fuzz-") as folder:
        bench = Bench(Path(folder))
        for name in names:
            taken, fallen, longest = fuzz(name, numbers, options.seed, bench)
            every += fallen
            print(
                f"{name:10} {len(numbers):8} cases, {taken:8} taken, {fallen:4} fallen, "
                f"longest {longest:.2f} s",
                flush=True,
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(names) * len(numbers)} cases, {every} fallen, at most {peak:.0f} MB")
    return 1 if every else 0


if __name__ == "__main__":
    sys.exit(main())
