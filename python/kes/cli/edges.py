"""``kes edges``: list the edges of the optima, with the evidence for each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Unpack

import click

from kes.analysis.evidence import TASKS, EvidenceInterrupted
from kes.cli import options
from kes.cli.console import check_csv, say, show_or_write
from kes.cli.inputs import DataRequest, TableOptions, open_result
from kes.cli.parsing import Integer
from kes.cli.signals import exit_code
from kes.results.optima import Optima
from kes.table import Table

_SHOWN = ("x", "y", "evidence", "direction", "how", "search_support", "relative_weight")


@click.command(
    "edges", cls=options.Command, short_help="Show the evidence for each edge of a result."
)
@options.result
@click.option(
    "--tasks",
    type=Integer(min=0),
    metavar="N",
    default=TASKS,
    show_default=True,
    help="Number of improvement tasks for the best model with an edge and the best without it.",
)
@options.add("budget", help="Stop after this time, between two edges, such as 30s, 5m, 1h30m.")
@options.add("n_jobs")
@options.csv
@options.add("progress")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    result: Path,
    data: str | None,
    tasks: int,
    budget: float | None,
    n_jobs: int | None,
    out: Path | None,
    progress: bool | None,
    **table: Unpack[TableOptions],
) -> None:
    """Show the evidence for each edge of RESULT, a file that kes learn wrote.

    For example: kes edges a.kes.json.gz

    Evidence is the difference, in nats, between the best model with an edge and the best without
    it. Search support is the share of runs that ended in a model with it.
    """
    check_csv(out)
    optima = open_result(result, DataRequest(data, table))
    if optima.problem is None:
        show_or_write(_part(optima.edges()), out)
        say("Without the data only supports are shown, no evidence.", err=True)
        return
    shown = sys.stderr.isatty() if progress is None else progress
    try:
        found = optima.evidence(tasks=tasks, budget=budget, n_jobs=n_jobs, progress=shown)
    except EvidenceInterrupted as stop:
        say("Interrupted: evidence not computed yet is estimated from the optima.", err=True)
        show_or_write(_with_supports(optima, stop.evidence), out)
        ctx.exit(exit_code())
    show_or_write(_with_supports(optima, found), out)


def _with_supports(optima: Optima, evidence: Table) -> Table:
    """Return the edges in the order of the evidence, with their supports."""
    found = optima.edges(evidence=evidence)
    order = {(row["x"], row["y"]): place for place, row in enumerate(evidence)}
    rows = sorted(found, key=lambda row: order[row["x"], row["y"]])
    columns = {name: [row[name] for row in rows] for name in found.columns}
    return _part(Table(columns, note=evidence.note))


def _part(table: Table) -> Table:
    """Return the columns that fit on one line."""
    return Table({name: table[name] for name in _SHOWN if name in table.columns}, note=table.note)
