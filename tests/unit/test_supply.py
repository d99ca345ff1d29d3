"""The supply chain and privileges: no network, no pickle in files, licences, locked builds.

SECURITY.md promises it.
"""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "python" / "kes").rglob("*.py"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

RUNS_CODE = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "subprocess",
}
"""Modules that run what they read."""
ALLOWED = {
    # Dask sends tasks as pickles to workers that were told to trust this client.
    ("search/dask_cluster.py", "pickle"),
    # Large graphs are laid out in a process of this package, which takes numbers as JSON.
    ("drawing/graphviz.py", "subprocess"),
}


def used(path):
    """List the imports and calls of a module that can run code from data."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (name.name.split(".")[0] for name in names)
            case ast.ImportFrom(module=str(module)):
                yield module.split(".")[0]
            case ast.Call(func=ast.Name(id="eval" | "exec" | "__import__" as name)):
                yield name
            case ast.keyword(arg="allow_pickle", value=ast.Constant(value=False)):
                pass
            case ast.keyword(arg="allow_pickle"):
                yield "allow_pickle"


def test_nothing_that_is_read_from_a_file_is_run():
    found = {
        (path.relative_to(ROOT / "python" / "kes").as_posix(), name)
        for path in SOURCES
        for name in used(path)
        if name in RUNS_CODE | {"eval", "exec", "__import__", "allow_pickle"}
    }
    assert found == ALLOWED


OFFLINE = """
import sys

def refuse(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto"}:
        raise AssertionError(f"{event} {arguments}")
    if event in {"subprocess.Popen", "os.system"} and "dot" not in str(arguments[0]):
        raise AssertionError(f"{event} {arguments}")

sys.addaudithook(refuse)
import pkgutil, importlib, kes
for module in pkgutil.walk_packages(kes.__path__, "kes."):
    if module.name != "kes.__main__":
        importlib.import_module(module.name)
data = kes.datasets.alarm(rows=200)
optima = kes.learn(data, runs=5, n_jobs=2, prove=False)
optima.save("a.kes.json.gz")
again = kes.load("a.kes.json.gz")
assert again == optima
kes.certify(data.select(data.names[:6]), budget="5s")
again.best.fit(data).save("a.bif")
kes.network.files.read_network("a.bif")
from kes.cli import run
assert run(["report", "a.kes.json.gz", "--example", "alarm", "--rows", "200"]) == 0
"""


def test_no_network_at_run_time(tmp_path):
    """Everything is imported, learned, saved, loaded and reported; a socket would be an error."""
    pytest.importorskip("pygraphviz")
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (report,) = tmp_path.glob("*.html")
    page = report.read_text(encoding="utf-8")
    assert "default-src 'none'" in page, "nor may the report fetch anything"
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=[\"']?(https?:)?//", page)


# --- builds ---------------------------------------------------------------------------------------


def test_builds_use_the_versions_that_were_tested():
    assert (ROOT / "Cargo.lock").exists()
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]["locked"]
    makefile = (ROOT / "Makefile").read_text()
    calls = re.findall(r"^\t(?:nice )?cargo (?:test|clippy|build|run).*$", makefile, re.MULTILINE)
    assert calls
    assert [call for call in calls if "--locked" not in call] == []


PERMISSIVE = {
    *("MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "Zlib", "Unlicense", "BSL-1.0", "ISC"),
    *("Unicode-3.0", "Apache-2.0 WITH LLVM-exception", "CC0-1.0"),
}


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_every_crate_may_be_built_in():
    """Of each part of a licence joined by AND, one of the choices is permissive."""
    from tests.supply import crates

    unfit = {}
    for name, text in crates().items():
        parts = re.split(r"\bAND\b", text.replace("(", "").replace(")", ""))
        choices = [{one.strip() for one in re.split(r"\bOR\b|/", part)} for part in parts]
        if not all(choice & PERMISSIVE for choice in choices):
            unfit[name] = text
    assert unfit == {}


# --- workflows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_what_github_expects(path):
    """The first rules of actionlint, which runs as well where it is installed."""
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "permissions", "jobs"} < set(workflow)
    assert True in workflow, "`on`, which YAML 1.1 reads as a truth"
    assert workflow["permissions"] == {"contents": "read"}, "a job that needs more says so"
    for name, job in workflow["jobs"].items():
        assert "runs-on" in job, name
        assert "timeout-minutes" in job, name
        needed = job.get("needs", [])
        assert {needed} if isinstance(needed, str) else set(needed) <= set(workflow["jobs"])
        matrix = job.get("strategy", {}).get("matrix", {})
        known = set(matrix) | {key for row in matrix.get("include", []) for key in row}
        assert set(re.findall(r"\bmatrix\.(\w+)", str(job))) <= known
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), step
            assert set(step) <= {"name", "id", "if", "uses", "with", "run", "shell", "env"}
            if "uses" in step:
                assert re.fullmatch(r"[\w.-]+/[\w./-]+@[\w./-]+", step["uses"]), step
            for expression in re.findall(r"\${{(.*?)}}", str(step)):
                assert re.match(r"\s*!?\s*(matrix|github|runner|startsWith)\b", expression)
    if shutil.which("actionlint"):
        subprocess.run(["actionlint", str(path)], check=True)
