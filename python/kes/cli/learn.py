"""``kes learn``: from a data file, or a built-in example, to a result file and a summary."""

from __future__ import annotations

import logging
import os
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from kes.cli import options
from kes.cli.knowledge import ModelOptions, read_knowledge
from kes.cli.source import read_table
from kes.errors import KesError, printable
from kes.progress import Show, lines
from kes.results import storage
from kes.results.optima import Optima
from kes.results.summary import counted, text
from kes.search import cluster
from kes.search.amounts import MOST_TASKS, TASKS_PER_RUN, Improve
from kes.search.execution import Execution, SearchInterrupted
from kes.search.known import knowing
from kes.search.options import DEFAULT_CACHE_MB
from kes.search.problem import Problem
from kes.search.record import Record
from kes.search.search import search
from kes.settings import MOST_MB, Sampled, Settings

if TYPE_CHECKING:
    from distributed import Client

_EXAMPLES = """
\b
Examples:
  kes learn --example alarm --k 0.4
  kes learn data.csv --runs 1000 --out a.kes.json.gz
  kes learn data.csv --runs 100000 --budget 10m --patience 5000
  kes learn data.csv --runs 1000 --improve-budget 1m
  kes learn data.csv --tiers "age,sex;smoker;cancer" --forbid sex,cancer
"""


@click.command(
    "learn",
    cls=options.Command,
    short_help="Learn networks from a table.",
    epilog=_EXAMPLES,
)
@click.argument("data", required=False)
@options.table
@click.option(
    "--k",
    type=options.Number(0, 1),
    metavar="SHARE",
    default=0.8,
    show_default=True,
    help="Greediness, from 0 (SES: a random improvement) to 1 (GES: the best one).",
)
@options.runs(100, "Number of runs, those already in the --out file included.")
@options.criterion()
@options.knowledge
@options.seed
@options.jobs
@click.option("--two-phase", is_flag=True, help="Additions first, then removals, as classical GES.")
@click.option(
    "--neighbourhood",
    type=click.Choice(["exact", "sampled"]),
    default="exact",
    show_default=True,
    help="All neighbours, or random draws of them.",
)
@click.option(
    "--reversals",
    type=click.IntRange(min=0),
    metavar="N",
    show_default=str(Sampled().reversals),
    help="For sampled: most covered arcs reversed per draw.",
)
@click.option(
    "--failures",
    type=click.IntRange(min=1),
    metavar="N",
    show_default="20 draws per pair",
    help="For sampled: iterations in vain before a run stops.",
)
@click.option(
    "--cache-mb",
    type=click.IntRange(min=1, max=MOST_MB),
    metavar="N",
    default=DEFAULT_CACHE_MB,
    show_default=True,
    help="Memory for counts that runs share.",
)
@options.budget(None, "Stop after this time, improving included")
@click.option(
    "--patience",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop after so many runs without a better score.",
)
@click.option(
    "--improve/--no-improve",
    default=True,
    show_default=True,
    help="Afterwards, look for higher scores by recombining and refining the optima. The figures "
    "about the runs stay as they are.",
)
@click.option(
    "--improve-tasks",
    type=click.IntRange(min=1),
    metavar="N",
    show_default=f"{TASKS_PER_RUN} for each run, at most {MOST_TASKS}",
    help="How much to do for it.",
)
@click.option(
    "--improve-budget",
    type=options.Time(),
    metavar="TIME",
    help="How long to take for it, instead: not exactly repeatable, as tasks are.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File for the result; gzipped if it ends in .gz. If it exists, its runs are kept and "
    "only what is lacking is done.",
)
@click.option(
    "--checkpoint",
    type=options.Time(),
    metavar="TIME",
    default="60s",
    show_default=True,
    help="Write the --out file at such intervals meanwhile. A killed command, given again, goes "
    "on from there.",
)
@click.option(
    "--cluster",
    "address",
    metavar="ADDRESS",
    help="Do the runs on the Dask cluster at tcp://host:8786.",
)
@options.progress
@click.pass_context
def command(
    ctx: click.Context,
    *,
    data: str | None,
    k: float,
    runs: int,
    criterion: str,
    ess: float,
    penalty: float,
    transform: str | None,
    seed: int,
    jobs: int | None,
    max_parents: int | None,
    two_phase: bool,
    neighbourhood: str,
    reversals: int | None,
    failures: int | None,
    cache_mb: int,
    budget: float | None,
    patience: int | None,
    improve: bool,
    improve_tasks: int | None,
    improve_budget: float | None,
    out: Path | None,
    checkpoint: float,
    address: str | None,
    progress: bool | None,
    **told: Unpack[ModelOptions],
) -> None:
    """Learn Bayesian networks from DATA by many runs of k-greedy equivalence search.

    DATA is a CSV or Parquet file, one column for each variable; kes audit shows what they are
    taken for. Every run ends in a local optimum; the result is the set of all that were found.
    """
    settings = Settings.checked(
        k=k,
        criterion=criterion,
        ess=ess,
        random_state=seed,
        max_parents=max_parents,
        two_phase=two_phase,
        neighbourhood=_neighbourhood(neighbourhood, reversals, failures),
        penalty=penalty,
        transform=transform,
    )
    if out is not None:
        _check_writable(out)
    amount = _amount(improve, improve_tasks, improve_budget)
    known = read_knowledge(told)
    dataset, reading = read_table(data, told)
    settings = knowing(settings, known, dataset.names)
    problem = Problem(dataset, settings, cache_mb, reading)
    for note in dataset.notes:
        click.echo(f"Note: {printable(note)}", err=True)
    base = _earlier(out, problem, runs)
    started = time.monotonic()
    with _client(address) as client:
        execution = Execution.checked(
            n_jobs=jobs,
            budget=budget,
            patience=patience,
            progress=_display(progress),
            client=client,
        )
        keeper = None if out is None else storage.Checkpoint(out, checkpoint)
        try:
            record = search(
                problem,
                runs,
                execution,
                improve=amount,
                base=base,
                watchers=[] if keeper is None else [keeper],
                after_runs=None if keeper is None else keeper.keep,
            )
        except SearchInterrupted as stop:
            _say_interrupted(stop.record, out)
            ctx.exit(130)
    failure = None if record is base else _save(record, out)
    spent = f"{time.monotonic() - started:.2f}"
    click.echo(text(Optima(record), more=[("seconds", spent)]))
    _say_where(out, failure, news=record is not base)


