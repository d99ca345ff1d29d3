"""``kes paper``: the evaluation of the paper, done again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from kes.cli import options
from kes.cli.console import say
from kes.cli.signals import exit_code
from kes.errors import Interrupted
from kes.paper import DATABASES, EXPERIMENTS, reproduce
from kes.paper.reproduction import Stage

_EXAMPLES = """
\b
Examples:
  kes paper --runs 100
  kes paper --only coil --coil ticdata2000.txt
  kes paper --only table1,figure1 --leukemia leukemia.csv
"""


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str]:
    """Read a list of names."""
    names = [name.strip().lower() for name in (value or "").split(",") if name.strip()]
    known = [*EXPERIMENTS, *DATABASES]
    for name in names:
        if name not in known:
            raise click.BadParameter(f"{name!r} is none of {', '.join(known)}")
    return names


@click.command(
    "paper",
    cls=options.Command,
    short_help="Do the paper's evaluation again.",
    epilog=_EXAMPLES,
)
@click.option(
    "--only",
    metavar="NAMES",
    callback=_names,
    help="Restrict it to some experiments "
    f"({', '.join(EXPERIMENTS)}) and databases ({', '.join(DATABASES)}).",
)
@options.runs(1000, "Runs per database and k.")
@options.seed
@options.jobs
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    default=Path("paper"),
    show_default=True,
    help="Where to write; runs that are there already are not done again.",
)
@click.option(
    "--coil",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    show_default="the variable KES_COIL",
    help="Your copy of the CoIL data.",
)
@click.option(
    "--leukemia",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    show_default="the variable KES_LEUKEMIA",
    help="Your copy of the leukemia data.",
)
@click.option(
    "--fill",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="Fill in the marked parts of this Markdown file, too.",
)
@options.progress
@click.pass_context
def command(
    ctx: click.Context,
    *,
    only: list[str],
    runs: int,
    seed: int,
    jobs: int | None,
    out: Path,
    coil: Path | None,
    leukemia: Path | None,
    fill: Path | None,
    progress: bool | None,
) -> None:
    """Do the evaluation of Nielsen, Kočka and Peña (UAI 2003) again.

    Writes tables, figures and the runs themselves, with the printed values beside ours. Data that
    cannot be shipped is left out unless you say where your copy is. After an interrupt the same
    command goes on where it stopped.
    """
    with _display(progress) as show:
        try:
            written = reproduce(
                out,
                only=only,
                runs=runs,
                seed=seed,
                n_jobs=jobs,
                coil=coil,
                leukemia=leukemia,
                fill=fill,
                progress=show,
            )
        except Interrupted:
            say(f"Interrupted. Saved to {out}; the same command goes on from there.", err=True)
            ctx.exit(exit_code())
    for database, reason in written.skipped.items():
        say(f"Skipped {DATABASES[database]}: {reason}", err=True)
    for file in written.files:
        say(f"Saved to {file}")


@contextmanager
def _display(progress: bool | None) -> Iterator[Callable[[Stage], object]]:
    """Give a bar on a terminal; elsewhere, if asked for, a line for each part of the work."""
    terminal = sys.stderr.isatty()
    if not (terminal if progress is None else progress):
        yield lambda stage: None
    elif terminal:
        from tqdm import tqdm

        form = "{percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt} runs, {remaining} left, {desc}"
        with tqdm(bar_format=form, dynamic_ncols=True, file=sys.stderr, total=1) as bar:

            def show(stage: Stage) -> None:
                bar.total, bar.n = stage.wanted, stage.done
                bar.set_description_str(stage.title)

            yield show
    else:
        latest = ""

        def line(stage: Stage) -> None:
            nonlocal latest
            if stage.title != latest:
                latest = stage.title
                say(f"{stage.done} of {stage.wanted} runs: {latest}", err=True)

        yield line
