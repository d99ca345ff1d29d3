"""Mutants of the Python layers that decide results, each in a process that is forked for it.

Libraries are imported once and kes in every process anew, with one module changed on the way.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Set
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

import pytest
from tests.mutants.changes import Mutant, mutants_of, source_of

ROOT = Path(__file__).parents[2]
LOG, TIMES = ROOT / "target" / "mutant.log", ROOT / "target" / "mutant-times.json"
SECONDS = 600
"""Of the processor, for all tests of a mutant; one that never ends is noticed."""
QUICK = 0.5
"""Seconds of a test, at most, to be tried first."""
LIBRARIES = (
    *("numpy", "pandas", "polars", "pyarrow", "narwhals", "networkx", "highspy", "mpmath"),
    *("click", "tqdm", "pytest", "hypothesis", "xml.parsers.expat", "json", "gzip", "tomllib"),
)
TESTS = {
    # where the change is: the tests that are about it, quick ones first
    "graph/parent_sets.py": "unit/analysis/test_effects.py oracle/test_evidence.py",
    "graph/": "unit/graph unit/formats unit/network unit/analysis/test_compare.py "
    "unit/analysis/test_explain.py oracle/test_essential.py oracle/test_brute.py",
    "data/": "unit/data unit/network unit/search/test_structural_em.py unit/test_errors.py "
    "unit/search/test_continuous_tables.py unit/search/test_real_tables.py unit/datasets",
    "search/dask_cluster.py": "cluster/test_cluster.py",
    "search/structural_em.py": "unit/search/test_structural_em.py unit/data/test_missing.py "
    "unit/search/test_kept_imputations.py oracle/test_completion.py",
    "search/proof.py": "unit/search/test_budget.py unit/test_api.py unit/exact unit/results",
    "search/": "unit/test_api.py unit/test_progress.py unit/search unit/results "
    "unit/graph/test_knowledge.py unit/exact unit/datasets/test_trap.py unit/data/test_missing.py "
    "unit/test_errors.py",
    "results/": "unit/results unit/test_api.py unit/search",
    "settings.py": "unit/test_api.py unit/search unit/cli unit/test_estimator.py",
}
MODULES = ("search/*.py", "graph/*.py", "data/encoder.py", "data/infer_kinds.py", "data/missing.py")
MODULES += (
    "results/serialization.py",
    "results/validate_record.py",
    "results/lineage.py",
    "settings.py",
)
SILENT = {"drawing/graph_pictures.py"}
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
    print(f"{len(found)} mutants of {len(files)} modules; trying {len(drawn)}", flush=True)
    return drawn


def survivors(count: int, seed: int, only: str | None) -> int:
    """Try a sample; list what no test noticed.

    Quick tests come first, for all mutants, the others only for those that these did not notice.
    """
    chosen = [mutant for mutant in sample(count, seed) if only is None or only in str(mutant)]
    for library in LIBRARIES:
        importlib.import_module(library)
    # Tests that fail by themselves, on a busy machine say, would notice every change.
    every = sorted({file for mutant in chosen for file in tests_of(mutant.path)})
    if (ended := attempt(every, Timed(TIMES), None)) != "SURVIVED":
        print(f"the tests fail without any change ({ended}): {failed_test()}")
        return 2
    times: dict[str, float] = json.loads(TIMES.read_text(encoding="utf-8"))
    quick = {test for test, seconds in times.items() if seconds < QUICK}
    print(f"{len(times)} tests pass without any change, {len(quick)} of them quick", flush=True)
    living = chosen
    for those in (quick, times.keys() - quick):
        living = [mutant for mutant in living if not is_noticed(mutant, those)]
    print(f"{len(chosen)} mutants, {len(chosen) - len(living)} noticed, {len(living)} survived:")
    print("\n".join(map(str, living)))
    return 0


def is_noticed(mutant: Mutant, tests: Set[str]) -> bool:
    """Run some tests on a mutant and print what comes of it."""
    began = time.monotonic()
    ended = attempt(tests_of(mutant.path), Chosen(tests), mutant)
    seconds = time.monotonic() - began
    print(f"{ended:9} {seconds:6.1f} s  {mutant}  {failed_test()}", flush=True)
    return ended != "SURVIVED"


class Timed:
    """Writes down what each test takes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        self._path.write_text(json.dumps(self._seconds), encoding="utf-8")


class Chosen:
    """Has pytest run some tests only."""

    def __init__(self, tests: Set[str]) -> None:
        self._tests = tests

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self._tests]


def attempt(files: list[str], plugin: Timed | Chosen, mutant: Mutant | None) -> str:
    """Run tests in a process in which a module is changed, or none."""
    child = os.fork()
    if child == 0:
        os.setsid()  # tests interrupt their own process, and start others
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background
        os._exit(run_tests(files, plugin, mutant))
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if mutant is not None and cpu_seconds(child) > SECONDS:
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


def run_tests(files: list[str], plugin: Timed | Chosen, mutant: Mutant | None) -> int:
    """Have pytest stop at the first test that fails; what it says is in the log."""
    output = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    if mutant is not None:
        name = mutant.path.relative_to("python").with_suffix("").as_posix().replace("/", ".")
        sys.meta_path.insert(0, Changed(name.removesuffix(".__init__"), mutant))
    # Nothing chosen is nothing noticed.
    ended = pytest.main(["-x", "-q", "-p", "no:cacheprovider", *files], plugins=[plugin])
    return int(ended) if ended != pytest.ExitCode.NO_TESTS_COLLECTED else 0


def tests_of(path: Path) -> list[str]:
    inner = path.relative_to(Path("python", "kes")).as_posix()
    listed = next(places for where, places in TESTS.items() if inner.startswith(where)).split()
    return [str(ROOT / "tests" / place) for place in listed]


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
