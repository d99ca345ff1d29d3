"""``kes effects``: what setting one variable does to another, as far as the optima can tell."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from kes.cli import options
from kes.cli.console import check_csv, say, show, show_or_write
from kes.cli.model import DataRequest, open_result
from kes.cli.param_types import Number, Whole
from kes.cli.table_options import TableOptions
from kes.table import Table

_MOST = 12
"""Answers that are told unless all are asked for."""


@click.command(
    "effects", cls=options.Command, short_help="Tell what setting a variable does to another."
)
@options.result
@click.argument("x")
@click.argument("y")
@click.option(
    "--states",
    metavar="A,B",
    show_default="its first and its last",
    help="The two states of X to compare.",
)
@click.option(
    "--outcome",
    metavar="STATE",
    show_default="its last",
    help="The state of Y whose probability changes.",
)
@click.option(
    "--within",
    type=Number(min=0),
    metavar="NATS",
    default=10.0,
    show_default=True,
    help="Look at optima that are at most so far below the best.",
)
@click.option(
    "--resamples",
    type=Whole(min=0),
    metavar="N",
    default=0,
    show_default=True,
    help="Estimate the same on so many tables drawn with replacement.",
)
@click.option("--all", "every", is_flag=True, help="Tell all answers, not the first ones only.")
@options.csv
def command(
    *,
    result: Path,
    x: str,
    y: str,
    data: str | None,
    states: str | None,
    outcome: str | None,
    within: float,
    resamples: int,
    every: bool,
    out: Path | None,
    **table: Unpack[TableOptions],
) -> None:
    """Tell what setting X does to Y, as far as the optima of RESULT can tell.

    For instance: kes effects a.kes.json.gz smoker cancer

    There is an answer for each optimum that is about as good as the best, and for each set of
    parents that X can have in it. What all of them assume is told below.
    """
    check_csv(out)
    optima = open_result(result, DataRequest(data, table, "effects are estimated from the data"))
    pair = None
    if states is not None:
        first, separator, second = states.partition(",")
        if not separator:
            raise click.UsageError(f"--states {states}: write two states, as in --states no,yes.")
        pair = (first, second)
    found = optima.effects(x, y, states=pair, outcome=outcome, within=within, resamples=resamples)
    summary = found.summary()
    show(Table({name: summary[name] for name in summary.columns}))
    say()
    shown = len(found) if every or out is not None else _MOST
    part = Table({name: found[name][:shown] for name in found.columns}, note=found.note)
    show_or_write(part, out)
    if len(found) > shown:
        say(f"Of {len(found)} answers, those of the best optima; --all tells the others, too.")
