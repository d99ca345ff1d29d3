"""What a command is told of the network: a file, flags, or both together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

import click

from kes.cli.table_options import TableOptions
from kes.graph.knowledge import Knowledge


class KnowledgeOptions(TypedDict):
    """What `kes.cli.options.knowledge` adds to a command."""

    knowledge: Path | None
    tiers: str | None
    require: tuple[str, ...]
    forbid: tuple[str, ...]
    apart: tuple[str, ...]
    roots: tuple[str, ...]
    leaves: tuple[str, ...]


class ModelOptions(TableOptions, KnowledgeOptions):
    """A table, and what is known of its columns."""


def read_knowledge(options: KnowledgeOptions) -> Knowledge | None:
    """Return what the options say; None if they say nothing."""
    path, tiers = options["knowledge"], options["tiers"]
    known = Knowledge() if path is None else Knowledge.read(path)
    if tiers is not None and known.tiers:
        raise click.UsageError(f"Give tiers in {path} or by --tiers, not both.")
    found = Knowledge(
        tiers=known.tiers if tiers is None else [_names([tier]) for tier in tiers.split(";")],
        required=[*known.required, *_pairs("--require", options["require"])],
        forbidden=[*known.forbidden, *_pairs("--forbid", options["forbid"])],
        apart=[*known.apart, *_pairs("--apart", options["apart"])],
        roots=[*known.roots, *_names(options["roots"])],
        leaves=[*known.leaves, *_names(options["leaves"])],
    )
    return found or None


def _names(given: Iterable[str]) -> list[str]:
    return [name for text in given for part in text.split(",") if (name := part.strip())]


def _pairs(flag: str, given: Iterable[str]) -> list[tuple[str, str]]:
    """Read pairs of names; each flag holds one."""
    pairs = []
    for text in given:
        match _names([text]):
            case [a, b]:
                pairs.append((a, b))
            case found:
                raise click.UsageError(
                    f"{flag} takes two names, as in {flag} a,b; {text!r} has {len(found)}. Give it "
                    "again for another pair; for names with commas use a file (--knowledge)."
                )
    return pairs
