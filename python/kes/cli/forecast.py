"""``kes forecast``: forecast series by a network over time."""

from pathlib import Path

import click

from kes.cli import options
from kes.cli.console import check_csv, say, write_csv
from kes.cli.inputs import network_of, refuse_result
from kes.cli.parsing import split_list
from kes.errors import KesError
from kes.network.average import AveragedNetwork
from kes.results import storage
from kes.results.summary import counted


@options.command(
    "forecast",
    "Forecast series by a network over time.",
    "kes forecast visits.kes.json.gz visits.csv --steps 4 --out forecast.csv",
    "kes forecast visits.network.json visits.csv --by patient --time week",
)
@options.model
@click.argument("table", metavar="TABLE")
@options.count("--steps", "Number of steps after the last row of each series.", 1)
@options.columns(
    "--by", "Columns that tell series apart.", show_default="those of kes learn, for a result"
)
@click.option(
    "--time",
    metavar="COLUMN",
    help="Column that orders the rows of a series.",
    show_default="that of kes learn, for a result",
)
@options.count("--draws", "Number of draws of each series.", 1000)
@options.add("random_state")
@options.csv("CSV file to write")
def forecast(
    *,
    model: Path,
    table: str,
    data: str | None,
    optimum: int,
    steps: int,
    by: tuple[str, ...],
    time: str | None,
    draws: int,
    random_state: int,
    out: Path | None,
) -> None:
    """Forecast each series of TABLE by MODEL: a network, or a result with its data.

    It must have been learned with earlier values, as by kes learn --lags. The output has a row for
    each series, step and variable: the mean, with the interval that contains nine of ten draws, or
    the most frequent state with its probability.
    """
    check_csv(out)
    refuse_result(table)
    network, _ = network_of(model, data, optimum)
    if isinstance(network, AveragedNetwork):
        raise KesError(f"{model} holds an average of networks; forecasts need a single one")
    series = storage.read(model).reading.series if storage.holds_result(model) else None
    names = tuple(split_list(by)) or (() if series is None else series.by)
    moment = time if time is not None or series is None else series.time
    found = network.forecast(
        table, steps, by=list(names) or None, time=moment, draws=draws, seed=random_state
    )
    write_csv(list(found.columns), (list(row.values()) for row in found), out)
    if out is not None:
        say(f"{out}: {counted(len(found), 'forecast')}")
