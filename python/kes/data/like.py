"""Coding new data as other data were coded before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Column, Continuous, Discrete, State
from kes.data.csv_dialect import Writing
from kes.data.dataset import Data, Dataset, naming
from kes.data.encoder import READING_DEFAULTS, ReadingOptions
from kes.data.factor import Factor, code_type, recoded
from kes.data.incomplete import AnyTable, Incomplete
from kes.data.infer_kinds import decimal_sign, to_numbers, without_strays
from kes.data.missing import check_choice, is_missing_state, settle
from kes.data.notes import left_out
from kes.data.parse_text import LOOKS_MISSING
from kes.data.raw_columns import Raw
from kes.data.source import Source, called, open_source
from kes.data.weights import read_weights
from kes.errors import KesError, checked_options, listed, option, suggest


@checked_options(READING_DEFAULTS)
def encode_like(
    data: Data,
    names: Sequence[str],
    states: Sequence[Sequence[State]],
    **options: Unpack[ReadingOptions],
) -> Dataset:
    """Read a table with the variables and states of another one.

    Parameters
    ----------
    data, weights, missing, na_values, sep, decimal, encoding
        As in `encode`. The columns may be in any order, further ones are ignored. With
        ``missing="state"``, columns with missing values must have had some in the other table.
    names, states
        The variables and their states, as in `Dataset`: () for continuous ones.
    discretizer
        What cuts columns of numbers, as it did in the other table.

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
    check_choice(options.get("missing", READING_DEFAULTS["missing"]))
    table = encode_like_incomplete(data, names, states, **options)
    assert isinstance(table, Dataset), "missing values are settled"
    return table


def encode_like_incomplete(
    data: Data,
    names: Sequence[str],
    states: Sequence[Sequence[State]],
    **options: Unpack[ReadingOptions],
) -> AnyTable:
    """Read a table as `encode_like` does; with ``missing="em"``, gaps are left to be filled."""
    how: ReadingOptions = {**READING_DEFAULTS, **options}
    weights, missing = how["weights"], how["missing"]
    check_choice(missing, gaps=True)
    writing = Writing(how["sep"], how["decimal"], how["encoding"])
    source = open_source(data, writing, set(names).__contains__)
    weights = called(weights, source) if isinstance(weights, str) else weights
    indices = find_columns(names, source)
    if not source.rows:
        raise KesError("the data have no rows")
    row_weights = read_weights(weights, source)
    if weights is None and isinstance(data, Dataset | Incomplete):
        row_weights = data.weights
    texts = [how["na_values"]] if isinstance(how["na_values"], str) else how["na_values"]
    absent = frozenset(str(value) for value in texts)
    found = _read(source, dict(zip(indices, states, strict=True)), absent, how)
    # As in `encode`, rows go first: a value that only dropped rows have is no state there.
    state = all(isinstance(column, Factor) or not column.missing() for column in found)
    settled, row_weights, notes, rows = settle(names, found, row_weights, missing, state=state)
    gaps = missing == "em" and any(column.missing() for column in settled)
    columns = [
        _recoded(column, name, own, rows, gaps=gaps)
        for column, name, own in zip(settled, names, states, strict=True)
    ]
    dataset = Dataset.of(names, columns, row_weights, notes)
    if not gaps:
        return dataset
    return Incomplete(dataset, np.array([~column.complete() for column in settled]))


def read_factor(source: Source, index: int, absent: frozenset[str] = frozenset()) -> Factor:
    """Code a column, whatever it holds; errors name it."""
    with naming(source.names[index]):
        column = source.column(index, absent)
        return column if isinstance(column, Factor) else column.factor()


def _read(
    source: Source,
    states_of: Mapping[int, Sequence[State]],
    absent: frozenset[str],
    how: ReadingOptions,
) -> list[Raw]:
    """Read columns as factors, or as numbers where there are no states or they are to be cut."""
    discretizer = how["discretizer"]
    cuts = {} if discretizer is None else discretizer.cuts
    columns: dict[int, Raw] = {}
    for index, states in states_of.items():
        with naming(source.names[index]):
            column = source.column(index, absent)
            numbers = not states or source.names[index] in cuts
            columns[index] = column if numbers or isinstance(column, Factor) else column.factor()
    sign = how["decimal"] or decimal_sign(columns.values()) or source.likely_decimal
    for index, states in states_of.items():
        name = source.names[index]
        if discretizer is not None and name in cuts:
            columns[index] = discretizer.cut(name, columns[index], sign)
        elif not states:
            with naming(name):
                columns[index] = to_numbers(columns[index], sign)
    return list(columns.values())


def find_columns(names: Sequence[str], source: Source) -> list[int]:
    """Return where the columns of these names are."""
    index_of = {column: i for i, column in enumerate(source.names)}
    wanted = [name if name in index_of else called(name, source) for name in names]
    lacking = [name for name in wanted if name not in index_of]
    if lacking:
        raise KesError(
            f"the data lack columns: {listed(lacking)}{suggest(lacking[0], source.names)}; "
            f"each variable must be a column{left_out(lacking, source.notes)}"
        )
    return [index_of[name] for name in wanted]


def strangers_found(name: str, values: Sequence[State], row: int, states: Sequence[State]) -> str:
    """Say that a column has values that are none of its states, and where."""
    marks = [str(value) for value in values if value in LOOKS_MISSING]
    return (
        f"column {name!r} has values that are none of its states: {listed(values)} (first in "
        f"row {row}, counting from 0); its states are {listed(states)}"
        + (f"; {without_strays(marks)}" if marks else "")
    )


def match_states(
    factor: Factor, states: Sequence[State]
) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.bool_]]:
    """Code a column with given states, of which the last may be one for missing values.

    Returns
    -------
    codes
        -1 where a value is none of the states, or missing without a state for it.
    strange
        Where a value is none of the states.
    """
    code_of = {state: code for code, state in enumerate(states)}
    code_of_text = {str(state): code for code, state in enumerate(states)}
    codes = [code_of.get(v, code_of_text.get(str(v), -1)) for v in factor.values]
    missing = len(states) - 1 if is_missing_state(states[-1]) else -1
    lookup = np.array([*codes, missing], dtype=code_type(len(states)))  # the last is that of -1
    matched = recoded(lookup, factor.codes)
    return matched, (matched < 0) & (factor.codes >= 0)


def _recoded(
    column: Raw,
    name: str,
    states: Sequence[State],
    rows: NDArray[np.intp] | None,
    *,
    gaps: bool,
) -> Column:
    """Code a column, of which these rows of the table are left, with given states."""
    if not isinstance(column, Factor):
        with naming(name):
            numbers = to_numbers(column).floats()
            return Continuous(np.nan_to_num(numbers) if gaps else numbers)
    factor = column
    codes, strange = match_states(factor, states)
    strangers = np.flatnonzero(strange)
    if strangers.size:
        values = [factor.values[code] for code in np.unique(factor.codes[strangers])]
        row = strangers[0] if rows is None else rows[strangers[0]]
        raise KesError(strangers_found(name, values, row, states))
    if gaps:
        codes = np.maximum(codes, 0)
    if codes.size and codes.min() < 0:
        raise KesError(
            f"column {name!r} has missing values, but no state for them, since none were missing "
            f"before; drop such rows with {option('missing', 'drop')}"
        )
    return Discrete(tuple(states), codes)
