"""Input of commands: tables, background knowledge, results with their data, networks and graphs.

A result remembers the name of the file that it was learned from and how that was read. The file is
looked for by this name and then beside the result, and used only if it still holds the same data.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import Any, TypeAlias, cast

import click

from kes import datasets
from kes.api import load
from kes.cli.console import say
from kes.cli.parsing import discretizer_of, split_list
from kes.data import State
from kes.data.dataset import AnyTable, Data, Dataset
from kes.data.encoder import read_data
from kes.data.infer_kinds import saying
from kes.data.interventions import Interventions, known_targets, read_interventions
from kes.data.parse_text import Sign
from kes.data.schema import ReadOptions
from kes.data.series import Series
from kes.data.source import is_table
from kes.errors import KesError, listed
from kes.formats import format_of, holds_network, write_network
from kes.graph.knowledge import Knowledge
from kes.graph.pdag import Pdag
from kes.network import read_graph, read_network
from kes.network.average import AnyNetwork, AveragedNetwork
from kes.network.files import no_single_graph
from kes.network.fitting import Fitted
from kes.options import MISSING, FitOptions
from kes.results import storage
from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.search.constraints import check_columns
from kes.search.problem import OtherData

Model: TypeAlias = Optima | AnyNetwork | Pdag

Given: TypeAlias = Mapping[str, Any]
"""Options of a command as click parsed them, by name; there may be others than those used here."""

_READING = (
    *("weights", "missing", "completions", "discretize", "discrete", "continuous", "columns"),
    *("drop", "sep", "decimal", "encoding", "dates", "interventions", "lags", "by", "time"),
)
"""Options of `kes.cli.options.table` that say how to read a file."""

BINS = 3
"""Number of intervals of a continuous column for a file format without continuous variables."""


# --- tables --------------------------------------------------------------------------------------


def read_table(
    data: str | None, options: Given, *, before: ReadOptions | None = None
) -> tuple[AnyTable, ReadOptions]:
    """Read a file, or draw the cases of the example; return the table and how it was read.

    `before` is how a similar table was read. It is the default if no option says how to read the
    file; otherwise it still decides the kinds of columns that the options do not mention.
    """
    if (data is None) == (options["example"] is None):
        raise click.UsageError("Give either a data file or --example alarm.")
    if data is None:
        if given := given_options(options):
            raise click.UsageError(f"{', '.join(given)}: not supported with --example.")
        rows = options["rows"] or 20_000
        example = datasets.alarm(rows=rows)
        _check_contexts(options, example)
        return example, ReadOptions(example=rows)
    if options["rows"] is not None:
        raise click.UsageError("--rows is for --example; files are always read completely.")
    refuse_result(data)
    how = replace(reading(options), source=data)
    discretizer = discretizer_of(options["discretize"])
    if before is not None and not given_options(options):
        how = replace(before, source=data, example=None)
    elif before is not None:
        kinds, columns = {**before.kinds, **how.kinds}, how.columns or before.columns
        how = replace(how, kinds=kinds, columns=columns, cuts={} if discretizer else before.cuts)
    table = read_data(data, how, discretizer=discretizer)
    _check_contexts(options, table)
    return table, how if discretizer is None else replace(how, cuts=dict(discretizer.cuts))


def _check_contexts(options: Given, table: AnyTable) -> None:
    """Refuse names in --contexts that are not columns, before they become knowledge."""
    check_columns("contexts", _stripped(options.get("contexts", ())), table.names)


def refuse_result(data: str) -> None:
    """Refuse a result where a table is expected, and name its table."""
    if Path(data).is_file() and not is_table(Path(data)) and storage.holds_result(data):
        source = storage.read(data).reading.source
        known = f"; its table is {source}" if source else ""
        raise KesError(f"{data} is a result of kes learn, not a table{known}", file=data)


def with_kinds(how: ReadOptions, states: Mapping[str, Sequence[State]]) -> ReadOptions:
    """Return options to read a table whose columns have the kinds that they have in a model.

    Inferred kinds could differ: in a short table, text may look like an identifier. Columns with
    one state may be of any kind.
    """
    known = {
        name: "discrete" if own else "continuous"
        for name, own in states.items()
        if name not in how.cuts and len(own) != 1
    }
    return replace(how, kinds=known, columns=tuple(states))


def given_options(options: Given) -> list[str]:
    """Return the flags of the given options that say how to read a file."""
    given = [name for name, value in options.items() if name in _READING and value]
    if options["completions"] == ReadOptions().completions:
        given.remove("completions")
    return [f"--{name}" for name in given]


def reading(options: Given) -> ReadOptions:
    """Return the options to read a file, as given in the shell."""
    missing, markers = _missing(options["missing"])
    return ReadOptions(
        missing=missing,
        completions=options["completions"],
        weights=options["weights"] or False,
        na_values=markers,
        kinds=_kinds(options),
        columns=_names(options, "columns"),
        sep={"\\t": "\t", "tab": "\t"}.get(options["sep"] or "", options["sep"]),
        decimal=cast("Sign | None", options["decimal"]),
        encoding=options["encoding"],
        dates=options["dates"],
        interventions=_interventions(options),
        series=_series(options),
    )


def _interventions(options: Given) -> Interventions:
    path = options["interventions"]
    return {} if path is None else read_interventions(path)


def _series(options: Given) -> Series | None:
    """Return the series that rows form; None without --lags."""
    by, time = _names(options, "by"), options["time"]
    if options["lags"] is not None:
        return Series.of(options["lags"], by, time)
    if by or time is not None:
        raise click.UsageError(f"{'--by' if by else '--time'} needs --lags N.")
    return None


def _missing(given: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Split --missing into how to treat missing values and markers of missing values."""
    words = split_list(given)
    for word in words:
        if word not in MISSING and (meant := get_close_matches(word, MISSING, 1)):
            raise click.UsageError(f"--missing {word}: did you mean {meant[0]}?")
    how = [word for word in words if word in MISSING]
    if len(how) > 1:
        raise click.UsageError(f"--missing {how[0]} and --missing {how[1]} exclude each other.")
    return how[0] if how else "error", tuple(word for word in words if word not in MISSING)


