"""Datasets: tables of discrete and continuous variables."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes.data.column import (
    Column,
    Continuous,
    Discrete,
    Kind,
    State,
    TableKind,
    frozen,
    kind_of,
)
from kes.data.notation import PLAIN, Notation
from kes.data.weights import check_weights
from kes.errors import KesError, listed, not_installed

if TYPE_CHECKING:
    import pandas as pd
    from narwhals.typing import IntoFrame

    from kes.data.source import Source

Data: TypeAlias = (
    "IntoFrame | NDArray[Any] | str | os.PathLike[str] | Dataset | Incomplete | Source"
)
"""Whatever `kes.data.encode` reads as a table."""

Weights: TypeAlias = "str | ArrayLike | None"
"""Name of a column, or the number of cases that each row stands for; None: one each."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Dataset:
    """Discrete or continuous variables and their values in each row.

    Made from any table by `kes.learn` and others, or from your own codes. Immutable, and cheap to
    pass around and to pickle. Writable arrays are copied. The constructor takes discrete
    variables; `Dataset.of` takes columns of any kind.

    Parameters
    ----------
    names : sequence of str
        The variables, in the order of the columns.
    states : sequence of sequence of (str, int or bool)
        The states of each variable, in the order of their codes.
    codes : array-like of int, shape (variables, rows)
        ``states[v][codes[v][i]]`` is the value of variable v in row i.
    weights : array-like of float, shape (rows,), optional
        Number of cases that each row stands for; None: one each.
    notes : sequence of str
        Notes for the user, such as constant columns or dropped rows.

    Attributes
    ----------
    names : tuple of str
        The variables.
    columns : tuple of (Discrete or Continuous)
        States and codes, or values, of each.
    weights : ndarray of float64, shape (rows,), or None
        Read-only.
    notes : tuple of str
        As above.

    Raises
    ------
    KesError
        If the arguments do not fit together; names the variable and the row.

    Examples
    --------
    >>> import numpy as np
    >>> Dataset(["a", "b"], [["no", "yes"], [1, 2, 3]], np.array([[0, 1, 1], [2, 0, 0]]))
    <Dataset: 2 variables, 3 rows>
    """

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    weights: NDArray[np.float64] | None
    notes: tuple[str, ...]

    def __init__(
        self,
        names: Sequence[str],
        states: Sequence[Sequence[State]],
        codes: ArrayLike,
        weights: ArrayLike | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        matrix = np.asarray(codes)
        if matrix.ndim != 2 or not len(names) == len(states) == len(matrix):
            raise KesError(
                f"{len(names)} names, {len(states)} lists of states and codes of shape "
                f"{matrix.shape} do not fit together; codes must have a row for each variable, "
                "and a column for each row of the table",
                option="codes",
            )
        columns = []
        for name, values, row in zip(names, states, matrix, strict=True):
            with naming(name):
                columns.append(Discrete(tuple(values), row))
        self._fill(names, columns, weights, notes)

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        columns: Sequence[Column],
        weights: ArrayLike | None = None,
        notes: Sequence[str] = (),
    ) -> Dataset:
        """Make a dataset from discrete or continuous columns.

        Parameters
        ----------
        names, weights, notes
            As in the constructor.
        columns : sequence of (kes.data.Discrete or kes.data.Continuous)
            Columns of equal length.

        Examples
        --------
        >>> from kes.data import Continuous, Discrete
        >>> columns = [Discrete(("no", "yes"), [0, 1, 1]), Continuous([0.5, 1.2, 0.7])]
        >>> Dataset.of(["smoker", "dose"], columns).kinds
        ('discrete', 'continuous')
        """
        dataset = cls.__new__(cls)
        dataset._fill(names, columns, weights, notes)
        return dataset

    def _fill(
        self,
        names: Sequence[str],
        columns: Sequence[Column],
        weights: ArrayLike | None,
        notes: Sequence[str],
    ) -> None:
        lengths = {column.rows for column in columns}
        if len(names) != len(columns) or len(lengths) > 1:
            raise KesError(
                f"{len(names)} names and {len(columns)} columns with {listed(sorted(lengths))} "
                "rows do not fit together; each name needs a column, all of the same length",
                option="columns",
            )
        own = None if weights is None else frozen(weights, np.float64)
        if own is not None:
            check_weights(own, lengths.pop() if lengths else 0)
        fields = {"names": tuple(names), "columns": tuple(columns), "weights": own}
        for field, value in {**fields, "notes": tuple(notes)}.items():
            object.__setattr__(self, field, value)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.columns[0].rows if self.columns else 0

    @property
    def cases(self) -> float:
        """Number of cases: of rows, or the sum of their weights, whatever their order."""
        return float(self.rows) if self.weights is None else math.fsum(self.weights)

    @property
    def varying(self) -> int:
        """Number of variables with more than one state."""
        return sum(states != 1 for states in self.cardinalities)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kind of each variable: "discrete" or "continuous"."""
        return tuple(column.kind for column in self.columns)

    @property
    def kind(self) -> TableKind:
        """Kind of the table: that of its variables, or "mixed"; constant ones are ignored."""
        return kind_of(self.states)

    @cached_property
    def states(self) -> tuple[tuple[State, ...], ...]:
        """States of each variable, in the order of their codes; () for continuous ones."""
        return tuple(
            column.states if isinstance(column, Discrete) else () for column in self.columns
        )

    @property
    def notations(self) -> dict[str, Notation]:
        """The notation of columns other than plain numbers and states."""
        named = zip(self.names, self.columns, strict=True)
        return {name: column.notation for name, column in named if column.notation != PLAIN}

    @property
    def cardinalities(self) -> list[int]:
        """Number of states of each variable; 0 for continuous ones."""
        return [len(states) for states in self.states]

    @property
    def codes(self) -> NDArray[np.int32]:
        """The codes of a discrete table, shape (variables, rows): a read-only copy.

        Raises
        ------
        KesError
            If some columns are continuous.
        """
        columns = self.discrete_columns
        codes = np.empty((len(columns), self.rows), dtype=np.int32)
        for row, column in zip(codes, columns, strict=True):
            row[:] = column.codes
        codes.flags.writeable = False
        return codes

    @property
    def discrete_columns(self) -> tuple[Discrete, ...]:
        """The columns of a discrete table.

        Raises
        ------
        KesError
            If some are continuous.
        """
        named = list(zip(self.names, self.columns, strict=True))
        continuous = [name for name, column in named if isinstance(column, Continuous)]
        if continuous:
            raise KesError(
                f"continuous columns have no states: {listed(continuous)}; this needs a discrete "
                "table, so discretize them with kes.discretize, or leave them out",
                column=continuous[0],
            )
        return tuple(column for _, column in named if isinstance(column, Discrete))

    def select(self, names: Iterable[str]) -> Dataset:
        """Return the table with some of the variables, in this order."""
        column_of = dict(zip(self.names, self.columns, strict=True))
        chosen = tuple(names)
        return Dataset.of(chosen, [column_of[name] for name in chosen], self.weights, self.notes)

    def take(self, rows: NDArray[np.intp], weights: NDArray[np.float64] | None = None) -> Dataset:
        """Return the table with some rows, and these weights; all states stay."""
        columns = [column.take(rows) for column in self.columns]
        return Dataset.of(self.names, columns, weights, self.notes)

    def renamed(self, names: Sequence[str]) -> Dataset:
        """Return the table with other names for its variables."""
        return Dataset.of(names, self.columns, self.weights, self.notes)

    def reweighted(self, weights: ArrayLike | None) -> Dataset:
        """Return the table with other weights."""
        return Dataset.of(self.names, self.columns, weights, self.notes)

    def with_notes(self, notes: Sequence[str]) -> Dataset:
        """Return the table with other notes."""
        return Dataset.of(self.names, self.columns, self.weights, notes)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame, without their weights.

        Discrete variables are categorical columns, continuous ones columns of floats.
        """
        try:
            import pandas as pd
        except ImportError:
            raise not_installed("pandas") from None
        columns: dict[str, Any] = {}
        for name, column in zip(self.names, self.columns, strict=True):
            if isinstance(column, Continuous):
                columns[name] = column.values
            else:
                kind = pd.CategoricalDtype(list(column.states))
                columns[name] = pd.Categorical.from_codes(column.codes, dtype=kind)
        return pd.DataFrame(columns)

    def state_shares(self, name: str) -> NDArray[np.float64]:
        """Return the share of the cases in each state of a discrete column."""
        column = self.columns[self.names.index(name)]
        assert isinstance(column, Discrete), "it has states"
        counts = np.bincount(column.codes, self.weights, len(column.states)).astype(np.float64)
        shares: NDArray[np.float64] = counts / counts.sum()
        return shares

    def __repr__(self) -> str:
        weighted = "" if self.weights is None else ", weighted"
        continuous = self.kinds.count("continuous")
        kinds = f" ({continuous} continuous)" if continuous else ""
        return f"<Dataset: {len(self.names)} variables{kinds}, {self.rows} rows{weighted}>"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Dataset.of, (self.names, self.columns, self.weights, self.notes)


