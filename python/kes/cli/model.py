"""What a command is asked about: a result with its data, or a file of a network or graph.

A result remembers the name of the file that it was learned from and how that was read. The file is
looked for by this name, and then beside the result; it counts only if it still holds the same data.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import click

from kes import datasets
from kes.cli.screen import tell
from kes.cli.source import TableOptions, read_table, says_how
from kes.data.dataset import Data
from kes.errors import KesError
from kes.formats import holds_network
from kes.graph.pdag import Pdag
from kes.learning import load
from kes.network import read_graph, read_network
from kes.network.fitting import FitOptions, Fitted
from kes.results import storage
from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.search.problem import OtherData
from kes.search.record import Reading

Model: TypeAlias = Optima | Fitted | Pdag


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
    optima = load(path)
    options = request.options
    example = None if options is None else options["example"]
    if request.data is None and example is None:
        return _with_data_found(optima, path, request)
    data: Data | None = request.data
    if options is not None and (data is None or says_how(options)):
        data = read_table(request.data, options)[0]
    return Optima(optima.record, problem=optima.ready(data, None, None))


def _with_data_found(optima: Optima, path: Path, request: DataRequest) -> Optima:
    how = optima.record.reading
    places = _places(how, path)
    data: Data | None = next((str(place) for place in places if place.is_file()), None)
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
        tell(f"Note: done without the data, as {why}; --data FILE names them.", err=True)
    return optima


def _places(how: Reading, result: Path) -> list[Path]:
    """Return where to look for the file of a result."""
    if how.source is None:
        return []
    source = Path(how.source)
    return [source, result.parent / source, result.parent / source.name]


# --- models --------------------------------------------------------------------------------------


def open_model(path: Path, request: DataRequest | None = None) -> Model:
    """Read a result, with its data if they are asked for, a network or a graph."""
    if storage.holds_result(path):
        return load(path) if request is None else open_result(path, request)
    if request is not None and request.data is not None and holds_network(path):
        raise click.UsageError(f"--data is for results; {path} holds a network, which needs none.")
    return read_network(path) if holds_network(path) else read_graph(path)


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


def network_of(path: Path, data: str | None, number: int) -> Fitted:
    """Read a network, or estimate that of one of the optima of a result."""
    purpose = "probabilities are estimated from the data"
    model = open_model(path, DataRequest(data, purpose=purpose))
    if isinstance(model, Optima):
        return fitted(model, number, {})
    if isinstance(model, Pdag):
        raise KesError(
            f"{path} holds a graph, which has no probabilities; estimate them from a table: "
            f"kes fit {path} --data FILE --out network.json"
        )
    return model


def fitted(optima: Optima, number: int, how: FitOptions) -> Fitted:
    """Estimate the network of one of the optima from the data, which are at hand."""
    return optimum_of(optima, number).fit(optima.ready(None, None, None).dataset, **how)
