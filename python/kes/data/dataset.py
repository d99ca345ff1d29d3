"""A table of discrete variables as everything after the input layer sees it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes.data.weights import check_weights
from kes.errors import KesError, missing_extra

if TYPE_CHECKING:
    import pandas as pd
    from narwhals.typing import IntoFrame

ScalarT = TypeVar("ScalarT", bound=np.generic)

State: TypeAlias = str | int | bool
"""A value that a discrete variable can take."""

Data: TypeAlias = "IntoFrame | NDArray[Any] | str | os.PathLike[str] | Dataset"
"""What `kes.data.encode` can read as a table."""

Weights: TypeAlias = "str | ArrayLike | None"
"""A column's name, or how many cases each row stands for; None: one each."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Discrete variables, their states, and the rows as codes.

    Made of any table by `kes.learn` and the like, or of codes that you have; immutable, and cheap
    to pass around and to pickle. Arrays that could still be written to are copied.

    Attributes
    ----------
    names : tuple of str
        The variables, in the order of the columns.
    states : tuple of tuple of (str, int or bool)
        The states of each variable; their order is that of the codes.
    codes : ndarray of int32, shape (variables, rows)
        ``states[v][codes[v, i]]`` is the value of variable v in row i. C-contiguous, read-only.
        May be given as any integers.
    weights : ndarray of float64, shape (rows,), or None
        How many cases each row stands for; None: one each.
    notes : tuple of str
        What the user should know about the coding, such as constant columns or dropped rows.

    Raises
    ------
    KesError
        If these do not fit together; the message names the variable and the row.

    Examples
    --------
    >>> import numpy as np
    >>> Dataset(["a", "b"], [["no", "yes"], [1, 2, 3]], np.array([[0, 1, 1], [2, 0, 0]]))
    <Dataset: 2 variables, 3 rows>
    """

    names: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    codes: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check what a user may have given, and make it our own."""
        checked: dict[str, object] = {
            "names": tuple(self.names),
            "states": tuple(tuple(states) for states in self.states),
            "codes": _checked_codes(self.names, self.states, np.asarray(self.codes)),
            "notes": tuple(self.notes),
        }
        if self.weights is not None:
            weights = frozen(self.weights, np.float64)
            check_weights(weights, self.rows)
            checked["weights"] = weights
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(np.shape(self.codes)[1])

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


def frozen(array: ArrayLike, dtype: type[ScalarT]) -> NDArray[ScalarT]:
    """Return an array that nobody can write to: a copy, unless it is one already."""
    given = np.asarray(array)
    if given.flags.writeable or given.dtype != dtype or not given.flags.c_contiguous:
        given = np.array(given, dtype=dtype, order="C")
        given.flags.writeable = False
    return given


def _checked_codes(
    names: Sequence[str], states: Sequence[Sequence[State]], codes: NDArray[Any]
) -> NDArray[np.int32]:
    """Return the codes as the core takes them, or say what is wrong with them."""
    if codes.dtype.kind not in "iu":
        raise KesError(f"codes must be integers, not values of dtype {codes.dtype}")
    if not codes.ndim == 2 or not len(names) == len(states) == len(codes):
        raise KesError(
            f"{len(names)} names, {len(states)} lists of states and codes of shape {codes.shape} "
            "do not fit together; codes must have a row for each variable, and a column for each "
            "row of the table"
        )
    for name, values, column in zip(names, states, codes, strict=True):
        if column.size and not 0 <= column.min() <= column.max() < len(values):
            row = int(np.argmax((column < 0) | (column >= len(values))))
            raise KesError(
                f"column {name!r} has the code {column[row]} in row {row} (counting from 0), but "
                f"its states are those of the codes 0 to {len(values) - 1}"
            )
    return frozen(codes, np.int32)
