"""Options of commands: those that `kes.options` declares, and those that only the shell has."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from kes.budget import MAX_TASKS, TASKS_PER_RUN
from kes.cli.parsing import Duration, Integer, NameOrNumber, Number, no_such_option
from kes.cli.signals import raise_on_interrupt
from kes.data.infer_kinds import quoted
from kes.declare import Option, declared
from kes.errors import naming_flags
from kes.options import (
    MISSING,
    FitOptions,
    LearnOptions,
    Sampled,
    check_basis,
    check_edge_prior,
    check_gamma,
    check_improve,
    check_neighbourhood,
    check_prior,
    check_prove,
)
from kes.validation import (
    MAX_MB,
    boolean,
    callback,
    choice,
    duration,
    integer,
    jobs,
    megabytes,
    number,
    seed,
)

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

_DECLARED: Mapping[str, Option] = {**declared(FitOptions), **declared(LearnOptions)}
_SWITCHES = (callback, check_improve, check_prove)
"""Checks of options that the shell switches on and off: ``--prove/--no-prove``."""

_SEARCH = tuple(
    name
    for name, option in declared(LearnOptions).items()
    if option.help is not None
    and option.group != "data"
    and name not in ("contexts", "out", "checkpoint", "client", "progress")
)
"""Options of `kes.learn` that the shell has, except those of input and output."""

FLAGS = {name: option.flag for name, option in _DECLARED.items() if option.flag}
"""Flags that differ from the Python name by more than hyphens."""


def command(
    name: str, summary: str, *examples: str
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function; its help ends with the examples."""
    epilog = "\n  ".join(["\b\nExamples:", *examples]) if examples else None
    return click.command(name, cls=_Command, short_help=summary, epilog=epilog)


