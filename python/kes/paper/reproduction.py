"""The whole evaluation: plan the runs, do them, and write the results."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kes import _core
from kes.errors import KesError, unknown
from kes.paper import document
from kes.paper.document import Section, Shown, check_plotting
from kes.paper.experiments import (
    figure1,
    figure1_cells,
    neighbourhood_cells,
    neighbourhoods,
    sample_size,
    sample_size_cells,
    table1,
    table1_cells,
)
from kes.paper.runner import DATABASES, Bench, Cell, Library, Outcome
from kes.paper.theorems import erratum, theorems
from kes.progress import Progress
from kes.validation import integer


@dataclass(frozen=True)
class Experiment:
    """A table, figure or claim of the paper: the runs that it needs, and the section they give.

    `key` is its name on the command line. Sections are in the order in which they were asked for.
    """

    key: str
    title: str
    show: Callable[[Mapping[Cell, Outcome]], Shown]
    cells: Callable[[int], list[Cell]] = lambda runs: []  # none are worth keeping

    def section(self, outcomes: Mapping[Cell, Outcome]) -> Section:
        """Return the section that the runs give."""
        return Section(self.key, self.title, *self.show(outcomes))


EXPERIMENTS = {
    experiment.key: experiment
    for experiment in (
        Experiment("table1", "Table 1", table1, partial(table1_cells, "bic")),
        Experiment("figure1", "Figure 1", figure1, figure1_cells),
        Experiment("bdeu", "Table 1 with BDeu", table1, partial(table1_cells, "bdeu")),
        Experiment("sample-size", "Sample size", sample_size, sample_size_cells),
        Experiment(
            "sampled", "Exact and sampled neighbourhoods", neighbourhoods, neighbourhood_cells
        ),
        Experiment("theorems", "Theorems and examples", theorems),
        Experiment("erratum", "Erratum to Example 1", erratum),
    )
}


@dataclass(frozen=True)
class Stage:
    """Progress of the evaluation: the current stage, and the runs done and wanted."""

    title: str
    done: int
    wanted: int


@dataclass(frozen=True)
class Written:
    """Files that `reproduce` wrote, and databases that were not available, with reasons."""

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
    """Reproduce the evaluation of the paper.

    Parameters
    ----------
    out
        Folder for ``reproduction.md``, ``results.json``, ``figures`` and, in ``cells``, the runs
        themselves as result files. Existing runs are not repeated.
    only
        Names of the only experiments and databases to use.
    runs
        Runs per database and k.
    seed, n_jobs
        As `random_state` and `n_jobs` in `kes.learn`.
    coil, leukemia
        Copies of the data that cannot be shipped; by default, the environment variables
        ``KES_COIL`` and ``KES_LEUKEMIA`` name them.
    fill
        Another Markdown document whose marked parts are filled in as well.
    progress
        Called several times a second.

    Raises
    ------
    KesError
        If none of the experiments can be done.
    Interrupted
        On Ctrl-C. The runs done so far are kept; call it again to resume.
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
    """Return the experiments to do, with the runs that they need."""
    for name in only:
        if name not in EXPERIMENTS and name not in DATABASES:
            raise unknown("experiment or database", name, [*EXPERIMENTS, *DATABASES], option="only")
    experiments = [key for key in EXPERIMENTS if key in only] or list(EXPERIMENTS)
    databases = [name for name in DATABASES if name in only]
    plan = {key: EXPERIMENTS[key].cells(runs) for key in experiments}
    if databases:
        kept = {
            key: [cell for cell in cells if cell.sample.database in databases]
            for key, cells in plan.items()
        }
        # Experiments without cells need no database.
        plan = {key: kept[key] for key in plan if kept[key] or (not plan[key] and key in only)}
    return plan


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
        start = Stage(cell.title, done, wanted)
        progress(start)

        def report(now: Progress, start: Stage = start) -> None:
            if now.unit == "runs":
                progress(replace(start, done=start.done + now.done))

        outcomes[cell] = bench.do(cell, dataset, report)
        done += cell.runs
    return outcomes
