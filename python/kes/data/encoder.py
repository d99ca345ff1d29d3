"""The reader: from any table to a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kes._core import MAX_STATES, MAX_VARIABLES
from kes.data.audit import Finding, inspect, unusable
from kes.data.column import Column, Continuous, Discrete, State
from kes.data.dataset import AnyTable, Data, Dataset, Incomplete, Weights, naming
from kes.data.discretizer import Discretizer
from kes.data.factor import Factor
from kes.data.infer_kinds import Kinds, Verdict, judge, saying
from kes.data.missing import (
    Settled,
    check_choice,
    nowhere,
    refusal,
    settle,
    with_missing_state,
)
from kes.data.notes import few_cases, identifier_remarks, remarks, state_remarks, with_value
from kes.data.parse_text import Sign
from kes.data.raw_columns import Numbers
from kes.data.schema import ReadOptions, Schema, Unseen, match_table
from kes.data.source import Wanted, open_source
from kes.data.weights import check_total, read_weights, weight_remarks
from kes.declare import checked_options
from kes.errors import KesError, listed, option


@checked_options()
def encode(
    data: Data,
    *,
    weights: Weights = None,
    missing: str = "error",
    na_values: Iterable[State] = (),
    kinds: Kinds | None = None,
    columns: Iterable[str] | None = None,
    sep: str | None = None,
    decimal: Sign | None = None,
    encoding: str | None = None,
    discretizer: Discretizer | None = None,
    schema: Schema | None = None,
) -> Dataset:
    """Read a table: code discrete columns as integers, and keep continuous ones as numbers.

    Parameters
    ----------
    data : DataFrame, Table, ndarray, path or Dataset
        A pandas or polars DataFrame, a pyarrow Table, a two-dimensional numpy array (its columns
        are named x0, x1, ...), or the path of a CSV file (also .tsv, .txt, .gz) or of a Parquet
        file (needs pyarrow). A Dataset is returned unchanged, except for new `weights`.
    weights : str or array-like of float, optional
        Number of cases that each row stands for: counts, or non-negative reals such as a
        distribution times the number of cases. If it is a name, that column holds the weights and
        is not a variable. Rows of weight 0 still declare states.
    missing : {"error", "drop", "state"}
        How to treat missing values: refuse them, drop incomplete rows (as if the table did not
        have them), or make "missing" a state of its own.
    na_values : iterable of (str, int or bool)
        Additional values that mean missing, such as "NA" or "?"; compared as text.
    kinds : mapping, optional
        Kinds of columns that override the rules below:
        ``{"zip": "discrete", "size": "continuous", "id": "omit"}``; the last is left out.
    columns : iterable of str, optional
        The columns to use; by default all.
    sep, decimal, encoding : str, optional
        Dialect of a CSV file: column separator, decimal sign and text encoding; detected by
        default.
    discretizer : Discretizer, optional
        Cuts columns into intervals. If it is not fitted, it is fitted to the rows that are kept.
    schema : Schema, optional
        Variables and states of an existing table, result or network to read the table with; by
        default they are inferred. `kinds` and `columns` are then not used.

    Returns
    -------
    Dataset

    Raises
    ------
    KesError
        If the table cannot be used; names the column, row or line and a remedy.

    Notes
    -----
    *Kinds.* Text, booleans, categories, and integers with at most 50 distinct values are discrete;
    other numbers are continuous. Dates and identifiers are left out, with a note. Identifiers are
    columns of text, or of consecutive integers, in which all values differ, and text with more
    than 100 distinct values and fewer than two rows for each. `kes.audit` shows the decisions.

    *States.* Declared categories (pandas categories, a polars Enum, an ordered arrow dictionary)
    are the states, in their order, whether they occur or not. Otherwise the states are the values
    that occur, sorted: numbers numerically, False before True, intervals such as "(1.5, 3]" from
    left to right if all values are intervals, other text by code point. Values of a CSV file
    remain as they are written ("01", "TRUE"), and are sorted numerically if all are numbers. A
    column with a single value has one state, whatever is declared.

    *Missing values* are None, NaN and the null values of the data frame libraries; in a CSV file,
    only empty fields and `na_values`. The state for them comes last and is called "<missing>", or
    "<<missing>>" and so on if the column has that text as a value.

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
    options = ReadOptions.of(
        missing=missing,
        na_values=na_values,
        kinds=kinds,
        columns=columns,
        sep=sep,
        decimal=decimal,
        encoding=encoding,
    )
    table = read_data(data, options, schema=schema, weights=weights, discretizer=discretizer)
    if isinstance(table, Incomplete):
        raise _incomplete("there is no model to impute its missing values from")
    return table


