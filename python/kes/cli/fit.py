"""``kes fit``: estimate the probabilities of a result or a graph."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from kes.analysis.averaging import EnsembleInterrupted
from kes.cli import options
from kes.cli.console import is_progress_shown, say
from kes.cli.inputs import DataRequest, Model, fitted, open_model, read_table, save
from kes.cli.signals import exit_code
from kes.errors import KesError, option
from kes.files import stem
from kes.formats import format_of
from kes.graph.pdag import Pdag
from kes.network.average import AveragedNetwork
from kes.network.fitting import Fitted
from kes.network.fitting import fit as fit_graph
from kes.options import AverageWork, FitOptions, Prior
from kes.results.optima import Optima

_PURPOSE = "probabilities are estimated from the data"
_AVERAGE = ("members", "n_jobs", "budget", "progress")
"""Options of --average."""


@options.command(
    "fit",
    "Estimate a network with probabilities.",
    "kes fit a.kes.json.gz --out best.bif",
    "kes fit a.kes.json.gz --optimum 2 --prior ml --out third.xmlbif",
    "kes fit expert.dot --data data.csv --out expert.json",
    "kes fit a.kes.json.gz --average --out average.json",
)
@options.model
@options.table
@options.estimation
@click.option(
    "--average",
    is_flag=True,
    help="Average many networks, learned from random weights of the rows: they predict new cases "
    "better than a single one. By default with --ess 5.",
)
@options.add(*_AVERAGE, of=AverageWork)
@options.file(
    "--out",
    "File to write: .json holds all kinds of networks; .bif, .xmlbif and .net hold discrete "
    "ones, for which continuous columns are cut into intervals. Add .gz to compress it. The "
    "members of an average go to one .json file, or to numbered files of the other formats.",
)
@click.pass_context
def fit(
    ctx: click.Context,
    /,
    *,
    model: Path,
    data: str | None,
    optimum: int,
    prior: Prior,
    ess: float,
    average: bool,
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
    work: Any = {name: table.pop(name) for name in _AVERAGE}
    for name in _AVERAGE:
        if not average and _is_given(ctx, name):
            raise click.UsageError(f"{option(name)} belongs to --average.")
    estimation: FitOptions = {"prior": prior, "ess": ess}
    found = open_model(model, DataRequest(data, table, _PURPOSE))
    if average:
        if _is_given(ctx, "optimum"):
            raise click.UsageError("--optimum: --average learns networks of its own.")
        own = {name: value for name, value in estimation.items() if _is_given(ctx, name)}
        if not _fit_average(found, model, {**work, **own}, out):
            ctx.exit(exit_code())
        return
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


def _is_given(ctx: click.Context, name: str) -> bool:
    """Tell whether an option of this command is on the command line."""
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _fit_average(found: Model, path: Path, work: dict[str, Any], out: Path | None) -> bool:
    """Average networks that are learned from the data of a result; return False after Ctrl-C."""
    if not isinstance(found, Optima):
        raise KesError(f"--average needs a result of kes learn; {path} is none", file=str(path))
    if out is not None and found.kind != "discrete" and not format_of(out).continuous:
        raise KesError(
            f"{out}: {format_of(out).name} files hold discrete networks only; write .json, or "
            "learn from intervals: kes learn --discretize 3",
            file=str(out),
        )
    work["progress"] = is_progress_shown(work["progress"])
    network, is_complete = None, True
    try:
        network = found.ensemble(**work)
    except EnsembleInterrupted as stop:
        network, is_complete = stop.ensemble, False
        done = 0 if network is None else len(network.members)
        say(f"Interrupted after {done} of {work['members']} networks.", err=True)
    if network is not None:
        say(network)
        _save_average(network, out)
    return is_complete


def _save_average(network: AveragedNetwork, out: Path | None) -> None:
    if out is None:
        say("Not saved: give --out FILE to keep the networks.", err=True)
    elif format_of(out).offers("write_members"):
        network.save(out)
        say(f"Saved to {out}")
    else:
        files = network.save_members(out)
        say(f"Saved to {files[0]} and {len(files) - 1} more")


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
