"""``kes report``: from a result file to one HTML file that opens anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from kes.cli import options
from kes.cli.source import TableOptions, table_of
from kes.errors import printable
from kes.learning import load


@click.command("report", cls=options.Command, short_help="Write an HTML report on a result.")
@click.argument("result", type=click.Path(path_type=Path))
@click.option(
    "--data",
    metavar="FILE",
    help="The table that the result was learned from, to show probabilities as well.",
)
@options.table
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    show_default="the name of RESULT with .html",
    help="File to write.",
)
def command(
    *,
    result: Path,
    data: str | None,
    title: str | None,
    out: Path | None,
    **table: Unpack[TableOptions],
) -> None:
    """Write all about RESULT, a file that kes learn wrote, into one HTML file.

    For instance: kes report a.kes.json.gz --data data.csv

    The file opens in any browser and needs no network.
    """
    optima = load(result)
    target = out or _beside(result)
    optima.report(target, data=table_of(optima, data, table), title=title)
    size = target.stat().st_size / 1e6
    click.echo(printable(f"{target}: {size:.1f} MB, opens in any browser"))


def _beside(result: Path) -> Path:
    """Return the file next to the result that has its name, without .kes.json.gz."""
    name = result.name
    for suffix in (".gz", ".json", ".kes"):
        name = name.removesuffix(suffix)
    return result.with_name(f"{name}.html")
