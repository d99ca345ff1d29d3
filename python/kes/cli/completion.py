"""``kes completion``: shell completion of commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from kes.cli import options

_EXAMPLES = """
\b
Examples:
  eval "$(kes completion bash)"                       in ~/.bashrc
  eval "$(kes completion zsh)"                        in ~/.zshrc
  kes completion fish > ~/.config/fish/completions/kes.fish
"""
_SHELLS = ("bash", "zsh", "fish")


@click.command(
    "completion",
    cls=options.Command,
    short_help="Print a shell completion script.",
    epilog=_EXAMPLES,
)
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def command(ctx: click.Context, *, shell: str) -> None:
    """Print the script that makes SHELL complete commands, options and choices of kes."""
    completion = get_completion_class(shell)
    assert completion is not None, "click knows these shells"
    click.echo(completion(ctx.find_root().command, {}, "kes", "_KES_COMPLETE").source())
