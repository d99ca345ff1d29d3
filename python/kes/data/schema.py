"""The schema of a table: reading options, and the variables and states of an existing result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from kes.data.column import Column, Continuous, Discrete, State, is_missing_state
from kes.data.csv_source import CsvDialect
from kes.data.dataset import AnyTable, Dataset, Incomplete, naming
from kes.data.dates import date_notation, dates_as_numbers
from kes.data.discretizer import Discretizer
from kes.data.factor import Factor, code_type, recoded
from kes.data.infer_kinds import Kinds, decimal_sign, to_numbers, without_strays
from kes.data.intervals import named_cuts
from kes.data.interventions import Interventions
from kes.data.missing import settle
from kes.data.notation import PLAIN, Notation
from kes.data.notes import left_out
from kes.data.parse_text import LOOKS_MISSING, Sign
from kes.data.raw_columns import Numbers, Raw
from kes.data.series import Series
from kes.data.source import Source
from kes.data.units import no_quantities, other_units, unit_of
from kes.errors import KesError, either, listed, option, suggest
from kes.options import DATES
from kes.validation import choice

Unseen: TypeAlias = Literal["error", "missing"]
"""Treatments of missing values and of values that are none of the states."""


def check_dates(dates: str | None) -> str | None:
    """Validate the option `dates`."""
    return None if dates is None else choice("dates", dates, known=DATES)


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
    dates : {"days", "year"} or None
        How dates become numbers; None: not at all.
    completions : int
        Imputed copies of each incomplete case, for ``missing="em"``.
    cuts : mapping
        Cut points of the columns that were discretized.
    interventions : mapping
        Columns that are replaced by indicators of their values, with the targets of these.
    series : Series or None
        How rows form series, if earlier values stand beside them.
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
    dates: str | None = None
    completions: int = 5
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    interventions: Interventions = field(default_factory=dict)
    series: Series | None = None

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
        dates: str | None = None,
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
            dates=check_dates(dates),
        )

    @property
    def dialect(self) -> CsvDialect:
        """Dialect of a CSV file."""
        return CsvDialect(self.sep, self.decimal, self.encoding)

    @property
    def discretizer(self) -> Discretizer | None:
        """Discretizer with these cut points; None if no column was cut."""
        return Discretizer.at(self.cuts) if self.cuts else None


@dataclass(frozen=True)
class Schema:
    """Variables of an existing table, result or network.

    Attributes
    ----------
    names : sequence of str
        The variables.
    states : sequence of sequence of (str, int or bool)
        States of each variable in the order of their codes; () for continuous ones.
    notations : mapping of str to Notation
        How columns were written: their dates are read in the same way, and numbers in another unit
        are refused. Other columns are read by the options.

    Notes
    -----
    The columns of a table that is read with a schema may be in any order; others are ignored. A
    value is a state if the two are equal or have the same text: the text "1" of a CSV file is the
    integer 1 of a data frame. With ``missing="state"``, missing values take the state for missing
    values, if the variable has one.

    Examples
    --------
    >>> from kes.data import encode
    >>> encode(np.array([["b", "a"]]), schema=Schema(["x1"], [["a", "b", "c"]])).codes
    array([[0]], dtype=int32)
    """

    names: Sequence[str]
    states: Sequence[Sequence[State]]
    notations: Mapping[str, Notation] = field(default_factory=dict)

    @classmethod
    def of(
        cls, states: Mapping[str, Sequence[State]], notations: Mapping[str, Notation] | None = None
    ) -> Schema:
        """Make a schema from the states of each variable."""
        return cls(tuple(states), tuple(states.values()), notations or {})


def match_table(
    source: Source,
    schema: Schema,
    weights: NDArray[np.float64] | None,
    options: ReadOptions,
    discretizer: Discretizer | None,
) -> AnyTable:
    """Read the columns of a schema; see `kes.data.encoder.read_data`."""
    indices = _find_columns(schema, source)
    if not source.rows:
        raise KesError("the data have no rows", option="data")
    states_of = dict(zip(indices, schema.states, strict=True))
    raw, notations = _read(source, states_of, schema.notations, options, discretizer)
    # Rows are dropped first: a value that occurs only in dropped rows need not be a state.
    can_be_state = all(isinstance(column, Factor) or not column.missing() for column in raw)
    raw, weights, notes, rows = settle(
        schema.names, raw, weights, options.missing, state=can_be_state
    )
    values = _Match(options.missing, None, rows).columns(schema, raw)
    gaps = [gaps_of(column) for column in values]
    columns: list[Column] = [
        Discrete(tuple(states), np.maximum(column, 0), notation)
        if states
        else Continuous(np.where(missing, 0.0, column), notation)
        for column, missing, states, notation in zip(
            values, gaps, schema.states, notations, strict=True
        )
    ]
    dataset = Dataset.of(schema.names, columns, weights, notes)
    return Incomplete(dataset, np.array(gaps)) if any(map(np.any, gaps)) else dataset


Strangers: TypeAlias = dict[str, dict[State, NDArray[np.intp]]]
"""For some columns, the values that are none of the states, and the rows of each."""


def match_rows(
    source: Source, schema: Schema, discretizer: Discretizer | None, unseen: Unseen
) -> tuple[list[NDArray[Any]], Strangers]:
    """Read the columns of a schema as codes and numbers; -1 and NaN are missing values.

    Missing values take the state for them, if the variable has one. Otherwise `unseen` decides
    whether these, and values that are none of the states, are errors or missing: the latter are
    returned, too.
    """
    options = ReadOptions(missing="state")
    places = _find_columns(schema, source)
    states_of = dict(zip(places, schema.states, strict=True))
    raw, _ = _read(source, states_of, schema.notations, options, discretizer)
    match = _Match(options.missing, unseen, None)
    return match.columns(schema, raw), match.strangers


def gaps_of(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where codes are negative, or numbers NaN."""
    gaps: NDArray[np.bool_] = np.isnan(column) if column.dtype.kind == "f" else column < 0
    return gaps


