"""Options that several commands have: declared once, so that they mean the same everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from kes.cli.param_types import Number, PriorName, Time, Whole
from kes.cli.signals import raise_on_interrupt
from kes.cli.suggestions import no_such_option
from kes.data.infer_kinds import quoted
from kes.data.missing import CHOICES
from kes.errors import naming_flags
from kes.options import CRITERIA, TRANSFORMS

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

FLAGS = {
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "na_values": "--missing",
    "kinds": "--discrete or --continuous",
}
"""Options that have another name in Python; the others differ in hyphens only."""


class Command(click.Command):
    """A command that says what is probably meant by an option that it does not have.

    Where an argument lacks, it shows an example: the first of its help.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise no_such_option(error.option_name, self, ctx) from None
        except click.MissingParameter as error:
            example = re.search(rf"kes {self.name} .+", f"{self.help}\n{self.epilog}")
            shown = f" For instance: {example[0]}" if example else ""
            raise click.UsageError(f"{error.format_message()}{shown}", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click has it
        """Begin: from now on there may be something to save, or a file half written."""
        raise_on_interrupt()
        with naming_flags(FLAGS | _as_typed(ctx.params.get("missing") or ())):
            return super().invoke(ctx)


def _as_typed(missing: Iterable[str]) -> dict[str, str]:
    """Return flags by which advice about missing values keeps what is said of them already."""
    words = [word for text in missing for word in text.split(",") if word]
    markers = [quoted(word) for word in words if word not in CHOICES]
    how = [word for word in words if word in CHOICES]
    return {
        "missing": f"--missing {','.join([*markers, '{}'])}",
        "na_values": f"--missing {','.join([*markers, '{}', *(how or ['em'])])}",
    }


def result(command: CommandT) -> CommandT:
    """Add a result and its data, with how to read them; see `kes.cli.table_options.open_result`."""
    return _together(_result, data("The table that it was learned from."), table)(command)


def model(command: CommandT) -> CommandT:
    """Add a result or a network, and what it takes to make a network of a result."""
    return _together(
        click.argument("model", type=click.Path(path_type=Path)),
        data("The table that a result was learned from."),
        optimum,
    )(command)


def _result(command: CommandT) -> CommandT:
    return click.argument("result", type=click.Path(path_type=Path))(command)


def data(what: str) -> Callable[[CommandT], CommandT]:
    """Add the file of the data of a result."""
    known = "the file whose name the result remembers"
    return click.option("--data", metavar="FILE", show_default=known, help=what)


def optimum(command: CommandT) -> CommandT:
    """Add which of the models of a result."""
    return click.option(
        "--optimum",
        type=Whole(min=0),
        metavar="N",
        default=0,
        show_default=True,
        help="Which of the optima of a result; 0 is the best.",
    )(command)


def table(command: CommandT) -> CommandT:
    """Add what says how a table is read; see `kes.cli.table_options.read_table`."""
    return _together(
        click.option(
            "--example", type=click.Choice(["alarm"]), help="Use built-in data instead of a file."
        ),
        click.option(
            "--rows",
            type=Whole(min=1),
            metavar="N",
            show_default="20000",
            help="Cases to draw for --example.",
        ),
        click.option(
            "--weights", metavar="COLUMN", help="Column that says how often each row counts."
        ),
        click.option(
            "--missing",
            multiple=True,
            metavar="HOW|MARKERS",
            help="What to do with missing values: error (the default), drop the row, make a state "
            "of them, or fill them in from the model by em. Anything else is a list of texts that "
            "mean missing, besides empty fields; both together are written as NA,?,drop.",
        ),
        click.option(
            "--completions",
            type=Whole(min=1),
            metavar="N",
            default=5,
            show_default=True,
            help="For --missing em: how often each incomplete case is filled in.",
        ),
        click.option(
            "--discretize",
            metavar="N|COLUMN=N,...",
            help="Cut continuous columns, or those that are named, into so many intervals with "
            "equally many cases.",
        ),
        _columns("--columns", "Use these columns only."),
        _columns("--drop", "Leave these columns out."),
        _columns("--discrete", "Take these columns as discrete, whatever they hold."),
        _columns("--continuous", "Take these columns as continuous."),
        click.option(
            "--sep",
            metavar="CHARACTER",
            show_default="found out",
            help="What separates the columns of a CSV file; 'tab' for tabulators.",
        ),
        click.option(
            "--decimal",
            type=click.Choice([".", ","]),
            show_default="found out",
            help="The decimal sign in a CSV file.",
        ),
        click.option(
            "--encoding",
            metavar="NAME",
            show_default="found out",
            help="The encoding of a CSV file, such as utf-8 or cp1252.",
        ),
    )(command)


def _columns(flag: str, what: str) -> Callable[[CommandT], CommandT]:
    return click.option(flag, multiple=True, metavar="A,B,...", help=what)


def criterion(*, of_result: str | None = None) -> Callable[[CommandT], CommandT]:
    """Add what says how models are scored.

    Parameters
    ----------
    of_result : str or None
        Where the command is given a result whose settings hold unless others are given. Then what
        is not given is None.
    """
    known = _known(of_result)
    return _together(
        click.option(
            "--criterion",
            type=click.Choice(CRITERIA, case_sensitive=False),
            default=None if of_result else "bic",
            show_default=f"{known}bic" if of_result else True,
            help="What to maximise.",
        ),
        click.option(
            "--ess",
            type=Number(min=0, min_open=True),
            metavar="NUMBER",
            default=None if of_result else 1.0,
            show_default=f"{known}1.0" if of_result else True,
            help="Equivalent sample size of bdeu.",
        ),
        click.option(
            "--penalty",
            type=Number(min=0, min_open=True),
            metavar="NUMBER",
            default=None if of_result else 1.0,
            show_default=f"{known}1.0" if of_result else True,
            help="Factor of the penalty of bic and aic where columns are continuous.",
        ),
        click.option(
            "--transform",
            type=click.Choice(TRANSFORMS),
            show_default=f"{known}none" if of_result else "none",
            help="Replace continuous values by normal scores of their ranks first.",
        ),
    )


def max_parents(*, of_result: str | None = None) -> Callable[[CommandT], CommandT]:
    """Add which models are allowed; see `criterion`."""
    return click.option(
        "--max-parents",
        type=Whole(min=0),
        metavar="N",
        show_default=f"{_known(of_result)}no limit",
        help="Largest number of parents of a variable.",
    )


def _known(of_result: str | None) -> str:
    return f"that of {of_result}, or " if of_result else ""


def estimation(command: CommandT) -> CommandT:
    """Add how local models are estimated; see `kes.fit`."""
    return _together(
        click.option(
            "--prior",
            type=PriorName(),
            metavar="bdeu|ml|NUMBER",
            default="bdeu",
            show_default=True,
            help="How to smooth: --ess cases spread evenly over each table; not at all (maximum "
            "likelihood); or so many cases for each cell.",
        ),
        click.option(
            "--ess",
            type=Number(min=0, min_open=True),
            metavar="NUMBER",
            default=1.0,
            show_default=True,
            help="Equivalent sample size of --prior bdeu.",
        ),
    )(command)


def knowledge(command: CommandT) -> CommandT:
    """Add what is known of the network; see `kes.cli.knowledge.read_knowledge`."""
    return _together(
        click.option(
            "--knowledge",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="What is known of the network: a TOML or JSON file with tiers, required, "
            "forbidden, apart, roots and leaves, or a knowledge file of Tetrad.",
        ),
        click.option(
            "--tiers",
            metavar="A,B;C;...",
            help="Groups of columns, earliest first: no arc leads from a later to an earlier one.",
        ),
        _pair("--require", "An arc from A to B that the network has."),
        _pair("--forbid", "An arc from A to B that it does not have."),
        _pair("--apart", "Two columns without an arc between them."),
        _columns("--roots", "Columns without parents."),
        _columns("--leaves", "Columns without children."),
    )(command)


def _pair(flag: str, what: str) -> Callable[[CommandT], CommandT]:
    return click.option(flag, multiple=True, metavar="A,B", help=f"{what} Can be given again.")


def runs(
    default: int | None, what: str, *, shown: bool | str = True
) -> Callable[[CommandT], CommandT]:
    """Add the number of runs, with what is `shown` as its default."""
    return click.option(
        "--runs",
        type=Whole(min=1),
        metavar="N",
        default=default,
        show_default=shown,
        help=what,
    )


def budget(default: str | None, what: str) -> Callable[[CommandT], CommandT]:
    """Add the time that the whole command may take."""
    return click.option(
        "--budget",
        type=Time(),
        metavar="TIME",
        default=default,
        show_default=True,
        help=f"{what}, such as 30s, 5m, 1h30m.",
    )


def seed(command: CommandT) -> CommandT:
    """Add the seed."""
    return click.option(
        "--seed",
        type=Whole(min=0),
        metavar="N",
        default=0,
        show_default=True,
        help="Seed of all random choices: the same seed gives the same result.",
    )(command)


def jobs(command: CommandT) -> CommandT:
    """Add the number of threads."""
    return click.option(
        "--jobs",
        type=Whole(min=1),
        metavar="N",
        show_default="all usable cores",
        help="Threads; they do not change the result.",
    )(command)


def csv(command: CommandT) -> CommandT:
    """Add the file for a table; see `kes.cli.console.show_or_write`."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path),
        metavar="FILE",
        show_default="standard output",
        help="CSV file for the table; compressed if it ends in .csv.gz.",
    )(command)


def progress(command: CommandT) -> CommandT:
    """Add whether to show how far it is."""
    return click.option(
        "--progress/--no-progress",
        default=None,
        show_default="only on a terminal",
        help="Show how far it is.",
    )(command)


def _together(*options: Callable[[CommandT], CommandT]) -> Callable[[CommandT], CommandT]:
    """Join decorators: the first option is listed first."""

    def decorate(command: CommandT) -> CommandT:
        for add in reversed(options):
            command = add(command)
        return command

    return decorate
