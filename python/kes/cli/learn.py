"""``kes learn``: from a data file, or a built-in example, to a result file and a summary."""

from __future__ import annotations

import logging
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from kes.budget import MAX_TASKS, TASKS_PER_RUN, Budget
from kes.cli import options
from kes.cli.console import say
from kes.cli.knowledge import ModelOptions, read_knowledge
from kes.cli.learn_output import show_network, suggest_more, suggest_next
from kes.cli.out_file import check_writable, continued, earlier, save, say_interrupted, say_where
from kes.cli.param_types import Number, Time, Whole
from kes.cli.signals import exit_code
from kes.cli.table_options import read_table
from kes.options import DEFAULTS, Sampled
from kes.progress import Show, lines
from kes.results import storage
from kes.results.optima import Optima
from kes.results.summary import text
from kes.search import dask_cluster
from kes.search.constraints import constrained
from kes.search.execution import Execution, SearchInterrupted, SearchLost
from kes.search.pipeline import prepare, search
from kes.search.problem import Problem
from kes.settings import Settings
from kes.validation import MAX_MB

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
    help="For sampled: iterations in vain before a run stops.",
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
    help="How much to do for it.",
)
@click.option(
    "--improve-budget",
    type=Time(),
    metavar="TIME",
    help="How long to take for it, instead: not exactly repeatable, as tasks are.",
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
    "only what is lacking is done.",
)
@click.option(
    "--checkpoint",
    type=Time(),
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

    DATA is a CSV or Parquet file, one column for each variable; kes audit shows what they are
    taken for. Every run ends in a local optimum; the result is the set of all that were found.
    """
    started = time.monotonic()
    settings = Settings.of(
        {
            "k": k,
            "criterion": criterion,
            "ess": ess,
            "random_state": seed,
            "max_parents": max_parents,
            "two_phase": two_phase,
            "neighbourhood": _neighbourhood(neighbourhood, reversals, failures),
            "penalty": penalty,
            "transform": transform,
        }
    )
    if out is not None:
        check_writable(out)
    amount = _amount(improve, improve_tasks, improve_budget)
    known = read_knowledge(told)
    dataset, reading = read_table(data, told)
    settings = constrained(settings, dataset.names, knowledge=known)
    for note in dataset.notes:
        say(f"Note: {note}", err=True)
    if "continuous" not in dataset.kinds:
        settings = replace(settings, transform=None)
    base = earlier(out, settings)
    again = None if base is None else base.completion
    problem = Problem(dataset, settings, cache_mb, reading, again)
    allowed = Budget.parse(
        runs=runs,
        improve=amount,
        prove="auto" if prove is None else prove,
        budget=budget,
        patience=patience,
    )
    execution = Execution.parse(n_jobs=jobs, progress=_display(progress))
    keeper = None if out is None else storage.Checkpoint(out, checkpoint)
    try:
        problem = prepare(problem, execution, allowed)
        allowed = allowed.for_size(problem.size).since(started)
        base = None if base is None else continued(base, out, problem, allowed.runs or 0)
        with _client(address) as client:
            record = search(
                problem,
                allowed,
                replace(execution, client=client),
                base=base,
                watchers=[] if keeper is None else [keeper],
                after_runs=None if keeper is None else keeper.keep,
            )
    except SearchInterrupted as stop:
        say_interrupted(stop.record, out)
        ctx.exit(exit_code())
    except SearchLost as lost:
        say_interrupted(lost.record, out)
        raise
    failure = None if record is base else save(record, out)
    spent = f"{time.monotonic() - started:.2f}"
    optima = Optima(record, problem=problem)
    say(text(optima, more=[("seconds", spent)], told=dataset.notes))
    show_network(optima, out)
    say_where(out, failure, news=record is not base)
    if out is not None:
        suggest_next(optima, out)
    suggest_more(record)


def _amount(improve: bool, tasks: int | None, budget: float | None) -> bool | int | str:
    """Return how much to do after the runs."""
    if tasks is not None and budget is not None:
        raise click.UsageError("Give --improve-tasks or --improve-budget, not both.")
    if tasks is None and budget is None:
        return improve
    if not improve:
        given = "--improve-budget" if tasks is None else "--improve-tasks"
        raise click.UsageError(f"{given} says how much to improve, and --no-improve not to.")
    return tasks or f"{budget:f}".rstrip("0").rstrip(".") + "s"  # 1.08e+06 is no length of time


def _neighbourhood(name: str, reversals: int | None, failures: int | None) -> str | Sampled:
    given = {"reversals": reversals, "failures": failures}
    chosen = {key: value for key, value in given.items() if value is not None}
    if name == "sampled":
        return Sampled(**chosen)
    if chosen:
        raise click.UsageError(f"--{next(iter(chosen))} needs --neighbourhood sampled.")
    return name


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
    client: AbstractContextManager[Client] = dask_cluster.connect(address)
    return client