def encode_incomplete(
    data: Data,
    *,
    weights: Weights = None,
    discretizer: Discretizer | None = None,
    schema: Schema | None = None,
    **options: Any,  # noqa: ANN401 - those of `encode`
) -> AnyTable:
    """Read a table as `encode` does; with ``missing="em"``, missing values are left to impute."""
    chosen = ReadOptions.of(**options)
    return read_data(data, chosen, schema=schema, weights=weights, discretizer=discretizer)


def read_data(
    data: Data,
    options: ReadOptions,
    *,
    schema: Schema | None = None,
    weights: Weights = None,
    discretizer: Discretizer | None = None,
    unseen: Unseen | None = None,
    declared: bool = False,
) -> AnyTable:
    """Read a table. The only reader: all others call it.

    Parameters
    ----------
    data
        As in `encode`.
    options
        How to read it.
    schema
        The variables and states to read it with; by default they are inferred.
    weights
        Overrides the column of weights in `options`.
    discretizer
        Overrides the cut points in `options`; fitted if it is not yet.
    unseen
        With a schema: whether missing values, and values that are none of the states, are an error
        or missing. None: missing values are treated as `options` say, and other values are errors.
    declared
        Whether constant columns keep declared states that do not occur.

    Returns
    -------
    Dataset or Incomplete
        The latter if values are left missing.
    """
    missing = options.missing
    check_choice(missing, gaps=True)
    coded = isinstance(data, Dataset | Incomplete)
    if weights is None and isinstance(options.weights, str) and not coded:
        weights = options.weights
    if discretizer is None:
        discretizer = options.discretizer
    if isinstance(data, Dataset | Incomplete) and schema is None:
        _refuse_kinds(options)
        if isinstance(data, Incomplete) and missing in ("drop", "state"):
            raise _incomplete(f"{option('missing', missing)} comes too late")
        return _recut(data if weights is None else _reweighted(data, weights), discretizer)
    if schema is None:
        return _infer(data, options, weights, discretizer, declared=declared)
    source = open_source(data, options.dialect, set(schema.names).__contains__)
    weights = source.called(weights) if isinstance(weights, str) else weights
    row_weights = read_weights(weights, source)
    if weights is None and isinstance(data, Dataset | Incomplete):
        row_weights = data.weights
    return match_table(
        source,
        schema,
        row_weights,
        missing=missing,
        absent=frozenset(options.na_values),
        decimal=options.decimal,
        discretizer=discretizer,
        unseen=unseen,
    )


def _infer(
    data: Data,
    options: ReadOptions,
    weights: Weights,
    discretizer: Discretizer | None,
    *,
    declared: bool,
) -> AnyTable:
    """Read a table whose variables and states are inferred from it."""
    missing, decimal = options.missing, options.decimal
    source = open_source(data, options.dialect, _wanted(options))
    weights = source.called(weights) if isinstance(weights, str) else weights
    kinds = _with_cut_columns(options.kinds, discretizer, source.names)
    findings, unheard = inspect(
        source,
        kinds=kinds,
        na_values=options.na_values,
        weights=weights,
        columns=options.columns or None,
        decimal=decimal,
        most=MAX_VARIABLES,
        is_cut=discretizer.is_cut if discretizer is not None and discretizer.is_fitted else None,
    )
    _check_size(len(findings), weights)
    _check_rows(source.rows)
    row_weights, hints = read_weights(weights, source), nowhere(unheard)
    reading_notes = [*source.notes, *hints]
    del source  # and all that it has read: a long table should not be in memory twice
    verdicts = {one.name: one.verdict for one in findings if one.verdict is not None}
    state = not _stateless(verdicts, discretizer)
    _refuse(findings, verdicts, missing, state, hints)
    used = _used(verdicts)
    read = [one.column for one in used.values()]
    settled = settle(list(used), read, row_weights, missing, state=state)
    if settled.rows is not None:
        used = _judged_again(used, settled, kinds, decimal)
    if discretizer is not None:
        used = _cut(used, discretizer, decimal)
    verdicts |= used
    if missing == "state":
        _refuse_gaps(used)
    _check_rows(settled.columns[0].rows, settled.notes)
    if settled.weights is not None:
        check_total(settled.weights)
    whole = used.keys() - (discretizer.cuts if discretizer is not None else ()) if declared else ()
    made = [
        _to_column(name, verdict, missing, declared=name in whole) for name, verdict in used.items()
    ]
    states = {
        name: column.states
        for name, column in zip(used, made, strict=True)
        if isinstance(column, Discrete)
    }
    cases = made[0].rows if settled.weights is None else float(settled.weights.sum())
    cases_of = {name: with_value(used[name].column, settled.weights, missing) for name in states}
    notes = [*reading_notes, *settled.notes, *remarks(verdicts), *state_remarks(states, cases_of)]
    notes += identifier_remarks({one.name: one.seems for one in findings if one.seems})
    notes += few_cases(made, cases)
    if settled.weights is not None:
        notes.extend(weight_remarks(settled.weights))
    if discretizer is not None and discretizer.cuts:
        cut = [f"{name!r} ({len(ends) + 1})" for name, ends in discretizer.cuts.items()]
        notes.append(f"cut into intervals: {listed(cut, show=str)}")
    dataset = Dataset.of(list(used), made, settled.weights, notes)
    if not any(verdict.column.missing() for verdict in used.values()) or missing == "state":
        return dataset
    return Incomplete(dataset, np.array([~one.column.complete() for one in used.values()]))


