"""The table that a command works on: a file, or built-in data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, TypedDict, cast

import click

from kes import datasets
from kes.data import State
from kes.data.discretizer import Discretizer
from kes.data.encoder import read_data
from kes.data.incomplete import AnyTable
from kes.data.missing import CHOICES
from kes.data.parse_text import Sign
from kes.data.read_options import ReadOptions
from kes.data.source import is_table
from kes.errors import KesError
from kes.results import storage


class TableOptions(TypedDict):
    """What `kes.cli.options.table` adds to a command."""

    example: str | None
    rows: int | None
    weights: str | None
    missing: tuple[str, ...]
    completions: int
    discretize: str | None
    discrete: tuple[str, ...]
    continuous: tuple[str, ...]
    columns: tuple[str, ...]
    drop: tuple[str, ...]
    sep: str | None
    decimal: str | None
    encoding: str | None


def read_table(
    data: str | None, options: TableOptions, *, like: ReadOptions | None = None
) -> tuple[AnyTable, ReadOptions]:
    """Read the data, or draw those of the example; return how they were read, too.

    Where no option says how, a file is read as one was before that `like` tells of; if some do,
    its columns are still what they were, but for those of which they speak.
    """
    if (data is None) == (options["example"] is None):
        raise click.UsageError("Give a data file, or --example alarm (and not both).")
    if data is None:
        if said := says_how(options):
            raise click.UsageError(f"{', '.join(said)}: not for --example, which is as it is.")
        rows = options["rows"] or 20_000
        return datasets.alarm(rows=rows), ReadOptions(example=rows)
    if options["rows"] is not None:
        raise click.UsageError("--rows belongs to --example; a file is read as a whole.")
    refuse_result(data)
    how = replace(reading(options), source=data)
    discretizer = _discretizer(options["discretize"])
    if like is not None and not says_how(options):
        how = replace(like, source=data, example=None)
    elif like is not None:
        kinds, columns = {**like.kinds, **how.kinds}, how.columns or like.columns
        how = replace(how, kinds=kinds, columns=columns, cuts={} if discretizer else like.cuts)
    table = read_data(data, how, discretizer=discretizer)
    return table, how if discretizer is None else replace(how, cuts=dict(discretizer.cuts))


def refuse_result(data: str) -> None:
    """Say which table is meant where a result is given instead of one."""
    if Path(data).is_file() and not is_table(Path(data)) and storage.holds_result(data):
        source = storage.read(data).reading.source
        known = f"; its table is {source}" if source else ""
        raise KesError(f"{data} is a result of kes learn, and this needs a table{known}")


def as_known(how: ReadOptions, states: Mapping[str, Sequence[State]]) -> ReadOptions:
    """Return how to read a table of which columns are what a model knows them for.

    By the rules text may look like an identifier, as in a short table. A constant may be anything.
    """
    known = {
        name: "discrete" if own else "continuous"
        for name, own in states.items()
        if name not in how.cuts and len(own) != 1
    }
    return replace(how, kinds=known, columns=tuple(states))


def says_how(options: TableOptions) -> list[str]:
    """Return those options that say how a file is to be read, of all that were given."""
    others = TableOptions.__annotations__.keys() - {"example", "rows"}
    given = {name: value for name, value in options.items() if name in others and value}
    if options["completions"] == ReadOptions().completions:
        del given["completions"]
    return [f"--{name}" for name in given]


def reading(options: TableOptions) -> ReadOptions:
    """Return how the options say that a file is to be read."""
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
    )


def _missing(given: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Split what to do with missing values from texts that mean missing."""
    words = _words(given)
    for word in words:
        if word not in CHOICES and (meant := get_close_matches(word, CHOICES, 1)):
            raise click.UsageError(f"--missing {word}: did you mean {meant[0]}?")
    how = [word for word in words if word in CHOICES]
    if len(how) > 1:
        raise click.UsageError(f"--missing says both {how[0]} and {how[1]}; choose one.")
    return how[0] if how else "error", tuple(word for word in words if word not in CHOICES)


def _discretizer(given: str | None) -> Discretizer | None:
    """Return what cuts columns: all that are continuous, or those that are named."""
    if given is None:
        return None
    if re.fullmatch(r"[0-9]+", given):
        return Discretizer(int(given))
    pairs = [word.rpartition("=") for word in given.split(",")]
    if not all(name and re.fullmatch(r"[0-9]+", bins) for name, _, bins in pairs):
        raise click.UsageError(
            f"--discretize {given}: give a number of intervals, such as 3, or one for each of some "
            "columns, such as age=5,dose=3."
        )
    return Discretizer({name: int(bins) for name, _, bins in pairs})


def _kinds(options: TableOptions) -> dict[str, str]:
    """Return what the options say of columns."""
    kinds: dict[str, str] = {}
    for flag in ("discrete", "continuous", "drop"):
        kind = "omit" if flag == "drop" else flag
        for name in _names(options, flag):
            if kinds.setdefault(name, kind) != kind:
                raise click.UsageError(f"Two options say different things of column {name!r}.")
    return kinds


def _names(
    options: TableOptions, flag: Literal["columns", "discrete", "continuous", "drop"]
) -> tuple[str, ...]:
    """Return the columns that an option names."""
    names = _words(options[flag])
    if options[flag] and not names:
        raise click.UsageError(
            f'--{flag} names no column; one without a name is called by its place: "column 1".'
        )
    return tuple(names)


def _words(given: Iterable[str]) -> list[str]:
    return [word for text in given for word in text.split(",") if word]
