"""Shared parts of the pictures: themes, boxes, text, and the SVG around them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import NamedTuple

WIDTH = 830
"""The width at which GitHub shows a README."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


@dataclass(frozen=True)
class Theme:
    """Colours of a picture; those of the report page."""

    name: str
    paper: str
    ink: str
    soft: str
    line: str
    grid: str
    accent: str
    node: str
    mark: str


LIGHT = Theme(
    name="light",
    paper="#ffffff",
    ink="#1f2933",
    soft="#52606d",
    line="#8595a5",
    grid="#e8edf2",
    accent="#0067a3",
    node="#eef4f9",
    mark="#d55e00",
)
DARK = Theme(
    name="dark",
    paper="#0d1117",
    ink="#e6ebf0",
    soft="#a8b4c0",
    line="#708090",
    grid="#242d37",
    accent="#6cb8ea",
    node="#1b2733",
    mark="#f5a25d",
)
THEMES = (LIGHT, DARK)


class Box(NamedTuple):
    """A rectangle by its left, top, right and bottom."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        """Return the area shared with another box."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0.0) * max(height, 0.0)


def document(theme: Theme, height: float, title: str, parts: list[str]) -> str:
    """Return a whole SVG file."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}" role="img" aria-label="{escape(title)}" '
        f'font-family="{FONT}">\n<title>{escape(title)}</title>\n'
        f'<rect width="{WIDTH}" height="{height:.0f}" rx="8" fill="{theme.paper}"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def text(
    x: float,
    y: float,
    words: str,
    fill: str,
    size: float = 11,
    *,
    anchor: str = "start",
    more: str = "",
) -> str:
    """Return a line of text."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}" '
        f'fill="{fill}"{more}>{escape(words)}</text>'
    )


def text_width(words: str, size: float) -> float:
    """Estimate the width of a text in a sans-serif font; generously."""
    ems = sum(0.34 if c in "ijl.,:;'|!()[] 1" else 0.7 if c.isupper() else 0.57 for c in words)
    return ems * size
