"""Write tables into the documentation.

A table stands between two comments, which Markdown does not show, so that a benchmark can replace
it without touching the text around it. The first comment names the command that writes it.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from kes.paper.document import table

__all__ = [
    "COMPARISON",
    "QUALITY",
    "README",
    "TABLES",
    "fill",
    "number",
    "record",
    "seconds",
    "spread",
    "table",
]

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
COMPARISON = ROOT / "docs/comparison.md"
QUALITY = ROOT / "docs/quality.md"
TABLES = ROOT / "docs/benchmark-tables.md"
"""Wide tables: every search on every data set."""


def fill(page: Path, name: str, text: str) -> None:
    """Replace what stands between ``<!-- table: name, by make ... -->`` and ``<!-- end -->``."""
    before = page.read_text(encoding="utf-8")
    mark = re.compile(
        rf"(<!-- table: {re.escape(name)}, by [^>]*-->\n).*?(<!-- end -->)", re.DOTALL
    )
    after, found = mark.subn(lambda m: f"{m[1]}{text}\n{m[2]}", before)
    if found != 1:
        raise SystemExit(f"{page} has {found} places for the table {name!r}; it must have one")
    page.write_text(after, encoding="utf-8")


def number(value: float, digits: int = 1) -> str:
    """Return a number as the documentation writes it: a minus sign, and no negative zero."""
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Return the mean with the smallest and the largest value.

    No Student interval: differences between searches are mostly bounded below by 0, and subsamples
    of one table overlap.
    """
    mean = sum(values) / len(values)
    ends = f"{number(min(values), digits)} to {number(max(values), digits)}"
    return f"{number(mean, digits)} ({ends})"


def seconds(value: float) -> str:
    """Return seconds with two significant digits."""
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def record(differences: Sequence[float], tie: float) -> str:
    """Return the numbers of positive, zero and negative differences, such as 5/3/2."""
    signs = [0 if abs(d) < tie else 1 if d > 0 else -1 for d in differences]
    return "/".join(str(signs.count(sign)) for sign in (1, 0, -1))