class _Command(click.Command):
    """A command that suggests a correction for an unknown option or a missing argument."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; if one is missing, show the first example of the help."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise no_such_option(error.option_name, self, ctx) from None
        except click.MissingParameter as error:
            example = re.search(rf"kes {self.name} .+", f"{self.help}\n{self.epilog}")
            shown = f" For example: {example[0]}" if example else ""
            raise click.UsageError(f"{error.format_message()}{shown}", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click has it
        """Run the command; from now on an interrupt is raised, so that work can be saved."""
        raise_on_interrupt()
        with naming_flags(FLAGS | _missing_flags(ctx.params.get("missing") or ())):
            return super().invoke(ctx)


def _missing_flags(given: Iterable[str]) -> dict[str, str]:
    """Return flags for advice about missing values that keeps what the user typed already."""
    words = [word for text in given for word in text.split(",") if word]
    markers = [quoted(word) for word in words if word not in MISSING]
    chosen = [word for word in words if word in MISSING]
    return {
        "missing": f"--missing {','.join([*markers, '{}'])}",
        "na_values": f"--missing {','.join([*markers, '{}', *(chosen or ['em'])])}",
    }


# --- declared options ----------------------------------------------------------------------------


def add(
    *names: str,
    of: type | None = None,
    of_result: str | None = None,
    **changed: Any,  # noqa: ANN401 - as click has them
) -> Callable[[CommandT], CommandT]:
    """Add declared options to a command, which gets them under their Python names.

    `of` is the TypedDict that declares them, if they are not options of `learn` or `fit`.
    `of_result` is the argument that may be a result, whose settings are the defaults: an option
    that is not given is then None. `changed` are attributes of `click.option` that differ from the
    declaration.
    """
    known = _DECLARED if of is None else declared(of)
    return _together(*(_click_option(known[name], of_result, changed) for name in names))


def _click_option(
    option: Option, of_result: str | None, changed: Mapping[str, Any]
) -> Callable[[CommandT], CommandT]:
    flag = option.flag or "--" + option.name.replace("_", "-")
    default = option.default
    shown: str | bool = True if option.default_text is None else option.default_text
    if option.check in _SWITCHES:
        flag = f"{flag}/--no-{flag[2:]}"
        default = default if isinstance(default, bool) else None
    if of_result is not None:
        shown = f"that of {of_result}, or {option.default_text or default}"
        default = None
    attributes: dict[str, Any] = {
        "default": default,
        "show_default": shown,
        "metavar": option.metavar,
        "help": option.help,
        **_type(option),
        **changed,
    }
    return click.option(flag, option.name, **attributes)


def _type(option: Option) -> dict[str, Any]:
    """Return the attributes of `click.option` that follow from the check of an option."""
    check = option.check
    bounds = check.keywords if isinstance(check, partial) else {}
    function = check.func if isinstance(check, partial) else check
    if function is integer:
        return {"type": Integer(min=bounds.get("minimum"), max=bounds.get("maximum"))}
    if function is number:
        low, is_open = bounds.get("minimum", bounds.get("above")), "above" in bounds
        high = bounds.get("maximum") if "minimum" in bounds else None
        return {"type": Number(min=low, max=high, min_open=is_open)}
    if function is choice:
        return {"type": click.Choice(option.choices, case_sensitive=False)}
    types: dict[object, dict[str, Any]] = {
        boolean: {"is_flag": True, "show_default": False},
        jobs: {"type": Integer(min=1)},
        seed: {"type": Integer(min=0)},
        megabytes: {"type": Integer(min=1, max=MAX_MB)},
        duration: {"type": Duration()},
        check_prior: {"type": NameOrNumber(check_prior)},
        check_basis: {"type": NameOrNumber(check_basis)},
        check_edge_prior: {"type": NameOrNumber(check_edge_prior)},
        check_gamma: {"type": NameOrNumber(check_gamma)},
        check_neighbourhood: {"type": click.Choice(["exact", "sampled"])},
    }
    return types.get(function, {})


def estimation(command: CommandT) -> CommandT:
    """Add how CPDs are estimated."""
    ess = add("ess", help="Equivalent sample size of --prior bdeu.")
    return _together(add("prior"), ess)(command)


def search(command: CommandT) -> CommandT:
    """Add all options of a search; `search_options` makes those of `kes.learn` of them."""
    more = {"improve": _improve_flags, "neighbourhood": _sampled_flags}
    command = knowledge(command)
    for name in reversed(_SEARCH):
        command = add(name)(more[name](command) if name in more else command)
    return command


def _improve_flags(command: CommandT) -> CommandT:
    shown = f"until scores settle; with --runs, {TASKS_PER_RUN} per run, at most {MAX_TASKS}"
    return _together(
        count("--improve-tasks", "Number of improvement tasks.", show_default=shown),
        click.option(
            "--improve-budget",
            type=Duration(),
            metavar="TIME",
            help="Time for improving, instead of a number of tasks; not exactly reproducible.",
        ),
    )(command)


def _sampled_flags(command: CommandT) -> CommandT:
    return _together(
        count(
            "--reversals",
            "For sampled: maximum number of covered arcs to reverse before a draw.",
            minimum=0,
            show_default=str(Sampled().reversals),
        ),
        count(
            "--failures",
            "For sampled: stop a run after N iterations without improvement.",
            show_default="20 draws per pair of variables",
        ),
    )(command)


def search_options(given: dict[str, Any]) -> dict[str, Any]:
    """Take the options of `search` out of those given, and return them as options of `kes.learn`.

    Knowledge is left to `kes.cli.inputs.read_knowledge`.
    """
    found = {name: given.pop(name) for name in _SEARCH}
    found["improve"] = _improve(
        found["improve"], given.pop("improve_tasks"), given.pop("improve_budget")
    )
    found["neighbourhood"] = _neighbourhood(
        found["neighbourhood"], given.pop("reversals"), given.pop("failures")
    )
    found["prove"] = "auto" if found["prove"] is None else found["prove"]
    return found


def _improve(improve: bool, tasks: int | None, budget: float | None) -> bool | int | str:
    if tasks is not None and budget is not None:
        raise click.UsageError("Give --improve-tasks or --improve-budget, not both.")
    if tasks is None and budget is None:
        return improve
    if not improve:
        flag = "--improve-budget" if tasks is None else "--improve-tasks"
        raise click.UsageError(f"{flag} cannot be combined with --no-improve.")
    return tasks or f"{budget:f}".rstrip("0").rstrip(".") + "s"  # 1.08e+06 is not a duration


def _neighbourhood(name: str, reversals: int | None, failures: int | None) -> str | Sampled:
    given = {"reversals": reversals, "failures": failures}
    chosen = {key: value for key, value in given.items() if value is not None}
    if name == "sampled":
        return Sampled(**chosen)
    if chosen:
        raise click.UsageError(f"--{next(iter(chosen))} needs --neighbourhood sampled.")
    return name


# --- results and models --------------------------------------------------------------------------


def result(command: CommandT) -> CommandT:
    """Add a result, its data, and how to read them; see `kes.cli.inputs.open_result`."""
    argument = click.argument("result", type=click.Path(path_type=Path))
    return _together(argument, data("The table that it was learned from."), table)(command)


def model(command: CommandT) -> CommandT:
    """Add a result or a network, and the data and rank that a result needs."""
    return _together(
        click.argument("model", type=click.Path(path_type=Path)),
        data("The table that a result was learned from."),
        optimum,
    )(command)


def data(text: str) -> Callable[[CommandT], CommandT]:
    """Add the file with the data of a result, or the folder in which to look for it."""
    return click.option(
        "--data",
        metavar="FILE|FOLDER",
        show_default="the file that the result names",
        help=f"{text} If it is a folder, the file there with the name stored in the result.",
    )


def optimum(command: CommandT) -> CommandT:
    """Add the rank of an optimum of a result."""
    text = "Rank of the optimum to take from a result; 0 is the best."
    return count("--optimum", text, 0, minimum=0)(command)


# --- tables and knowledge ------------------------------------------------------------------------


def table(command: CommandT) -> CommandT:
    """Add options for reading a table; see `kes.cli.inputs.read_table`."""
    return _together(
        click.option(
            "--example", type=click.Choice(["alarm"]), help="Use built-in data instead of a file."
        ),
        count("--rows", "Number of cases to draw for --example.", show_default="20000"),
        add("weights"),
        add("missing", type=str, multiple=True, default=None, show_default=False),
        add("completions", "discretize", "dates"),
        add("interventions", type=click.Path(path_type=Path)),
        count("--lags", "Put N earlier rows of a series beside each row, as exogenous variables."),
        columns("--by", "With --lags: columns that tell series apart, such as a patient."),
        click.option(
            "--time",
            metavar="COLUMN",
            help="With --lags: column that orders the rows of a series and shows its gaps.",
            show_default="rows are in order",
        ),
        columns("--columns", "Use only these columns."),
        columns("--drop", "Leave out these columns."),
        columns("--discrete", "Treat these columns as discrete."),
        columns("--continuous", "Treat these columns as continuous."),
        click.option(
            "--sep",
            metavar="CHARACTER",
            show_default="detected",
            help="Column separator of a CSV file; 'tab' for tabs.",
        ),
        click.option(
            "--decimal",
            type=click.Choice([".", ","]),
            show_default="detected",
            help="Decimal sign of a CSV file.",
        ),
        click.option(
            "--encoding",
            metavar="NAME",
            show_default="detected",
            help="Text encoding of a CSV file, such as utf-8 or cp1252.",
        ),
    )(command)


def knowledge(command: CommandT) -> CommandT:
    """Add background knowledge; see `kes.cli.inputs.read_knowledge`."""
    return _together(
        file(
            "--knowledge",
            "Background knowledge: a TOML or JSON file with tiers, required, forbidden, apart, "
            "roots, leaves, likely, exogenous and targets, or a knowledge file of Tetrad.",
        ),
        click.option(
            "--tiers",
            metavar="A,B;C;...",
            help="Groups of columns, earliest first: no arc leads from a later to an earlier one.",
        ),
        _pair("--require", "Require the arc from A to B."),
        _pair("--forbid", "Forbid the arc from A to B."),
        _pair("--apart", "Forbid an edge between A and B."),
        columns("--roots", "Columns without parents."),
        columns("--leaves", "Columns without children."),
        add("contexts", multiple=True, default=None, show_default=False),
        click.option(
            "--likely",
            multiple=True,
            metavar="A,B=NATS",
            help="Log prior odds of an edge between A and B, negative if unlikely. Can be "
            "repeated.",
        ),
    )(command)


def _pair(flag: str, text: str) -> Callable[[CommandT], CommandT]:
    return click.option(flag, multiple=True, metavar="A,B", help=f"{text} Can be repeated.")


# --- options of single commands ------------------------------------------------------------------


def count(
    flag: str,
    text: str,
    default: int | None = None,
    *,
    minimum: int = 1,
    show_default: str | bool = True,
) -> Callable[[CommandT], CommandT]:
    """Add an option that is an integer."""
    kind = Integer(min=minimum)
    return click.option(
        flag, type=kind, metavar="N", default=default, show_default=show_default, help=text
    )


def columns(
    flag: str, text: str, *, show_default: str | bool = False
) -> Callable[[CommandT], CommandT]:
    """Add an option that names columns."""
    return click.option(
        flag, multiple=True, metavar="A,B,...", show_default=show_default, help=text
    )


def file(
    flag: str,
    text: str,
    **more: Any,  # noqa: ANN401 - as click has them
) -> Callable[[CommandT], CommandT]:
    """Add an option that is a file."""
    return click.option(
        flag, **{"type": click.Path(path_type=Path), "metavar": "FILE", "help": text, **more}
    )


def csv(text: str = "CSV file for the table") -> Callable[[CommandT], CommandT]:
    """Add the file for a table; see `kes.cli.console.show_or_write`."""
    text += "; compressed if it ends in .csv.gz."
    return file("--out", text, show_default="standard output")


def _together(*options: Callable[[CommandT], CommandT]) -> Callable[[CommandT], CommandT]:
    """Join decorators: the first option is listed first."""

    def decorate(command: CommandT) -> CommandT:
        for decorator in reversed(options):
            command = decorator(command)
        return command

    return decorate
