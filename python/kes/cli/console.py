"""Output of commands: fitted to the terminal, with control characters escaped."""

import csv
import io
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import TextWrapper

import click

from kes.errors import printable
from kes.files import write_file
from kes.results.summary import counted
from kes.table import Table

_CSV = (".csv", ".csv.gz")
_LABEL = re.compile(r" +(?:\S+ )*\S+ {2,}|(?:Note|Error): | *")
"""Label at the start of a line; continuation lines are indented by its length."""

_UNBOUNDED = 10_000
"""Width without a terminal, so that nothing is left out of a file."""


def width() -> int:
    """Return the maximum width of lines."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNBOUNDED


def show(table: Table) -> None:
    """Print a complete table."""
    text = table.to_text(width=width())
    if sys.stdout.isatty() and text.count("\n") + 2 > shutil.get_terminal_size().lines:
        os.environ.setdefault("LESS", "-FRX")  # leave the text on the screen, as git does
        click.echo_via_pager(text + "\n")
    else:
        click.echo(text)


def is_progress_shown(wanted: bool | None) -> bool:
    """Return whether to show progress; by default only on a terminal."""
    return sys.stderr.isatty() if wanted is None else wanted


def check_csv(out: Path | None) -> None:
    """Refuse a file that no table is written to, before the work."""
    if out is not None and not out.name.lower().endswith(_CSV):
        raise click.UsageError(f"--out {out}: tables are written as {' or '.join(_CSV)}.")


def show_or_write(table: Table, out: Path | None) -> None:
    """Print a table, or write it as CSV, numbers in full."""
    if out is None:
        show(table)
        return
    write_csv(table.columns, zip(*table.to_dict().values(), strict=True), out)
    say(f"{out}: {counted(len(table), 'row')}")


def write_csv(names: Sequence[str], rows: Iterable[Sequence[object]], out: Path | None) -> None:
    """Write rows as CSV, with numbers in their shortest exact form."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    if out is None:
        click.echo(text.getvalue(), nl=False)
    else:
        write_file(out, text.getvalue().encode())


def say(text: object = "", *, err: bool = False, unbroken: bool = False) -> None:
    """Print lines with control characters escaped.

    On a terminal, long lines are wrapped between words unless `unbroken` is set, as for commands
    that a user may copy.
    """
    lines = [printable(line) for line in str(text).split("\n")]
    if not unbroken and (sys.stderr if err else sys.stdout).isatty():
        width = shutil.get_terminal_size().columns
        lines = [part for line in lines for part in _wrapped(line, width)]
    click.echo("\n".join(lines), err=err)


def _wrapped(line: str, limit: int) -> list[str]:
    """Wrap a line between words."""
    label = _LABEL.match(line)
    indent = min(len(label[0]) if label else 0, limit // 2)
    wrapper = TextWrapper(
        limit,
        initial_indent=line[:indent],
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapper.wrap(line[indent:]) if len(line) > limit else [line]
