"""``kes stability``: which edges would be found again in other samples."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Unpack

import click

from kes.analysis.stability import SCHEMES, Stability, StabilityInterrupted, stability
from kes.cli import options
from kes.cli.console import say, show
from kes.cli.model import DataRequest, open_result
from kes.cli.param_types import Number, Whole
from kes.cli.signals import exit_code
from kes.cli.table_options import TableOptions
from kes.results.optima import Optima
from kes.results.summary import counted
from kes.table import Table

_SHOWN = {
    "x": "x",
    "y": "y",
    "support": "resampling_support",
    "x -> y": "resampling_x_to_y",
    "y -> x": "resampling_y_to_x",
}
"""Columns of the table, and where they come from."""

_EXAMPLES = """
\b
Examples:
  kes stability a.kes.json.gz
  kes stability a.kes.json.gz --resamples 20 --runs 5
"""


@click.command(
    "stability",
    cls=options.Command,
    short_help="Tell which edges other samples would have.",
    epilog=_EXAMPLES,
)
@options.result
@click.option(
    "--resamples",
    type=Whole(min=1),
    metavar="N",
    default=100,
    show_default=True,
    help="Number of tables to draw.",
)
@click.option(
    "--scheme",
    type=click.Choice(SCHEMES),
    default=SCHEMES[0],
    show_default=True,
    help="Draw a share of the cases, or as many as there are with replacement, which makes graphs "
    "too dense.",
)
@click.option(
    "--fraction",
    type=Number(0, 1),
    metavar="SHARE",
    default=0.5,
    show_default=True,
    help="The share of the cases for --scheme subsample.",
)
@options.runs(10, "Runs on each table, followed by improving.")
@options.jobs
@options.progress
@click.pass_context
def command(
    ctx: click.Context,
    *,
    result: Path,
    data: str | None,
    resamples: int,
    scheme: str,
    fraction: float,
    runs: int,
    jobs: int | None,
    progress: bool | None,
    **table: Unpack[TableOptions],
) -> None:
    """Repeat the search of RESULT on tables drawn from its data, and tell which edges come back.

    The settings are those of the result. An edge that hangs on a few cases is missing from many of
    the networks; --resamples times --runs searches take their time.
    """
    optima = open_result(result, DataRequest(data, table, "tables are drawn from the data"))
    problem = optima.ready(None, None, None)
    chosen: dict[str, Any] = _settings(optima)
    try:
        found = stability(
            problem.table,
            resamples=resamples,
            scheme=scheme,
            fraction=fraction,
            runs=runs,
            n_jobs=jobs,
            completions=problem.reading.completions,
            missing=problem.reading.missing,
            progress=sys.stderr.isatty() if progress is None else progress,
            **chosen,
        )
    except StabilityInterrupted as stop:
        done = 0 if stop.stability is None else stop.stability.resamples
        say(f"Interrupted after {counted(done, 'resample')}.", err=True)
        if stop.stability is not None:
            _show(optima, stop.stability)
        ctx.exit(exit_code())
    _show(optima, found)


def _settings(optima: Optima) -> dict[str, Any]:
    """Return the settings of a result as `kes.stability` takes them."""
    settings = optima.settings
    names = ("k", "criterion", "penalty", "transform", "max_parents", "two_phase", "start")
    own = {name: getattr(settings, name) for name in (*names, "neighbourhood", "knowledge")}
    if settings.ess is not None:
        own["ess"] = settings.ess
    return own | {"random_state": settings.seed}


def _fewer(found: Stability) -> str:
    """Say that an edge may be missing because there were fewer cases, if there were."""
    if found.scheme != SCHEMES[0]:
        return ""
    return (
        f" Where {found.cases} cases do not pay for its parameters, an edge is missing that all "
        f"of them do pay for: kes edges tells what it is worth there."
    )


def _show(optima: Optima, found: Stability) -> None:
    edges = found.edges()
    best = optima.best.graph.skeleton
    table = Table(
        {
            **{name: edges[column] for name, column in _SHOWN.items()},
            "in the best": ["yes" if {r["x"], r["y"]} in best else "" for r in edges],
        },
        note=f"{counted(found.resamples, 'table')} of {found.cases} cases each, by "
        f"{found.scheme}; {counted(found.runs, 'run')} on each. The directions are compelled ones; "
        "in the rest of its support an edge is open." + _fewer(found),
    )
    show(table)
    lacking = best - {frozenset((row["x"], row["y"])) for row in edges}
    for pair in sorted(map(sorted, lacking)):
        say(f"{pair[0]} - {pair[1]}, which the best model has, came back in none of them.")
