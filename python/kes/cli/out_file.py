"""The --out file of ``kes learn``: checked before the work, taken up again, written after it."""

from __future__ import annotations

import os
from pathlib import Path

import click

from kes.cli.console import say
from kes.errors import KesError
from kes.results import storage
from kes.results.optima import Optima
from kes.results.summary import counted
from kes.search.problem import Problem
from kes.search.record import Record
from kes.settings import Settings

_OTHERS = {
    *(".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".html", ".pdf", ".svg", ".png"),
    *(".bif", ".xmlbif", ".xml", ".net", ".dot", ".gv", ".graphml"),
}
"""What files are called that a result is not."""


def check_writable(out: Path) -> None:
    """Find out before hours of work, not after, that the result cannot be saved."""
    folder = out.parent
    if out.suffix.lower() in _OTHERS:
        raise click.UsageError(
            f"--out {out}: a result is a file of kes; call it {out.with_suffix('.kes.json.gz')}. "
            "Networks are written by kes fit, pages by kes report, pictures by kes plot."
        )
    if out.is_dir():
        raise click.UsageError(f"--out {out} is a folder; give the name of a file.")
    if not folder.is_dir():
        raise click.UsageError(f"--out {out}: there is no folder {folder}.")
    if not os.access(folder, os.W_OK):
        raise click.UsageError(f"--out {out}: you may not write to the folder {folder}.")


def earlier(out: Path | None, settings: Settings) -> Record | None:
    """Return what the file holds already, if it comes from the same settings."""
    if out is None or not out.exists():
        return None
    record = storage.read(out)
    differences = record.settings.differences(settings)
    if differences:
        raise KesError(
            f"{out} holds a result with other settings:",
            *(f"  {line}" for line in differences),
            "Repeat its settings to add runs to it, or give another --out",
        )
    return record


def continued(record: Record, out: Path | None, problem: Problem, runs: int) -> Record:
    """Return what a file holds, ready to go on from, if it comes from the same data."""
    try:
        problem.check(record)
    except KesError as error:
        raise KesError(f"{out}: {error}; or give another --out") from None
    done = len(record.runs)
    if done >= runs:
        say(f"{out} holds {counted(done, 'run')} already.", err=True)
        return record.finished()
    say(f"{out} holds {done} of {runs} runs: going on from there.", err=True)
    return record


def save(record: Record, out: Path | None) -> KesError | None:
    """Save if there is a file to save to; return what went wrong, to be told after the result."""
    try:
        if out is not None:
            storage.write(record, out)
    except KesError as error:
        return error
    return None


def say_where(out: Path | None, failure: KesError | None, *, news: bool) -> None:
    """Say where the result is, or fail if it is nowhere."""
    if failure is not None:
        raise failure
    if out is None:
        say("Not saved: give --out FILE to keep the result.", err=True)
    elif news:
        say(f"Saved to {out}")
    else:
        say(f"Not written: all of this was in {out} already")


def say_interrupted(record: Record | None, out: Path | None) -> None:
    """Save what there is, and say so."""
    done = 0 if record is None else len(record.runs)
    tasks = 0 if record is None else record.improving.own
    after = (
        f"{counted(done, 'run')} and {counted(tasks, 'task')}" if tasks else counted(done, "run")
    )
    say(f"Interrupted after {after}.", err=True)
    if record is None:
        return
    if out is not None:
        storage.write(record, out)
        say(f"Saved to {out}; the same command goes on from there.", err=True)
    elif done:
        say(Optima(record.finished()))
        say("Not saved: with --out FILE the same command could go on from there.", err=True)
