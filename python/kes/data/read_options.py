"""The options with which a table is read, as a result remembers them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from kes.data.column import State
from kes.data.csv_dialect import CsvDialect
from kes.data.discretizer import Discretizer
from kes.data.infer_kinds import Kinds
from kes.data.parse_text import Sign
from kes.errors import KesError, option


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options for reading a table, complete enough to read the same table again.

    Attributes
    ----------
    source : str or None
        Path of the file as the user gave it; None if the data did not come from a file.
    example : int or None
        Number of cases, if the data are those of the built-in example.
    missing : {"error", "drop", "state", "em"}
        How missing values are treated.
    weights : str or bool
        Name of the column of weights; True if the weights came as an array.
    na_values : tuple of str
        Additional texts that mean missing.
    kinds : mapping
        Kinds of columns that the user declared: "discrete", "continuous" or "omit".
    columns : tuple of str
        The columns to use; empty: all.
    sep, decimal, encoding : str or None
        Dialect of a CSV file; None: detected.
    completions : int
        Imputed copies of each incomplete case, for ``missing="em"``.
    cuts : mapping
        Cut points of the columns that were discretized.
    """

    source: str | None = None
    example: int | None = None
    missing: str = "error"
    weights: str | bool = False
    na_values: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    sep: str | None = None
    decimal: Sign | None = None
    encoding: str | None = None
    completions: int = 5
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        missing: str = "error",
        na_values: Iterable[State] = (),
        kinds: Kinds | None = None,
        columns: Iterable[str] | None = None,
        sep: str | None = None,
        decimal: Sign | None = None,
        encoding: str | None = None,
    ) -> ReadOptions:
        """Normalize the options that `kes.data.encode` takes."""
        names = () if columns is None else tuple(columns)
        if columns is not None and not names:
            raise KesError(f"{option('columns')} names no column", option="columns")
        texts = [na_values] if isinstance(na_values, str) else na_values
        return cls(
            missing=missing,
            na_values=tuple(str(value) for value in texts),
            kinds=cast("Mapping[str, str]", kinds or {}),
            columns=names,
            sep=sep,
            decimal=decimal,
            encoding=encoding,
        )

    @property
    def dialect(self) -> CsvDialect:
        """Dialect of a CSV file."""
        return CsvDialect(self.sep, self.decimal, self.encoding)

    @property
    def discretizer(self) -> Discretizer | None:
        """Discretizer with these cut points; None if no column was cut."""
        return Discretizer.at(self.cuts) if self.cuts else None