def _wanted(options: ReadOptions) -> Wanted:
    """Return a function that tells by its name whether a column will be read."""
    kinds = options.kinds if isinstance(options.kinds, Mapping) else {}
    omitted = {name for name, kind in kinds.items() if kind == "omit"}
    chosen = options.columns
    return lambda name: (not chosen or name in chosen) and name not in omitted


def _stateless(verdicts: Mapping[str, Verdict], discretizer: Discretizer | None) -> bool:
    """Return whether a column with missing values will be continuous, so that it has no states."""
    incomplete = {
        name
        for name, verdict in verdicts.items()
        if verdict.kind == "continuous" and verdict.column.missing()
    }
    if discretizer is None:
        return bool(incomplete)
    # Without names, all continuous columns will be cut.
    cut = discretizer.cuts if discretizer.is_fitted else discretizer.named or incomplete
    return not incomplete.issubset(cut)


def _refuse(
    findings: Sequence[Finding],
    verdicts: Mapping[str, Verdict],
    missing: str,
    state: bool,
    hints: Sequence[str],
) -> None:
    """Refuse columns that cannot be used, all in one error."""
    used = {name: verdict for name, verdict in verdicts.items() if verdict.kind is not None}
    empty = [name for name, verdict in used.items() if verdict.what == "empty"]
    gaps = {name: verdict.column.missing() for name, verdict in used.items() if name not in empty}
    complaints = unusable(findings)
    bad = [one.name for one in findings if one.complaint]
    if empty and missing != "state":
        bad += empty
        complaints.append(
            f"columns without a single value: {listed(empty)}; leave them out with "
            f"{saying(empty, 'omit')}"
        )
    if missing == "error" and any(gaps.values()):
        rows = next(iter(used.values())).column.rows
        counts = {name: count for name, count in gaps.items() if count}
        message = (*refusal(counts, rows, state=state), *hints)
        complaints += message if complaints else ["; ".join(message)]
        bad += counts
    if complaints:
        unusable_only = not (missing == "error" and any(gaps.values()))
        raise KesError(*complaints, option=None if unusable_only else "missing", column=bad[0])


def _used(verdicts: Mapping[str, Verdict]) -> dict[str, Verdict]:
    """Return the columns to learn from."""
    used = {name: verdict for name, verdict in verdicts.items() if verdict.kind is not None}
    if not used:
        reasons = [f"{name!r} ({verdict.why})" for name, verdict in verdicts.items()]
        raise KesError(
            f"no column is left to learn from; left out: {listed(reasons, show=str)}; to use one, "
            f"set its kind with {option('kinds')}",
            option="kinds",
        )
    return used


def _refuse_gaps(used: Mapping[str, Verdict]) -> None:
    """Refuse missing values of continuous columns, which have no states."""
    gaps = {
        name: verdict.column.missing()
        for name, verdict in used.items()
        if verdict.kind == "continuous" and verdict.column.missing()
    }
    if gaps:
        shown = listed([f"{name!r} ({count})" for name, count in gaps.items()], show=str)
        raise KesError(
            f"continuous columns cannot have a state for missing values: {shown}; impute them with "
            f"{option('missing', 'em')}, drop such rows with {option('missing', 'drop')}, or "
            f"discretize the columns with {option('discretize')}",
            option="missing",
            column=next(iter(gaps)),
        )


def _with_cut_columns(
    kinds: Mapping[str, str], discretizer: Discretizer | None, names: Sequence[str]
) -> Mapping[str, str]:
    """Return the declared kinds; columns that are to be cut are continuous."""
    if discretizer is None or not isinstance(kinds, Mapping):
        return kinds
    wanted = discretizer.cuts if discretizer.is_fitted else discretizer.named
    return {**{name: "continuous" for name in wanted if name in names}, **kinds}


