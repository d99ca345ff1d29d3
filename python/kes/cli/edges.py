"""``kes edges``: which edges the optima have, and how sure each is."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from kes.analysis.evidence import TASKS
from kes.cli import options
from kes.cli.model import DataRequest, open_result
from kes.cli.screen import say, show
from kes.cli.source import TableOptions
from kes.table import Table

_SHOWN = ("x", "y", "evidence", "direction", "how", "search_support", "relative_weight")


@click.command("edges", cls=options.Command, short_help="Tell how sure each edge of a result is.")
@options.result
@click.option(
    "--tasks",
    type=click.IntRange(min=0),
    metavar="N",
    default=TASKS,
    show_default=True,
    help="How much to improve on the best model with an edge, and on the best without it.",
)
@options.budget(None, "Stop after this time, between two edges")
@options.jobs
def command(
    *,
    result: Path,
    data: str | None,
    tasks: int,
    budget: float | None,
    jobs: int | None,
    **table: Unpack[TableOptions],
) -> None:
    """Tell how sure each edge of RESULT, a file that kes learn wrote, is.

    For instance: kes edges a.kes.json.gz

    Evidence is the difference, in nats, between the best model with an edge and the best without
    it. Search support is the share of runs that ended in a model with it.
    """
    optima = open_result(result, DataRequest(data, table))
    if optima.problem is None:
        show(_part(optima.edges()))
        say("Only supports are told; for the evidence the data are needed.", err=True)
        return
    evidence = optima.evidence(tasks=tasks, budget=budget, n_jobs=jobs)
    found = optima.edges(evidence=evidence)
    order = {(row["x"], row["y"]): place for place, row in enumerate(evidence)}
    rows = sorted(found, key=lambda row: order[row["x"], row["y"]])
    shown = Table({name: [row[name] for row in rows] for name in found.columns}, note=evidence.note)
    show(_part(shown))


def _part(table: Table) -> Table:
    """Return the columns that fit on a line."""
    return Table({name: table[name] for name in _SHOWN if name in table.columns}, note=table.note)
