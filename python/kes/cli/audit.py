"""``kes audit``: show the kind of each column of a table."""

from __future__ import annotations

from typing import Unpack, cast

import click

from kes.cli import options
from kes.cli.console import say
from kes.cli.inputs import TableOptions, reading, refuse_result
from kes.data.audit import audit
from kes.data.infer_kinds import Kinds


@click.command("audit", cls=options.Command, short_help="Show the kinds of the columns of a table.")
@click.argument("data")
@options.table
def command(*, data: str, **table: Unpack[TableOptions]) -> None:
    """Show the kind that kes learn infers for each column of DATA, and how to change it.

    For example: kes audit data.csv --missing NA
    """
    if table["example"] is not None or table["rows"] is not None:
        raise click.UsageError("--example and --rows are not supported: audit reads a file.")
    refuse_result(data)
    how = reading(table)
    found = audit(
        data,
        kinds=cast("Kinds", how.kinds),
        na_values=how.na_values,
        weights=table["weights"],
        columns=how.columns or None,
        sep=how.sep,
        decimal=how.decimal,
        encoding=how.encoding,
    )
    say(found.to_text())
