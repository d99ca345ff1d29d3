"""The whole evaluation: which runs it needs, doing them, and writing what they show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from kes import _core
from kes.errors import KesError, unknown
from kes.paper import document
from kes.paper.document import Section, check_plotting
from kes.paper.experiments import Figure1, Neighbourhoods, SampleSizes, Table1
from kes.paper.runner import DATABASES, Bench, Cell, Library, Outcome
from kes.paper.theorems import Erratum, Theorems
from kes.progress import Progress
from kes.validation import integer


class Experiment(Protocol):
    """A table, figure or claim of the paper."""

    @property
    def key(self) -> str:
        """Name on the command line."""

    @property
    def title(self) -> str:
        """Name for readers."""

    def cells(self, runs: int) -> list[Cell]:
        """Return the runs needed."""

    def section(self, outcomes: Mapping[Cell, Outcome]) -> Section:
        """Make of the runs that could be done, in the order asked for, what is to be shown."""


EXPERIMENTS: dict[str, Experiment] = {
    experiment.key: experiment
    for experiment in (
        Table1("bic"),
        Figure1(),
        Table1("bdeu"),
        SampleSizes(),
        Neighbourhoods(),
        Theorems(),
        Erratum(),
    )
}


@dataclass(frozen=True)
class Stage:
    """How far the evaluation is: what is being done, and runs done of all that are needed."""

    title: str
    done: int
    wanted: int


@dataclass(frozen=True)
class Written:
    """What `reproduce` leaves: the files, and the databases that could not be had, with reasons."""

    files: list[Path]
    skipped: dict[str, str]


def reproduce(
    out: Path,
    *,
    only: Collection[str] = (),
    runs: int = 1000,
    seed: int = 0,
    n_jobs: int | None = None,
    coil: Path | None = None,
    leukemia: Path | None = None,
    fill: Path | None = None,
    progress: Callable[[Stage], object] = lambda stage: None,
) -> Written:
    """Do the evaluation of the paper again.

    Parameters
    ----------
    out
        Folder for ``reproduction.md``, ``results.json``, ``figures`` and, in ``cells``, the runs
        themselves as result files. Runs that are there already are not done again.
    only
        Names of experiments and of databases to restrict it to.
    runs
        Runs per database and k.
    seed, n_jobs
        As `random_state` and `n_jobs` in `kes.learn`.
    coil, leukemia
        Copies of the data that cannot be shipped; without them the environment variables
        ``KES_COIL`` and ``KES_LEUKEMIA`` are looked at.
    fill
        Another Markdown document whose marked parts are filled in as well.
    progress
        Called several times a second.

    Raises
    ------
    KesError
        If nothing of what is asked for can be done.
    Interrupted
        On Ctrl-C. The runs done so far are kept; call it again to go on.
    """
    integer("runs", runs, minimum=1)
    check_plotting()
    plan = _plan(only, runs)
    library = Library(coil, leukemia)
    bench = Bench(out / "cells", seed=seed, n_jobs=n_jobs)
    cells = list(dict.fromkeys(cell for cells in plan.values() for cell in cells))
    outcomes = _do(cells, library, bench, progress)
    total = sum(cell.runs for cell in outcomes)
    sections = []
    for key, needed in plan.items():
        found = {cell: outcomes[cell] for cell in needed if cell in outcomes}
        if found or not needed:
            progress(Stage(EXPERIMENTS[key].title, total, total))
            sections.append(EXPERIMENTS[key].section(found))
    if not sections:
        raise KesError("no data for any of the experiments: " + " ".join(library.skipped.values()))
    summary = {"kes": _core.__version__, "runs": runs, "seed": seed, "skipped": library.skipped}
    files = document.write(out, sections, summary)
    if fill is not None:
        files += document.fill(fill, sections)
    return Written(files, library.skipped)


def _plan(only: Collection[str], runs: int) -> dict[str, list[Cell]]:
    """Return the experiments asked for with the runs that they need."""
    for name in only:
        if name not in EXPERIMENTS and name not in DATABASES:
            raise unknown("experiment or database", name, [*EXPERIMENTS, *DATABASES])
    experiments = [key for key in EXPERIMENTS if key in only] or list(EXPERIMENTS)
    databases = [name for name in DATABASES if name in only]
    plan = {}
    for key in experiments:
        cells = EXPERIMENTS[key].cells(runs)
        if databases:
            cells = [cell for cell in cells if cell.sample.database in databases]
        if cells or key in only or not databases:
            plan[key] = cells
    return {key: cells for key, cells in plan.items() if cells or not EXPERIMENTS[key].cells(runs)}


def _do(
    cells: Sequence[Cell], library: Library, bench: Bench, progress: Callable[[Stage], object]
) -> dict[Cell, Outcome]:
    """Do the runs, those that share their counts one after the other."""
    groups = {terms: number for number, terms in enumerate(dict.fromkeys(c.terms for c in cells))}
    ordered = sorted(cells, key=lambda cell: groups[cell.terms])
    outcomes = {}
    done, wanted = 0, sum(cell.runs for cell in cells)
    for cell in ordered:
        dataset = library.find(cell.sample)
        if dataset is None:
            wanted -= cell.runs
            continue
        report = _reporter(progress, Stage(cell.title, done, wanted))
        outcomes[cell] = bench.do(cell, dataset, report)
        done += cell.runs
    return outcomes


def _reporter(progress: Callable[[Stage], object], start: Stage) -> Callable[[Progress], object]:
    """Report a start, and return what reports how far the runs are from there."""
    progress(start)
    return lambda now: progress(replace(start, done=start.done + now.done))
