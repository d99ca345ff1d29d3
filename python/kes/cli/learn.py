"""``kes learn``: from a data file, or a built-in example, to a result file and a summary."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

import click

from kes.api import learn
from kes.budget import MAX_TASKS, TASKS_PER_RUN
from kes.cli import options
from kes.cli.console import say
from kes.cli.knowledge import ModelOptions, read_knowledge
from kes.cli.learn_output import say_interrupted, show_network, suggest_more, suggest_next
from kes.cli.param_types import Number, Time, Whole
from kes.cli.signals import exit_code
from kes.cli.table_options import read_table
from kes.errors import ClusterLost, Interrupted, NotSaved
from kes.options import DEFAULTS, Sampled
from kes.progress import Show, lines
from kes.results.out_file import check_writable
from kes.results.summary import text
from kes.search import dask_cluster
from kes.search.problem import TableAsRead
from kes.validation import MAX_MB

if TYPE_CHECKING:
    from distributed import Client

    from kes.data.dataset import Data

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
    type=Number(0, 1),
    metavar="SHARE",
    default=0.8,
    show_default=True,
    help="Greediness, from 0 (SES: a random improvement) to 1 (GES: the best one).",
)
@options.runs(
    None,
    "Number of runs, those already in the --out file included.",
    shown="by the size of the table, at most 100",
)
@options.criterion()
@options.max_parents()
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
    type=Whole(min=0),
    metavar="N",
    show_default=str(Sampled().reversals),
    help="For sampled: most covered arcs reversed per draw.",
)
@click.option(
    "--failures",
    type=Whole(min=1),
    metavar="N",
    show_default="20 draws per pair",
    help="For sampled: stop a run after N iterations without improvement.",
)
@click.option(
    "--cache-mb",
    type=Whole(min=1, max=MAX_MB),
    metavar="N",
    default=DEFAULTS["cache_mb"],
    show_default=True,
    help="Memory for counts that runs share.",
)
@options.budget(None, "Stop after this time, improving included")
@click.option(
    "--patience",
    type=Whole(min=1),
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
    type=Whole(min=1),
    metavar="N",
    show_default=f"as long as it pays; with --runs, {TASKS_PER_RUN} for each, at most {MAX_TASKS}",
    help="Number of improvement tasks.",
)
@click.option(
    "--improve-budget",
    type=Time(),
    metavar="TIME",
    help="Or the time for improvement; unlike tasks, not exactly reproducible.",
)
@click.option(
    "--prove/--no-prove",
    default=None,
    show_default="without --runs, if it probably takes seconds",
    help="Prove that no network scores higher, or find one that does.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File for the result; gzipped if it ends in .gz. If it exists, its runs are kept and "
    "only what is missing is done.",
)
@click.option(
    "--checkpoint",
    type=Time(),
    metavar="TIME",
    default="60s",
    show_default=True,
    help="Write the --out file at this interval. A killed command, given again, resumes from "
    "there.",
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
    runs: int | None,
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
    prove: bool | None,
    out: Path | None,
    checkpoint: float,
    address: str | None,
    progress: bool | None,
    **told: Unpack[ModelOptions],
) -> None:
    """Learn Bayesian networks from DATA by many runs of k-greedy equivalence search.

    DATA is a CSV or Parquet file with one column for each variable; kes audit shows the kind of
    each. Every run ends in a local optimum; the result is the set of all optima found.
    """
    started = time.monotonic()
    amount = _amount(improve, improve_tasks, improve_budget)
    where = _neighbourhood(neighbourhood, reversals, failures)
    if out is not None:
        check_writable(out)
    known = read_knowledge(told)
    table, reading = read_table(data, told)
    for note in table.notes:
        say(f"Note: {note}", err=True)
    before = out.read_bytes() if out is not None and out.exists() else None
    failure: NotSaved | None = None
    try:
        with _client(address) as client, _messages():
            optima = learn(
                cast("Data", TableAsRead(table, reading)),
                k=k,
                runs=runs,
                criterion=criterion,
                ess=ess,
                penalty=penalty,
                transform=transform,
                knowledge=known,
                random_state=seed,
                n_jobs=jobs,
                max_parents=max_parents,
                two_phase=two_phase,
                neighbourhood=where,
                cache_mb=cache_mb,
                budget=budget,
                patience=patience,
                improve=amount,
                prove="auto" if prove is None else prove,
                out=out,
                checkpoint=checkpoint,
                client=client,
                progress=_display(progress),
            )
    except Interrupted as stop:
        say_interrupted(stop, out)
        ctx.exit(exit_code())
    except ClusterLost as lost:
        say_interrupted(lost, out)
        raise
    except NotSaved as error:
        if error.optima is None:
            raise
        optima, failure = error.optima, error
    spent = f"{time.monotonic() - started:.2f}"
    say(text(optima, more=[("seconds", spent)], told=table.notes))
    show_network(optima, out)
    if failure is not None:
        raise failure  # after the result, which would be lost otherwise
    if out is None:
        say("Not saved: give --out FILE to keep the result.", err=True)
    else:
        is_new = out.read_bytes() != before
        say(f"Saved to {out}" if is_new else f"Not written: all of this was in {out} already")
        suggest_next(optima, out)
    suggest_more(optima.record)


def _amount(improve: bool, tasks: int | None, budget: float | None) -> bool | int | str:
    """Return the option `improve` of `kes.learn`."""
    if tasks is not None and budget is not None:
        raise click.UsageError("Give --improve-tasks or --improve-budget, not both.")
    if tasks is None and budget is None:
        return improve
    if not improve:
        given = "--improve-budget" if tasks is None else "--improve-tasks"
        raise click.UsageError(f"{given} cannot be combined with --no-improve.")
    return tasks or f"{budget:f}".rstrip("0").rstrip(".") + "s"  # not in the notation 1.08e+06


def _neighbourhood(name: str, reversals: int | None, failures: int | None) -> str | Sampled:
    given = {"reversals": reversals, "failures": failures}
    chosen = {key: value for key, value in given.items() if value is not None}
    if name == "sampled":
        return Sampled(**chosen)
    if chosen:
        raise click.UsageError(f"--{next(iter(chosen))} needs --neighbourhood sampled.")
    return name


def _display(progress: bool | None) -> bool | Show:
    """Return a bar on a terminal, and lines elsewhere, if asked for."""
    terminal = sys.stderr.isatty()
    if progress is None:
        return terminal
    return lines() if progress and not terminal else progress


def _client(address: str | None) -> AbstractContextManager[Client | None]:
    """Return the cluster as a context; None without an address."""
    if address is None:
        return nullcontext()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are reported by kes
    client: AbstractContextManager[Client] = dask_cluster.connect(address)
    return client


@contextmanager
def _messages() -> Iterator[None]:
    """Show what `kes.learn` logs."""
    logger, handler = logging.getLogger("kes"), logging.Handler()
    handler.emit = lambda record: say(record.getMessage(), err=True)  # type: ignore[method-assign]
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
