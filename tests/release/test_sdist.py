"""The source distribution: whole, and pip can make a working kes of it where there is Rust."""

import tarfile

import pytest

import kes

from .conftest import pythons

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


def test_it_holds_what_a_build_needs_and_no_tests(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"Cargo.lock", "Cargo.toml", "pyproject.toml", "README.md", "LICENSE", "PKG-INFO"}
    assert needed <= names
    folders = {name.partition("/")[0] for name in names if "/" in name}
    assert folders == {"crates", "python"}


def test_pip_builds_and_installs_it(sdist, fresh, monkeypatch):
    # That it is built in full is known from the wheel; here a quick build will do.
    monkeypatch.setenv("CARGO_PROFILE_RELEASE_LTO", "off")
    monkeypatch.setenv("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
    new = fresh(pythons()["3.11"], with_rust=True)
    new.install(sdist)
    assert new.run("kes", "--version") == f"kes {kes.__version__}\n"
    new.run("kes", "learn", "--example", "alarm", "--runs", 20)
