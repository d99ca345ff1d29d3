"""The site builds without a warning, which includes every link, and its reference is complete."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

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


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; to build it without a warning is the first test of it."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed (extra docs)")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


class Anchors(HTMLParser):
    """Targets within a page, and links out of it."""

    def __init__(self, page):
        super().__init__()
        self.ids, self.links = set(), set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids.update(attributes[name] for name in ("id", "name") if attributes.get(name))
        if tag == "a" and attributes.get("href"):
            self.links.add(attributes["href"])


def test_every_link_within_the_site_has_a_target(site):
    pages = {page: Anchors(page) for page in site.rglob("*.html") if page.name != "404.html"}
    assert len(pages) > 20
    broken = []
    for page, anchors in pages.items():
        for link in anchors.links:
            path, _, anchor = unquote(link).partition("#")
            if "://" in path or path.startswith("mailto:"):
                continue
            target = (page.parent / path).resolve() if path else page
            known = pages.get(target)
            if known is None or (anchor and anchor not in known.ids):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert not broken


def test_citations_lead_to_the_references(site):
    theory = Anchors(site / "theory.html").links
    reference = Anchors(site / "reference" / "search.html").links
    assert "references.html#chickering-2002" in theory
    assert "references.html#castelo-kočka-2003" in theory
    assert "../references.html#nielsen-2003" in reference  # from a docstring
