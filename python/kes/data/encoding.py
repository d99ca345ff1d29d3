"""From any table to codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kes._core import MAX_STATES, MAX_VARIABLES
from kes.data.column import Discrete, State
from kes.data.dataset import Data, Dataset, Weights, naming
from kes.data.factor import LOOKS_MISSING, MANY_STATES, Factor
from kes.data.missing import check_choice, settle, with_missing_state
from kes.data.source import Coded, Source, open_source
from kes.data.weights import check_total, read_weights
from kes.errors import KesError, listed


def encode(
    data: Data,
    *,
    weights: Weights = None,
    missing: str = "error",
    na_values: Iterable[State] = (),
) -> Dataset:
    """Code a table of discrete variables.

    Parameters
    ----------
    data : DataFrame, Table, ndarray, path or Dataset
        A pandas or polars DataFrame, a pyarrow Table, a two-dimensional numpy array (its columns
        are called x0, x1, ...), the path of a CSV file (also .tsv, .txt, .gz) or of a Parquet
        file (needs ``kes[parquet]``). A Dataset is returned as it is, but for new `weights`.
    weights : str or array-like of float, optional
        How many cases each row stands for: counts, or non-negative reals such as a distribution
        times the number of cases. A name takes that column, which is then no variable. Rows of
        weight 0 declare states all the same.
    missing : {"error", "drop", "state"}
        What to do with missing values: refuse them, drop the rows that have any (as if the table
        had come without them), or make "missing" a state of its own.
    na_values : iterable of (str, int or bool)
        Further values that mean missing, such as "NA" or "?"; compared as text.

    Returns
    -------
    Dataset

    Raises
    ------
    KesError
        If the table cannot be coded; the message names the column, row or line and a remedy.

    Notes
    -----
    *States.* Declared categories (of pandas, of a polars Enum, of an ordered arrow dictionary) are
    the states, in their order, whether they occur or not. Otherwise the values that occur are,
    sorted: numbers numerically, False before True, intervals such as "(1.5, 3]" from left to right
    if all values are such, other text by code point. In a CSV file the values stay as they are
    written ("01", "TRUE"), and are sorted numerically if all are integers. Floats
    that are all integers, with at most 50 distinct values, are taken as integers; other floats,
    and decimal numbers in a CSV file, must be discretised first (see `kes.discretize`).
    A column in which one value occurs has one state, whatever is declared.

    *Missing values* are None, NaN and the null values of the data frame libraries; in a CSV file
    they are empty fields, and nothing else unless `na_values` says so. The state for them
    comes last and is called "<missing>"; should the column hold that very text, "<<missing>>", and
    so on.

    Examples
    --------
    >>> import numpy as np
    >>> dataset = encode(np.array([[3, 1], [2, 1], [3, 0]]))
    >>> dataset.names, dataset.states
    (('x0', 'x1'), ((2, 3), (0, 1)))
    >>> dataset.codes
    array([[1, 0, 1],
           [1, 1, 0]], dtype=int32)
    """
    check_choice(missing)
    if isinstance(data, Dataset):
        return data if weights is None else _reweighted(data, weights)
    source = open_source(data)
    weighted_by = weights if isinstance(weights, str) else None
    indices = [i for i, name in enumerate(source.names) if name != weighted_by]
    names = tuple(source.names[i] for i in indices)
    _check_size(len(names), weighted_by)
    _check_rows(source.rows)
    row_weights = read_weights(weights, source)
    factors = read_factors(source, indices, na_values)
    factors, row_weights, notes, _ = settle(names, factors, row_weights, missing)
    rows = len(factors[0].codes)
    _check_rows(rows, notes)
    if row_weights is not None:
        check_total(row_weights)
    columns = [_with_states(name, factor) for name, factor in zip(names, factors, strict=True)]
    return Dataset.of(names, columns, row_weights, notes + _remarks(names, columns, rows))


def read_factors(
    source: Source, indices: Iterable[int], na_values: Iterable[State]
) -> list[Factor]:
    """Code some columns of a source; errors name the column."""
    texts = [na_values] if isinstance(na_values, str) else na_values
    absent = frozenset(str(value) for value in texts)
    factors = []
    for index in indices:
        with naming(source.names[index]):
            factors.append(source.factor(index, absent))
    return factors


def _with_states(name: str, factor: Factor) -> Discrete:
    """Decide on the states of a column whose rows are settled."""
    with naming(name):
        factor = _without_alternatives(with_missing_state(factor.ordered()))
    _check_states(name, factor.values)
    return factor.to_column()


def _reweighted(dataset: Dataset, weights: Weights) -> Dataset:
    """Give a table other weights."""
    if isinstance(weights, str):
        raise KesError(
            f"a Dataset has no column of weights {weights!r}; pass the weights as an array"
        )
    row_weights = read_weights(weights, Coded(dataset))
    assert row_weights is not None, "weights were given"
    check_total(row_weights)
    return dataset.reweighted(row_weights)


def _check_size(columns: int, weighted_by: str | None) -> None:
    if not columns:
        besides = " besides the weights" if weighted_by else ""
        raise KesError(f"the data have no columns{besides}; each variable must be a column")
    if columns > MAX_VARIABLES:
        raise KesError(
            f"the data have {columns} columns, but at most {MAX_VARIABLES} variables are possible; "
            "leave some out"
        )


def _check_rows(rows: int, notes: Sequence[str] = ()) -> None:
    if rows < 2:
        found = f"only {rows} row" if rows else "no rows"
        reason = f" ({notes[0]})" if notes else ""
        raise KesError(f"the data have {found}{reason}; nothing can be learned from that")


def _check_states(name: str, states: Sequence[State]) -> None:
    """Refuse what the core cannot count or no file can hold."""
    if len(states) > MAX_STATES:
        raise KesError(
            f"column {name!r} has {len(states)} states, but at most {MAX_STATES} are possible; "
            "cut it into intervals with kes.discretize if it holds numbers, or leave it out"
        )
    for text in (name, *(state for state in states if isinstance(state, str))):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise KesError(
                f"column {name!r}: {text!r} is not valid text (Unicode); it was probably read with "
                "the wrong encoding, so read the data again or replace such characters"
            ) from None


def _without_alternatives(factor: Factor) -> Factor:
    """Leave a column in which one declared value occurs with that state only."""
    if not factor.declared or len(factor.values) == 1:
        return factor
    lowest, highest = int(factor.codes.min()), int(factor.codes.max())
    return factor.select([lowest]) if lowest == highest else factor


def _remarks(names: Sequence[str], columns: Sequence[Discrete], rows: int) -> tuple[str, ...]:
    """Say what is allowed but may not be meant."""
    states_of = {name: column.states for name, column in zip(names, columns, strict=True)}
    constant = [name for name, values in states_of.items() if len(values) == 1]
    many = [name for name, values in states_of.items() if len(values) > max(MANY_STATES, rows // 2)]
    suspect = {
        name: value
        for name, values in states_of.items()
        for value in LOOKS_MISSING.intersection(values)
    }
    remarks = []
    if constant:
        remarks.append(f"constant, so isolated in every model: {listed(constant)}")
    if many:
        remarks.append(
            f"nearly as many states as rows, like an identifier or a quantity to discretise: "
            f"{listed(many)}"
        )
    if suspect:
        shown = listed([f"{name!r} ({value!r})" for name, value in suspect.items()], show=str)
        remarks.append(f"a state looks like a missing value (see na_values, or --missing): {shown}")
    return tuple(remarks)
