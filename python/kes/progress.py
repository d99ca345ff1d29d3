"""Progress of a search: a value for callbacks, a bar for terminals, lines for log files."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

Show: TypeAlias = "Callable[[Progress], object]"
_PAUSE = 0.12  # seconds: at most ten updates a second, including the final one
_EVERY = 10.0  # seconds between lines in a log file
_ECHO = "^C"
"""The echo of Ctrl-C, which terminals write behind the bar. The bar leaves space for it."""


@dataclass(frozen=True)
class Progress:
    """The state of a search.

    Attributes
    ----------
    done, wanted : int
        Units of work finished and requested; 0 are requested if their number is not known in
        advance. Units are steps of GES, runs of a search, tasks of improving, sets of variables of
        a proof (an upper bound) or of a sum, rounds of EM or of chains, questions of evidence, and
        so on.
    best : float or None
        Highest score found so far; None before the first run has ended, and for other work than a
        search.
    optima : int
        Distinct models found so far.
    seconds : float
        Time since the start.
    left : float or None
        Estimated seconds to the end; None if unknown.
    unit : str
        The unit of work: "steps", "runs", "tasks", "sets", "rounds", "questions" and so on.
    steps : int
        Steps of the runs, also of those that have not ended; 0 for other units.
    """

    done: int
    wanted: int
    best: float | None
    optima: int
    seconds: float
    left: float | None
    unit: str = "runs"
    steps: int = 0

    @classmethod
    def at_a_pace(cls, done: int, wanted: int, started: float, unit: str) -> Progress:
        """Return the progress of work whose units take about as long as each other.

        `started` is a time of `time.monotonic`.
        """
        spent = time.monotonic() - started
        return cls(done, wanted, None, 0, spent, time_left(spent, done, wanted), unit)

    def __str__(self) -> str:
        done = f"{self.done} of {self.wanted}" if self.wanted else f"{self.done}"
        return ", ".join([f"{done} {self.unit}", *_figures(self)])


def time_left(spent: float, done: float, wanted: float) -> float | None:
    """Estimate the seconds to the end of steady work; None before anything is done."""
    return spent * max(wanted - done, 0.0) / done if done else None


class Reporter:
    """Forwards progress to a display, at most ten times a second, and the final state."""

    def __init__(self, show: Show | None) -> None:
        self._show = show
        self._next = 0.0

    def __call__(self, progress: Progress, *, final: bool = False) -> None:
        """Show the progress unless the last update is too recent."""
        now = time.monotonic()
        if self._show is not None and (final or now >= self._next):
            self._next = now + _PAUSE
            self._show(progress)


class RunCounter:
    """Counts the runs on several tables, `each` and all together, as if they were one search."""

    def __init__(self, each: int, wanted: int) -> None:
        self._each, self._wanted = each, wanted
        self._started = time.monotonic()

    def at(self, tables: int, runs: int = 0) -> Progress:
        """Return the progress after all runs on some tables and some runs on the next one."""
        # No best score: those of different tables cannot be compared.
        return Progress.at_a_pace(tables * self._each + runs, self._wanted, self._started, "runs")

    def after(self, tables: int, report: Reporter) -> Show:
        """Return a display for the search on the next table."""

        def show(progress: Progress) -> None:
            # Work before and after the runs on a table is not counted.
            before = {"rounds": 0, "steps": 0, "runs": progress.done}
            report(self.at(tables, before.get(progress.unit, self._each)))

        return show


@contextmanager
def reporting(progress: bool | Show | None) -> Iterator[Reporter]:
    """Make the reporter for the option `progress`.

    None or False: no display. True: a progress bar (tqdm). A callable receives `Progress`.
    """
    if progress is True:
        with _bar() as show:
            yield Reporter(show)
    else:
        yield Reporter(progress or None)


def lines() -> Show:
    """Return a display for log files: a line every few seconds."""
    last = time.monotonic()

    def show(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= _EVERY:
            last = time.monotonic()
            print(progress, file=sys.stderr, flush=True)

    return show


def json_lines(path: Path) -> Show:
    """Return a display for programs that watch a search: a JSON object per line of a file."""

    def show(progress: Progress) -> None:
        with suppress(OSError), path.open("a", encoding="ascii") as file:  # the search goes on
            file.write(json.dumps(asdict(progress)) + "\n")

    return show


def clock(seconds: float) -> str:
    """Format a duration, such as 02:05 or 1:00:00."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


@contextmanager
def _bar() -> Iterator[Show]:
    from tqdm import tqdm

    known = "{percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt} "
    bars: list[tqdm[None]] = []  # created on the first update

    def show(progress: Progress) -> None:
        width = _width()
        if not bars:
            bars.append(
                tqdm(
                    [],
                    bar_format="{postfix}",  # nothing yet
                    ncols=width,
                    file=sys.stderr,
                    leave=False,  # the result is printed afterwards
                )
            )
        bar, unknown = bars[0], "GES: {n_fmt} " if progress.unit == "steps" else "{n_fmt} "
        bar.bar_format = (known if progress.wanted else unknown) + progress.unit + "{postfix}"
        bar.ncols = width
        bar.total, bar.n = progress.wanted or None, progress.done
        bar.set_postfix_str(", ".join(_figures(progress)))

    try:
        yield show
    finally:
        for bar in bars:
            bar.close()
            if (width := _width()) is not None:
                sys.stderr.write(f"\r{' ' * (width + len(_ECHO))}\r")
                sys.stderr.flush()


def _width() -> int | None:
    """Return the width of a bar on this terminal, beside which there is room for an echo."""
    try:
        return max(os.get_terminal_size(sys.stderr.fileno()).columns - len(_ECHO) - 1, 1)
    except (OSError, ValueError):  # no terminal, or no file
        return None


def _figures(progress: Progress) -> list[str]:
    figures = []
    if progress.best is not None:
        figures += [f"best {progress.best:.1f}", f"{progress.optima} optima"]
    if progress.left is not None:
        return [*figures, f"{clock(progress.left)} left"]
    if progress.steps:  # a first run may take minutes
        figures.append(f"{progress.steps} steps")
    return [*figures, clock(progress.seconds)]
