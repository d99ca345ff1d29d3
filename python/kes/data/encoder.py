"""The reader: from any table to a dataset."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kes.data.audit import Finding, inspect, unusable
from kes.data.column import Column, Continuous, Discrete, State, check_states
from kes.data.dataset import AnyTable, Data, Dataset, Incomplete, Weights, naming
from kes.data.dependence import dependence_notes
from kes.data.discretizer import Discretizer
from kes.data.factor import Factor
from kes.data.infer_kinds import Kinds, Verdict, judge, saying
from kes.data.interventions import Indicators, marked, replace_columns
from kes.data.missing import (
    Settled,
    check_choice,
    nowhere,
    refusal,
    refuse_gaps,
    settle,
    with_missing_state,
)
from kes.data.notes import (
    absent_marks,
    few_cases,
    identifier_remarks,
    remarks,
    state_remarks,
    with_value,
)
from kes.data.parse_text import Sign
from kes.data.raw_columns import Numbers
from kes.data.schema import ReadOptions, Schema, match_table
from kes.data.series import Lagged
from kes.data.series_reader import has_earlier, read_series
from kes.data.source import Source, Wanted, open_source
from kes.data.weights import check_total, read_weights, weight_remarks
from kes.declare import checked_options
from kes.errors import KesError, listed, option

_MOST_COLUMNS = 1_000_000  # beyond, no machine has the memory for all pairs


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
    dates: str | None = None,
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
    dates : {"days", "year"}, optional
        Use columns of dates as numbers: days since 1970-01-01, or years.
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
    *Kinds.* Text, booleans, categories, and integers with at most 12 distinct values are discrete;
    other numbers are continuous. Dates and identifiers are left out, with a note. Identifiers are
    columns of text, or of consecutive integers, in which all values differ, and text with more
    than 100 distinct values and fewer than two rows for each. `kes.audit` shows the decisions.

    *States.* Declared categories (pandas categories, a polars Enum, an ordered arrow dictionary)
    are the states, in their order, whether they occur or not. Otherwise the states are the values
    that occur, sorted: numbers numerically, False before True, intervals such as "(1.5, 3]" from
    left to right if all values are intervals, other text by code point. Values of a CSV file
    keep their notation ("01", "TRUE"), and are sorted numerically if all are numbers. A
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
        dates=dates,
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
    declared: bool = False,
) -> AnyTable:
    """Read a table. All readers but that of new rows for a network call it.

    Without a `schema`, variables and states are inferred; constant columns keep states that do not
    occur only if `declared` says so. With one, values that are none of the states are errors.
    `weights` and `discretizer`, which is fitted if it is not yet, override those in `options`. The
    result is `Incomplete` if values are left missing.
    """
    check_choice(options.missing, gaps=True)
    discretizer = options.discretizer if discretizer is None else discretizer
    if isinstance(data, Lagged):
        options, data = replace(options, series=data.series), data.table
    if options.series is not None and not has_earlier(data):
        own = partial(read_data, weights=weights, discretizer=discretizer, declared=declared)
        return read_series(own, data, options, schema)
    if isinstance(data, Dataset | Incomplete):
        if schema is None:
            recoded = _recode(data, options, weights, discretizer)
            return replace_columns(recoded, options.interventions)
    elif weights is None and isinstance(options.weights, str):
        weights = options.weights
    if schema is None:
        return _infer(data, options, weights, discretizer, declared=declared)
    source = _opened(data, options, set(schema.names).__contains__, schema)
    row_weights = read_weights(weights, source)
    if weights is None and isinstance(data, Dataset | Incomplete):
        row_weights = data.weights
    table = match_table(source, schema, row_weights, options, discretizer)
    return marked(table, source.notations)


def _opened(
    data: Data, options: ReadOptions, wanted: Wanted, schema: Schema | None = None
) -> Source:
    """Open a table, with indicators in the place of columns that name interventions."""
    own = options.interventions
    source = open_source(data, options.dialect, lambda name: wanted(name) or name in own)
    if not own or (isinstance(data, Dataset | Incomplete) and not own.keys() & {*source.names}):
        return source  # a Dataset may have the indicators already
    return Indicators(source, own, () if schema is None else schema.names)


def _recode(
    table: AnyTable, options: ReadOptions, weights: Weights, discretizer: Discretizer | None
) -> AnyTable:
    """Replace the weights of a dataset, and discretize its continuous columns."""
    if options.kinds or options.columns:
        raise KesError(
            f"the kinds of the columns of a Dataset are fixed; leave out {option('kinds')}, or "
            "pass the original table",
            option="kinds" if options.kinds else "columns",
        )
    if isinstance(table, Incomplete) and options.missing in ("drop", "state"):
        raise _incomplete(f"{option('missing', options.missing)} comes too late")
    if isinstance(weights, str):
        raise KesError(
            f"a Dataset has no column of weights {weights!r}; pass the weights as an array",
            option="weights",
        )
    row_weights = read_weights(weights, open_source(table))
    if row_weights is not None:
        check_total(row_weights)
        table = table.reweighted(row_weights)
    if discretizer is None:
        return table
    if not discretizer.is_fitted:
        discretizer.fit(table)
    discretizer.check_columns(table.names)
    return discretizer.transform(table)


def _incomplete(why: str) -> KesError:
    return KesError(
        f"this table was read with {option('missing', 'em')}, and {why}; pass the original table",
        option="missing",
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
    missing, decimal, kinds = options.missing, options.decimal, options.kinds
    source = _opened(data, options, _wanted(options))
    if discretizer is not None:
        discretizer.check_columns(source.names)
        if isinstance(kinds, Mapping):
            kinds = {**dict.fromkeys(discretizer.named & {*source.names}, "continuous"), **kinds}
    findings, unheard = inspect(
        source,
        replace(options, kinds=kinds),
        weights,
        most=_MOST_COLUMNS,
        is_cut=None if discretizer is None else discretizer.is_cut,
    )
    if not findings:
        besides = " besides the weights" if isinstance(weights, str) else ""
        raise KesError(
            f"the data have no columns{besides}; each variable must be a column",
            option="weights" if besides else "data",
        )
    _check_rows(source.rows)
    row_weights, hints = read_weights(weights, source), nowhere(unheard)
    notes, notations = [*source.notes], source.notations
    del source  # and all that it has read: a long table should not be in memory twice
    verdicts = {one.name: one.verdict for one in findings if one.verdict is not None}
    used = {name: verdict for name, verdict in verdicts.items() if verdict.kind is not None}
    notes += [*hints, *absent_marks(used)]
    state = not _stateless(used, discretizer)
    _refuse(findings, used, missing, state, hints)
    read = [one.column for one in used.values()]
    settled = settle(list(used), read, row_weights, missing, state=state)
    if settled.rows is not None:
        used = _judged_again(used, settled, kinds, decimal)
    if discretizer is not None:
        used = _cut(used, discretizer, decimal)
    if missing == "state":
        refuse_gaps({name: one.column for name, one in used.items() if one.kind == "continuous"})
    _check_rows(settled.columns[0].rows, settled.notes)
    if settled.weights is not None:
        check_total(settled.weights)
    cuts = {} if discretizer is None else discretizer.cuts
    made = {
        name: _to_column(name, verdict, missing, declared=declared and name not in cuts)
        for name, verdict in used.items()
    }
    states = {name: one.states for name, one in made.items() if isinstance(one, Discrete)}
    cases_of = {name: with_value(used[name].column, settled.weights, missing) for name in states}
    notes += [*settled.notes, *remarks(verdicts | used), *state_remarks(states, cases_of)]
    notes += identifier_remarks({one.name: one.seems for one in findings if one.seems})
    cases = settled.columns[0].rows if settled.weights is None else float(settled.weights.sum())
    notes += few_cases(list(made.values()), cases)
    if settled.weights is not None:
        notes += weight_remarks(settled.weights)
    else:
        notes += dependence_notes(used)
    if cuts:
        cut = [f"{name!r} ({len(ends) + 1})" for name, ends in cuts.items()]
        notes.append(f"cut into intervals: {listed(cut, show=str)}")
    dataset = Dataset.of(list(made), list(made.values()), settled.weights, notes)
    if not any(verdict.column.missing() for verdict in used.values()) or missing == "state":
        return marked(dataset, notations)
    gaps = np.array([~one.column.complete() for one in used.values()])
    return marked(Incomplete(dataset, gaps), notations)


def _wanted(options: ReadOptions) -> Wanted:
    """Return a function of a column name: whether the column will be read."""
    kinds = options.kinds if isinstance(options.kinds, Mapping) else {}
    chosen = options.columns
    return lambda name: (not chosen or name in chosen) and kinds.get(name) != "omit"


def _stateless(used: Mapping[str, Verdict], discretizer: Discretizer | None) -> bool:
    """Return whether a column with missing values will be continuous, so that it has no states."""
    incomplete = {
        name for name, one in used.items() if one.kind == "continuous" and one.column.missing()
    }
    if discretizer is None:
        return bool(incomplete)
    # Without names, all continuous columns will be cut.
    return bool(incomplete - discretizer.named) and bool(discretizer.named or discretizer.is_fitted)


def _refuse(
    findings: Sequence[Finding],
    used: Mapping[str, Verdict],
    missing: str,
    state: bool,
    hints: Sequence[str],
) -> None:
    """Refuse columns that cannot be used, all in one error."""
    empty = [name for name, verdict in used.items() if verdict.what == "empty"]
    gaps = {name: one.column.missing() for name, one in used.items() if name not in empty}
    gaps = {name: count for name, count in gaps.items() if count} if missing == "error" else {}
    complaints = unusable(findings)
    bad = [one.name for one in findings if one.complaint]
    if empty and missing != "state":
        bad += empty
        complaints.append(
            f"columns without a single value: {listed(empty)}; leave them out with "
            f"{saying(empty, 'omit')}"
        )
    if gaps:
        rows = next(iter(used.values())).column.rows
        marked = {name for name, verdict in used.items() if verdict.absent}
        marks = absent_marks(used, columns=marked != gaps.keys())
        message = (*marks, *refusal(gaps, rows, state=state), *hints)
        complaints += message if complaints else ["; ".join(message)]
        bad += gaps
    if complaints:
        raise KesError(*complaints, option="missing" if gaps else None, column=bad[0])
    if not used:
        reasons = [f"{one.name!r} ({one.verdict.why})" for one in findings if one.verdict]
        raise KesError(
            f"no column is left to learn from; left out: {listed(reasons, show=str)}; to use one, "
            f"set its kind with {option('kinds')}",
            option="kinds",
        )


def _cut(
    used: dict[str, Verdict], discretizer: Discretizer, decimal: Sign | None
) -> dict[str, Verdict]:
    """Replace numbers by intervals."""
    if not discretizer.is_fitted:
        columns = {name: verdict.column for name, verdict in used.items()}
        continuous = [name for name, verdict in used.items() if verdict.kind == "continuous"]
        discretizer.fit_columns(columns, continuous, decimal=decimal)
    return used | {
        name: Verdict(
            "discrete",
            discretizer.cut(name, used[name].column, decimal),
            notation=used[name].notation,
        )
        for name in discretizer.cuts
        if name in used
    }


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
        found[name] = (
            replace(before, column=column)
            if now.what == before.what
            else replace(now, notation=before.notation)
        )
    return found


def _to_column(name: str, verdict: Verdict, missing: str, *, declared: bool) -> Column:
    """Code a column; missing values to impute get an arbitrary value.

    Unless `declared`, a column in which a single value occurs loses its other declared states.
    """
    with naming(name):
        if isinstance(verdict.column, Numbers):
            values = verdict.column.floats()
            known = np.nan_to_num(values) if verdict.column.missing() else values
            return Continuous(known, verdict.notation)
        assert isinstance(verdict.column, Factor), "dates are left out or coded as text"
        factor = verdict.column.ordered()
        if missing == "state":
            factor = with_missing_state(factor)
        if factor.declared and not declared and len(occurring := factor.occurring()) == 1:
            factor = factor.select(occurring.tolist())
    check_states(name, factor.values)
    if factor.missing():
        factor = replace(factor, codes=np.maximum(factor.codes, 0))
    return replace(factor.to_column(), notation=verdict.notation)


def _check_rows(rows: int, notes: Sequence[str] = ()) -> None:
    if rows < 2:
        found = f"only {rows} row" if rows else "no rows"
        reason = f" ({notes[0]})" if notes else ""
        raise KesError(
            f"the data have {found}{reason}; at least two rows are needed", option="data"
        )
