"""``kes stability``: find out which edges do not depend on the sample."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Unpack

import click

from kes.analysis.stability import SCHEMES, Stability, StabilityInterrupted, stability
from kes.cli import options
from kes.cli.console import say, show
from kes.cli.inputs import DataRequest, TableOptions, open_result
from kes.cli.parsing import Integer, Number
from kes.cli.signals import exit_code
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
"""Columns of the table, by their names in `Stability.edges`."""

_EXAMPLES = """
\b
Examples:
  kes stability a.kes.json.gz
  kes stability a.kes.json.gz --resamples 20 --runs 5
"""


@click.command(
    "stability",
    cls=options.Command,
    short_help="Show which edges do not depend on the sample.",
    epilog=_EXAMPLES,
)
@options.result
@click.option(
    "--resamples",
    type=Integer(min=1),
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
    help="Draw a share of the cases without replacement, or all of them with replacement, which "
    "makes graphs too dense.",
)
@click.option(
    "--fraction",
    type=Number(0, 1),
    metavar="SHARE",
    default=0.5,
    show_default=True,
    help="Share of the cases for --scheme subsample.",
)
@options.add("runs", default=10, show_default=True, help="Runs on each table, before improving.")
@options.add("n_jobs", "progress")
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
    n_jobs: int | None,
    progress: bool | None,
    **table: Unpack[TableOptions],
) -> None:
    """Repeat the search of RESULT on tables drawn from its data, and show which edges recur.

    The settings are those of the result. An edge that depends on a few cases is missing from many
    of the networks. This takes --resamples times --runs runs.
    """
    optima = open_result(result, DataRequest(data, table, "tables are drawn from the data"))
    problem = optima.ready(None, None, None)
    try:
        found = stability(
            problem.table,
            resamples=resamples,
            scheme=scheme,
            fraction=fraction,
            runs=runs,
            n_jobs=n_jobs,
            completions=problem.reading.completions,
            missing=problem.reading.missing,
            progress=sys.stderr.isatty() if progress is None else progress,
            **optima.settings.options(),
        )
    except StabilityInterrupted as stop:
        done = 0 if stop.stability is None else stop.stability.resamples
        say(f"Interrupted after {counted(done, 'resample')}.", err=True)
        if stop.stability is not None:
            _show(optima, stop.stability)
        ctx.exit(exit_code())
    _show(optima, found)


def _fewer(found: Stability) -> str:
    """Explain that an edge may be missing because a subsample has fewer cases."""
    if found.scheme != SCHEMES[0]:
        return ""
    return (
        f" An edge may also be missing because {found.cases} cases are too few for it: kes edges "
        "shows its evidence in all cases."
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
        f"{found.scheme}; {counted(found.runs, 'run')} on each. Directions count if they are "
        "compelled; in the rest of its support an edge is undirected." + _fewer(found),
    )
    show(table)
    absent = best - {frozenset((row["x"], row["y"])) for row in edges}
    for pair in sorted(map(sorted, absent)):
        say(f"{pair[0]} - {pair[1]} of the best model is in none of them.")
