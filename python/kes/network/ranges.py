"""Ranges of numbers, in questions to a network and in its evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from kes.data.column import State, is_missing_state
from kes.errors import KesError, listed

SIGNS = {">": "above", ">=": "at_least", "<": "below", "<=": "at_most"}
"""The comparisons that a bound of a range stands for."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Range:
    """Numbers between two bounds; either may be left out.

    Parameters
    ----------
    above, at_least
        The lower bound, without or with the bound itself.
    below, at_most
        The upper bound, without or with the bound itself.

    Raises
    ------
    KesError
        If there is no bound, there are two for one side, or no number is between them.

    Examples
    --------
    >>> Range(above=30, at_most=40)
    Range(above=30, at_most=40)
    >>> Range(at_least=18).includes(18)
    True
    """

    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        """Check the bounds."""
        for name, bound in self.bounds.items():
            if not isinstance(bound, Real) or not math.isfinite(bound):
                raise KesError(f"{name} must be a number, not {bound!r}", option=name)
        for one, other in (("above", "at_least"), ("below", "at_most")):
            if {one, other} <= self.bounds.keys():
                raise KesError(f"give {one} or {other}, not both", option=other)
        if not self.bounds:
            raise KesError(
                "a range needs a bound: above, at_least, below or at_most", option="above"
            )
        if not (self.low < self.high or self.includes(self.low)):
            raise KesError(f"no number is {self}", option=next(iter(self.bounds)))

    @property
    def bounds(self) -> dict[str, float]:
        """The bounds that are given, by name."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: bound for name, bound in every.items() if bound is not None}

    @property
    def low(self) -> float:
        """The lower end; minus infinity if there is none."""
        return max((b for b in (self.above, self.at_least) if b is not None), default=-math.inf)

    @property
    def high(self) -> float:
        """The upper end; infinity if there is none."""
        return min((b for b in (self.below, self.at_most) if b is not None), default=math.inf)

    def includes(self, value: float) -> bool:
        """Return whether a number is in the range."""
        above = value > self.low or value == self.at_least
        return above and (value < self.high or value == self.at_most)

    def __str__(self) -> str:
        bounds = self.bounds.items()
        signs = {name: sign for sign, name in SIGNS.items()}
        return " and ".join(f"{signs[name]} {bound:.12g}" for name, bound in bounds)

    def __repr__(self) -> str:
        bounds = self.bounds.items()
        return f"Range({', '.join(f'{name}={bound:.12g}' for name, bound in bounds)})"


def states_within(
    node: str, states: Sequence[State], cuts: Sequence[float] | None, wanted: Range
) -> NDArray[np.bool_]:
    """Return which states of a discrete node are in a range; `cuts` are those of intervals.

    Raises
    ------
    KesError
        If a state is not a number, or the range divides an interval.
    """
    if cuts is not None:
        inside = _intervals_within(node, cuts, wanted)
        return np.array([*inside, *[False] * (len(states) - len(inside))])
    numbers = {state: number_of(state) for state in states if not is_missing_state(state)}
    text = next((state for state, number in numbers.items() if number is None), None)
    if text is not None:
        raise KesError(
            f"{node!r} has no range: its state {text!r} is not a number; ask for single states",
            column=node,
        )
    found = [numbers.get(state) for state in states]
    return np.array([number is not None and wanted.includes(number) for number in found])


def _intervals_within(node: str, cuts: Sequence[float], wanted: Range) -> list[bool]:
    """Return which of the intervals between cuts are in a range; it must not divide any."""
    inside = []
    ends = (-math.inf, *cuts, math.inf)
    for low, high in pairwise(ends):  # the interval (low, high]
        is_last = high == wanted.high == math.inf
        within = wanted.low <= low and (high < wanted.high or high == wanted.at_most or is_last)
        outside = high < wanted.low or high == wanted.above or low >= wanted.high
        if not (within or outside):
            raise KesError(
                f"{node!r} was cut into intervals, and the network does not know which part of one "
                f"is {wanted}; use > or <= with a cut point: {listed(cuts, show='{:.12g}'.format)}",
                column=node,
            )
        inside.append(within)
    return inside


def number_of(state: object) -> float | None:
    """Return the number that a state is, or that its text says; None if it is not a number."""
    if isinstance(state, bool) or not isinstance(state, str | Real):
        return None
    try:
        number = float(state)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def state_code(states: Sequence[State], given: object) -> int | None:
    """Return the code of a state; None if there is none.

    The same value comes first, then the same text, then the same number: 1, "1" and 1.0 all name
    the state 1.
    """
    number = number_of(given)
    same_value = [(type(own), own) == (type(given), given) for own in states]
    same_text = [str(own) == str(given) for own in states]
    same_number = [number is not None and number_of(own) == number for own in states]
    for alike in (same_value, same_text, same_number):
        if any(alike):
            return alike.index(True)
    return None
