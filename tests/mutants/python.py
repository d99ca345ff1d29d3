"""Mutants of the Python layers that decide results, each in a process that is forked for it.

Libraries are imported once and kes in every process anew, with one module changed on the way.
"""

from __future__ import annotations

import importlib
import os
import random
import signal
import sys
import time
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

from tests.mutants.changes import Mutant, mutants_of, source_of

ROOT = Path(__file__).parents[2]
LOG = ROOT / "target" / "mutant.log"
SECONDS = 300
"""Of the processor, for all tests of a mutant; one that never ends is noticed."""
LIBRARIES = (
    *("numpy", "pandas", "polars", "pyarrow", "narwhals", "networkx", "highspy", "mpmath"),
    *("click", "tqdm", "pytest", "hypothesis", "xml.parsers.expat", "json", "gzip", "tomllib"),
)
GRAPH = "test_graph test_boundary test_mpdag test_known_distances test_compare test_formats"
DATA = (
    "test_data test_dataset test_kinds test_missing test_tables test_csv test_raw_rows "
    "test_weights test_bad_tables test_audit test_own_data test_completion test_like test_parquet"
)
SEARCH = (
    "test_learn test_collector test_improve test_storage test_optima test_effort test_knowledge "
    "test_known_search test_trap test_lies test_certify test_completion test_missing test_errors"
)
TESTS = {
    # where the change is: the files of tests/unit that are about it, and others; quick ones first
    "graph/": f"{GRAPH} test_network test_explain oracle/test_essential.py oracle/test_brute.py",
    "data/": f"{DATA} test_mixed_network test_real_tables test_errors",
    "search/cluster.py": "cluster/test_cluster.py",
    "search/completion.py": "test_completion test_missing oracle/test_completion.py",
    "search/proof.py": "test_effort test_learn test_certify test_lies",
    "search/": SEARCH,
    "results/": f"test_storage test_lies test_optima {SEARCH}",
    "settings.py": f"{SEARCH} test_cli test_cli_errors test_estimator test_sweep",
}
MODULES = ("search/*.py", "graph/*.py", "data/encoding.py", "data/kinds.py", "data/missing.py")
MODULES += ("results/document.py", "results/checks.py", "results/lineage.py", "settings.py")
SILENT = {"graph/pictures.py"}
"""Pictures are looked at, not decided by."""


def sample(count: int, seed: int) -> list[Mutant]:
    """Draw mutants of all modules, in an order in which any number of first ones is a sample."""
    kes = ROOT / "python" / "kes"
    files = sorted(path for pattern in MODULES for path in kes.glob(pattern))
    found = [
        mutant
        for path in files
        if path.relative_to(kes).as_posix() not in SILENT
        for mutant in mutants_of(path.relative_to(ROOT), ROOT)
    ]
    drawn = random.Random(seed).sample(found, min(count, len(found)))
    print(
        f"{len(found)} mutants of {len(files)} modules, of which {len(drawn)} are tried", flush=True
    )
    return drawn


def survivors(count: int, seed: int, only: str | None) -> int:
    """Try a sample; list what no test noticed."""
    chosen = [mutant for mutant in sample(count, seed) if only is None or only in str(mutant)]
    for library in LIBRARIES:
        importlib.import_module(library)
    # Tests that fail by themselves, on a busy machine say, would notice every change.
    for path in {tuple(tests_of(mutant.path)): mutant.path for mutant in chosen}.values():
        if (ended := attempt(path, None)) != "SURVIVED":
            print(f"the tests of {path} fail without any change ({ended}): {failed_test()}")
            return 2
    living = []
    for number, mutant in enumerate(chosen):
        began = time.monotonic()
        ended = attempt(mutant.path, mutant)
        seconds = time.monotonic() - began
        print(f"{number:4} {ended:9} {seconds:6.1f} s  {mutant}  {failed_test()}", flush=True)
        if ended == "SURVIVED":
            living.append(mutant)
    print(f"{len(chosen)} mutants, {len(chosen) - len(living)} noticed, {len(living)} survived")
    return 0


def attempt(path: Path, mutant: Mutant | None) -> str:
    """Run the tests that are about a module in a process where it is changed, or not."""
    child = os.fork()
    if child == 0:
        os.setsid()  # tests interrupt their own process, and start others
        os._exit(run_tests(path, mutant))
    began = time.monotonic()
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() - began > 20 * SECONDS or cpu_seconds(child) > SECONDS:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "endless"
        time.sleep(0.05)
    return {0: "SURVIVED", 1: "noticed"}.get(os.waitstatus_to_exitcode(ended[1]), "crashed")


def cpu_seconds(process: int) -> float:
    """Time of the processor that a process has used, its children that ended included."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def failed_test() -> str:
    """Return the name of the test that failed in the latest attempt, if one did."""
    lines = LOG.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line for line in lines if line.startswith(("FAILED", "ERROR"))), "")


def run_tests(path: Path, mutant: Mutant | None) -> int:
    """Have pytest stop at the first test that fails; what it says is in the log."""
    output = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    if mutant is not None:
        name = path.relative_to("python").with_suffix("").as_posix().replace("/", ".")
        sys.meta_path.insert(0, Changed(name.removesuffix(".__init__"), mutant))
    import pytest

    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests_of(path)]))


def tests_of(path: Path) -> list[str]:
    inner = path.relative_to(Path("python", "kes")).as_posix()
    listed = next(files for where, files in TESTS.items() if inner.startswith(where)).split()
    return [
        str(ROOT / "tests" / (file if "/" in file else f"unit/{file}.py"))
        for file in dict.fromkeys(listed)
    ]


class Changed(MetaPathFinder, SourceLoader):
    """Finds one module, with a change."""

    def __init__(self, name: str, mutant: Mutant) -> None:
        self._name, self._mutant = name, mutant

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        if name != self._name:
            return None
        file = ROOT / self._mutant.path
        inner = [str(file.parent)] if file.name == "__init__.py" else None
        return spec_from_file_location(name, file, loader=self, submodule_search_locations=inner)

    def get_filename(self, fullname: str) -> str:
        return str(ROOT / self._mutant.path)

    def get_data(self, path: str) -> bytes:
        return source_of(self._mutant, ROOT).encode()

    def path_stats(self, path: str):
        raise OSError("never from a compiled file")
