"""The command line: ``kes learn data.csv --runs 1000 --out a.kes.json.gz``.

Exit codes: 0 when all went well, 2 for input that cannot be used, 130 after Ctrl-C, 1 for
anything unexpected. Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from kes import _core
from kes.cli.options import FLAGS, no_such
from kes.errors import KesError, naming_flags, printable

_COMMANDS = ("audit", "learn", "certify", "edges", "effects", "report", "convert", "paper")
"""Each is the object `command` in the module of its name, imported when it is used."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"kes.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            raise no_such("command", name, list(_COMMANDS), ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(_core.__version__, prog_name="kes", message="%(prog)s %(version)s")
def kes() -> None:
    """Learn Bayesian networks from tables, and see the landscape of local optima."""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line, with the arguments of the process by default, and exit."""
    sys.exit(run(args))


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; errors become one message each."""
    try:
        with naming_flags(FLAGS):
            _refuse_unspeakable(sys.argv[1:] if args is None else args)
            code = kes.main(args, prog_name="kes", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        click.echo("\n".join(map(printable, text.getvalue().split("\n"))), err=True, nl=False)
        return 2
    except KesError as error:
        return _complain(str(error), 2)
    except (click.Abort, KeyboardInterrupt):
        return _complain("interrupted", 130)
    except BrokenPipeError:
        # The reader has gone; keep Python from saying so once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except SystemExit:
        raise
    except BaseException as error:  # a panic of the core is no Exception
        return _complain(f"unexpected {type(error).__name__}: {error}", 1)
    return code if isinstance(code, int) else 0


def _refuse_unspeakable(arguments: Sequence[str]) -> None:
    """Refuse what no shell passes on, but another program may: no file has such a name."""
    for argument in arguments:
        try:
            fit = b"\0" not in os.fsencode(argument)
        except UnicodeEncodeError:
            fit = False
        if not fit:
            raise KesError(f"the argument {argument!r} holds characters that none can have")


def _complain(message: str, code: int) -> int:
    first, *more = message.split("\n")
    click.echo(f"Error: {KesError(first, *more)}", err=True)
    return code
