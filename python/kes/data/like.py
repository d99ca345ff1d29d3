"""Coding new data as other data were coded before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Discrete, State
from kes.data.dataset import Data, Dataset, Weights
from kes.data.encoding import read_factors
from kes.data.factor import Factor
from kes.data.missing import check_choice, is_missing_state, settle
from kes.data.source import open_source
from kes.data.weights import read_weights
from kes.errors import KesError, listed, option, suggest

_UNKNOWN = -2


def encode_like(
    data: Data,
    names: Sequence[str],
    states: Sequence[Sequence[State]],
    *,
    weights: Weights = None,
    missing: str = "error",
    na_values: Iterable[State] = (),
) -> Dataset:
    """Code a table with the variables and states of another one.

    Parameters
    ----------
    data, weights, missing, na_values
        As in `encode`. The columns may be in any order, further ones are ignored. With
        ``missing="state"``, columns with missing values must have had some in the other table.
    names, states
        The variables and their states, as in `Dataset`.

    Returns
    -------
    Dataset
        With these names and states.

    Raises
    ------
    KesError
        As `encode` does, and if a variable has no column or a value is none of the states.

    Notes
    -----
    A value is a state if the two are equal or look the same as text: the text "1" of a CSV file is
    the integer 1 of a data frame.

    Examples
    --------
    >>> import numpy as np
    >>> encode_like(np.array([["b", "a"]]), ["x1"], [["a", "b", "c"]]).codes
    array([[0]], dtype=int32)
    """
    check_choice(missing)
    source = open_source(data)
    indices = _find_columns(names, source.names)
    if not source.rows:
        raise KesError("the data have no rows")
    row_weights = read_weights(weights, source)
    if weights is None and isinstance(data, Dataset):
        row_weights = data.weights
    factors = read_factors(source, indices, na_values)
    # As in `encode`, rows go first: a value that only dropped rows have is no state there.
    factors, row_weights, notes, rows = settle(names, factors, row_weights, missing)
    columns = [_recoded(*column, rows) for column in zip(factors, names, states, strict=True)]
    return Dataset.of(names, columns, row_weights, notes)


def _find_columns(names: Sequence[str], columns: Sequence[str]) -> list[int]:
    index_of = {column: i for i, column in enumerate(columns)}
    lacking = [name for name in names if name not in index_of]
    if lacking:
        raise KesError(
            f"the data lack columns: {listed(lacking)}{suggest(lacking[0], columns)}; "
            "each variable must be a column"
        )
    return [index_of[name] for name in names]


def _recoded(
    factor: Factor, name: str, states: Sequence[State], rows: NDArray[np.intp] | None
) -> Discrete:
    """Code a column, of which these rows of the table are left, with given states."""
    code_of = {state: code for code, state in enumerate(states)}
    code_of_text = {str(state): code for code, state in enumerate(states)}
    codes = [code_of.get(v, code_of_text.get(str(v), _UNKNOWN)) for v in factor.values]
    lookup = np.array([*codes, -1], dtype=np.int32)  # the last is that of code -1
    recoded = Factor(states, lookup[factor.codes], declared=True)
    strangers = np.flatnonzero(recoded.codes == _UNKNOWN)
    if strangers.size:
        values = [factor.values[code] for code in np.unique(factor.codes[strangers])]
        row = strangers[0] if rows is None else rows[strangers[0]]
        raise KesError(
            f"column {name!r} has values that are none of its states: {listed(values)} (first in "
            f"row {row}, counting from 0); its states are {listed(states)}"
        )
    return (_with_missing_state(recoded, name) if recoded.missing() else recoded).to_column()


def _with_missing_state(factor: Factor, name: str) -> Factor:
    last = len(factor.values) - 1
    if not is_missing_state(factor.values[last]):
        raise KesError(
            f"column {name!r} has missing values, but no state for them, since none were missing "
            f"before; drop such rows with {option('missing', 'drop')}"
        )
    return replace(factor, codes=np.where(factor.codes < 0, np.int32(last), factor.codes))
