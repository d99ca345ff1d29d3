"""Data that may not be shipped: find the user's copy, or say where to get one."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from kes.errors import KesError
from kes.files import read_file


@dataclass(frozen=True)
class UserFile:
    """A data file that users must obtain themselves.

    Parameters
    ----------
    title
        What the data is called.
    variable
        The environment variable that may hold the file's path.
    obtain
        Where to get the file and what it must look like, in full sentences.
    """

    title: str
    variable: str
    obtain: str

    def read_lines(self, path: str | os.PathLike[str] | None) -> tuple[Path, list[str]]:
        """Return the file's path and its non-empty lines; it may be compressed by gzip."""
        chosen = path if path is not None else os.environ.get(self.variable)
        if not chosen:
            raise KesError(
                f"{self.title} cannot be shipped with kes: pass path=... or set the environment "
                f"variable {self.variable} to your copy. {self.obtain}"
            )
        file = Path(chosen)
        if not os.path.exists(file):  # also of names that no file can have
            self.refuse(file, "there is no such file")
        content = read_file(file)
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            self.refuse(file, "it is not a text file")
        return file, [line for line in text.splitlines() if line.strip()]

    def refuse(self, file: Path, reason: str) -> NoReturn:
        """Raise the error that says what is wrong with a file and where to get a right one."""
        raise KesError(f"{self.title}: {file}: {reason}. {self.obtain}")
