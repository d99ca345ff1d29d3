"""A warning before a repeated search that takes long."""

from kes.budget import Budget
from kes.cli.console import say
from kes.results.summary import counted
from kes.search.problem import Problem

_LONG = 600.0
"""Processor seconds without a warning."""


def say_effort(problem: Problem, searches: int, each: Budget, fewer: str) -> None:
    """Warn if some searches take long, and suggest a smaller amount."""
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
