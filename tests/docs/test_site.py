"""The site builds without warnings about links, and its reference is complete.

It is opened from disk, in a browser as wide as a phone: every page fits and sends no request.
"""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

import kes
from kes.cli.commands import COMMANDS

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


def test_every_command_answers_a_question():
    page = (ROOT / "docs" / "howto" / "commands.md").read_text(encoding="utf-8")
    answers = re.findall(r"^\|[^|]+\?\ \| `kes (\w+)", page, flags=re.MULTILINE)
    assert set(answers) == set(COMMANDS)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site; that it builds without a warning is the first test."""
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
            known = pages[target].ids if target in pages else set()  # a notebook has no anchors
            if not target.is_file() or (anchor and anchor not in known):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert not broken


def test_citations_lead_to_the_references(site):
    theory = Anchors(site / "theory.html").links
    reference = Anchors(site / "reference" / "search.html").links
    assert "references.html#chickering-2002" in theory
    assert "references.html#castelo-kočka-2003" in theory
    assert "../references.html#nielsen-2003" in reference  # from a docstring


# --- the report ----------------------------------------------------------------------------------


def test_the_home_page_links_the_report_of_the_demo(site):
    assert "demo-report.html" in Anchors(site / "index.html").links
    report = (site / "demo-report.html").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [score] = re.findall(r"^  best score +(-\d+\.\d+)", readme, re.MULTILINE)
    for part in ("INSUFFANESTH", "Content-Security-Policy", score.partition(".")[0]):
        assert part in report


# --- notebooks ------------------------------------------------------------------------------------


def test_notebooks_were_run_and_show_themselves(site):
    """To run without an error is part of the build."""
    first = (site / "notebooks" / "first-look.html").read_text(encoding="utf-8")
    for part in ("<svg", "best score", "search_support", "SHD ", "<iframe srcdoc=", "P(LOW)"):
        assert part in first
    second = (site / "notebooks" / "prediction.html").read_text(encoding="utf-8")
    right, new = map(int, re.findall(r"(\d+) of (\d+) right", second)[-1])
    assert right >= 0.9 * new, "these wines are easy to tell apart"


def test_notebooks_can_be_downloaded_without_outputs(site):
    nbformat = pytest.importorskip("nbformat")
    found = sorted((site / "notebooks").glob("*.ipynb"))
    assert len(found) >= 2
    for path in found:
        content = nbformat.read(path, as_version=4)
        nbformat.validate(content)
        assert not any(cell.get("outputs") for cell in content.cells)


# --- in a browser ---------------------------------------------------------------------------------

PHONE = {"width": 420, "height": 900}
OWN = ("file:", "data:", "blob:", "about:")

TOO_WIDE = """() => {
  const most = document.documentElement.clientWidth + 1
  const fits = (element) => element.getBoundingClientRect().right <= most
  const scrolls = (element) =>
    ["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX) && fits(element)
  const cut = (element) => {
    for (let box = element.parentElement; box; box = box.parentElement)
      if (scrolls(box)) return true
    return false
  }
  const wide = [...document.querySelectorAll(".md-content *")].filter((e) => !fits(e) && !cut(e))
  const page = document.documentElement.scrollWidth > most ? ["the page"] : []
  return [...page, ...wide.map((e) => e.outerHTML.slice(0, 80))]
}"""
"""Elements that stick out of the screen and of every box that scrolls."""


@pytest.fixture
def visit(browser, site):
    """Return a function that opens a page of the site; check that no request leaves the disk."""
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    page.set_default_timeout(60_000)
    asked = []
    page.on("request", lambda request: asked.append(request.url))

    def opened(path):
        page.goto((site / path).as_uri())
        return page

    yield opened
    context.close()
    assert [url for url in asked if not url.startswith(OWN)] == []


def test_every_page_fits_on_a_phone_and_sends_no_request(site, visit):
    pages = [path.relative_to(site) for path in site.rglob("*.html") if path.name != "404.html"]
    wide = {path.as_posix(): visit(path).evaluate(TOO_WIDE) for path in sorted(pages)}
    assert {path: found for path, found in wide.items() if found} == {}


def test_one_can_click_through_from_disk(visit):
    page = visit("index.html")
    page.locator(".md-content a[href='tutorial.html']").first.click()
    page.wait_for_url("**/tutorial.html")
    page.locator(".md-header label[for='__drawer']").click()
    page.locator(".md-nav--primary a[href='tutorial-messy.html']").click()
    page.wait_for_url("**/tutorial-messy.html")
    assert page.locator("h1").inner_text().startswith("Tutorial: a messy table")


def test_the_report_opens_from_disk(visit):
    page = visit("index.html")
    page.locator(".md-content a[href='demo-report.html']").first.click()
    page.wait_for_url("**/demo-report.html")
    page.get_by_text("VENTLUNG").first.wait_for(state="attached")
    page.locator("svg").first.wait_for()


def test_the_search_works_from_disk(visit):
    page = visit("index.html")
    page.set_viewport_size({"width": 1200, "height": 800})
    field, found = (page.locator(f".md-search{part}") for part in ("__input", "-result__item a"))
    field.fill("latent variables missing EM")
    field.press("End")  # the page listens to keys
    found.first.wait_for()
    assert any("missing" in link for link in found.evaluate_all("all => all.map(a => a.href)"))
