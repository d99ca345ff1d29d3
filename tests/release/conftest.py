"""The wheel and the source distribution as `make dist` makes them, and fresh environments."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="session")
def dist():
    """The folder that `make dist` fills; KES_DIST names one that is filled already."""
    if filled := os.environ.get("KES_DIST"):
        return Path(filled).resolve()
    if shutil.which("cargo") is None:
        pytest.skip("needs Rust to build the wheel")
    subprocess.run(["make", "dist"], cwd=ROOT, check=True)
    return ROOT / "dist"


@pytest.fixture(scope="session")
def wheel(dist):
    [path] = dist.glob("kes-*.whl")
    return path


@pytest.fixture(scope="session")
def sdist(dist):
    [path] = dist.glob("kes-*.tar.gz")
    return path


def pythons():
    """The Pythons from 3.11 on that are to be had, one of each minor version."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    named = [shutil.which(f"python3.{minor}") for minor in range(11, 20)]
    found = {}
    for path in [sys.executable, *filter(None, named), *sorted(versions.glob("3.*/bin/python"))]:
        asked = "import sys, venv, ensurepip; print(sys.version_info[1])"
        done = subprocess.run([path, "-c", asked], capture_output=True, text=True, check=False)
        if done.returncode == 0 and int(done.stdout) >= 11:
            found.setdefault(int(done.stdout), str(path))
    return {f"3.{minor}": found[minor] for minor in sorted(found)}


@dataclass
class Fresh:
    """A new environment in which no compiler can be found: its own programs are all there are."""

    folder: Path
    path: str

    def run(self, *command, cwd=None):
        """Run one of its programs; return what it prints."""
        done = subprocess.run(
            [self.folder / "bin" / command[0], *map(str, command[1:])],
            cwd=cwd or self.folder,
            env={**os.environ, "PATH": self.path, "PYTHONPATH": "", "MPLBACKEND": "Agg"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def install(self, *what):
        self.run("python", "-m", "pip", "install", "--quiet", *what)


@pytest.fixture
def fresh(tmp_path):
    def make(python, *, with_rust=False):
        folder = tmp_path / "fresh"
        subprocess.run([python, "-m", "venv", folder], check=True)
        own = str(folder / "bin")
        path = os.pathsep.join([own, os.environ["PATH"]]) if with_rust else own
        assert with_rust == bool(shutil.which("cargo", path=path) and shutil.which("cc", path=path))
        return Fresh(folder, path)

    return make


def lowest(requirement):
    """The lowest version that a requirement such as "numpy>=1.26" allows, pinned."""
    return re.sub(">=", "==", requirement)
