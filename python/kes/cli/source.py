"""The table that a command works on: a file, or built-in data."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

import click

from kes import datasets
from kes.data import Dataset, encode
from kes.search.record import Reading

_TREATMENTS = ("error", "drop", "state")


def read_table(
    data: str | None,
    example: str | None,
    rows: int | None,
    weights: str | None,
    missing: Iterable[str],
) -> Dataset:
    """Read the data, or draw those of the example."""
    if (data is None) == (example is None):
        raise click.UsageError("Give a data file, or --example alarm (and not both).")
    if data is None:
        return datasets.alarm(rows=rows or 20_000)
    if rows is not None:
        raise click.UsageError("--rows belongs to --example; a file is read as a whole.")
    how = reading(weights, missing)
    return encode(data, weights=weights, missing=how.missing, na_values=how.na_values)


def reading(weights: str | None, missing: Iterable[str]) -> Reading:
    """Return how the options say that a table is to be read."""
    words = [word for text in missing for word in text.split(",") if word]
    for word in words:
        if word not in _TREATMENTS and (meant := get_close_matches(word, _TREATMENTS, 1)):
            raise click.UsageError(f"--missing {word}: did you mean {meant[0]}?")
    how = [word for word in words if word in _TREATMENTS]
    markers = tuple(word for word in words if word not in _TREATMENTS)
    if len(how) > 1:
        raise click.UsageError(f"--missing says both {how[0]} and {how[1]}; choose one.")
    return Reading(how[0] if how else "error", weights or False, markers)