def _amount(improve: bool, tasks: int | None, budget: float | None) -> Improve:
    """Return how much to do after the runs."""
    if tasks is not None and budget is not None:
        raise click.UsageError("Give --improve-tasks or --improve-budget, not both.")
    if not improve:
        return False
    return True if tasks is None and budget is None else tasks or f"{budget:g}s"


def _save(record: Record, out: Path | None) -> KesError | None:
    """Save if there is a file to save to; return what went wrong, to be told after the result."""
    try:
        if out is not None:
            storage.write(record, out)
    except KesError as error:
        return error
    return None


def _say_where(out: Path | None, failure: KesError | None, *, news: bool) -> None:
    """Say where the result is, or fail if it is nowhere."""
    if failure is not None:
        raise failure
    if out is None:
        click.echo("Not saved: give --out FILE to keep the result.", err=True)
    elif news:
        click.echo(printable(f"Saved to {out}"))
    else:
        click.echo(printable(f"Not written: all of this was in {out} already"))


def _say_interrupted(record: Record | None, out: Path | None) -> None:
    """Save what there is, and say so."""
    done = 0 if record is None else len(record.runs)
    tasks = 0 if record is None else record.improving.own
    after = (
        f"{counted(done, 'run')} and {counted(tasks, 'task')}" if tasks else counted(done, "run")
    )
    click.echo(f"Interrupted after {after}.", err=True)
    if record is None:
        return
    if out is not None:
        storage.write(record, out)
        click.echo(printable(f"Saved to {out}; the same command goes on from there."), err=True)
    elif done:
        click.echo(Optima(record.finished()))
        click.echo("Not saved: with --out FILE the same command could go on from there.", err=True)


def _neighbourhood(name: str, reversals: int | None, failures: int | None) -> str | Sampled:
    given = {"reversals": reversals, "failures": failures}
    chosen = {key: value for key, value in given.items() if value is not None}
    if name == "sampled":
        return Sampled(**chosen)
    if chosen:
        raise click.UsageError(f"--{next(iter(chosen))} needs --neighbourhood sampled.")
    return name


def _check_writable(out: Path) -> None:
    """Find out before hours of work, not after, that the result cannot be saved."""
    folder = out.parent
    if out.is_dir():
        raise click.UsageError(f"--out {out} is a folder; give the name of a file.")
    if not folder.is_dir():
        raise click.UsageError(f"--out {out}: there is no folder {folder}.")
    if not os.access(folder, os.W_OK):
        raise click.UsageError(f"--out {out}: you may not write to the folder {folder}.")


def _earlier(out: Path | None, problem: Problem, runs: int) -> Record | None:
    """Return what the file holds already, if it comes from the same data and settings."""
    if out is None or not out.exists():
        return None
    record = storage.read(out)
    differences = record.settings.differences(problem.settings)
    if differences:
        raise KesError(
            f"{out} holds a result with other settings. Repeat them to add runs to it, or give "
            "another --out:",
            *(f"  {line}" for line in differences),
        )
    try:
        problem.check(record)
    except KesError as error:
        raise KesError(f"{out}: {error}; or give another --out") from None
    done = len(record.runs)
    if done >= runs:
        click.echo(printable(f"{out} holds {counted(done, 'run')} already."), err=True)
        return record.finished()
    click.echo(printable(f"{out} holds {done} of {runs} runs: going on from there."), err=True)
    return record


def _display(progress: bool | None) -> bool | Show:
    """Return a bar on a terminal, and elsewhere lines, but only if asked for."""
    terminal = sys.stderr.isatty()
    if progress is None:
        return terminal
    return lines() if progress and not terminal else progress


def _client(address: str | None) -> AbstractContextManager[Client | None]:
    """Return the cluster as a context; without an address there is none."""
    if address is None:
        return nullcontext()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters, we say ourselves
    client: AbstractContextManager[Client] = cluster.connect(address)
    return client
