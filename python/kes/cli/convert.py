"""``kes convert``: networks and graphs from one file format into another."""

from __future__ import annotations

from pathlib import Path

import click

from kes.cli import options
from kes.errors import printable
from kes.network import convert


@click.command("convert", cls=options.Command)
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
def command(source: Path, target: Path) -> None:
    """Convert a network or graph.

    For instance: kes convert alarm.bif alarm.net.gz

    The suffixes say from which format into which: .bif, .xmlbif (also .bifxml, .xml), .net and
    .json hold networks; .dot (.gv), .graphml and .json hold graphs. A network becomes a graph where
    the target cannot hold more. Add .gz for compressed files.
    """
    click.echo(printable(f"{target}: {convert(source, target)}"))
