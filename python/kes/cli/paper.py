"""``kes paper``: reproduce the evaluation of the paper."""

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
    """Parse a list of experiments and databases."""
    names = [name.strip().lower() for name in (value or "").split(",") if name.strip()]
    known = [*EXPERIMENTS, *DATABASES]
    for name in names:
        if name not in known:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(known)}")
    return names


@click.command(
    "paper",
    cls=options.Command,
    short_help="Reproduce the evaluation of the paper.",
    epilog=_EXAMPLES,
)
@click.option(
    "--only",
    metavar="NAMES",
    callback=_names,
    help="Only these experiments "
    f"({', '.join(EXPERIMENTS)}) and databases ({', '.join(DATABASES)}).",
)
@options.add("runs", default=1000, show_default=True, help="Runs per database and k.")
@options.add("random_state", "n_jobs")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    default=Path("paper"),
    show_default=True,
    help="Folder to write to; runs that it holds already are not repeated.",
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
    help="Also fill in the marked parts of this Markdown file.",
)
@options.add("progress")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    only: list[str],
    runs: int,
    random_state: int,
    n_jobs: int | None,
    out: Path,
    coil: Path | None,
    leukemia: Path | None,
    fill: Path | None,
    progress: bool | None,
) -> None:
    """Reproduce the evaluation of Nielsen, Kočka and Peña (UAI 2003).

    Writes tables, figures and the runs themselves, with the published values beside ours. Data
    that cannot be shipped are left out unless you give your copy. After an interrupt, the same
    command resumes.
    """
    with _display(progress) as show:
        try:
            written = reproduce(
                out,
                only=only,
                runs=runs,
                seed=random_state,
                n_jobs=n_jobs,
                coil=coil,
                leukemia=leukemia,
                fill=fill,
                progress=show,
            )
        except Interrupted:
            say(f"Interrupted. Saved to {out}; repeat the command to resume.", err=True)
            ctx.exit(exit_code())
    for database, reason in written.skipped.items():
        say(f"Skipped {DATABASES[database]}: {reason}", err=True)
    for file in written.files:
        say(f"Saved to {file}")


@contextmanager
def _display(progress: bool | None) -> Iterator[Callable[[Stage], object]]:
    """Show a progress bar on a terminal; elsewhere, on request, a line for each stage."""
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
