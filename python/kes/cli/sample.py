"""``kes sample``: new cases from a network."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import click

from kes.cli import options
from kes.cli.model import network_of
from kes.cli.screen import say
from kes.data import Dataset
from kes.data.column import Discrete
from kes.files import write_file

_SUFFIXES = (".csv", ".csv.gz")


@click.command("sample", cls=options.Command, short_help="Draw cases from a network.")
@options.model
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    metavar="N",
    default=1000,
    show_default=True,
    help="Number of cases.",
)
@options.seed
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    show_default="standard output",
    help="CSV file to write; compressed if it ends in .csv.gz.",
)
def command(
    *, model: Path, data: str | None, optimum: int, rows: int, seed: int, out: Path | None
) -> None:
    """Draw independent cases from MODEL: a network, or a result with its data.

    For instance: kes sample best.bif --rows 500 --out new.csv
    """
    if out is not None and not out.name.lower().endswith(_SUFFIXES):
        raise click.UsageError(f"--out {out}: cases are written as {' or '.join(_SUFFIXES)}.")
    content = _as_csv(network_of(model, data, optimum).sample(rows, seed=seed))
    if out is None:
        click.echo(content, nl=False)
        return
    write_file(out, content.encode())
    say(f"{out}: {rows} case{'s' * (rows != 1)}")


def _as_csv(table: Dataset) -> str:
    """Return a table as CSV; numbers as the shortest text that reads as the same number."""
    columns = [
        [column.states[code] for code in column.codes]
        if isinstance(column, Discrete)
        else column.values.tolist()
        for column in table.columns
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.names)
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()
