"""Progress of a search: a value for callbacks, a bar for terminals, lines for log files."""

from __future__ import annotations

import json
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


@dataclass(frozen=True)
class Progress:
    """The state of a search.

    Attributes
    ----------
    done, wanted : int
        Units of work finished and requested: steps of GES (their number is not known in advance, so
        0 are requested), runs of a search, tasks of improving, sets of variables of a proof (an
        upper bound), sweeps of EM, or questions of evidence.
    best : float or None
        Highest score found so far; None before the first run has ended.
    optima : int
        Distinct models found so far.
    seconds : float
        Time since the start.
    left : float or None
        Estimated seconds to the end; None if unknown.
    unit : str
        The unit of work: "steps", "runs", "tasks", "sets", "sweeps" or "questions".
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

    def __str__(self) -> str:
        if not self.wanted:
            return f"{self.done} {self.unit}, {clock(self.seconds)}"
        return ", ".join([f"{self.done} of {self.wanted} {self.unit}", *_figures(self)])


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
        done, spent = tables * self._each + runs, time.monotonic() - self._started
        left = spent * (self._wanted - done) / done if done else None
        # No best score: those of different tables cannot be compared.
        return Progress(done, self._wanted, best=None, optima=0, seconds=spent, left=left)

    def after(self, tables: int, report: Reporter) -> Show:
        """Return a display for the search on the next table."""

        def show(progress: Progress) -> None:
            # What follows the runs on a table is not counted, nor what comes before them.
            before = {"sweeps": 0, "steps": 0, "runs": progress.done}
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

    form = "{percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt} "
    endless = "GES: {n_fmt} "
    bars: list[tqdm[None]] = []  # created on the first update

    def show(progress: Progress) -> None:
        if not bars:
            bars.append(
                tqdm(
                    [],
                    bar_format="{postfix}",  # nothing yet
                    dynamic_ncols=True,
                    file=sys.stderr,
                    leave=False,  # the result is printed afterwards
                )
            )
        bar, figures = bars[0], _figures(progress)
        if not progress.wanted:
            figures.append(clock(progress.seconds))
        bar.bar_format = (form if progress.wanted else endless) + progress.unit + "{postfix}"
        bar.total, bar.n = progress.wanted or None, progress.done
        bar.set_postfix_str(", ".join(figures))

    try:
        yield show
    finally:
        for bar in bars:
            bar.close()


def _figures(progress: Progress) -> list[str]:
    figures = []
    if progress.best is not None:
        figures += [f"best {progress.best:.1f}", f"{progress.optima} optima"]
    if progress.left is not None:
        figures.append(f"{clock(progress.left)} left")
    elif progress.steps:  # a first run may take minutes
        figures += [f"{progress.steps} steps", clock(progress.seconds)]
    return figures
