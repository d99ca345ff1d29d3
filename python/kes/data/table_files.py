"""Tables in files: CSV by the Rust core, Parquet by pyarrow, which keeps declared categories."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kes.data.csv_dialect import CsvDialect
from kes.data.csv_source import read_text
from kes.data.memory import Wanted
from kes.errors import KesError, not_installed
from kes.files import no_file

if TYPE_CHECKING:
    from kes.data.source import Source

_TEXT_SUFFIXES = (".csv", ".tsv", ".txt")


def read(path: str | os.PathLike[str], dialect: CsvDialect, wanted: Wanted) -> Source:
    """Open a table file, of which some columns are wanted, by its suffix.

    ``.csv``, ``.tsv`` and ``.txt``, also with ``.gz`` behind, or ``.parquet``. Whether a text file
    is compressed is seen from its first bytes, whatever it is called. A folder is one of Parquet
    files.
    """
    file = Path(path)
    if not os.path.exists(file):  # also of names that no file can have
        raise no_file(path)
    suffix = _suffix(file)
    if suffix in _TEXT_SUFFIXES:
        return read_text(file, suffix, dialect)
    if suffix == ".parquet" or file.is_dir():
        return _read_parquet(file, wanted)
    raise KesError(
        f"cannot tell what kind of file {str(path)!r} is; the name of a table must end in "
        ".csv, .tsv or .txt (also with .gz behind) or .parquet, or be that of a folder of Parquet "
        "files"
    )


def is_table(file: Path) -> bool:
    """Tell by its name whether a file is a table."""
    return _suffix(file) in (*_TEXT_SUFFIXES, ".parquet")


def _suffix(file: Path) -> str:
    """Return the last suffix of a name, whether compressed or not."""
    return (file.with_suffix("") if file.suffix.lower() == ".gz" else file).suffix.lower()


def _read_parquet(path: Path, wanted: Wanted) -> Source:
    try:
        import pyarrow  # noqa: F401 - said here, once, if it is not there
    except ImportError:
        raise not_installed("pyarrow") from None
    from kes.data.parquet import Parquet

    return Parquet(path, wanted)
