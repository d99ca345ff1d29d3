"""``kes edges``: which edges the optima have, and how sure each is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Unpack

import click

from kes.analysis.evidence.evidence import TASKS, EvidenceInterrupted
from kes.cli import options
from kes.cli.console import check_csv, say, show_or_write
from kes.cli.model import DataRequest, open_result
from kes.cli.param_types import Whole
from kes.cli.signals import exit_code
from kes.cli.table_options import TableOptions
from kes.results.optima import Optima
from kes.table import Table

_SHOWN = ("x", "y", "evidence", "direction", "how", "search_support", "relative_weight")


@click.command("edges", cls=options.Command, short_help="Tell how sure each edge of a result is.")
@options.result
@click.option(
    "--tasks",
    type=Whole(min=0),
    metavar="N",
    default=TASKS,
    show_default=True,
    help="How much to improve on the best model with an edge, and on the best without it.",
)
@options.budget(None, "Stop after this time, between two edges")
@options.jobs
@options.csv
@options.progress
@click.pass_context
def command(
    ctx: click.Context,
    *,
    result: Path,
    data: str | None,
    tasks: int,
    budget: float | None,
    jobs: int | None,
    out: Path | None,
    progress: bool | None,
    **table: Unpack[TableOptions],
) -> None:
    """Tell how sure each edge of RESULT, a file that kes learn wrote, is.

    For instance: kes edges a.kes.json.gz

    Evidence is the difference, in nats, between the best model with an edge and the best without
    it. Search support is the share of runs that ended in a model with it.
    """
    check_csv(out)
    optima = open_result(result, DataRequest(data, table))
    if optima.problem is None:
        show_or_write(_part(optima.edges()), out)
        say("Only supports are told; for the evidence the data are needed.", err=True)
        return
    shown = sys.stderr.isatty() if progress is None else progress
    try:
        found = optima.evidence(tasks=tasks, budget=budget, n_jobs=jobs, progress=shown)
    except EvidenceInterrupted as stop:
        say("Interrupted: what is not known yet rests on the models at hand.", err=True)
        show_or_write(_with_supports(optima, stop.evidence), out)
        ctx.exit(exit_code())
    show_or_write(_with_supports(optima, found), out)


def _with_supports(optima: Optima, evidence: Table) -> Table:
    """Return the edges as evidence has them, with the supports of each."""
    found = optima.edges(evidence=evidence)
    order = {(row["x"], row["y"]): place for place, row in enumerate(evidence)}
    rows = sorted(found, key=lambda row: order[row["x"], row["y"]])
    columns = {name: [row[name] for row in rows] for name in found.columns}
    return _part(Table(columns, note=evidence.note))


def _part(table: Table) -> Table:
    """Return the columns that fit on a line."""
    return Table({name: table[name] for name in _SHOWN if name in table.columns}, note=table.note)
