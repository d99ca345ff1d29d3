"""Run the code blocks of a page of documentation.

A page is run from top to bottom, all its Python in one namespace and in one folder. Blocks marked
``python`` are executed; in blocks marked ``sh``, lines that start with ``kes`` are, with fewer
runs. A block marked ``text`` right after one of these must equal its output (``...`` matches
anything). A comment before a block that cannot be run says why::

    <!-- not run: needs a cluster -->

``python -m tests.docs.examples docs/tutorial.md`` updates the outputs of a page; review the
difference before you commit it.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from kes.cli import run as run_command
from kes.datasets import random_network

RUNS = 20
"""Largest number of runs that a command is allowed."""

_FENCE = re.compile(r"^(?P<indent>\s*)```(?P<language>\w*)")
_MARK = re.compile(r"^\s*<!-- not run: (?P<reason>\S.*\S) -->\s*$")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, first line (from 1), and why it is not run."""

    language: str
    text: str
    line: int
    reason: str | None
    follows: bool
    """Whether nothing but blank lines is between the block before and this one."""


def blocks(page: Path) -> list[Block]:
    """Read the fenced blocks of a page."""
    found: list[Block] = []
    reason: str | None = None
    follows = False
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), start=1))
    for number, line in lines:
        fence, mark = _FENCE.match(line), _MARK.match(line)
        if fence:
            inside = []
            for _, content in lines:
                if content.strip() == "```":
                    break
                inside.append(content)
            text = textwrap.dedent("\n".join(inside)) + "\n"
            found.append(Block(fence["language"], text, number + 1, reason, follows))
            reason, follows = None, True
        elif mark:
            reason, follows = mark["reason"], False
        elif line.strip():
            reason, follows = None, False
    return found


def write_tables() -> None:
    """Write the files that examples use: a table, and the same with counts."""
    drawn = random_network(6, seed=1).sample(400, seed=1)
    columns = zip(drawn.names, drawn.states, drawn.codes, strict=True)
    table = pl.DataFrame({name: np.array(states)[codes] for name, states, codes in columns})
    table.write_csv("data.csv")
    table.write_parquet("data.parquet")
    table.group_by(table.columns, maintain_order=True).len("count").write_csv("counts.csv")


def run(page: Path, check: Callable[[Path, Block, str], object] | None = None) -> None:
    """Run the examples of a page in the current folder, and check the outputs shown."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed: str | None = None
    for block in blocks(page):
        if block.language == "text" and block.follows and printed is not None:
            (check or compare)(page, block, printed)
        printed = None
        if block.reason is not None:
            continue
        if block.language == "python":
            printed = run_python(page, block, namespace)
        elif block.language == "sh":
            printed = run_shell(page, block)


def run_python(page: Path, block: Block, namespace: dict[str, object]) -> str:
    """Execute a block and return its output; errors name the line of the page."""
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(code, namespace)
    return output.getvalue()


def run_shell(page: Path, block: Block) -> str | None:
    """Run the kes commands of a block; return the output, or None if runs were reduced."""
    whole = True
    output, errors = io.StringIO(), io.StringIO()
    for arguments in commands(block.text):
        fewer = with_few_runs(arguments)
        whole &= fewer == arguments
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = run_command(fewer)
        assert code == 0, (
            f"{page.name}, block in line {block.line}: kes {shlex.join(fewer)} ended with exit "
            f"code {code}:\n{errors.getvalue()}"
        )
    return output.getvalue() if whole else None


def commands(text: str) -> list[list[str]]:
    """Arguments of each command of kes in a shell script without control structures."""
    lines = text.replace("\\\n", " ").splitlines()
    words = [shlex.split(line, comments=True) for line in lines]
    return [line[1:] for line in words if line and line[0] == "kes"]


def with_few_runs(arguments: list[str]) -> list[str]:
    """Lower the number of runs that a command asks for."""
    result = list(arguments)
    for place in (i + 1 for i, word in enumerate(arguments) if word == "--runs"):
        result[place] = str(min(RUNS, int(result[place])))
    return result


def compare(page: Path, block: Block, printed: str) -> None:
    """Raise an AssertionError if a page shows another output than the one printed."""
    checker = doctest.OutputChecker()
    if not checker.check_output(block.text, printed, _FLAGS):
        example = doctest.Example("", block.text)
        difference = checker.output_difference(example, printed, _FLAGS | doctest.REPORT_NDIFF)
        raise AssertionError(f"{page.name}, output in line {block.line}:\n{difference}")


def refresh(page: Path) -> None:
    """Replace the outputs of a page by what its examples print."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found: list[tuple[Block, str]] = []
    run(page, check=lambda _, block, printed: found.append((block, printed)))
    for block, printed in reversed(found):
        first = block.line - 1
        lines[first : first + block.text.count("\n")] = printed.rstrip().splitlines()
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "Agg"
    pages = [Path(argument).resolve() for argument in sys.argv[1:]]
    for each in pages:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            write_tables()
            refresh(each)
