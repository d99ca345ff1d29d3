"""Columns that say which intervention a row is from, as one indicator for each intervention.

A column `condition` with the values "a", "b" and "none", where the last is no intervention,
becomes the columns `condition[a]` and `condition[b]` with the values "no" and "yes". A variable
that only "a" touches then depends on one binary context, not on all values of `condition`.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kes.data.dataset import AnyTable, Dataset, Incomplete, naming, split_gaps
from kes.data.factor import Factor, recoded
from kes.data.notation import Notation
from kes.data.raw_columns import Raw
from kes.data.source import Source, check_distinct, open_source
from kes.errors import KesError, listed, option, suggest
from kes.files import load

Targets: TypeAlias = Mapping[str, tuple[str, ...] | None]
"""Values of a column, with the variables that each touches; None: no intervention."""

Interventions: TypeAlias = Mapping[str, Targets]
"""Columns that say which intervention a row is from. Values that are not listed have unknown
targets."""

STATES = ("no", "yes")
"""States of an indicator."""

_EXPECTED = (
    'a mapping from columns to their values and targets, such as {"condition": {"a": "X1", '
    '"b": ["X2", "X3"], "none": None}}'
)


def check_interventions(value: object) -> Interventions:
    """Validate the option `interventions`; values become text."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _invalid(value)
    return {_name(column): _targets(column, own) for column, own in value.items()}


def read_interventions(path: str | PathLike[str]) -> Interventions:
    """Read interventions from a TOML or JSON file; an empty list is no intervention."""
    readers: dict[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".json": json.loads}
    suffix = Path(path).suffix.lower()
    if suffix not in readers:
        raise KesError(
            f"{path}: unsupported suffix {suffix!r}; interventions are read from .toml or .json",
            option="interventions",
            file=str(path),
        )

    def parse(content: bytes) -> Interventions:
        try:
            return check_interventions(readers[suffix](content.decode("utf-8-sig")))
        except (ValueError, RecursionError) as error:
            if isinstance(error, KesError):
                raise
            raise KesError(
                f"invalid or truncated {suffix[1:].upper()}: {error}", option="interventions"
            ) from None

    return load(path, parse)


def _targets(column: object, value: object) -> Targets:
    if not isinstance(value, Mapping):
        raise _invalid(value, str(column))
    return {str(state): _touched(column, own) for state, own in value.items()}


def _touched(column: object, value: object) -> tuple[str, ...] | None:
    if value is None or (isinstance(value, str) and not value):  # files cannot say None
        return None
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Iterable) or isinstance(names, Mapping):
        raise _invalid(value, str(column))
    found = tuple(sorted({_name(name) for name in names}))
    return found or None


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise _invalid(value)
    return value


def _invalid(value: object, column: str | None = None) -> KesError:
    return KesError(
        f"{option('interventions')} must be {_EXPECTED}; not {value!r}",
        option="interventions",
        column=column,
    )


def indicator_name(column: str, state: str) -> str:
    """Return the name of the indicator of an intervention.

    Examples
    --------
    >>> indicator_name("condition", "a")
    'condition[a]'
    """
    return f"{column}[{state}]"


def known_targets(interventions: Interventions) -> dict[str, tuple[str, ...]]:
    """Return the targets of the indicators whose targets are known."""
    return {
        indicator_name(column, state): own
        for column, states in interventions.items()
        for state, own in states.items()
        if own is not None
    }


def marked(table: AnyTable, notations: Mapping[str, Notation]) -> AnyTable:
    """Mark the columns of a table that its source says are not to be modelled."""
    exogenous = {name: own for name, own in notations.items() if own.exogenous}
    if not exogenous:
        return table
    dataset, gaps = split_gaps(table)
    columns = [
        replace(column, notation=exogenous.get(name, column.notation))
        for name, column in zip(dataset.names, dataset.columns, strict=True)
    ]
    dataset = Dataset.of(dataset.names, columns, dataset.weights, dataset.notes)
    return dataset if gaps is None else Incomplete(dataset, gaps)


