"""What commands print: tables as wide as the terminal, and text that no terminal obeys."""

from __future__ import annotations

import os
import re
import shutil
import sys
from textwrap import wrap

import click

from kes.errors import printable
from kes.table import Table

_WIDTH = 100
"""Columns where there is no terminal."""

_LABEL = re.compile(r" *(\S.*? {2,})?")
"""What a line starts with before its first value: "  best run      "."""


def width() -> int:
    """Return how wide lines may be."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH


def show(table: Table) -> None:
    """Print a table, all of it."""
    text = table.to_text(width=width())
    if sys.stdout.isatty() and text.count("\n") + 2 > shutil.get_terminal_size().lines:
        os.environ.setdefault("LESS", "-FRX")  # leave the text on the screen, as git does
        click.echo_via_pager(text + "\n")
    else:
        click.echo(text)


def say(text: object = "", *, err: bool = False) -> None:
    """Print lines, with the control characters of names and values as escapes."""
    click.echo("\n".join(map(printable, str(text).split("\n"))), err=err)


def tell(text: object, *, err: bool = False) -> None:
    """Print words: as `say` does, but lines that a terminal would break are broken between words.

    What follows a label stays to the right of it. Commands are not for this: one that is broken
    cannot be copied.
    """
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        most = shutil.get_terminal_size().columns
        text = "\n".join(_broken(printable(line), most) for line in str(text).split("\n"))
    say(text, err=err)


def _broken(line: str, most: int) -> str:
    label = _LABEL.match(line)
    indent = " " * len(label[0]) if label and len(label[0]) < most / 2 else ""
    lines = wrap(line, most, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False)
    return "\n".join(lines) if len(line) > most else line
