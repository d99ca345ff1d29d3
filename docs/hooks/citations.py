"""Link citation keys such as [Chickering 2002, Thm 15] to the references page.

The same keys are used in comments, docstrings and pages; ``docs/references.md`` defines them.
"""

import html
import re
from functools import cache
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

_PAGE = Path(__file__).parents[1] / "references.md"
_CODE = re.compile(r"(<pre.*?</pre>|<code.*?</code>)", flags=re.DOTALL)
_BRACKETS = re.compile(r"\[([^\W\d_][^\[\]<>]*\s\d{4}\b[^\[\]<>]*)\]")
_KEY = re.compile(r"(?P<names>[^\W\d_].*?)\s(?P<year>\d{4})\b", flags=re.DOTALL)
_ENTRY = re.compile(r"<strong>\[(.+?)\]</strong>")


def on_page_content(content: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Link the keys of a page (called by MkDocs with its HTML)."""
    if page.file.src_uri == _PAGE.name:
        return _ENTRY.sub(_with_anchor, content)
    target = get_relative_url("references.html", page.url)

    def linked(brackets: re.Match[str]) -> str:
        parts = html.unescape(brackets[1]).split(";")
        return f"[{';'.join(_link(part, target) for part in parts)}]"

    pieces = _CODE.split(content)
    pieces[::2] = [_BRACKETS.sub(linked, piece) for piece in pieces[::2]]
    return "".join(pieces)


def _link(part: str, target: str) -> str:
    """Return a key as a link if it has an entry, otherwise as text."""
    anchor, text = _anchor(part), html.escape(part, quote=False)
    return f'<a href="{target}#{anchor}">{text}</a>' if anchor else text


def _with_anchor(entry: re.Match[str]) -> str:
    return f'<strong id="{_anchor(html.unescape(entry[1]))}">[{entry[1]}]</strong>'


def _anchor(text: str) -> str | None:
    """Return the anchor of the entry with these authors, or with the first author."""
    key = _KEY.search(text)
    if key is None:
        return None
    names, year = " ".join(key["names"].split()), key["year"]
    known = _anchors()
    return known.get((names, year)) or known.get((names.split()[0].rstrip(","), year))


@cache
def _anchors() -> dict[tuple[str, str], str]:
    entries = re.findall(r"^\*\*\[(.+?) (\d{4})\]", _PAGE.read_text("utf-8"), flags=re.MULTILINE)
    by_names = {(names, year): _slug(f"{names} {year}") for names, year in entries}
    by_author = {(names.split()[0], year): slug for (names, year), slug in by_names.items()}
    return by_author | by_names


def _slug(text: str) -> str:
    return re.sub(r"\W+", "-", text.lower())
