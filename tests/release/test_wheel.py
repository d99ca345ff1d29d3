"""The wheel: its content, where it installs, and that the examples of the first pages run there."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.docs import examples

import kes

from .conftest import ROOT, lowest, pythons

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

MOST_BYTES = 70e6
MOST_SECONDS = 0.5
GLIBC = (2, 17)
"""That of manylinux2014."""

SIZE = """
from importlib.metadata import distributions
kept = [d for d in distributions() if d.name not in ("pip", "setuptools")]
files = {d.locate_file(f) for d in kept for f in d.files if f.suffix != ".pyc"}
print(sum(path.stat().st_size for path in files if path.is_file()))
"""
"""Of what is installed, bytecode left out: Python makes it when it likes."""

IMPORT = "import time; import kes; kes.learn; kes.load; print(time.process_time())"
"""Names are imported when they are used, so these two bring in the whole search."""


@pytest.mark.skipif(sys.platform != "linux", reason="about Linux")
def test_it_fits_old_systems(wheel, tmp_path):
    *_, python, abi, platforms = wheel.stem.split("-")
    assert (python, abi) == ("cp311", "abi3")
    assert {re.sub("_[a-z].*", "", tag) for tag in platforms.split(".")} == {
        "manylinux2014",
        "manylinux_2_17",
    }
    said = subprocess.run(
        [Path(sys.executable).with_name("auditwheel"), "show", wheel],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert '"manylinux_2_17_' in " ".join(said.split())
    core = zipfile.ZipFile(wheel).read("kes/_core.abi3.so")
    wanted = {tuple(map(int, found)) for found in re.findall(rb"GLIBC_(\d+)\.(\d+)", core)}
    assert wanted, "it does use the C library"
    assert max(wanted) <= GLIBC


def test_it_holds_the_package_and_nothing_else(wheel):
    sources = ROOT / "python"
    own = {
        path.relative_to(sources).as_posix()
        for path in (sources / "kes").rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".so", ".pyd"}
    }
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert inside == own | {"kes/_core.abi3.so"}


@pytest.mark.parametrize("version", pythons())
def test_the_readme_holds_without_rust(version, wheel, fresh, tmp_path, monkeypatch):
    new = fresh(pythons()[version])
    new.install(wheel)
    size = int(new.run("python", "-c", SIZE))
    assert size < MOST_BYTES
    seconds = min(float(new.run("python", "-c", IMPORT)) for _ in range(3))
    assert seconds < MOST_SECONDS
    print(f"Python {version}: {size / 1e6:.1f} MB, {seconds:.2f} s to import")
    new.run("kes", "learn", "--example", "alarm", "--runs", 20)

    new.install(f"{wheel}[report]")
    folder = tmp_path / "readme"
    folder.mkdir()
    monkeypatch.chdir(folder)
    examples.write_tables()
    run = 0
    first_pages = [ROOT / "README.md", ROOT / "docs" / "index.md"]
    for block in [block for page in first_pages for block in examples.blocks(page)]:
        if block.reason is None and block.language == "python":
            new.run("python", "-c", block.text, cwd=folder)
            run += 1
        elif block.reason is None and block.language == "sh":
            for command in examples.commands(block.text):
                new.run("kes", *examples.with_few_runs(command), cwd=folder)
                run += 1
    assert run >= 10
    made = {path.name for path in folder.iterdir()}
    assert {"report.html", "a.kes.json.gz", "best.bif", "best.svg"} <= made
    assert kes.load(folder / "a.kes.json.gz").best.fit(folder / "data.csv")


def test_the_oldest_versions_that_are_allowed_work(wheel, project, fresh):
    """Old systems get no newer ones: the wheels of numpy ask for ever newer C libraries."""
    new = fresh(pythons()["3.11"])
    new.install(wheel, *map(lowest, project["dependencies"]))
    new.run("kes", "learn", "--example", "alarm", "--rows", 500, "--runs", 20, "--out", "a.json")
    new.run("kes", "fit", "a.json", "--example", "alarm", "--rows", 500, "--out", "a.bif")
    new.run("kes", "edges", "a.json", "--example", "alarm", "--rows", 500)