def _kinds(options: Given) -> dict[str, str]:
    """Return the kinds of columns that the options declare."""
    kinds: dict[str, str] = {}
    for flag in ("discrete", "continuous", "drop"):
        kind = "omit" if flag == "drop" else flag
        for name in _names(options, flag):
            if kinds.setdefault(name, kind) != kind:
                raise click.UsageError(f"Two options give different kinds of column {name!r}.")
    return kinds


def _names(options: Given, flag: str) -> tuple[str, ...]:
    """Return the columns that an option names."""
    names = split_list(options[flag])
    if options[flag] and not names:
        raise click.UsageError(
            f'--{flag} names no column; a column without a name is called "column 1", by position.'
        )
    return tuple(names)


# --- knowledge ------------------------------------------------------------------------------------


def read_knowledge(options: Given) -> Knowledge | None:
    """Return the knowledge that the options give; None if there is none."""
    path, tiers = options["knowledge"], options["tiers"]
    known = Knowledge() if path is None else Knowledge.read(path)
    if tiers is not None and known.tiers:
        raise click.UsageError(f"Give tiers either in {path} or by --tiers.")
    found = Knowledge(
        tiers=known.tiers if tiers is None else [_stripped([tier]) for tier in tiers.split(";")],
        required=[*known.required, *_pairs("--require", options["require"])],
        forbidden=[*known.forbidden, *_pairs("--forbid", options["forbid"])],
        apart=[*known.apart, *_pairs("--apart", options["apart"])],
        roots=[*known.roots, *_stripped(options["roots"])],
        leaves=[*known.leaves, *_stripped(options["leaves"])],
        likely=[*known.likely, *_odds(options["likely"])],
        exogenous=[*known.exogenous, *_stripped(options["contexts"])],
        targets={**dict(known.targets), **known_targets(_interventions(options))},
    )
    return found or None


