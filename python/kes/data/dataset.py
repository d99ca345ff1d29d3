"""A table of discrete variables as everything after the input layer sees it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes.errors import missing_extra

if TYPE_CHECKING:
    import pandas as pd
    from narwhals.typing import IntoFrame

State: TypeAlias = str | int | bool
"""A value that a discrete variable can take."""

Data: TypeAlias = "IntoFrame | NDArray[Any] | str | os.PathLike[str] | Dataset"
"""What `kes.data.encode` can read as a table."""

Weights: TypeAlias = "str | ArrayLike | None"
"""A column's name, or how many cases each row stands for; None: one each."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Discrete variables, their states, and the rows as codes.

    Made by `encode`; immutable, and cheap to pass around and to pickle.

    Attributes
    ----------
    names : tuple of str
        The variables, in the order of the columns.
    states : tuple of tuple of (str, int or bool)
        The states of each variable; their order is that of the codes.
    codes : ndarray of int32, shape (variables, rows)
        ``states[v][codes[v, i]]`` is the value of variable v in row i. C-contiguous, read-only.
    weights : ndarray of float64, shape (rows,), or None
        How many cases each row stands for; None: one each.
    notes : tuple of str
        What the user should know about the coding, such as constant columns or dropped rows.
    """

    names: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    codes: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.codes.flags.writeable = False
        if self.weights is not None:
            self.weights.flags.writeable = False

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])

    @property
    def cardinalities(self) -> list[int]:
        """Number of states of each variable."""
        return [len(states) for states in self.states]

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame of categorical columns, without their weights."""
        try:
            import pandas as pd
        except ImportError:
            raise missing_extra("pandas", "pandas") from None
        columns = {}
        for name, codes, states in zip(self.names, self.codes, self.states, strict=True):
            kind = pd.CategoricalDtype(list(states))
            columns[name] = pd.Categorical.from_codes(codes, dtype=kind)
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        weighted = "" if self.weights is None else ", weighted"
        return f"<Dataset: {len(self.names)} variables, {self.rows} rows{weighted}>"