def _find_columns(schema: Schema, source: Source) -> list[int]:
    """Find the columns of a schema."""
    index_of = {column: i for i, column in enumerate(source.names)}
    wanted = [name if name in index_of else source.called(name) for name in schema.names]
    lacking = [name for name in wanted if name not in index_of]
    if lacking:
        advice = "each variable must be a column"
        if any(schema.notations.get(name, PLAIN).lag for name in lacking):
            advice = "earlier values come from kes.lagged(data, ...)"
        raise KesError(
            f"the data lack columns: {listed(lacking)}{suggest(lacking[0], source.names)}; "
            f"{advice}{left_out(lacking, source.notes)}",
            column=lacking[0],
        )
    return [index_of[name] for name in wanted]


def _read(
    source: Source,
    states_of: Mapping[int, Sequence[State]],
    notations: Mapping[str, Notation],
    options: ReadOptions,
    discretizer: Discretizer | None,
) -> tuple[list[Raw], list[Notation]]:
    """Read columns as factors, or as numbers if they are continuous; cut those to discretize."""
    names, absent = source.names, frozenset(options.na_values)
    cuts = {} if discretizer is None else dict(discretizer.cuts)
    named = named_cuts({names[index]: states for index, states in states_of.items()})
    columns: dict[int, Raw] = {}
    own: list[Notation] = []
    for index, states in states_of.items():
        with naming(names[index]):
            notation = notations.get(names[index], Notation(options.dates))
            column, found = _in_notation(source.column(index, absent), notation)
            if names[index] in named and names[index] not in cuts and _has_numbers(column):
                cuts[names[index]] = named[names[index]]
            is_text = bool(states) and names[index] not in cuts
            columns[index] = _without_marks(column.factor(), states) if is_text else column
            own.append(PLAIN if is_text and found.dates is None else found)
    sign = options.decimal or decimal_sign(columns.values()) or source.likely_decimal
    cutter = Discretizer.at(cuts)
    for index, states in states_of.items():
        if names[index] in cuts:
            columns[index] = cutter.cut(names[index], columns[index], sign)
        elif not states:
            with naming(names[index]):
                columns[index] = to_numbers(columns[index], sign)
    return list(columns.values()), own


def _in_notation(column: Raw, notation: Notation) -> tuple[Raw, Notation]:
    """Read dates as numbers, and refuse numbers in another unit; return the notation found, too.

    Errors do not name the column.
    """
    if notation.dates is not None:
        found = date_notation(column, notation.dates, notation.month_first)
        if found is not None:
            return dates_as_numbers(column, found), found
    texts = [str(value) for value in column.values] if isinstance(column, Factor) else []
    if notation.unit and (others := other_units(texts, notation.unit)):
        raise KesError(
            f"has numbers in {listed(others)}, but must be in {notation.unit!r}, as the data "
            "from which the network was estimated; convert them"
        )
    return column, Notation(unit=notation.unit or unit_of(texts))