def _stripped(given: Iterable[str]) -> list[str]:
    return [name for word in split_list(given) if (name := word.strip())]


def _pairs(flag: str, given: Iterable[str]) -> list[tuple[str, str]]:
    """Parse pairs of names, one for each use of a flag."""
    pairs = []
    for text in given:
        match _stripped([text]):
            case [a, b]:
                pairs.append((a, b))
            case found:
                raise click.UsageError(
                    f"{flag} takes two names, as in {flag} a,b; {text!r} has {len(found)}. Repeat "
                    "it for another pair; for names with commas use a file (--knowledge)."
                )
    return pairs


def _odds(given: Iterable[str]) -> list[tuple[str, str, float]]:
    """Parse pairs of names with log odds, one for each use of the flag."""
    found = []
    for text in given:
        names, _, odds = text.rpartition("=")
        try:
            [(a, b)] = _pairs("--likely", [names])
            found.append((a, b, float(odds)))
        except (click.UsageError, ValueError):
            raise click.UsageError(
                f"--likely takes two names and log odds, as in --likely a,b=3; not {text!r}. "
                "Repeat it for another pair; for names with commas use a file (--knowledge)."
            ) from None
    return found


# --- results --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DataRequest:
    """The data of a result: the file that the user gave, and how to read it.

    `data` may also be the folder in which to look for it, and nowhere else. `purpose` says why the
    command needs data, as in "effects are estimated from the data". Without a purpose, the command
    works without data, silently if `quiet`.
    """

    data: str | None = None
    options: Given | None = None
    purpose: str | None = None
    quiet: bool = False

    @property
    def folder(self) -> Path | None:
        """The folder in which to look for the data; None: anywhere."""
        return Path(self.data) if self.data is not None and Path(self.data).is_dir() else None


def open_result(path: Path, request: DataRequest) -> Optima:
    """Read a result, with its data if they are found."""
    _refuse_table(path)
    optima = load(path)
    options = request.options
    example = None if options is None else options["example"]
    if (request.data is None or request.folder is not None) and example is None:
        return _with_data_found(optima, path, request)
    data: Data | None = request.data
    if options is not None and (data is None or given_options(options)):
        before = with_kinds(optima.record.reading, optima.states)
        data = read_table(request.data, options, before=before)[0]
    return Optima(optima.record, problem=optima.ready(data, None, None))


def _with_data_found(optima: Optima, path: Path, request: DataRequest) -> Optima:
    how = optima.record.reading
    data: Data | None = _found(how, path, request.folder)
    if how.example is not None:
        data = datasets.alarm(rows=how.example)
    if data is not None:
        try:
            return Optima(optima.record, problem=optima.ready(data, None, None))
        except OtherData as error:
            why = f"{data} no longer holds the data of {path} ({error.reason})"
    elif how.source is None:
        why = f"{path} does not name the file that it was learned from"
    else:
        where = "not found" if request.folder is None else f"not found in {request.folder}"
        why = f"{path} was learned from {how.source}, which was {where}"
    if request.purpose is not None:
        raise KesError(
            f"{request.purpose}, but {why}; give the table by --data FILE",
            option="data",
            file=str(path),
        )
    if not request.quiet:
        say(f"Note: working without the data, as {why}; give them by --data FILE.", err=True)
    return optima


def table_of(result: Path) -> str | None:
    """Return the existing file that a result was learned from; None for other files."""
    if is_table(result) or not result.is_file() or not storage.holds_result(result):
        return None
    return _found(storage.read(result).reading, result)


def example_of(result: Path) -> int | None:
    """Return the number of cases of the example that a result was learned from."""
    return storage.read(result).reading.example if storage.holds_result(result) else None


