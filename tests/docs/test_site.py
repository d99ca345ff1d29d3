"""The site builds without a warning, which includes every link, and its reference is complete."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kes

ROOT = Path(__file__).parents[2]
REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))


def documented():
    """Full names of all objects in the reference."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE)
    return set(re.findall(r"^::: (kes\S*)$", text, flags=re.MULTILINE))


def test_every_public_name_is_in_the_reference():
    names = documented()
    classes_and_functions = [*(set(kes.__all__) - {"__version__", "datasets"}), "KES"]
    public = {name: getattr(kes, name) for name in classes_and_functions}
    missing = {
        name
        for name, value in public.items()
        if not {f"{value.__module__}.{name}", f"kes.{name}"} & names
    }
    assert not missing


def test_every_dataset_is_in_the_reference():
    page = (ROOT / "docs" / "reference" / "data.md").read_text(encoding="utf-8")
    [members] = re.findall(r"members: \[(.+)\]", page)
    assert set(members.split(", ")) == set(kes.datasets.__all__)


@pytest.mark.skipif(
    importlib.util.find_spec("mkdocs") is None, reason="mkdocs is not installed (extra docs)"
)
def test_the_site_builds_without_a_warning(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "index.html").exists()
