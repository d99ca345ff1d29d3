"""Build the core in several ways, and see that one seed gives the same bytes with all of them.

Optimised or not, for any processor or for this one: nothing that decides results may depend on it.
``python -m tests.builds`` builds each in a folder of its own, ``target/builds``; ``--digest``
prints what the core that is on the path gives.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
LIBRARIES = ("lib_core.so", "lib_core.dylib")
BUILDS = [
    (profile, flags) for profile in ("dev", "release") for flags in ("", "-C target-cpu=native")
]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.builds", description=__doc__)
    parser.add_argument("--digest", action="store_true")
    if parser.parse_args().digest:
        print_digests()
        return 0
    digests = {}
    for profile, flags in BUILDS:
        name = f"{profile}{' native' if flags else ''}"
        print(f"{name:16}", end="", flush=True)
        digests[name] = digest_of(build(profile, flags, name.replace(" ", "-")))
        print(digests[name].replace("\n", "  "), flush=True)
    same = len(set(digests.values())) == 1
    print("All builds give the same results." if same else "The builds differ.")
    return 0 if same else 1


def build(profile: str, flags: str, name: str) -> Path:
    """Build the core; return the library."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "builds" / name
    environment = os.environ | {"CARGO_TARGET_DIR": str(target), "RUSTFLAGS": flags}
    environment["PYO3_PYTHON"] = sys.executable
    subprocess.run(
        ["cargo", "build", "--quiet", "--locked", "--package", "kes-py", "--profile", profile],
        cwd=ROOT,
        env=environment,
        check=True,
    )
    made = target / ("debug" if profile == "dev" else profile)
    return next(made / name for name in LIBRARIES if (made / name).exists())


def digest_of(library: Path) -> str:
    """Return the output of a process that has this core and no other."""
    with TemporaryDirectory() as folder:
        put_together(library, Path(folder))
        done = subprocess.run(
            [sys.executable, "-m", "tests.builds", "--digest"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": folder},
            check=True,
            capture_output=True,
            text=True,
        )
    where, digests = done.stdout.split("\n", 1)
    assert where.startswith(folder), f"another core was used: {where}"
    return digests.strip()


def put_together(library: Path, folder: Path) -> None:
    """Make a package kes that has this core."""
    ignored = shutil.ignore_patterns("_core*.so", "__pycache__")
    shutil.copytree(ROOT / "python" / "kes", folder / "kes", ignore=ignored)
    shutil.copy(library, folder / "kes" / "_core.abi3.so")


def print_digests() -> None:
    """Search, improve and prove on tables of every kind; print a digest of the files."""
    import numpy as np

    import kes
    from kes import _core

    print(_core.__file__)
    rng = np.random.default_rng(0)
    mixed = kes.datasets.alarm(rows=200).to_pandas().iloc[:, :8]
    numbers = rng.normal(size=(300, 9)) @ rng.normal(size=(9, 9))
    mixed["x"], mixed["y"] = rng.normal(size=200), rng.standard_t(3, 200) * 1e6
    weights = rng.exponential(2.0, 200)
    tasks = {
        "bic": lambda: kes.learn(kes.datasets.alarm(rows=300), k=0.4, runs=10, prove=False),
        "bdeu": lambda: kes.learn(mixed.iloc[:, :8], criterion="bdeu", weights=weights, runs=10),
        "qnml": lambda: kes.learn(mixed.iloc[:, :8], criterion="qnml", runs=10, prove=True),
        "Gaussian": lambda: kes.learn(numbers, k=0.4, runs=10, prove=True),
        "BGe": lambda: kes.learn(numbers, criterion="bge", k=0.4, runs=10),
        "mixed": lambda: kes.learn(mixed, weights=weights, k=0.4, runs=10),
        "gaps": lambda: kes.learn(mixed.mask(mixed == "NORMAL"), missing="em", runs=5),
    }
    with TemporaryDirectory() as folder:
        for name, task in tasks.items():
            path = Path(folder) / "a.kes.json"
            task().save(path)
            print(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}")


if __name__ == "__main__":
    sys.exit(main())
