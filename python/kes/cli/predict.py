"""``kes predict``: predict a variable in the rows of a table."""

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from kes.analysis.target import INTERVALS, Predictions, check_target, predictions, quality
from kes.cli import options
from kes.cli.console import check_csv, say, write_csv
from kes.cli.inputs import network_of, refuse_result
from kes.data.schema import gaps_of
from kes.data.source import open_source
from kes.formats.escaping import labels
from kes.network.average import AnyNetwork
from kes.network.new_rows import read_rows
from kes.results import storage
from kes.results.summary import counted
from kes.search.evaluation import Evaluation


@options.command(
    "predict",
    "Predict a variable in the rows of a table.",
    "kes predict a.kes.json.gz new.csv --target cancer --out predicted.csv",
    "kes predict best.bif new.csv --target cancer",
)
@options.model
@click.argument("table", metavar="TABLE")
@options.add("target", help="The variable to predict.", show_default="the target of kes learn")
@options.csv("CSV file to write")
def predict(
    *,
    model: Path,
    table: str,
    data: str | None,
    optimum: int,
    target: str | None,
    out: Path | None,
) -> None:
    """Predict a variable in each row of TABLE by MODEL: a network, or a result with its data.

    The output has a row for each row of TABLE, in the same order: the most probable state and the
    probability of each state; of a continuous variable, the mean and a 95 % prediction interval.
    Missing and unknown values are summed out. With an average of networks (kes fit --average), the
    last column is the spread between its members. If TABLE has the variable itself, it is not used
    to predict, but compared with the predictions.
    """
    check_csv(out)
    refuse_result(table)
    if target is None and storage.holds_result(model):
        evaluation = storage.read(model).evaluation
        target = None if evaluation is None else evaluation.target
    if target is None:
        raise click.UsageError("Name the variable to predict: --target NAME.")
    network, _ = network_of(model, data, optimum)
    check_target(target, network.nodes)
    found = predictions(network, table, target, "missing")
    write_csv(*_output(network, target, found), out)
    rows = len(found.values)
    _say_gaps(network, table, target)
    _say_quality(network, table, target, found)
    if out is not None:
        say(f"{out}: {counted(rows, 'prediction')} of {target}")


def _output(
    network: AnyNetwork, target: str, found: Predictions
) -> tuple[list[str], list[list[object]]]:
    """Return names and rows of the output."""
    if states := network.states[target]:
        best = found.values.argmax(axis=1)
        names = [target, *(f"P({label})" for label in labels(states))]
        rows = [[states[b], *row] for b, row in zip(best, found.values.tolist(), strict=True)]
        spread = found.spread[np.arange(len(best)), best] if found.spread.size else None
    else:
        ends = found.intervals[:, INTERVALS.index(0.95)]
        names, rows = [target, "low", "high"], np.column_stack([found.values, ends]).tolist()
        spread = found.spread[:, 0] if found.spread.size else None
    if spread is not None:
        names = [*names, "spread"]
        rows = [[*row, own] for row, own in zip(rows, spread.tolist(), strict=True)]
    return names, rows


def _say_gaps(network: AnyNetwork, table: str, target: str) -> None:
    """Say how many rows were predicted from incomplete evidence."""
    names = set(open_source(table).names)
    lacking = [node for node in network.nodes if node not in names and node != target]
    known: Sequence[str] = [node for node in network.nodes if node in names and node != target]
    rows = network.prepare(table, nodes=known, unseen="missing")
    gaps = np.zeros(rows.number, dtype=np.bool_)
    for column in rows.columns.values():
        gaps |= gaps_of(column)
    if lacking:
        say(f"Note: {counted(len(lacking), 'variable')} not in {table}, summed out.", err=True)
    if gaps.any():
        which = f"{int(gaps.sum())} of {counted(rows.number, 'row')}"
        say(f"Note: missing or unknown values in {which}, summed out.", err=True)


def _say_quality(network: AnyNetwork, table: str, target: str, found: Predictions) -> None:
    """Compare with the target itself, if the table has it."""
    if target not in open_source(table).names:
        return
    states = network.states[target]
    column = read_rows(
        table,
        {target: states},
        unseen="missing",
        discretizer=network.discretizer,
        notations=network.notations,
    ).columns[target]
    known = (~gaps_of(column)).astype(np.float64)
    if not known.any():
        return
    truth = np.where(known > 0, column, 0)
    shares = (
        np.bincount(truth[known > 0].astype(np.intp), minlength=len(states)) if states else None
    )
    measures, calibration = quality(
        found, truth, known, None if shares is None else shares / shares.sum()
    )
    reached = Evaluation(target, float(known.sum()), measures, calibration).quality
    say(f"{target}: {reached}; {int(known.sum())} rows with a known value", err=True)
