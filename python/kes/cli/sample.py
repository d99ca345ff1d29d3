"""``kes sample``: draw cases from a network."""

from __future__ import annotations

from pathlib import Path

import click

from kes.cli import options
from kes.cli.console import check_csv, say, write_csv
from kes.cli.inputs import network_of
from kes.cli.parsing import Integer
from kes.data import Dataset
from kes.data.column import Discrete
from kes.results.summary import counted


@click.command("sample", cls=options.Command, short_help="Draw cases from a network.")
@options.model
@click.option(
    "--rows",
    type=Integer(min=1),
    metavar="N",
    default=1000,
    show_default=True,
    help="Number of cases.",
)
@options.add("random_state")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    show_default="standard output",
    help="CSV file to write; compressed if it ends in .csv.gz.",
)
def command(
    *, model: Path, data: str | None, optimum: int, rows: int, random_state: int, out: Path | None
) -> None:
    """Draw independent cases from MODEL: a network, or a result with its data.

    For example: kes sample best.bif --rows 500 --out new.csv
    """
    check_csv(out)
    drawn = network_of(model, data, optimum)[0].sample(rows, seed=random_state)
    write_csv(drawn.names, zip(*_values(drawn), strict=True), out)
    if out is not None:
        say(f"{out}: {counted(rows, 'case')}")


def _values(table: Dataset) -> list[list[object]]:
    """Return the columns of a table with states instead of codes."""
    return [
        [column.states[code] for code in column.codes]
        if isinstance(column, Discrete)
        else column.values.tolist()
        for column in table.columns
    ]
