"""Tables that benchmarks write: each has a place, a make target, and content."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MARK = re.compile(r"<!-- table: (.*?), by make (\S+) -->\n(.*?)<!-- end -->", re.DOTALL)


def marked():
    return [(page, *found) for page in PAGES for found in MARK.findall(page.read_text("utf-8"))]


def test_every_table_is_written_by_a_target_of_make():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    assert {target for _, _, target, _ in marked()} <= targets


def test_the_marks_of_a_page_are_for_tables_that_a_benchmark_names():
    """A mark that no benchmark fills would keep its table for ever."""
    named = {
        name
        for file in (ROOT / "benchmarks").glob("*.py")
        for name in re.findall(r'"([^"\n]+)"', file.read_text("utf-8"))
    }
    assert {name for _, name, _, _ in marked()} <= named


def test_no_table_is_empty():
    assert [name for _, name, _, text in marked() if len(text.splitlines()) < 3] == []


@pytest.fixture
def document():
    spec = importlib.util.spec_from_file_location("document", ROOT / "benchmarks/document.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_filling_replaces_a_table_and_nothing_else(document, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "a\n<!-- table: one, by make x -->\nold\n<!-- end -->\n"
        "<!-- table: two, by make x -->\nkept\n<!-- end -->\nb\n"
    )
    document.fill(page, "one", r"new \1")
    assert page.read_text() == (
        "a\n<!-- table: one, by make x -->\nnew \\1\n<!-- end -->\n"
        "<!-- table: two, by make x -->\nkept\n<!-- end -->\nb\n"
    )
    with pytest.raises(SystemExit, match="0 places for the table 'three'"):
        document.fill(page, "three", "text")


def test_numbers_are_written_with_a_minus_and_without_negative_zero(document):
    assert [document.number(x) for x in (-1.25, -0.04, 0.04, 3)] == ["−1.2", "0.0", "0.0", "3.0"]
    assert document.spread([1.0, -2.0, 4.0]) == "1.0 (−2.0 to 4.0)"
    assert document.record([3.0, 0.0, -1e-9, -2.0], tie=1e-6) == "1/2/1"
