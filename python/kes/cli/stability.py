"""``kes stability``: show which edges do not depend on the sample."""

from pathlib import Path
from typing import Any

import click

from kes.analysis.stability import Stability, StabilityInterrupted
from kes.analysis.stability import stability as resample
from kes.budget import Budget
from kes.cli import options
from kes.cli.console import is_progress_shown, say, show
from kes.cli.effort import say_effort
from kes.cli.inputs import DataRequest, open_result
from kes.cli.signals import exit_code
from kes.options import SCHEMES, ResampleWork
from kes.results.optima import Optima
from kes.results.summary import counted
from kes.table import Table

_OWN = ("resamples", "scheme", "fraction", "runs", "n_jobs")
_SHOWN = {
    "x": "x",
    "y": "y",
    "support": "resampling_support",
    "x -> y": "resampling_x_to_y",
    "y -> x": "resampling_y_to_x",
}
"""Columns of the table, by their names in `Stability.edges`."""


@options.command(
    "stability",
    "Show which edges do not depend on the sample.",
    "kes stability a.kes.json.gz",
    "kes stability a.kes.json.gz --resamples 20 --runs 5",
)
@options.result
@options.add("resamples", "scheme", "fraction", of=ResampleWork)
@options.add("runs", default=10, show_default=True, help="Runs on each table, before improving.")
@options.add("n_jobs", "progress")
@click.pass_context
def stability(
    ctx: click.Context,
    /,
    *,
    result: Path,
    data: str | None,
    progress: bool | None,
    **given: Any,  # noqa: ANN401 - of click
) -> None:
    """Repeat the search of RESULT on tables drawn from its data, and show which edges recur.

    The settings are those of the result. An edge that depends on a few cases is missing from many
    of the networks. This takes --resamples times --runs runs.
    """
    optima = open_result(result, DataRequest(data, given, "tables are drawn from the data"))
    problem = optima.ready(None, None, None)
    each = Budget.parse(runs=given["runs"], improve=True)
    say_effort(problem, given["resamples"], each, "--resamples 10 --runs 1")
    try:
        found = resample(
            problem.table,
            **{name: given[name] for name in _OWN},
            completions=problem.reading.completions,
            missing=problem.reading.missing,
            progress=is_progress_shown(progress),
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
