"""Draw and check cases until the time is up or one fails."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from .case import draw
from .checks import examine

EVERY = 60.0  # seconds between lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=None, help="drawn from the clock by default")
    parser.add_argument("--case", type=int, default=None, help="check only this one")
    given = parser.parse_args()
    seed = time.time_ns() % 10**9 if given.seed is None else given.seed
    began, told = time.monotonic(), 0.0
    counts: Counter[str] = Counter()
    print(f"seed {seed}", flush=True)
    number = given.case or 0
    with TemporaryDirectory() as folder:
        while True:
            rng = np.random.default_rng([seed, number])
            case = draw(rng)
            try:
                counts += examine(case, Path(folder), rng)
            except Exception:
                traceback.print_exc()
                again = f"python -m tests.soak --seed {seed} --case {number}"
                print(f"\nCase {number} of seed {seed} failed; again: {again}\n{case.summary}")
                return 1
            counts["cases"] += 1
            counts[f"of {case.kind} tables"] += 1
            counts["with knowledge"] += case.known is not None
            counts["with weights"] += case.weights is not None
            number += 1
            passed = time.monotonic() - began
            if given.case is not None or passed > 60 * given.minutes:
                break
            if passed - told > EVERY:
                told = passed
                print(f"{passed / 60:5.1f} minutes, {counts['cases']} cases", flush=True)
    print(f"No failure in {passed / 60:.1f} minutes. Compared:")
    for name, count in counts.items():
        print(f"{count:10,}  {name.replace('_', ' ')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
