"""``kes paper``: reproduce the evaluation of the paper."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from kes.cli import options
from kes.cli.console import is_progress_shown, say
from kes.cli.signals import exit_code
from kes.errors import Interrupted
from kes.paper import DATABASES, EXPERIMENTS, reproduce
from kes.paper.reproduction import Stage

_FILE = click.Path(path_type=Path, dir_okay=False)


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str]:
    """Parse a list of experiments and databases."""
    names = [name.strip().lower() for name in (value or "").split(",") if name.strip()]
    known = [*EXPERIMENTS, *DATABASES]
    for name in names:
        if name not in known:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(known)}")
    return names


@options.command(
    "paper",
    "Reproduce the evaluation of the paper.",
    "kes paper --runs 100",
    "kes paper --only coil --coil ticdata2000.txt",
    "kes paper --only table1,figure1 --leukemia leukemia.csv",
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
@options.file(
    "--out",
    "Folder to write to; runs that it holds already are not repeated.",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    default=Path("paper"),
    show_default=True,
)
@options.file(
    "--coil",
    "Your copy of the CoIL data.",
    type=_FILE,
    show_default="the variable KES_COIL",
)
@options.file(
    "--leukemia",
    "Your copy of the leukemia data.",
    type=_FILE,
    show_default="the variable KES_LEUKEMIA",
)
@options.file(
    "--fill",
    "Also fill in the marked parts of this Markdown file.",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
)
@options.add("progress")
@click.pass_context
def paper(
    ctx: click.Context,
    /,
    *,
    out: Path,
    random_state: int,
    progress: bool | None,
    **given: Any,  # noqa: ANN401 - of click
) -> None:
    """Reproduce the evaluation of Nielsen, Kočka and Peña (UAI 2003).

    Writes tables, figures and the runs themselves, with the published values beside ours. Data
    that cannot be shipped are left out unless you give your copy. After an interrupt, the same
    command resumes.
    """
    with _display(progress) as show:
        try:
            written = reproduce(out, seed=random_state, progress=show, **given)
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
    if not is_progress_shown(progress):
        yield lambda stage: None
    elif sys.stderr.isatty():
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