def _cut(
    used: dict[str, Verdict], discretizer: Discretizer, decimal: Sign | None
) -> dict[str, Verdict]:
    """Replace numbers by intervals."""
    if not discretizer.is_fitted:
        columns = {name: verdict.column for name, verdict in used.items()}
        continuous = [name for name, verdict in used.items() if verdict.kind == "continuous"]
        discretizer.fit_columns(columns, continuous, decimal=decimal)
    return used | {
        name: Verdict("discrete", discretizer.cut(name, used[name].column, decimal))
        for name in discretizer.cuts
        if name in used
    }


def _recut(table: AnyTable, discretizer: Discretizer | None) -> AnyTable:
    """Discretize the continuous columns of a dataset."""
    if discretizer is None:
        return table
    if not discretizer.is_fitted:
        discretizer.fit(table)
    return discretizer.transform(table)


def _judged_again(
    used: dict[str, Verdict], settled: Settled, kinds: Mapping[str, str], decimal: Sign | None
) -> dict[str, Verdict]:
    """Infer the kinds of columns again, as if dropped rows had never been there.

    All columns remain in use: values that no longer recur do not make an identifier.
    """
    found = {}
    for (name, before), column in zip(used.items(), settled.columns, strict=True):
        with naming(name):
            declared = before.kind if name in kinds else None
            now = judge(column, declared, decimal=decimal, cases=False)
        # Text that was read as numbers is numbers now.
        found[name] = replace(before, column=column) if now.what == before.what else now
    return found


def _to_column(name: str, verdict: Verdict, missing: str, *, declared: bool) -> Column:
    """Code a column; missing values to impute get an arbitrary value."""
    with naming(name):
        if isinstance(verdict.column, Numbers):
            values = verdict.column.floats()
            return Continuous(np.nan_to_num(values) if verdict.column.missing() else values)
        assert isinstance(verdict.column, Factor), "dates are left out or coded as text"
        factor = verdict.column.ordered()
        if missing == "state":
            factor = with_missing_state(factor)
        if not declared:
            factor = _without_alternatives(factor)
    _check_states(name, factor.values)
    if factor.missing():
        factor = replace(factor, codes=np.maximum(factor.codes, 0))
    return factor.to_column()


def _refuse_kinds(options: ReadOptions) -> None:
    if options.kinds or options.columns:
        raise KesError(
            f"the kinds of the columns of a Dataset are fixed; leave out {option('kinds')}, or "
            "pass the original table",
            option="kinds" if options.kinds else "columns",
        )


def _incomplete(why: str) -> KesError:
    return KesError(
        f"this table was read with {option('missing', 'em')}, and {why}; pass the original table",
        option="missing",
    )


def _reweighted(table: AnyTable, weights: Weights) -> AnyTable:
    """Replace the weights of a table."""
    if isinstance(weights, str):
        raise KesError(
            f"a Dataset has no column of weights {weights!r}; pass the weights as an array",
            option="weights",
        )
    row_weights = read_weights(weights, open_source(table))
    assert row_weights is not None, "weights were given"
    check_total(row_weights)
    return table.reweighted(row_weights)


def _check_size(columns: int, weights: Weights) -> None:
    if not columns:
        besides = " besides the weights" if isinstance(weights, str) else ""
        raise KesError(
            f"the data have no columns{besides}; each variable must be a column",
            option="weights" if besides else None,
        )


def _check_rows(rows: int, notes: Sequence[str] = ()) -> None:
    if rows < 2:
        found = f"only {rows} row" if rows else "no rows"
        reason = f" ({notes[0]})" if notes else ""
        raise KesError(f"the data have {found}{reason}; at least two rows are needed")


def _check_states(name: str, states: Sequence[State]) -> None:
    """Refuse more states than the core supports, and text that cannot be written to a file."""
    if len(states) > MAX_STATES:
        raise KesError(
            f"column {name!r} has {len(states)} states, but at most {MAX_STATES} are supported; "
            "discretize it with kes.discretize if it holds numbers, or leave it out",
            column=name,
        )
    for text in (name, *(state for state in states if isinstance(state, str))):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise KesError(
                f"column {name!r}: {text!r} is not valid Unicode; it was probably read with the "
                "wrong encoding, so read the data again or replace such characters",
                column=name,
            ) from None


def _without_alternatives(factor: Factor) -> Factor:
    """Drop the other declared states of a column in which a single value occurs."""
    if not factor.declared or len(factor.values) == 1:
        return factor
    occurring = factor.occurring().tolist()
    return factor.select(occurring) if len(occurring) == 1 else factor
