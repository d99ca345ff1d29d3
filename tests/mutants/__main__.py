"""Run a sample of mutants: ``python -m tests.mutants python --count 150 --seed 1``."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from tests.mutants.python import survivors

ROOT = Path(__file__).parents[2]
RUST = ("boundary.rs", "boundary/*.rs", "search.rs", "graph/*.rs", "score/**/*.rs")
"""Of the core: what decides results. Knowledge is a file of `graph`."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("language", choices=("rust", "python"))
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="mutants whose line holds this text")
    options = parser.parse_args()
    if options.language == "rust":
        return rust(options.count, options.seed)
    return survivors(options.count, options.seed, options.only)


def rust(count: int, seed: int) -> int:
    """Let cargo-mutants do every n-th of its mutants, from one that the seed draws."""
    if shutil.which("cargo-mutants") is None:
        print("cargo-mutants is not installed: cargo install cargo-mutants --locked")
        return 2
    of = ["--package", "kes-core"]
    of += [word for file in RUST for word in ("--file", f"crates/kes-core/src/{file}")]
    listed = ["cargo", "mutants", "--list", "--json", *of]
    found = json.loads(subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout)
    shards = max(1, len(found) // count)
    shard = random.Random(seed).randrange(shards)
    print(f"{len(found)} mutants: every {shards}th from number {shard} on", flush=True)
    # Names and lines of failures are not needed, and what is not compiled twice is soon tested.
    quick = {"CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "1"}
    command = ["cargo", "mutants", *of, "--shard", f"{shard}/{shards}"]
    command += ["--sharding", "round-robin", "--no-shuffle", "--timeout", "300"]
    command += ["--output", str(ROOT / "target"), "--", "--locked"]
    return subprocess.run(command, cwd=ROOT, check=False, env=os.environ | quick).returncode


if __name__ == "__main__":
    sys.exit(main())
