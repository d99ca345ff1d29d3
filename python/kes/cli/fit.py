"""``kes fit``: estimate the probabilities of a result or a graph."""

from pathlib import Path
from typing import Any

import click

from kes.cli import options
from kes.cli.console import say
from kes.cli.inputs import DataRequest, Model, fitted, open_model, read_table, save
from kes.errors import KesError
from kes.files import stem
from kes.formats import format_of
from kes.graph.pdag import Pdag
from kes.network.fitting import Fitted
from kes.network.fitting import fit as fit_graph
from kes.options import FitOptions, Prior
from kes.results.optima import Optima

_PURPOSE = "probabilities are estimated from the data"


@options.command(
    "fit",
    "Estimate a network with probabilities.",
    "kes fit a.kes.json.gz --out best.bif",
    "kes fit a.kes.json.gz --optimum 2 --prior ml --out third.xmlbif",
    "kes fit expert.dot --data data.csv --out expert.json",
)
@options.model
@options.table
@options.estimation
@options.file(
    "--out",
    "File to write: .json holds all kinds of networks; .bif, .xmlbif and .net hold discrete "
    "ones, for which continuous columns are cut into intervals. Add .gz to compress it.",
)
def fit(
    *,
    model: Path,
    data: str | None,
    optimum: int,
    prior: Prior,
    ess: float,
    out: Path | None,
    **table: Any,  # noqa: ANN401 - of click
) -> None:
    """Estimate the probabilities of MODEL from the data.

    MODEL is a result of kes learn, whose best network is taken, or a graph (.dot, .graphml,
    .json), which needs --data.
    """
    if out is not None and not format_of(out).offers("read"):
        raise click.UsageError(
            f"--out {out}: {format_of(out).name} files hold no probabilities; write .bif, .xmlbif, "
            f".net or .json, or draw the graph: kes plot {model} --out {out}"
        )
    estimation: FitOptions = {"prior": prior, "ess": ess}
    found = open_model(model, DataRequest(data, table, _PURPOSE))
    network = (
        fitted(found, optimum, estimation, out)
        if isinstance(found, Optima)
        else _of_graph(found, model, data, table, estimation)
    )
    if out is not None:
        known = found.stem if isinstance(found, Optima) else None
        save(network, out, known or (None if data is None else stem(data)))
    say(network)
    if out is None:
        say("Not saved: give --out FILE to keep the network.", err=True)
    else:
        say(f"Saved to {out}")


def _of_graph(
    graph: Model, path: Path, data: str | None, table: dict[str, Any], estimation: FitOptions
) -> Fitted:
    """Estimate the network of a graph from given data."""
    if not isinstance(graph, Pdag):
        raise KesError(f"{path} holds a network, which already has probabilities", file=str(path))
    if data is None and table["example"] is None:
        raise KesError(
            f"{path} holds a graph, and {_PURPOSE}: give the table by --data FILE", option="data"
        )
    dataset, reading = read_table(data, table)
    own: FitOptions = {"discretize": reading.discretizer, "completions": reading.completions}
    return fit_graph(graph, dataset, **(own | estimation))
