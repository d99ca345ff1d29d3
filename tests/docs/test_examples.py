"""Every block of code in the README and the documentation runs, every output shown is the one
printed, and every doctest passes."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import kes

from . import examples

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def runnable(page):
    return any(block.language in {"python", "sh"} for block in examples.blocks(page))


def name(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)], ids=name)
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    examples.write_tables()
    examples.run(page)


def test_few_examples_are_not_run():
    found = [block for page in PAGES for block in examples.blocks(page)]
    code = [block for block in found if block.language in {"python", "sh"}]
    assert len(code) > 20
    assert sum(block.reason is not None for block in code) <= len(code) / 10


def modules():
    """All modules of the package, but the one that runs the command line."""
    found = [module.name for module in pkgutil.walk_packages(kes.__path__, "kes.")]
    return ["kes", *(module for module in found if module not in {"kes.__main__", "kes._core"})]


@pytest.mark.parametrize("module", modules())
def test_doctests(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


# --- the runner itself ---


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        path = tmp_path / "page.md"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_blocks_share_a_namespace_and_a_folder(page):
    examples.run(
        page(
            "```python\nfrom pathlib import Path\nx = 1\n```\ntext\n"
            '```python\nx += 1\nPath("made").write_text(str(x))\n```\n'
        )
    )
    assert Path("made").read_text() == "2"


def test_an_error_names_the_line_of_the_page(page):
    with pytest.raises(ZeroDivisionError) as caught:
        examples.run(page("# Title\n\n```python\nx = 1\nx / 0\n```\n"))
    assert caught.traceback[-1].lineno + 1 == 5


def test_output_shown_must_be_the_one_printed(page):
    examples.run(page("```python\nprint(1.25)\nprint('b')\n```\n\n```text\n1...5\nb\n```\n"))
    with pytest.raises(AssertionError, match=r"page\.md, output in line 6"):
        examples.run(page("```python\nprint(1)\n```\n\n```text\n2\n```\n"))


def test_outputs_can_be_written_anew(page):
    written = page("```python\nprint(1)\nprint(2)\n```\n\n```text\nold\n```\nend\n")
    examples.refresh(written)
    assert written.read_text() == "```python\nprint(1)\nprint(2)\n```\n\n```text\n1\n2\n```\nend\n"
    examples.run(written)


def test_text_that_is_no_output_is_left_alone(page):
    examples.run(page("```python\nprint(1)\n```\nA diagram:\n\n```text\na -> b\n```\n"))


def test_marked_blocks_are_not_run(page):
    examples.run(page("<!-- not run: needs a cluster -->\n```python\n1 / 0\n```\n"))
    with pytest.raises(ZeroDivisionError):  # the mark is for the next block only
        examples.run(page("<!-- not run: so -->\n```sh\nkes x\n```\n```python\n1 / 0\n```\n"))


def test_commands_run_with_few_runs_and_must_succeed(page):
    assert examples.commands("$x\nmake demo\nkes a --runs \\\n 500 'b c'  # why\n") == [
        ["a", "--runs", "500", "b c"]
    ]
    assert examples.with_few_runs(["a", "--runs", "500"]) == ["a", "--runs", str(examples.RUNS)]
    with pytest.raises(AssertionError, match=r"kes learn nowhere\.csv ended with exit code 2"):
        examples.run(page("```sh\nkes learn nowhere.csv\n```\n"))
