"""The table that a command works on: a file, or built-in data."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TypedDict, cast

import click

from kes import datasets
from kes.data import Dataset, encode
from kes.data.decimals import Sign
from kes.data.kinds import Kinds
from kes.results.optima import Optima
from kes.search.record import Reading

_TREATMENTS = ("error", "drop", "state")


class TableOptions(TypedDict):
    """What `kes.cli.options.table` adds to a command."""

    example: str | None
    rows: int | None
    weights: str | None
    missing: tuple[str, ...]
    discrete: tuple[str, ...]
    continuous: tuple[str, ...]
    columns: tuple[str, ...]
    drop: tuple[str, ...]
    sep: str | None
    decimal: str | None
    encoding: str | None


def read_table(data: str | None, options: TableOptions) -> tuple[Dataset, Reading]:
    """Read the data, or draw those of the example; return how they were read, too."""
    if (data is None) == (options["example"] is None):
        raise click.UsageError("Give a data file, or --example alarm (and not both).")
    if data is None:
        return datasets.alarm(rows=options["rows"] or 20_000), Reading()
    if options["rows"] is not None:
        raise click.UsageError("--rows belongs to --example; a file is read as a whole.")
    how = reading(options)
    dataset = encode(
        data,
        weights=options["weights"],
        missing=how.missing,
        na_values=how.na_values,
        kinds=cast("Kinds", how.kinds),
        columns=how.columns or None,
        sep=how.sep,
        decimal=how.decimal,
        encoding=how.encoding,
    )
    return dataset, how


def table_of(optima: Optima, data: str | None, options: TableOptions) -> Dataset | None:
    """Read the table of a result as it was read then, unless the options say how.

    None if there is none.
    """
    if data is None and options["example"] is None:
        return None
    if data is None or reading(options) != Reading():
        return read_table(data, options)[0]
    return optima.ready(data, None, None).dataset


def reading(options: TableOptions) -> Reading:
    """Return how the options say that a file is to be read."""
    missing, markers = _missing(options["missing"])
    return Reading(
        missing=missing,
        weights=options["weights"] or False,
        na_values=markers,
        kinds=_kinds(options),
        columns=tuple(_words(options["columns"])),
        sep={"\\t": "\t", "tab": "\t"}.get(options["sep"] or "", options["sep"]),
        decimal=cast("Sign | None", options["decimal"]),
        encoding=options["encoding"],
    )


def _missing(given: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Split what to do with missing values from texts that mean missing."""
    words = _words(given)
    for word in words:
        if word not in _TREATMENTS and (meant := get_close_matches(word, _TREATMENTS, 1)):
            raise click.UsageError(f"--missing {word}: did you mean {meant[0]}?")
    how = [word for word in words if word in _TREATMENTS]
    if len(how) > 1:
        raise click.UsageError(f"--missing says both {how[0]} and {how[1]}; choose one.")
    return how[0] if how else "error", tuple(word for word in words if word not in _TREATMENTS)


def _kinds(options: TableOptions) -> dict[str, str]:
    """Return what the options say of columns."""
    kinds: dict[str, str] = {}
    said = {
        "discrete": options["discrete"],
        "continuous": options["continuous"],
        "omit": options["drop"],
    }
    for kind, given in said.items():
        for name in _words(given):
            if kinds.setdefault(name, kind) != kind:
                raise click.UsageError(f"Two options say different things of column {name!r}.")
    return kinds


def _words(given: Iterable[str]) -> list[str]:
    return [word for text in given for word in text.split(",") if word]
