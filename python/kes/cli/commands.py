"""The group of all commands, and the handling of their errors."""

import errno
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click
from click.shell_completion import get_completion_class

from kes import _core
from kes.cli import options
from kes.cli.console import say
from kes.cli.parsing import no_such_command
from kes.cli.signals import exit_code
from kes.errors import KesError, naming_flags

COMMANDS = (
    *("audit", "learn", "edges", "posterior", "stability", "noise", "effects", "compare"),
    *("report", "plot", "fit", "query", "predict", "forecast", "sample", "score", "certify"),
    *("credible", "convert", "app", "completion", "paper"),
)
_SHARED = {"models": "compare convert sample score", "results": "edges effects report"}
"""Modules of several commands. Others have one, in the module of its name."""

_MODULES = {name: module for module, names in _SHARED.items() for name in names.split()}

_STREAM_ERRORS = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF)
"""Errors of a stream that cannot be written to."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; its module is imported when it is used."""
        if cmd_name not in COMMANDS or cmd_name in self.commands:
            return super().get_command(ctx, cmd_name)
        module = import_module(f"kes.cli.{_MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; ``kes help learn`` is ``kes learn --help``."""
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise no_such_command(name, COMMANDS, ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(_core.__version__, prog_name="kes", message="%(prog)s %(version)s")
def kes() -> None:
    """Learn Bayesian networks from tables, and see every local optimum instead of one."""


@options.command(
    "completion",
    "Print a shell completion script.",
    'eval "$(kes completion bash)"                       in ~/.bashrc',
    'eval "$(kes completion zsh)"                        in ~/.zshrc',
    "kes completion fish > ~/.config/fish/completions/kes.fish",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def _completion(*, shell: str) -> None:
    """Print the script that makes SHELL complete commands, options and choices of kes."""
    completion = get_completion_class(shell)
    assert completion is not None, "click knows these shells"
    click.echo(completion(kes, {}, "kes", "_KES_COMPLETE").source())


kes.add_command(_completion)


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line, with the arguments of the process by default.

    Returns the exit code. Each error becomes one message.
    """
    try:
        with naming_flags(options.FLAGS):
            _check_arguments(sys.argv[1:] if args is None else args)
            code = kes.main(args, prog_name="kes", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        say(text.getvalue().rstrip("\n").expandtabs(2), err=True)
        return 2
    except KesError as error:
        return _report(error, 2)
    except (click.Abort, KeyboardInterrupt):
        return _report("interrupted", exit_code())
    except OSError as error:
        return _write_error(error)
    except SystemExit:
        raise
    except BaseException as error:  # a panic of the core is not an Exception
        return _unexpected(error)
    return code if isinstance(code, int) else 0


def _check_arguments(arguments: Sequence[str]) -> None:
    """Refuse characters that a shell cannot pass, but another program can."""
    for argument in arguments:
        try:
            valid = b"\0" not in os.fsencode(argument)
        except UnicodeEncodeError:
            valid = False
        if not valid:
            raise KesError(f"{argument!r} contains characters that are not allowed in arguments")


def _write_error(error: OSError) -> int:
    """Report that the standard output cannot be written to, if that is the error."""
    if error.errno not in _STREAM_ERRORS or error.filename is not None:
        return _unexpected(error)
    # Keep Python from trying to write the rest again when it exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 1  # broken pipe: exit silently
    return _report(f"cannot write the output: {error.strerror}", 1)


def _unexpected(error: BaseException) -> int:
    return _report(KesError(f"unexpected {type(error).__name__}: {error}"), 1)


def _report(message: object, code: int) -> int:
    say(f"Error: {message}", err=True)
    return code