def _found(how: ReadOptions, result: Path, folder: Path | None = None) -> str | None:
    """Return the file that a result was learned from, if it exists.

    In a folder that the user names, it is a file of its own, not a link: a result from elsewhere
    must not lead out of the folder.
    """
    if how.source is None:
        return None
    source = Path(how.source)
    if folder is not None:
        near = folder / source.name
        return str(near) if near.is_file() and not near.is_symlink() else None
    places = [source, result.parent / source, result.parent / source.name]
    return next((str(place) for place in places if place.is_file()), None)


def beside(model: Path, suffix: str) -> Path:
    """Return the path of a model's file with another suffix."""
    name = model.name
    for own in (".gz", ".json", ".kes"):
        name = name.removesuffix(own)
    return model.with_name(name + suffix)


def open_model(path: Path, request: DataRequest | None = None) -> Model:
    """Read a result (with its data, if there is a request), a network or a graph."""
    _refuse_table(path)
    if storage.holds_result(path):
        return load(path) if request is None else open_result(path, request)
    if request is not None and request.data is not None and holds_network(path):
        raise click.UsageError(f"--data is for results; {path} holds a network.")
    return read_network(path) if holds_network(path) else read_graph(path)


def _refuse_table(path: Path) -> None:
    """Refuse a table where a model is expected, and say how to learn one."""
    if is_table(path):
        result = quote(path.name.split(".")[0] + ".kes.json.gz")
        raise KesError(
            f"{path} is a table, not a model; learn one first: "
            f"kes learn {quote(str(path))} --out {result}",
            file=str(path),
        )


def optimum_of(optima: Optima, number: int) -> Optimum:
    """Return the optimum of a rank."""
    if number >= len(optima):
        raise KesError(
            f"--optimum {number}: the optima of this result are 0 to {len(optima) - 1}",
            option="optimum",
        )
    return optima[number]


def graph_of(model: Model, number: int) -> Pdag:
    """Return the graph of a model; of a result, that of an optimum."""
    if isinstance(model, Optima):
        return optimum_of(model, number).mpdag
    if isinstance(model, AveragedNetwork):
        raise no_single_graph("this file")
    return model if isinstance(model, Pdag) else model.graph


def network_of(path: Path, data: str | None, number: int) -> tuple[AnyNetwork, Dataset | None]:
    """Read a network, or estimate that of an optimum; return its data, too, if they are known."""
    purpose = "probabilities are estimated from the data"
    model = open_model(path, DataRequest(data, purpose=purpose))
    if isinstance(model, Optima):
        return fitted(model, number, {}), model.ready(None, None, None).dataset
    if isinstance(model, Pdag):
        raise KesError(
            f"{path} holds a graph without probabilities; estimate them from a table: "
            f"kes fit {path} --data FILE --out network.json",
            file=str(path),
        )
    return model, None


def fitted(optima: Optima, number: int, how: FitOptions, out: Path | None = None) -> Fitted:
    """Estimate the network of an optimum from the data of the result.

    Continuous columns are discretized if the format of the file `out` needs that.
    """
    chosen = optimum_of(optima, number)
    if out is not None and optima.kind != "discrete" and not format_of(out).continuous:
        how = {**how, "discretize": BINS}
        say(
            f"Note: {format_of(out).name} files hold discrete networks only, so continuous columns "
            f"are cut into {BINS} intervals with equally many cases. A .json file keeps them "
            f"continuous; kes learn --discretize {BINS} learns from intervals.",
            err=True,
        )
    return chosen.fit(optima.ready(None, None, None).dataset, **how)


def save(network: Fitted, out: Path, name: str | None) -> None:
    """Write a network under the name of its data; warn of what other programs may reject."""
    write_network(network, out, name=name)
    constant = [node for node, states in network.states.items() if len(states) == 1]
    if constant and not format_of(out).continuous:
        say(
            f"Note: variables with a single state: {listed(constant)}; pyAgrum and others may "
            f"reject them. To leave them out: kes learn {saying(constant, 'omit')}",
            err=True,
        )
