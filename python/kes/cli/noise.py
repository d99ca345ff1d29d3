"""``kes noise``: show what a search finds in a table without any relation."""

from pathlib import Path
from typing import Any

import click

from kes.analysis.noise import Noise, NoiseInterrupted, search_of_noise
from kes.cli import options
from kes.cli.console import check_csv, is_progress_shown, say, show_or_write
from kes.cli.effort import say_effort
from kes.cli.inputs import DataRequest, open_result
from kes.cli.signals import exit_code
from kes.options import SHUFFLES
from kes.table import Table

_NOTE = (
    "edges: of the best network, with at least this evidence; by chance: mean number in the "
    "shuffled copies; false: the share of ours that may be false, an estimate, rather too large. "
    "Evidence is an upper bound here, from the optima alone."
)


@options.command(
    "noise",
    "Show how many edges chance alone would give.",
    "kes noise a.kes.json.gz",
    "kes noise a.kes.json.gz --shuffles 100 --runs 5",
)
@options.result
@options.count("--shuffles", "Number of shuffled copies of the table.", SHUFFLES)
@options.add("runs", show_default="as in the search", help="Runs on each copy, before improving.")
@options.add("n_jobs")
@options.csv()
@options.add("progress")
@click.pass_context
def noise(
    ctx: click.Context,
    /,
    *,
    result: Path,
    data: str | None,
    shuffles: int,
    runs: int | None,
    n_jobs: int | None,
    out: Path | None,
    progress: bool | None,
    **table: Any,  # noqa: ANN401 - of click
) -> None:
    """Repeat the search of RESULT on copies of its table with independently shuffled columns.

    Every edge in such a copy is false. If the copies give as many edges as the data, or edges with
    as much evidence, the edges of the data may be due to chance as well.
    """
    check_csv(out)
    optima = open_result(result, DataRequest(data, table, "its columns are shuffled"))
    shown = is_progress_shown(progress)
    each = search_of_noise(optima, runs)
    say_effort(optima.ready(None, None, None), shuffles, each, "--shuffles 3 --runs 1")
    try:
        found = optima.noise(shuffles, runs=runs, n_jobs=n_jobs, progress=shown)
    except NoiseInterrupted as stop:
        done = 0 if stop.noise is None else len(stop.noise.shuffled)
        say(f"Interrupted after {done} of {shuffles} copies.", err=True)
        if stop.noise is not None:
            _show(stop.noise, out)
        ctx.exit(exit_code())
    _show(found, out)


def _show(found: Noise, out: Path | None) -> None:
    say(str(found))
    if found.highest is not None:
        say(f"The highest evidence for an edge of a copy is {found.highest:.3g} nats.")
    levels = found.levels()
    names = {"by_chance": "by chance", "false_share": "false"}
    columns = {names.get(name, name): levels[name] for name in levels.columns}
    show_or_write(Table(columns, note=_NOTE), out)
