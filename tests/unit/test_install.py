"""The installation instructions are true: no package index has kes yet."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAID = sorted(
    path
    for path in [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*"),
        *(ROOT / "python" / "kes").rglob("*"),
    ]
    if path.suffix in {".md", ".py", ".ipynb", ".html", ".js"}
)
FROM_AN_INDEX = re.compile(r"pip install (?:-\S+ )*[\"']?kes\b(?![-/*])")


@pytest.mark.parametrize(
    "promise",
    [
        "pip install kes",
        'pip install "kes[report]"',
        "pip install --upgrade kes",
        "pip install kes.",
    ],
)
def test_promises_are_recognised(promise):
    assert FROM_AN_INDEX.search(promise)


def test_nobody_is_sent_to_an_index_that_does_not_have_it():
    found = [
        f"{path.relative_to(ROOT)}: {promise[0]}"
        for path in SAID
        for promise in FROM_AN_INDEX.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []
