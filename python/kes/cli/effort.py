"""Say before it begins that a repeated search takes long."""

from kes.budget import Budget
from kes.cli.console import say
from kes.results.summary import counted
from kes.search.problem import Problem

_LONG = 600.0
"""Processor seconds that need no word."""


def say_effort(problem: Problem, searches: int, each: Budget, fewer: str) -> None:
    """Say what some searches will take if that is long, and what to ask for instead."""
    seconds = searches * each.processor_seconds(problem.size)
    if seconds < _LONG:
        return
    say(
        f"Note: about {_words(seconds)} of processor time for "
        f"{counted(searches, 'search', 'searches')} of {len(problem.dataset.names)} variables; "
        f"{fewer} takes less. Ctrl-C shows what is finished by then.",
        err=True,
    )


def _words(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds < 2 * 3600 else f"{seconds / 3600:.0f} hours"