def read_number(text: str, notation: Notation) -> float | None:
    """Read one value as a column in this notation is read; None if it is not a number.

    Examples
    --------
    >>> read_number("1970-01-31", Notation("days")), read_number("73,5 €", Notation(unit="€"))
    (30.0, 73.5)
    """
    column, _ = _in_notation(Factor([text], np.zeros(1, dtype=np.int8)), notation)
    try:
        return float(to_numbers(column).floats()[0])
    except KesError:
        return None


def _without_marks(factor: Factor, states: Sequence[State]) -> Factor:
    """Read texts that look missing as missing, unless they are states."""
    return factor.without(LOOKS_MISSING.difference(map(str, states)))


def _has_numbers(column: Raw) -> bool:
    """Tell whether a column holds numbers, so that it is not made of interval labels."""
    if isinstance(column, Factor):
        texts = [str(value) for value in column.values]
        return len(no_quantities(texts)) < len(texts)
    return isinstance(column, Numbers)


@dataclass(frozen=True)
class _Match:
    """Codes columns with the states of a schema; `rows` of the table were kept (None: all)."""

    missing: str
    unseen: Unseen | None
    rows: NDArray[np.intp] | None
    strangers: Strangers = field(default_factory=dict)

    def columns(self, schema: Schema, raw: Sequence[Raw]) -> list[NDArray[Any]]:
        """Return the codes or numbers of all columns, -1 or NaN where they are missing."""
        return [
            self._column(name, column, states)
            for name, column, states in zip(schema.names, raw, schema.states, strict=True)
        ]

    def _column(self, name: str, raw: Raw, states: Sequence[State]) -> NDArray[Any]:
        values: NDArray[Any]
        if isinstance(raw, Factor):
            values, strange = self._codes(raw, states)
            if strange.any():
                if self.unseen != "missing":
                    raise self._refusal(name, raw, strange, states)
                self.strangers[name] = {
                    raw.values[code]: np.flatnonzero(raw.codes == code)
                    for code in np.unique(raw.codes[strange])
                }
        else:
            with naming(name):
                values = to_numbers(raw).floats()
        self._check_gaps(name, gaps_of(values))
        return values

    def _codes(
        self, factor: Factor, states: Sequence[State]
    ) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.bool_]]:
        """Return codes, -1 where a value is missing or not a state; and where it is not a state."""
        code_of = {state: code for code, state in enumerate(states)}
        code_of_text = {str(state): code for code, state in enumerate(states)}
        codes = [code_of.get(v, code_of_text.get(str(v), -1)) for v in factor.values]
        has_state = self.missing == "state" and is_missing_state(states[-1])
        missing = len(states) - 1 if has_state else -1
        lookup = np.array([*codes, missing], dtype=code_type(len(states)))  # the last is for -1
        matched = recoded(lookup, factor.codes)
        return matched, (matched < 0) & (factor.codes >= 0)

    def _refusal(
        self, name: str, factor: Factor, strange: NDArray[np.bool_], states: Sequence[State]
    ) -> KesError:
        places = np.flatnonzero(strange)
        values = [factor.values[code] for code in np.unique(factor.codes[places])]
        row = self._row(places)
        marks = [str(value) for value in values if value in LOOKS_MISSING]
        advice = f"; {without_strays(marks)}" if marks else ""
        if self.unseen is not None:
            ignoring = 'unseen="missing" treats such values as missing'
            advice += f"; {either(ignoring, 'correct them, or leave such rows out')}"
        return KesError(
            f"column {name!r} has values that are none of its states: {listed(values)} (first in "
            f"row {row}, counting from 0); its states are {listed(states)}{advice}",
            column=name,
            row=row,
        )

    def _check_gaps(self, name: str, gaps: NDArray[np.bool_]) -> None:
        """Refuse missing values unless they are to be imputed or marginalized over."""
        if self.missing == "em" or self.unseen == "missing" or not gaps.any():
            return
        places = np.flatnonzero(gaps)
        row = self._row(places)
        advice = (
            f"drop such rows with {option('missing', 'drop')}"
            if self.unseen is None
            else f"{option('unseen', 'missing')} accepts them"
        )
        raise KesError(
            f"column {name!r} has {places.size} missing values (first in row {row}, counting from "
            f"0), and no state for them; {advice}",
            option="missing" if self.unseen is None else "unseen",
            column=name,
            row=row,
        )

    def _row(self, places: NDArray[np.intp]) -> int:
        return int(places[0] if self.rows is None else self.rows[places[0]])
