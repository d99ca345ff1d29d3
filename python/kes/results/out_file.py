"""The file in which `kes.learn` keeps its result: checked, resumed, checkpointed, saved."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from kes.errors import KesError, option
from kes.files import PathLike
from kes.results import storage
from kes.results.summary import counted
from kes.search.problem import Problem
from kes.search.record import Record
from kes.settings import Settings

_OTHER_FORMATS = {
    *(".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".html", ".pdf", ".svg", ".png"),
    *(".bif", ".xmlbif", ".xml", ".net", ".dot", ".gv", ".graphml"),
}

_log = logging.getLogger("kes")


class OutFile:
    """The option `out` of `kes.learn`.

    Parameters
    ----------
    path : str or path
        The file. If it exists, it must hold a result of the same search.
    interval : float
        Seconds between checkpoints.

    Attributes
    ----------
    is_saved : bool
        Whether the latest result was written.

    Raises
    ------
    KesError
        If the file cannot be written.
    """

    def __init__(self, path: PathLike, interval: float) -> None:
        check_writable(path)
        self.path = path
        self.checkpoint = storage.Checkpoint(path, interval)
        self.is_saved = False

    def read(self, settings: Settings) -> Record | None:
        """Return the record in the file, which must have the same settings; None without file."""
        if not Path(self.path).exists():
            return None
        record = storage.read(self.path)
        differences = record.settings.differences(settings)
        if differences:
            raise KesError(
                f"{self.path} holds a result with other settings:",
                *(f"  {line}" for line in differences),
                f"Repeat its settings to add runs to it, or give another {option('out')}",
                option="out",
                file=str(self.path),
            )
        return record

    def resume(self, record: Record, problem: Problem, runs: int) -> Record:
        """Return the record in the file, ready to be continued; it must be of the same data."""
        try:
            problem.check(record)
        except KesError as error:
            raise KesError(
                f"{self.path}: {error}; or give another {option('out')}",
                option="out",
                file=str(self.path),
            ) from None
        done = len(record.runs)
        if done >= runs:
            _log.info("%s holds %s already.", self.path, counted(done, "run"))
            return record.finished()
        _log.info("%s holds %d of %d runs: resuming from there.", self.path, done, runs)
        return record

    def save(self, record: Record) -> None:
        """Write a record."""
        storage.write(record, self.path)
        self.is_saved = True


def check_writable(path: PathLike) -> None:
    """Refuse a file that cannot be written before hours of work, not after.

    Raises
    ------
    KesError
        If the name is that of another format, or the folder is missing or read-only.
    """
    file = Path(path)
    if file.suffix.lower() in _OTHER_FORMATS:
        problem = (
            f"a result is a file of kes; call it {file.with_suffix('.kes.json.gz')}. Networks are "
            "written by kes fit, pages by kes report, pictures by kes plot"
        )
    elif file.is_dir():
        problem = "this is a folder; give the name of a file"
    elif not file.parent.is_dir():
        problem = f"there is no folder {file.parent}"
    elif not os.access(file.parent, os.W_OK):
        problem = f"the folder {file.parent} is read-only"
    else:
        return
    raise KesError(f"{option('out')} {file}: {problem}", option="out", file=str(file))