def replace_columns(table: AnyTable, interventions: Interventions) -> AnyTable:
    """Return a coded table with indicators in the place of columns that it still has."""
    dataset, gaps = split_gaps(table)
    if not interventions.keys() & {*dataset.names}:
        return table
    source = Indicators(open_source(table), interventions)
    at = {name: i for i, name in enumerate(dataset.names)}
    columns, holes = [], []
    for index, name in enumerate(source.names):
        if name in at:
            columns.append(dataset.columns[at[name]])
            holes.append(None if gaps is None else gaps[at[name]])
        else:
            factor = source.column(index, frozenset()).factor()
            holes.append(~factor.complete())
            columns.append(replace(factor, codes=np.maximum(factor.codes, 0)).to_column())
    dataset = Dataset.of(source.names, columns, dataset.weights, dataset.notes)
    replaced = dataset if gaps is None else Incomplete(dataset, np.array(holes))
    return marked(replaced, source.notations)


class Indicators(Source):
    """A table in which some columns are replaced by indicators of their values.

    Parameters
    ----------
    source : Source
        The table.
    interventions : mapping
        The columns to replace. A value with None has no indicator, all others have one.
    known : sequence of str, optional
        Names of the indicators, if they are known; otherwise all values that occur have one.
    """

    def __init__(
        self, source: Source, interventions: Interventions, known: Sequence[str] = ()
    ) -> None:
        self._source = source
        self.rows, self.notes = source.rows, source.notes
        self.likely_decimal, self.unnamed = source.likely_decimal, source.unnamed
        self._columns: list[tuple[int, str | None]] = []
        names = []
        for index, name in enumerate(source.names):
            if name not in interventions:
                self._columns.append((index, None))
                names.append(name)
                continue
            for state in self._states(index, name, interventions[name], known):
                self._columns.append((index, state))
                names.append(indicator_name(name, state))
        self.names = names
        check_distinct(names)
        made = {
            name: Notation(of=source.names[index], state=state, exogenous=True)
            for name, (index, state) in zip(names, self._columns, strict=True)
            if state is not None
        }
        self.notations = {**source.notations, **made}
        lacking = [column for column in interventions if column not in source.names]
        if lacking and not known:
            raise KesError(
                f"{option('interventions')}: the data have no column {lacking[0]!r}"
                f"{suggest(lacking[0], list(source.names))}",
                option="interventions",
                column=lacking[0],
            )

    def _states(
        self, index: int, name: str, targets: Targets, known: Sequence[str]
    ) -> Sequence[str]:
        """Return the values of a column that have an indicator."""
        if known:
            measured = {*self._source.names}
            return [
                own[len(name) + 1 : -1]
                for own in known
                if own.startswith(f"{name}[") and own.endswith("]") and own not in measured
            ]
        with naming(name):
            factor = self._source.column(index, frozenset()).factor().ordered()
        occurring = [str(factor.values[code]) for code in factor.occurring()]
        strange = [state for state in targets if state not in occurring]
        if strange:
            raise KesError(
                f"{option('interventions')}: column {name!r} has no value {strange[0]!r}"
                f"{suggest(strange[0], occurring)}; its values are {listed(occurring)}",
                option="interventions",
                column=name,
            )
        return [state for state in occurring if targets.get(state, ()) is not None]

    def called(self, name: str) -> str:
        """Return the name of a column as the source has it."""
        return self._source.called(name)

    def column(self, index: int, absent: frozenset[str]) -> Raw:
        """Read a column, or an indicator; it is missing where the value is."""
        own, state = self._columns[index]
        raw = self._source.column(own, absent)
        if state is None:
            return raw
        factor = raw.factor()
        lookup = np.array([*(str(value) == state for value in factor.values), -1], dtype=np.int8)
        return Factor(STATES, recoded(lookup, factor.codes), declared=True)
