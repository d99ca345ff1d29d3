"""``kes effects``: estimate the effect of setting one variable on another."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from kes.cli import options
from kes.cli.console import check_csv, say, show, show_or_write
from kes.cli.inputs import DataRequest, TableOptions, open_result
from kes.cli.parsing import Integer, Number
from kes.table import Table

_SHOWN = 12
"""Number of answers to show without --all."""


@click.command(
    "effects", cls=options.Command, short_help="Estimate the effect of a variable on another."
)
@options.result
@click.argument("x")
@click.argument("y")
@click.option(
    "--states",
    metavar="A,B",
    show_default="the first and the last",
    help="The two states of X to compare.",
)
@click.option(
    "--outcome",
    metavar="STATE",
    show_default="the last",
    help="The state of Y whose probability changes.",
)
@click.option(
    "--within",
    type=Number(min=0),
    metavar="NATS",
    default=10.0,
    show_default=True,
    help="Use optima whose scores are at most this far below the best.",
)
@click.option(
    "--resamples",
    type=Integer(min=0),
    metavar="N",
    default=0,
    show_default=True,
    help="Repeat the estimates on N tables drawn with replacement.",
)
@click.option("--all", "every", is_flag=True, help="Show all answers, not only the first ones.")
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
    """Estimate the effect of setting X on Y in the optima of RESULT.

    For example: kes effects a.kes.json.gz smoker cancer

    There is an answer for each optimum that is about as good as the best, and for each set of
    parents that X can have in it. The assumptions are listed below the answers.
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
    shown = len(found) if every or out is not None else _SHOWN
    part = Table({name: found[name][:shown] for name in found.columns}, note=found.note)
    show_or_write(part, out)
    if len(found) > shown:
        say(f"Showing {shown} of {len(found)} answers, those of the best optima; --all shows all.")
