"""``kes predict``: predict a variable in the rows of a table."""

from pathlib import Path
from shlex import quote

import click
import numpy as np

from kes.analysis.target import INTERVALS, Predictions, check_target, predictions, quality
from kes.cli import options
from kes.cli.console import check_csv, say, write_csv
from kes.cli.inputs import network_of, refuse_result
from kes.data.schema import gaps_of
from kes.data.source import open_source
from kes.errors import KesError, listed
from kes.formats.escaping import labels
from kes.network.average import AnyNetwork
from kes.network.new_rows import Rows, read_rows
from kes.results import storage
from kes.results.summary import counted
from kes.search.evaluation import Evaluation
from kes.search.problem import Problem
from kes.search.record import Record


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
    result = storage.read(model) if storage.holds_result(model) else None
    if target is None and result is not None and result.evaluation is not None:
        target = result.evaluation.target
    if target is None:
        raise click.UsageError("Name the variable to predict: --target NAME.")
    network, _ = network_of(model, data, optimum)
    check_target(target, network.nodes)
    found = predictions(network, table, target, "missing")
    write_csv(*_output(network, target, found), out)
    rows = len(found.values)
    _say_gaps(network, table, target)
    if _say_quality(network, table, target, found) and result and _is_data_of(result, table):
        say(
            f"Note: {model} was learned from these rows; kes learn --target {quote(target)} says "
            "how well new ones are predicted.",
            err=True,
        )
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
    """Say where rows were predicted from incomplete evidence."""
    names = set(open_source(table).names)
    lacking = [node for node in network.nodes if node not in names and node != target]
    known = [node for node in network.nodes if node in names and node != target]
    rows = network.prepare(table, nodes=known, unseen="missing")
    gaps = np.zeros(rows.number, dtype=np.bool_)
    for name, column in rows.columns.items():
        missing = gaps_of(column)
        for places in rows.strangers.get(name, {}).values():
            missing[places] = False
        gaps |= missing
    if lacking:
        which = f"{counted(len(lacking), 'variable')} not in {table}"
        say(f"Note: {which}, summed out: {listed(lacking)}.", err=True)
    if gaps.any():
        which = f"{int(gaps.sum())} of {counted(rows.number, 'row')}"
        say(f"Note: missing values in {which}, summed out.", err=True)
    _say_strangers(rows, "summed out")


def _say_strangers(rows: Rows, consequence: str) -> None:
    """Name values that are none of the states of their variables, the most frequent first."""
    found = [
        (len(places), f"{name!r}: {str(value)!r} in {counted(len(places), 'row')}")
        for name, values in rows.strangers.items()
        for value, places in values.items()
    ]
    if found:
        found.sort(key=lambda pair: -pair[0])
        those = listed((text for _, text in found), show=str)
        say(
            f"Note: values that are none of the states, treated as missing and {consequence}: "
            f"{those}.",
            err=True,
        )


def _is_data_of(result: Record, table: str) -> bool:
    """Tell whether a result was learned from the rows of a table."""
    try:
        Problem.again(result, table)
    except KesError:
        return False
    return True


def _say_quality(network: AnyNetwork, table: str, target: str, found: Predictions) -> bool:
    """Compare with the target itself; tell whether the table has it."""
    if target not in open_source(table).names:
        return False
    states = network.states[target]
    rows = read_rows(
        table,
        {target: states},
        unseen="missing",
        discretizer=network.discretizer,
        notations=network.notations,
    )
    column = rows.columns[target]
    _say_strangers(rows, "not compared")
    known = (~gaps_of(column)).astype(np.float64)
    if not known.any():
        return False
    truth = np.where(known > 0, column, 0)
    shares = (
        np.bincount(truth[known > 0].astype(np.intp), minlength=len(states)) if states else None
    )
    measures, calibration = quality(
        found, truth, known, None if shares is None else shares / shares.sum()
    )
    reached = Evaluation(target, float(known.sum()), measures, calibration).quality
    say(f"{target}: {reached}; {int(known.sum())} rows with a known value", err=True)
    return True
