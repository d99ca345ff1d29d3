"""What surrounds the code keeps its promises: versions agree, links and references resolve, the
README's examples run, and the make targets exist."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SOURCES = sorted(
    path
    for folder in ("crates", "python", "tests", "docs")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".rs", ".py", ".pyi", ".md"}
)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def version() -> str:
    """The one place where the version is written for a release: the Rust workspace."""
    return tomllib.loads(text("Cargo.toml"))["workspace"]["package"]["version"]


def test_the_built_core_has_the_version_of_the_workspace(version):
    from kes import _core

    assert _core.__version__ == version


def test_changelog_and_citation_know_the_version(version):
    assert f"## [{version}]" in text("CHANGELOG.md")
    assert f"\nversion: {version}\n" in text("CITATION.cff")


def test_metadata_is_the_one_of_the_licence():
    assert text("LICENSE").startswith("MIT License")
    assert tomllib.loads(text("pyproject.toml"))["project"]["license"] == "MIT"
    assert "\nlicense: MIT\n" in text("CITATION.cff")


# --- references and links ---


def cited(content: str) -> set[tuple[str, str]]:
    """(First author, year) of every bracketed key; several keys are separated by semicolons."""
    brackets = re.findall(r"\[([^\W\d_][^\[\]]*\s\d{4}\b[^\[\]]*)\]", content)
    parts = [part for bracket in brackets for part in bracket.split(";")]
    found = (re.match(r"\s*([^\W\d_]+)\b.*?\s(\d{4})\b", part, re.DOTALL) for part in parts)
    return {(match[1], match[2]) for match in found if match and match[1][0].isupper()}


def test_the_reader_of_keys_reads_the_forms_in_use():
    assert cited("as in [Chickering 2002, Thm 15].") == {("Chickering", "2002")}
    assert cited("//! [Castelo & Kočka\n//! 2003]") == {("Castelo", "2003")}
    assert cited("[Andersson, Madigan & Perlman 1997; Meek 1995]") == {
        ("Andersson", "1997"),
        ("Meek", "1995"),
    }
    assert cited("x[10], [rows + 2000], [a link](https://example.org)") == set()


def test_every_cited_key_resolves():
    known = cited(text("docs/references.md"))
    missing = {
        f"{path.relative_to(ROOT)}: [{author} {year}]"
        for path in SOURCES
        if path != Path(__file__)
        for author, year in cited(path.read_text(encoding="utf-8")) - known
    }
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_resolve(page):
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_every_page_of_the_documentation_is_in_its_navigation():
    docs = ROOT / "docs"
    navigation = set(re.findall(r"(?:: |- )(\S+\.md)$", text("mkdocs.yml"), flags=re.MULTILINE))
    assert navigation == {page.relative_to(docs).as_posix() for page in docs.rglob("*.md")}


# --- what a newcomer types ---


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_help_lists_every_target_with_a_description():
    shown = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    described = dict(re.findall(r"^  make (\S+) +(\S.*)$", shown, flags=re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.*)$", text("Makefile"), flags=re.MULTILINE)
    assert phony is not None
    assert set(described) == set(phony[1].split())
    assert {"demo", "test", "lint", "bench", "docs", "build", "clean"} <= set(described)


def test_the_python_example_of_the_readme_runs(tmp_path):
    examples = re.findall(r"```python\n(.*?)```", text("README.md"), flags=re.DOTALL)
    assert len(examples) == 1
    done = subprocess.run(
        [sys.executable, "-c", examples[0]],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "alarm.kes.json.gz").exists()


def test_the_demo_prints_what_the_readme_shows():
    """Results depend on nothing but data, settings and seed, so this holds on every machine."""
    from click.testing import CliRunner

    from kes.cli import kes

    demo = re.search(r"kes learn (--example .*) --out", text("Makefile"))
    shown = re.search(r"```text\n(.*?)```", text("README.md"), flags=re.DOTALL)
    assert demo is not None
    assert shown is not None
    printed = CliRunner().invoke(kes, ["learn", *demo[1].split()]).stdout
    assert shown[1] in printed


def test_the_readme_uses_options_that_the_command_line_has():
    from click.testing import CliRunner

    from kes.cli import kes

    commands = ("learn", "report", "certify")
    offered = "".join(CliRunner().invoke(kes, [name, "--help"]).output for name in commands)
    examples = re.findall(r"```sh\n(.*?)```", text("README.md"), flags=re.DOTALL)
    used = {option for example in examples for option in re.findall(r" (--[a-z-]+)", example)}
    assert {option for option in used if option not in offered} == set()
    assert len(used) > 5
