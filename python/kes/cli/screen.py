"""What commands print: tables as wide as the terminal, and text that no terminal obeys."""

from __future__ import annotations

import os
import shutil
import sys

import click

from kes.errors import printable
from kes.table import Table

_WIDTH = 100
"""Columns where there is no terminal."""


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
