"""Write the results of the experiments as a Markdown document with generated parts, and as JSON.

A generated part stands between two marks, comments that Markdown does not show, so that prose can
be written around it and the part replaced.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kes.errors import KesError, not_installed
from kes.files import write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = "figures"
"""Folder of the figures, beside the document."""

_TITLE = "# The evaluation of Nielsen, Kočka and Peña (2003), done again\n"


Figures: TypeAlias = Mapping[str, Callable[[], "Figure"]]
Shown: TypeAlias = tuple[str, dict[str, Any], Figures]
"""Markdown, the same for programs, and figures by file name without suffix."""


@dataclass(frozen=True)
class Section:
    """Results of one experiment: Markdown for readers, `values` for programs, figures by file name.

    `key` is its name on the command line.
    """

    key: str
    title: str
    markdown: str
    values: dict[str, Any]
    figures: Figures = field(default_factory=dict)


def table(header: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """Return a Markdown table; its first `left` columns are flush left, the others right."""
    rules = [":--" if column < left else "--:" for column in range(len(header))]
    lines = [header, rules, *rows]
    return "\n".join("| " + " | ".join(str(entry) for entry in line) + " |" for line in lines)


def write(folder: Path, sections: Sequence[Section], summary: dict[str, Any]) -> list[Path]:
    """Write ``results.json``, ``reproduction.md`` and the figures to a folder.

    Sections that are already in the document are replaced; others are kept.
    """
    results = folder / "results.json"
    values = {section.key: section.values for section in sections}
    earlier = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}
    content = earlier | summary | {"experiments": earlier.get("experiments", {}) | values}
    write_file(results, (json.dumps(content, indent=1) + "\n").encode())
    document = folder / "reproduction.md"
    text = document.read_text(encoding="utf-8") if document.exists() else _TITLE
    for section in sections:
        if not _pattern(section.key).search(text):
            text += f"\n## {section.title}\n\n{_marked(section)}\n"
    write_file(document, text.encode())
    return [results, *fill(document, sections)]


def fill(document: Path, sections: Sequence[Section]) -> list[Path]:
    """Fill in the marked parts of a document, and save the figures beside it; return the files."""
    try:
        text = document.read_text(encoding="utf-8")
    except OSError as error:
        raise KesError(
            f"cannot read {document}: {error.strerror or error}", file=str(document)
        ) from error
    present = [section for section in sections if _pattern(section.key).search(text)]
    if not present:
        marks = ", ".join(f"'<!-- kes paper: {section.key} -->'" for section in sections)
        raise KesError(
            f"{document} has no place for the generated parts: mark it by lines such as {marks} "
            "and '<!-- end -->'",
            file=str(document),
        )
    written: list[Path] = []
    for section in present:
        before, after = _pattern(section.key).split(text, maxsplit=1)
        text = before + _marked(section) + after
        written += [_draw(draw, name, document) for name, draw in section.figures.items()]
    write_file(document, text.encode())
    return [document, *written]


def _draw(draw: Callable[[], Figure], name: str, document: Path) -> Path:
    path = document.parent / FIGURES / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    picture = io.BytesIO()
    with style():
        draw().savefig(picture, format="png")
    write_file(path, picture.getvalue())
    return path


def _marked(section: Section) -> str:
    figures = "".join(f"\n\n![{section.title}]({FIGURES}/{name}.png)" for name in section.figures)
    return f"<!-- kes paper: {section.key} -->\n{section.markdown}{figures}\n<!-- end -->"


def _pattern(key: str) -> re.Pattern[str]:
    return re.compile(rf"<!-- kes paper: {re.escape(key)} -->.*?<!-- end -->", re.DOTALL)


_COLUMN = 3.4  # inches
# Okabe and Ito's palette, which colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), "-")


def check_plotting() -> None:
    """Refuse to start if figures cannot be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise not_installed("matplotlib") from None


def style() -> AbstractContextManager[None]:
    """Return the context in which figures are drawn and saved."""
    import matplotlib as mpl

    settings: dict[Any, Any] = {
        "font.size": 8,
        "axes.titlesize": 8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.6,
        "axes.formatter.useoffset": False,
        "lines.linewidth": 1.1,
        "legend.fontsize": 7,
        "legend.frameon": False,
        "legend.handlelength": 2.6,
        "legend.labelspacing": 0.3,
        "savefig.dpi": 300,
    }
    return mpl.rc_context(settings)


def panels(columns: int, height: float = 2.5) -> tuple[Figure, list[Axes]]:
    """Return a figure with this many panels side by side, each as wide as a column."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_COLUMN * columns, height), layout="constrained")
    return figure, [figure.add_subplot(1, columns, place + 1) for place in range(columns)]
