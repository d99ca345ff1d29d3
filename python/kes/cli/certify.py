"""``kes certify``: how far the networks found are from the highest score there is."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from kes.settings import CRITERIA

_EXAMPLES = """
\b
Examples:
  kes certify data.csv
  kes certify data.csv --result a.kes.json.gz
  kes certify data.csv --max-parents 3 --budget 10m
"""


@click.command("certify", short_help="Find or bound the highest score there is.", epilog=_EXAMPLES)
@click.argument("data", required=False)
@click.option("--example", type=click.Choice(["alarm"]), help="Use built-in data instead of DATA.")
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    metavar="N",
    show_default="20000",
    help="Cases to draw for --example.",
)
@click.option(
    "--result",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A result of kes learn on the same data, to compare. Its criterion and limit on parents "
    "are used unless others are given.",
)
@click.option(
    "--criterion",
    type=click.Choice(CRITERIA, case_sensitive=False),
    show_default="bic",
    help="What to maximise.",
)
@click.option(
    "--ess",
    type=click.FloatRange(min=0, min_open=True),
    metavar="NUMBER",
    show_default="1.0",
    help="Equivalent sample size of bdeu.",
)
@click.option(
    "--max-parents",
    type=click.IntRange(min=0),
    metavar="N",
    show_default="no limit",
    help="Look only at networks in which no variable has more parents.",
)
@click.option("--weights", metavar="COLUMN", help="Column that says how often each row counts.")
@click.option(
    "--missing",
    multiple=True,
    metavar="HOW|MARKERS",
    help="What to do with missing values, as in kes learn.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    show_default="all usable cores",
    help="Threads.",
)
@click.option(
    "--memory-mb",
    type=click.IntRange(min=1),
    metavar="N",
    default=2048,
    show_default=True,
    help="Memory to use, approximately.",
)
@click.option(
    "--budget",
    metavar="TIME",
    default="10m",
    show_default=True,
    help="Stop after this time, with the bound reached until then.",
)
@click.option("--time-limit", hidden=True)
@click.option(
    "--progress/--no-progress",
    default=None,
    show_default="only on a terminal",
    help="Show how far it is.",
)
def command(
    *,
    data: str | None,
    example: str | None,
    rows: int | None,
    result: Path | None,
    criterion: str | None,
    ess: float | None,
    max_parents: int | None,
    weights: str | None,
    missing: tuple[str, ...],
    jobs: int | None,
    memory_mb: int,
    budget: str,
    time_limit: str | None,
    progress: bool | None,
) -> None:
    """Find the highest score of all networks for DATA, or an upper bound on it.

    Up to about 25 variables the global optimum is found. With more of them the score is bounded,
    for which HiGHS is needed: pip install "kes[certify]". The time and memory that it may need are
    told before it starts.
    """
    if time_limit is not None:
        raise click.UsageError(f"--time-limit is now called --budget: use --budget {time_limit}")
    from kes.cli.source import read_table
    from kes.exact.certify import certify, estimate
    from kes.results.optima import load

    optima = None if result is None else load(result)
    settings = None if optima is None else optima.settings
    dataset = read_table(data, example, rows, weights, missing)
    name = criterion or (settings.criterion if settings else "bic")
    strength = ess or (settings.ess if settings else None) or 1.0
    if max_parents is None and settings is not None:
        max_parents = settings.max_parents
    for note in dataset.notes:
        click.echo(f"Note: {note}", err=True)
    expected = estimate(dataset, criterion=name, ess=strength, max_parents=max_parents)
    click.echo(f"{expected}.", err=True)
    certificate = certify(
        dataset,
        criterion=name,
        ess=strength,
        max_parents=max_parents,
        optima=optima,
        n_jobs=jobs,
        memory_mb=memory_mb,
        budget=budget,
        progress=sys.stderr.isatty() if progress is None else progress,
    )
    click.echo(repr(certificate))
