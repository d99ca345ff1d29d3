"""``kes learn``: learn networks from a table, and print a summary."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from kes.api import learn
from kes.cli import options
from kes.cli.console import say
from kes.cli.inputs import ModelOptions, read_knowledge, read_table
from kes.cli.learn_output import say_interrupted, show_network, suggest_more, suggest_next
from kes.cli.signals import exit_code
from kes.errors import ClusterLost, Interrupted, NotSaved
from kes.progress import Show, lines
from kes.results.storage import check_writable
from kes.results.summary import text
from kes.search import dask_cluster
from kes.search.problem import TableAsRead

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
@options.search
@options.add("out", type=click.Path(path_type=Path))
@options.add("checkpoint", "client", "progress")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    data: str | None,
    out: Path | None,
    checkpoint: float,
    client: str | None,
    progress: bool | None,
    **given: Any,  # noqa: ANN401 - options of a table, of a search and of knowledge
) -> None:
    """Learn Bayesian networks from DATA by many runs of k-greedy equivalence search.

    DATA is a CSV or Parquet file with one column for each variable; kes audit shows the kind of
    each. Every run ends in a local optimum; the result is the set of all optima found.
    """
    started = time.monotonic()
    chosen = options.search_options(given)
    told = cast("ModelOptions", given)
    if out is not None:
        check_writable(out)
    known = read_knowledge(told)
    table, reading = read_table(data, told)
    for note in table.notes:
        say(f"Note: {note}", err=True)
    before = out.read_bytes() if out is not None and out.exists() else None
    failure: NotSaved | None = None
    try:
        with _client(client) as cluster, _messages():
            optima = learn(
                cast("Data", TableAsRead(table, reading)),
                **chosen,
                knowledge=known,
                out=out,
                checkpoint=checkpoint,
                client=cluster,
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
    say(text(optima, more=[("seconds", spent)], shown=table.notes))
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
