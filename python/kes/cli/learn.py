"""``kes learn``: learn networks from a table, and print a summary."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from kes import api
from kes.analysis.certify import can_certify
from kes.analysis.evidence import EvidenceInterrupted
from kes.cli import options
from kes.cli.console import say
from kes.cli.edge_output import show_network
from kes.cli.inputs import beside, read_knowledge, read_table
from kes.cli.query import word
from kes.cli.signals import exit_code
from kes.errors import ClusterLost, Interrupted, NotSaved
from kes.options import FIT_DEFAULTS
from kes.progress import Show, json_lines, lines
from kes.results.optima import Optima
from kes.results.storage import check_writable
from kes.results.summary import counted, text
from kes.search import dask_cluster
from kes.search.problem import TableAsRead

if TYPE_CHECKING:
    from distributed import Client


@options.command(
    "learn",
    "Learn networks from a table.",
    "kes learn --example alarm --k 0.4",
    "kes learn data.csv --runs 1000 --out a.kes.json.gz",
    "kes learn data.csv --runs 100000 --budget 10m --patience 5000",
    "kes learn data.csv --runs 1000 --improve-budget 1m",
    'kes learn data.csv --tiers "age,sex;smoker;cancer" --forbid sex,cancer',
)
@click.argument("data", required=False)
@options.table
@options.search
@options.add("out", type=click.Path(path_type=Path))
@options.add("checkpoint", "client", "progress")
@options.file(
    "--progress-file",
    "Append progress to this file, a JSON object per line, for programs that watch the search.",
)
@click.option("--quiet", is_flag=True, help="With --out: print notes and errors only.")
@click.pass_context
def learn(
    ctx: click.Context,
    /,
    *,
    data: str | None,
    out: Path | None,
    checkpoint: float,
    client: str | None,
    progress: bool | None,
    progress_file: Path | None,
    quiet: bool,
    **given: Any,  # noqa: ANN401 - of click
) -> None:
    """Learn Bayesian networks from DATA by many runs of k-greedy equivalence search.

    DATA is a CSV or Parquet file with one column for each variable; kes audit shows the kind of
    each. Every run ends in a local optimum; the result is the set of all optima found.
    """
    started = time.monotonic()
    chosen = options.search_options(given)
    if out is not None:
        check_writable(out)
    elif quiet:
        raise click.UsageError("--quiet needs --out FILE, or the result would be lost.")
    known = read_knowledge(given)
    table, reading = read_table(data, given)
    for note in table.notes:
        say(f"Note: {note}", err=True)
    shown = _display(progress) if progress_file is None else json_lines(progress_file)
    before = out.read_bytes() if out is not None and out.exists() else None
    failure: NotSaved | None = None
    try:
        with _client(client) as cluster, _messages():
            optima = api.learn_as_read(
                TableAsRead(table, reading),
                **chosen,
                knowledge=known,
                out=out,
                checkpoint=checkpoint,
                client=cluster,
                progress=shown,
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
    if quiet and failure is None:
        return
    spent = f"{time.monotonic() - started:.2f}"
    say(text(optima, more=[("seconds", spent)], shown=table.notes))
    is_interrupted = _show_network(optima, out, chosen, started, shown)
    if failure is not None:
        raise failure  # after the result, which would be lost otherwise
    if out is None:
        say("Not saved: give --out FILE to keep the result.", err=True)
    else:
        is_new = out.read_bytes() != before
        say(f"Saved to {out}" if is_new else f"Not written: all of this was in {out} already")
        suggest_next(optima, out)
    suggest_more(optima, out)
    if is_interrupted:
        ctx.exit(exit_code())


_INSTANT = 1e-3
"""Seconds for evidence if the budget is used up: it is bounded by the models that were found."""


def _show_network(
    optima: Optima,
    out: Path | None,
    chosen: Mapping[str, Any],
    started: float,
    progress: bool | Show,
) -> bool:
    """Print the best network with its evidence; return whether Ctrl-C ended its computation."""
    budget = chosen.get("budget")
    left = None if budget is None else max(budget - (time.monotonic() - started), _INSTANT)
    try:
        found = optima.evidence(budget=left, n_jobs=chosen.get("n_jobs"), progress=progress)
    except EvidenceInterrupted as stop:
        show_network(optima, stop.evidence, out)
        return True
    show_network(optima, found, out)
    return False


def _display(progress: bool | None) -> bool | Show:
    """Return whether to show a bar on a terminal; elsewhere, on request, show lines."""
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


def say_interrupted(stop: Interrupted | ClusterLost, out: Path | None) -> None:
    """Print the result of an interrupted search, or the file that holds it."""
    record = None if stop.optima is None else stop.optima.record
    done = 0 if record is None else len(record.runs)
    tasks = 0 if record is None else record.improving.own
    after = f" and {counted(tasks, 'task')}" if tasks else ""
    say(f"Interrupted after {counted(done, 'run')}{after}.", err=True)
    if stop.file is not None:
        say(f"Saved to {stop.file}; the same command resumes from there.", err=True)
    elif stop.optima is not None and out is None:
        say(stop.optima)
        say("Not saved: with --out FILE the same command could resume from there.", err=True)


def suggest_next(optima: Optima, out: Path) -> None:
    """Print useful next commands."""
    # Files of discrete networks would need tables, which grow with the states of all parents.
    file, network = (
        quote(str(out)),
        beside(out, ".bif" if optima.kind == "discrete" else ".network.json"),
    )
    commands = {
        "how sure each edge is": f"kes edges {file}",
        "all of it in one page": f"kes report {file}",
        "with probabilities": f"kes fit {file}{_estimation(optima)} --out {quote(str(network))}",
        "ask the network": f"kes query {file} {quote(_question(optima))}",
    }
    if optima.target is not None:
        commands["predict the target"] = f"kes predict {file} TABLE --out predicted.csv"
        average = quote(str(beside(out, ".average.json")))
        commands["predict by an average"] = f"kes fit {file} --average --out {average}"
    say("Next:")
    for purpose, command in commands.items():
        say(f"  {purpose:<21}  {command}", unbroken=True)


def _estimation(optima: Optima) -> str:
    """Return the flags of the parameter prior that was chosen with the criterion, if any."""
    chosen = {} if optima.choice is None else optima.choice.estimation
    defaults: dict[str, object] = {**FIT_DEFAULTS}
    return "".join(
        f" --{name} {value:g}" for name, value in chosen.items() if value != defaults[name]
    )


def suggest_more(optima: Optima, out: Path | None) -> None:
    """Print how to search further, unless the user chose the amount or the best is proven."""
    improving = optima.record.improving
    if optima.proven or not improving.asked.is_auto:
        return
    say(f"To search further: add --improve-tasks {2 * max(improving.own, 1)}")
    if out is not None and can_certify(optima.ready(None, None, None)):
        say(f"To bound the highest score: kes certify {quote(str(out))}", unbroken=True)


def _question(optima: Optima) -> str:
    """Return a query to try: the distribution of a variable given an adjacent one."""
    modelled = [name for name in optima.names if name not in optima.settings.exogenous]
    a, b = next(iter(optima.best.mpdag.to_dag()), (None, modelled[0]))
    states = () if a is None else optima.states[a]
    given = f" | {word(str(a))}={word(str(states[0]))}" if states else ""
    return f"P({word(b)}{given})"
