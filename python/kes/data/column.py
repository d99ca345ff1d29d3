"""Columns of a dataset: codes of discrete variables, or values of continuous ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kes._core import MAX_STATES
from kes.data.notation import PLAIN, Notation
from kes.errors import KesError, listed

ScalarT = TypeVar("ScalarT", bound=np.generic)

State: TypeAlias = str | int | bool
"""A value that a discrete variable can take."""

Kind: TypeAlias = Literal["discrete", "continuous"]
TableKind: TypeAlias = Literal["discrete", "continuous", "mixed"]

_WORD = 2**63
_LONG_INTEGERS = 100
"""Maximum number of integer states beyond 64 bits. Python hashes integers modulo 2**61 - 1, so that
any number of longer ones can share a hash, and a dict of them takes quadratic time."""

_MISSING_STATE = re.compile(r"(<+)missing(>+)")


def is_missing_state(state: State) -> bool:
    """Return whether a state is one that `with_missing_state` makes for missing values."""
    match = _MISSING_STATE.fullmatch(state) if isinstance(state, str) else None
    return match is not None and len(match[1]) == len(match[2])


@dataclass(frozen=True, eq=False, repr=False)
class Discrete:
    """A discrete variable: its states, and the state in each row.

    Attributes
    ----------
    states : tuple of (str, int or bool)
        The possible values, in the order of their codes.
    codes : ndarray of unsigned integers, shape (rows,)
        ``states[codes[i]]`` is the value in row i. Read-only, in the smallest type that fits;
        any integers are accepted.
    notation : Notation
        How the column was written.

    Raises
    ------
    KesError
        If a code has no state; names the row.
    """

    kind: ClassVar[Literal["discrete"]] = "discrete"

    states: tuple[State, ...]
    codes: NDArray[Any]
    notation: Notation = PLAIN

    def __post_init__(self) -> None:
        """Validate the codes and freeze them."""
        codes, last = np.asarray(self.codes), len(self.states) - 1
        if codes.dtype.kind not in "iu":
            raise KesError(f"codes must be integers, not {codes.dtype}", option="codes")
        if codes.size and not 0 <= codes.min() <= codes.max() <= last:
            row = int(np.argmax((codes < 0) | (codes > last)))
            raise KesError(
                f"has the code {codes[row]} in row {row} (counting from 0), but its states have "
                f"the codes 0 to {last}",
                row=row,
            )
        kind = np.min_scalar_type(max(last, 0))
        if codes.dtype.itemsize == kind.itemsize:  # none is negative: reuse the bytes
            codes = codes.view(kind)
        object.__setattr__(self, "states", tuple(self.states))
        object.__setattr__(self, "codes", frozen(codes, kind.type))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def take(self, rows: NDArray[np.intp]) -> Discrete:
        """Return the column with some rows; all states stay."""
        return Discrete(self.states, _private(self.codes[rows]), self.notation)

    def __reduce__(self) -> tuple[type[Discrete], tuple[object, ...]]:
        # Arrays are unpickled as writable.
        return Discrete, (self.states, self.codes, self.notation)


@dataclass(frozen=True, eq=False, repr=False)
class Continuous:
    """A continuous variable: its value in each row.

    Attributes
    ----------
    values : ndarray of float64, shape (rows,)
        Finite numbers; read-only.
    notation : Notation
        How the column was written.

    Raises
    ------
    KesError
        If a value is missing or infinite; names the row.
    """

    kind: ClassVar[Literal["continuous"]] = "continuous"

    values: NDArray[np.float64]
    notation: Notation = PLAIN

    def __post_init__(self) -> None:
        """Validate the values and freeze them."""
        values = frozen(self.values, np.float64)
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise KesError(
                f"has {bad.size} missing or infinite values, the first in row {bad[0]} (counting "
                "from 0); drop such rows or impute the values",
                row=int(bad[0]),
            )
        object.__setattr__(self, "values", values)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    def take(self, rows: NDArray[np.intp]) -> Continuous:
        """Return the column with some rows."""
        return Continuous(_private(self.values[rows]), self.notation)

    def __reduce__(self) -> tuple[type[Continuous], tuple[object, ...]]:
        return Continuous, (self.values, self.notation)


Column: TypeAlias = Discrete | Continuous


def kind_of(states: Iterable[Sequence[State]]) -> TableKind:
    """Return the kind of a table from the states of its variables; constant ones are ignored."""
    kinds: set[Kind] = {"discrete" if own else "continuous" for own in states if len(own) != 1}
    return "mixed" if len(kinds) > 1 else kinds.pop() if kinds else "discrete"


def frozen(array: ArrayLike, dtype: type[ScalarT]) -> NDArray[ScalarT]:
    """Return a read-only array: a copy, unless it is read-only already."""
    given = np.asarray(array)
    if given.flags.writeable or given.dtype != dtype or not given.flags.c_contiguous:
        given = _private(np.array(given, dtype=dtype, order="C"))
    return given


def _private(array: NDArray[ScalarT]) -> NDArray[ScalarT]:
    """Make an array read-only to which no one else has a reference."""
    array.flags.writeable = False
    return array


def check_distinct_states(name: str, states: Sequence[State]) -> None:
    """Refuse states of a file that are not distinct, or too many long integers among them."""
    long = sum(isinstance(state, int) and not -_WORD <= state < _WORD for state in states)
    if long > _LONG_INTEGERS:
        raise KesError(
            f"{name!r} has {long} integer states of more than 64 bits, but at most "
            f"{_LONG_INTEGERS} are supported; write them as text",
            column=name,
        )
    if len(set(states)) < len(states):
        raise KesError(f"the states of {name!r} are not distinct: {listed(states)}", column=name)


def check_states(name: str, states: Sequence[State]) -> None:
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
