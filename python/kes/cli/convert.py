"""``kes convert``: convert results, networks and graphs to other file formats."""

from __future__ import annotations

from pathlib import Path

import click

from kes.api import load
from kes.cli import options
from kes.cli.console import say
from kes.cli.inputs import DataRequest, fitted, open_result, optimum_of, save
from kes.formats import format_of, write_graph
from kes.network import convert
from kes.results import storage


@click.command("convert", cls=options.Command, short_help="Convert a result, network or graph.")
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
@options.data("The table that a result was learned from, to estimate probabilities.")
@options.optimum
def command(source: Path, target: Path, data: str | None, optimum: int) -> None:
    """Convert a result, a network or a graph.

    For example: kes convert alarm.bif alarm.net.gz

    Suffixes decide the formats: .bif, .xmlbif (also .bifxml, .xml), .net and .json hold networks;
    .dot (.gv), .graphml and .json hold graphs. Add .gz for compressed files. A network becomes a
    graph if the target holds graphs only. Of a result the best model is taken, with probabilities
    if the target holds them; kes fit has more options for that.
    """
    if not storage.holds_result(source):
        if data is not None or optimum:
            raise click.UsageError(
                f"--data and --optimum are for results; {source} is not a result."
            )
        say(f"{target}: {convert(source, target)}")
        return
    form = format_of(target)
    if form.offers("read"):
        optima = open_result(
            source, DataRequest(data, purpose=f"{form.name} files hold probabilities")
        )
        network = fitted(optima, optimum, {}, target)
        save(network, target, optima.stem)
        say(f"{target}: {network!r}")
    else:
        graph = optimum_of(load(source), optimum).mpdag
        write_graph(graph, target)
        say(f"{target}: {graph!r}")
