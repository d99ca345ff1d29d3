"""``kes fit``: from a result, or a graph, to a network with probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from kes.cli import options
from kes.cli.model import DataRequest, fitted, open_model
from kes.cli.screen import say
from kes.cli.source import TableOptions, read_table
from kes.errors import KesError
from kes.formats import format_of, write_network
from kes.graph.pdag import Pdag
from kes.network.fitting import FitOptions, Fitted, Prior, fit
from kes.results.optima import Optima

_EXAMPLES = """
\b
Examples:
  kes fit a.kes.json.gz --out best.bif
  kes fit a.kes.json.gz --optimum 2 --prior ml --out third.xmlbif
  kes fit expert.dot --data data.csv --out expert.json
"""


@click.command(
    "fit",
    cls=options.Command,
    short_help="Estimate a network with probabilities.",
    epilog=_EXAMPLES,
)
@options.model
@options.table
@options.estimation
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write: .bif, .xmlbif or .net for discrete networks, .json for all kinds; "
    "compressed with a further .gz.",
)
def command(
    *,
    model: Path,
    data: str | None,
    optimum: int,
    prior: Prior,
    ess: float,
    out: Path | None,
    **table: Unpack[TableOptions],
) -> None:
    """Estimate the probabilities of MODEL from the data.

    MODEL is a file that kes learn wrote, of which the best network is taken, or a file of a graph
    (.dot, .graphml, .json), which needs --data.
    """
    if out is not None and not format_of(out).offers("read"):
        raise click.UsageError(
            f"--out {out}: {format_of(out).name} files hold no probabilities; write .bif, .xmlbif, "
            f".net or .json, or draw the graph: kes plot {model} --out {out}"
        )
    network = estimate(model, data, optimum, {"prior": prior, "ess": ess}, table)
    if out is not None:
        write_network(network, out)
    say(network)
    if out is None:
        say("Not saved: give --out FILE to keep the network.", err=True)
    else:
        say(f"Saved to {out}")


def estimate(
    path: Path, data: str | None, number: int, how: FitOptions, table: TableOptions
) -> Fitted:
    """Estimate the network of a result, or of a graph with the data that are given."""
    purpose = "probabilities are estimated from the data"
    model = open_model(path, DataRequest(data, table, purpose))
    if isinstance(model, Optima):
        return fitted(model, number, how)
    if not isinstance(model, Pdag):
        raise KesError(f"{path} holds a network, which has its probabilities already")
    if data is None and table["example"] is None:
        raise KesError(f"{path} holds a graph, and {purpose}: give the table by --data FILE")
    dataset, reading = read_table(data, table)
    own: FitOptions = {"discretize": reading.discretizer, "completions": reading.completions}
    return fit(model, dataset, **(own | how))
