"""What a command is asked about: a result with its data, or a file of a network or graph.

A result remembers the name of the file that it was learned from and how that was read. The file is
looked for by this name, and then beside the result; it counts only if it still holds the same data.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TypeAlias

import click

from kes import datasets
from kes.api import load
from kes.cli.console import say
from kes.cli.table_options import TableOptions, as_known, read_table, says_how
from kes.data.dataset import Data, Dataset
from kes.data.infer_kinds import saying
from kes.data.read_options import ReadOptions
from kes.data.source import is_table
from kes.errors import KesError, listed
from kes.formats import format_of, holds_network, write_network
from kes.graph.pdag import Pdag
from kes.network import read_graph, read_network
from kes.network.fitting import Fitted
from kes.options import FitOptions
from kes.results import storage
from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.search.problem import OtherData

Model: TypeAlias = Optima | Fitted | Pdag

BINS = 3
"""Intervals of a continuous column where a file has no place for its numbers."""


@dataclass(frozen=True)
class DataRequest:
    """Where the data of a result are to come from, and what for.

    Attributes
    ----------
    data : str or None
        The file that the user names.
    options : TableOptions or None
        How the user wants it to be read, if the command has such options.
    purpose : str or None
        What cannot be done without data, as in "effects are estimated from them"; None if the
        command can do without.
    quiet : bool
        Whether the command can do without them so well that nobody need be told.
    """

    data: str | None = None
    options: TableOptions | None = None
    purpose: str | None = None
    quiet: bool = False


def open_result(path: Path, request: DataRequest) -> Optima:
    """Read a result, with its data at hand if they are found.

    Raises
    ------
    KesError
        If there is no such result, the data are others, or are needed and not found.
    """
    _refuse_table(path)
    optima = load(path)
    options = request.options
    example = None if options is None else options["example"]
    if request.data is None and example is None:
        return _with_data_found(optima, path, request)
    data: Data | None = request.data
    if options is not None and (data is None or says_how(options)):
        like = as_known(optima.record.reading, optima.states)
        data = read_table(request.data, options, like=like)[0]
    return Optima(optima.record, problem=optima.ready(data, None, None))


def _with_data_found(optima: Optima, path: Path, request: DataRequest) -> Optima:
    how = optima.record.reading
    data: Data | None = _found(how, path)
    if how.example is not None:
        data = datasets.alarm(rows=how.example)
    if data is not None:
        try:
            return Optima(optima.record, problem=optima.ready(data, None, None))
        except OtherData as error:
            why = f"{data} does not hold the data of {path} any more ({error.reason})"
    elif how.source is None:
        why = f"{path} does not tell which file it was learned from"
    else:
        why = f"{path} was learned from {how.source}, which is neither there nor beside the result"
    if request.purpose is not None:
        raise KesError(f"{request.purpose}, and {why}; give the table by --data FILE")
    if not request.quiet:
        say(f"Note: done without the data, as {why}; --data FILE names them.", err=True)
    return optima


def table_of(result: Path) -> str | None:
    """Return the file that a result was learned from, if there is one; None for other files."""
    if is_table(result) or not result.is_file() or not storage.holds_result(result):
        return None
    return _found(storage.read(result).reading, result)


def _found(how: ReadOptions, result: Path) -> str | None:
    """Look for the file of a result."""
    if how.source is None:
        return None
    source = Path(how.source)
    places = [source, result.parent / source, result.parent / source.name]
    return next((str(place) for place in places if place.is_file()), None)


# --- models --------------------------------------------------------------------------------------


def beside(model: Path, suffix: str) -> Path:
    """Return a file beside that of a model, with its name and another suffix."""
    name = model.name
    for own in (".gz", ".json", ".kes"):
        name = name.removesuffix(own)
    return model.with_name(name + suffix)


def open_model(path: Path, request: DataRequest | None = None) -> Model:
    """Read a result, with its data if they are asked for, a network or a graph."""
    _refuse_table(path)
    if storage.holds_result(path):
        return load(path) if request is None else open_result(path, request)
    if request is not None and request.data is not None and holds_network(path):
        raise click.UsageError(f"--data is for results; {path} holds a network, which needs none.")
    return read_network(path) if holds_network(path) else read_graph(path)


def _refuse_table(path: Path) -> None:
    """Say what to do with a table where something that was learned from one is wanted."""
    if is_table(path):
        result = quote(path.name.split(".")[0] + ".kes.json.gz")
        raise KesError(
            f"{path} is a table; this needs what is learned from it: "
            f"kes learn {quote(str(path))} --out {result}"
        )


def optimum_of(optima: Optima, number: int) -> Optimum:
    """Return one of the optima."""
    if number >= len(optima):
        raise KesError(f"--optimum {number}: the optima of this result are 0 to {len(optima) - 1}")
    return optima[number]


def graph_of(model: Model, number: int) -> Pdag:
    """Return the graph of a model, of a result that of one of its optima."""
    if isinstance(model, Optima):
        return optimum_of(model, number).mpdag
    return model if isinstance(model, Pdag) else model.graph


def network_of(path: Path, data: str | None, number: int) -> tuple[Fitted, Dataset | None]:
    """Read a network, or estimate that of one of the optima of a result, from the data with it."""
    purpose = "probabilities are estimated from the data"
    model = open_model(path, DataRequest(data, purpose=purpose))
    if isinstance(model, Optima):
        return fitted(model, number, {}), model.ready(None, None, None).dataset
    if isinstance(model, Pdag):
        raise KesError(
            f"{path} holds a graph, which has no probabilities; estimate them from a table: "
            f"kes fit {path} --data FILE --out network.json"
        )
    return model, None


def fitted(optima: Optima, number: int, how: FitOptions, out: Path | None = None) -> Fitted:
    """Estimate the network of one of the optima from the data, which are at hand.

    Where it is for a file that holds discrete networks only, continuous columns are cut.
    """
    chosen = optimum_of(optima, number)
    if out is not None and optima.kind != "discrete" and not format_of(out).continuous:
        how = {**how, "discretize": BINS}
        say(
            f"Note: {format_of(out).name} files hold discrete networks, so continuous columns are "
            f"cut into {BINS} intervals with equally many cases for it; a .json file keeps them "
            f"as they are, and kes learn --discretize {BINS} learns from intervals.",
            err=True,
        )
    return chosen.fit(optima.ready(None, None, None).dataset, **how)


def save(network: Fitted, out: Path, name: str | None) -> None:
    """Write a network, called as its data are; say what other programs may refuse of it."""
    write_network(network, out, name=name)
    constant = [node for node, states in network.states.items() if len(states) == 1]
    if constant and not format_of(out).continuous:
        say(
            f"Note: only one state: {listed(constant)}; pyAgrum and others may refuse to read a "
            f"network with such variables. To leave them out: kes learn {saying(constant, 'omit')}",
            err=True,
        )