@contextmanager
def naming(column: str) -> Iterator[None]:
    """Name the column in errors about its values."""
    try:
        yield
    except KesError as error:
        raise KesError(
            f"column {column!r} {error}", option=error.option, column=column, row=error.row
        ) from None


@dataclass(frozen=True, eq=False, repr=False)
class Incomplete:
    """A table in which some values are missing.

    Attributes
    ----------
    dataset : Dataset
        The table, with arbitrary values in gaps.
    gaps : ndarray of bool, shape (variables, rows)
        Where values are missing.
    """

    dataset: Dataset
    gaps: NDArray[np.bool_]

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.dataset.names

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kind of each variable."""
        return self.dataset.kinds

    @property
    def kind(self) -> TableKind:
        """Kind of the table; see `Dataset.kind`."""
        return self.dataset.kind

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user."""
        return self.dataset.notes

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.dataset.rows

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Number of cases that each row stands for; None: one each."""
        return self.dataset.weights

    @property
    def cells(self) -> tuple[int, ...]:
        """Number of rows in which each variable is missing."""
        return tuple(int(count) for count in self.gaps.sum(axis=1))

    def take(
        self, rows: NDArray[np.intp], weights: NDArray[np.float64] | None = None
    ) -> Incomplete:
        """Return the table with some rows, and these weights; all states stay."""
        return Incomplete(self.dataset.take(rows, weights), self.gaps[:, rows])

    def select(self, names: Sequence[str]) -> Incomplete:
        """Return the table with some of the variables, in this order."""
        place = {name: i for i, name in enumerate(self.names)}
        return Incomplete(self.dataset.select(names), self.gaps[[place[name] for name in names]])

    def renamed(self, names: Sequence[str]) -> Incomplete:
        """Return the table with other names for its variables."""
        return Incomplete(self.dataset.renamed(names), self.gaps)

    def with_notes(self, notes: Sequence[str]) -> Incomplete:
        """Return the table with other notes."""
        return Incomplete(self.dataset.with_notes(notes), self.gaps)

    def reweighted(self, weights: ArrayLike | None) -> Incomplete:
        """Return the table with other weights."""
        return Incomplete(self.dataset.reweighted(weights), self.gaps)

    def __repr__(self) -> str:
        return f"<Incomplete: {sum(self.cells)} gaps in {self.dataset!r}>"


AnyTable: TypeAlias = Dataset | Incomplete
"""A table, with or without missing values."""


def split_gaps(table: AnyTable) -> tuple[Dataset, NDArray[np.bool_] | None]:
    """Return the dataset of a table and its gaps; None if it has none."""
    return (table.dataset, table.gaps) if isinstance(table, Incomplete) else (table, None)


def dataset_of(table: AnyTable) -> Dataset:
    """Return the dataset of a table, with arbitrary values in gaps."""
    return table.dataset if isinstance(table, Incomplete) else table


def informative(weights: NDArray[np.float64]) -> float:
    """Return the effective sample size of rows with these weights.

    Whole numbers count cases. Other weights, which must not all be 0, are shares: unequal ones
    tell less than their sum (the effective sample size of Kish).
    """
    total = float(weights.sum())
    if np.array_equal(weights, np.rint(weights)):
        return total
    return total**2 / float(np.sum(weights**2))
