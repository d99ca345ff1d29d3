"""The five databases of the evaluation, and other draws of those that are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kes import datasets
from kes.data import Dataset
from kes.errors import KesError

DATABASES = {"alarm": "Alarm", "trap": "Trap", "all": "ALL", "aml": "AML", "coil": "CoIL"}
"""Their names on the command line, and in the paper; in the order of its Table 1."""

CASES = 20_000
"""Number of cases of the two databases that are drawn."""


@dataclass(frozen=True, order=True)
class Sample:
    """A table: a database or, where it is drawn, another draw of it.

    Attributes
    ----------
    database : str
        A key of `DATABASES`.
    rows, draw : int
        Number of cases and seed, for Alarm and Trap; the others come from files.
    """

    database: str
    rows: int = CASES
    draw: int = 0

    @property
    def name(self) -> str:
        """A name for files, such as "coil" or "alarm-500-draw3"."""
        if (self.rows, self.draw) == (CASES, 0):
            return self.database
        return f"{self.database}-{self.rows}-draw{self.draw}"

    @property
    def title(self) -> str:
        """The name for readers."""
        title = DATABASES[self.database]
        if (self.rows, self.draw) == (CASES, 0):
            return title
        return f"{title}, {self.rows} cases, draw {self.draw}"


class Library:
    """Gives out the tables; remembers which ones cannot be had, and why.

    Parameters
    ----------
    coil, leukemia : Path or None
        The user's copies of the files; None leaves it to the environment variables that
        `kes.datasets.coil` and `kes.datasets.leukemia` look at.

    Attributes
    ----------
    skipped : dict of str to str
        Databases that cannot be had, with the reason.
    """

    def __init__(self, coil: Path | None, leukemia: Path | None) -> None:
        self._coil = coil
        self._leukemia = leukemia
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
                return datasets.alarm(sample.rows, sample.draw)
            case "trap":
                return datasets.trap(rows=sample.rows, seed=sample.draw)
            case "all":
                return datasets.leukemia(self._leukemia, "ALL")
            case "aml":
                return datasets.leukemia(self._leukemia, "AML")
            case "coil":
                return datasets.coil(self._coil)
        raise AssertionError(f"no database {sample.database}")
