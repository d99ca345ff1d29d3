"""``kes certify``: how far the networks found are from the highest score there is."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import click

from kes.analysis.certify import certify, estimate, joined
from kes.api import learn, load
from kes.cli import options
from kes.cli.console import say
from kes.cli.knowledge import ModelOptions, read_knowledge
from kes.cli.model import table_of
from kes.cli.param_types import Whole
from kes.cli.table_options import as_known, read_table
from kes.results.optima import Optima
from kes.results.out_file import check_writable

_EXAMPLES = """
\b
Examples:
  kes certify data.csv
  kes certify data.csv --result a.kes.json.gz
  kes certify data.csv --max-parents 3 --budget 10m
  kes certify data.csv --out best.kes.json.gz
"""


@click.command(
    "certify",
    cls=options.Command,
    short_help="Find or bound the highest score there is.",
    epilog=_EXAMPLES,
)
@click.argument("data", required=False)
@options.table
@click.option(
    "--result",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A result of kes learn on the same data, to compare.",
)
@options.criterion(of_result="--result")
@options.max_parents(of_result="--result")
@options.knowledge
@options.jobs
@click.option(
    "--memory-mb",
    type=Whole(min=1),
    metavar="N",
    default=2048,
    show_default=True,
    help="Memory to use, approximately.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Save the best network, with those of --result or else of a search by itself, as kes "
    "learn does: kes report and others take it.",
)
@options.budget("10m", "Stop after this time, with the bound reached until then")
@options.progress
def command(
    *,
    data: str | None,
    result: Path | None,
    criterion: str | None,
    ess: float | None,
    penalty: float | None,
    transform: str | None,
    max_parents: int | None,
    jobs: int | None,
    memory_mb: int,
    out: Path | None,
    budget: float,
    progress: bool | None,
    **told: Unpack[ModelOptions],
) -> None:
    """Find the highest score of all networks for DATA, or an upper bound on it.

    Up to about 25 variables the global optimum is found. With more of them the score is bounded,
    for which HiGHS is needed: pip install highspy. The time and memory that it may need are told
    before it starts. In place of DATA, a result alone will do if its table is found.
    """
    if data is not None and result is None and (known := table_of(Path(data))) is not None:
        data, result = known, Path(data)
    if out is not None:
        check_writable(out)
    optima = None if result is None else load(result)
    given = {
        "criterion": criterion,
        "ess": ess,
        "penalty": penalty,
        "transform": transform,
        "max_parents": max_parents,
        "knowledge": read_knowledge(told),
    }
    if optima is not None:
        own = {name: getattr(optima.settings, name) for name in given}
        given = {name: own[name] if value is None else value for name, value in given.items()}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    like = None if optima is None else as_known(optima.record.reading, optima.states)
    dataset, how = read_table(data, told, like=like)
    options["completions"] = how.completions
    for note in dataset.notes:
        say(f"Note: {note}", err=True)
    shown = sys.stderr.isatty() if progress is None else progress
    if not shown:  # or it is the first of what is shown
        say(f"{estimate(dataset, **options)}.", err=True)
    started = time.monotonic()
    if out is not None:
        if optima is None:
            searching: dict[str, Any] = {"budget": budget / 2, "n_jobs": jobs, "progress": shown}
            found = learn(dataset, prove=False, **searching, **options)
            optima = Optima(replace(found.record, reading=how))
        optima.save(out)  # rather now than never
    certificate = certify(
        dataset,
        **options,
        optima=optima,
        n_jobs=jobs,
        memory_mb=memory_mb,
        budget=max(budget - (time.monotonic() - started), budget / 10),
        progress=shown,
    )
    say(repr(certificate))
    if optima is not None and out is not None:
        joined(optima, certificate).save(out)
        say(f"Saved to {out}")
