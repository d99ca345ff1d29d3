"""Does the runs of the experiments, each set of settings once, and keeps them in files.

A *cell* is a table under one set of settings. Its runs are an ordinary result file; an interrupt
keeps them, and the next call does the rest.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes import _core, datasets
from kes.budget import Budget, Improve
from kes.data import Dataset
from kes.data.random_stream import Stream
from kes.data.schema import ReadOptions
from kes.errors import KesError
from kes.files import write_file
from kes.progress import Progress
from kes.results import storage
from kes.results.optima import Optima
from kes.search.driver import Execution, SearchInterrupted
from kes.search.pipeline import search
from kes.search.problem import Problem
from kes.search.record import Record
from kes.settings import Settings

DATABASES = {"alarm": "Alarm", "trap": "Trap", "all": "ALL", "aml": "AML", "coil": "CoIL"}
"""Names on the command line and in the paper, in the order of its Table 1."""

CASES = 20_000
"""Number of cases of the two databases that are drawn."""

_CHECKPOINT = 5.0  # seconds


@dataclass(frozen=True, order=True)
class Sample:
    """A database or, of Alarm and Trap, another draw: number of cases and seed."""

    database: str
    rows: int = CASES
    draw: int = 0

    @property
    def name(self) -> str:
        """A name for files, such as "coil" or "alarm-500-draw3"."""
        usual = (self.rows, self.draw) == (CASES, 0)
        return self.database if usual else f"{self.database}-{self.rows}-draw{self.draw}"

    @property
    def title(self) -> str:
        """The name for readers."""
        title = DATABASES[self.database]
        usual = (self.rows, self.draw) == (CASES, 0)
        return title if usual else f"{title}, {self.rows} cases, draw {self.draw}"


@dataclass(frozen=True)
class Cell:
    """A table, the settings of a search, and how many runs are wanted."""

    sample: Sample
    k: float
    runs: int
    criterion: str = "bic"
    neighbourhood: str = "exact"

    @property
    def name(self) -> str:
        """A name for files, without the number of runs."""
        parts = [self.sample.name, self.criterion, f"k{self.k:g}"]
        return "-".join(parts if self.neighbourhood == "exact" else [*parts, self.neighbourhood])

    @property
    def title(self) -> str:
        """A name for readers."""
        where = "" if self.neighbourhood == "exact" else f", {self.neighbourhood}"
        return f"{self.sample.title}, {self.criterion}, k={self.k:g}{where}"

    @property
    def terms(self) -> tuple[Sample, str, str]:
        """Key that is equal for cells that share their counts.

        The two neighbourhoods could share them, but then the second would seem too cheap.
        """
        return self.sample, self.criterion, self.neighbourhood


@dataclass(frozen=True)
class Cost:
    """Cost of runs: their number, wall-clock seconds and processor seconds."""

    runs: int = 0
    wall: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.runs + other.runs, self.wall + other.wall, self.cpu + other.cpu)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.runs - other.runs, self.wall - other.wall, self.cpu - other.cpu)


@dataclass(frozen=True)
class Outcome:
    """Results of the runs of a cell; scores are natural logarithms, in run order.

    `above` and `below` count runs on a higher or lower score level than GES, `short` those that
    ended where the exact boundary still has an improvement. `cost` is that of all runs in the file,
    which may be more than are asked for now.
    """

    best: float
    ges: float
    above: int
    below: int
    models: int
    models_above: int
    models_below: int
    short: int
    scores: NDArray[np.float64]
    cost: Cost

    @classmethod
    def of(cls, optima: Optima, cost: Cost) -> Outcome:
        """Count the runs of a result."""
        level = optima.record.level
        mark = level(optima.ges.score)
        above = [optimum.hits for optimum in optima.of_runs if level(optimum.score) > mark]
        below = [optimum.hits for optimum in optima.of_runs if level(optimum.score) < mark]
        return cls(
            best=optima.best_run.score,
            ges=optima.ges.score,
            above=sum(above),
            below=sum(below),
            models=len(optima.of_runs),
            models_above=len(above),
            models_below=len(below),
            short=sum(optimum.hits for optimum in optima if not optimum.is_local_optimum),
            scores=optima.run_scores,
            cost=cost,
        )

    def values(self) -> dict[str, Any]:
        """Return the figures for a JSON file, without single scores."""
        figures = {name: value for name, value in vars(self).items() if name != "scores"}
        return {"runs": len(self.scores), **figures, "cost": asdict(self.cost)}


class Bench:
    """Does cells, one after the other, and keeps their result files and costs in a folder."""

    def __init__(self, folder: Path, *, seed: int, n_jobs: int | None) -> None:
        self._folder, self._seed, self._n_jobs = folder, seed, n_jobs
        self._core: tuple[tuple[Sample, str, str], _core.Problem] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self._cost_file = folder / "costs.json"
        text = self._cost_file.read_text(encoding="utf-8") if self._cost_file.exists() else "{}"
        self._costs = {name: Cost(**entry) for name, entry in json.loads(text).items()}

    def do(self, cell: Cell, dataset: Dataset, show: Callable[[Progress], object]) -> Outcome:
        """Do the missing runs of a cell, and return the results of all its runs.

        On Ctrl-C (Interrupted), what was done is in the file.
        """
        problem = self._ready(cell, dataset)
        path = self._folder / f"{cell.name}.kes.json.gz"
        base = self._earlier(path, problem)
        if base is None:
            self._costs.pop(cell.name, None)
        elif len(base.runs) >= cell.runs:
            cost = self._costs.get(cell.name, Cost())
            return Outcome.of(Optima(_first(base, cell.runs)), cost)
        execution = Execution.parse(n_jobs=self._n_jobs, progress=show)
        started = Cost(len(base.runs) if base else 0, time.monotonic(), time.process_time())

        def keep(record: Record) -> None:
            storage.write(record, path)
            now = Cost(len(record.runs), time.monotonic(), time.process_time())
            self._costs[cell.name] = self._costs.get(cell.name, Cost()) + (now - started)
            costs = {name: asdict(cost) for name, cost in sorted(self._costs.items())}
            write_file(self._cost_file, (json.dumps(costs, indent=1) + "\n").encode())

        def work() -> Record:
            try:
                keeper = storage.Checkpoint(path, _CHECKPOINT)
                record = search(
                    problem, Budget(runs=cell.runs), execution, base=base, watchers=[keeper]
                )
            except SearchInterrupted as stop:
                if stop.record is not None:
                    keep(stop.record)
                raise
            keep(record)
            return record

        return Outcome.of(Optima.found_by(problem, work), self._costs[cell.name])

    def _ready(self, cell: Cell, dataset: Dataset) -> Problem:
        """Return the cell ready for runs; it shares the counts of the previous one if possible."""
        options = {name: getattr(cell, name) for name in ("k", "criterion", "neighbourhood")}
        settings = Settings.of({**options, "random_state": self._seed})
        reading = ReadOptions(weights=dataset.weights is not None)
        problem = Problem(dataset, settings, reading=reading)
        if self._core is None or self._core[0] != cell.terms:
            self._core = None  # release the memory first
            self._core = cell.terms, problem.core
        return replace(problem, shared=self._core[1])

    def _earlier(self, path: Path, problem: Problem) -> Record | None:
        """Return the record in the file, if it was made by the same search."""
        if not path.exists():
            return None
        try:
            record = storage.read(path)
            problem.check(record)
        except KesError:
            return None  # it is replaced
        return record if record.settings == problem.settings else None


def _first(record: Record, runs: int) -> Record:
    """Return the first runs of a record: the same as if no more had been asked for."""
    kept = record.runs[:runs]
    bare = record.unimproved(Improve())
    return replace(bare, runs=kept, models=record.models[: max(kept) + 1], ahead=())


class Library:
    """Provides the tables; `skipped` has those that are not available, and why.

    `coil` and `leukemia` are the user's copies of the files; None stands for the environment
    variables of `kes.datasets.coil` and `kes.datasets.leukemia`.
    """

    def __init__(self, coil: Path | None, leukemia: Path | None) -> None:
        self._coil, self._leukemia = coil, leukemia
        self._latest: tuple[Sample, Dataset] | None = None
        self.skipped: dict[str, str] = {}

    def find(self, sample: Sample) -> Dataset | None:
        """Return the table, or None after noting why there is none."""
        if sample.database in self.skipped:
            return None
        if self._latest is None or self._latest[0] != sample:
            try:
                self._latest = sample, self._load(sample)
            except KesError as error:
                self.skipped[sample.database] = str(error)
                return None
        return self._latest[1]

    def _load(self, sample: Sample) -> Dataset:
        match sample.database:
            case "alarm":
                return datasets.alarm(sample.rows, Stream(sample.draw))
            case "trap":
                return datasets.trap(rows=sample.rows, seed=Stream(sample.draw))
            case "coil":
                return datasets.coil(self._coil)
        return datasets.leukemia(self._leukemia, "ALL" if sample.database == "all" else "AML")
