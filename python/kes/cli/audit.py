"""``kes audit``: show the kind of each column of a table."""

from typing import Any, cast

import click

from kes.cli import options
from kes.cli.console import say
from kes.cli.inputs import reading, refuse_result
from kes.data.audit import audit as audit_table
from kes.data.infer_kinds import Kinds


@options.command("audit", "Show the kinds of the columns of a table.")
@click.argument("data")
@options.table
def audit(*, data: str, **table: Any) -> None:  # noqa: ANN401 - of click
    """Show the kind that kes learn infers for each column of DATA, and how to change it.

    For example: kes audit data.csv --missing NA
    """
    if table["example"] is not None or table["rows"] is not None:
        raise click.UsageError("--example and --rows are not supported: audit reads a file.")
    refuse_result(data)
    how = reading(table)
    found = audit_table(
        data,
        kinds=cast("Kinds", how.kinds),
        na_values=how.na_values,
        weights=table["weights"],
        columns=how.columns or None,
        sep=how.sep,
        decimal=how.decimal,
        encoding=how.encoding,
        dates=how.dates,
    )
    say(found.to_text())
