"""Exact sums over unknown states, many rows at a time, by variable elimination.

A potential is a table over some of the unknown variables, for each row: shape (rows, states of the
first, states of the second, ...). To sum over a variable, the potentials that mention it are
multiplied and the product is summed, which leaves one potential over the others in it. Time and
memory of a row grow with the largest such product, which the order decides: always the variable is
taken whose product is smallest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kes.errors import KesError

MOST_CELLS = 2**24
"""Cells of the largest product for one row: 128 MB."""


class Potential(NamedTuple):
    """Logarithms for each row and each configuration of some variables, sorted by name."""

    scope: tuple[str, ...]
    logs: NDArray[np.float64]


def check_size(
    scopes: Iterable[Sequence[str]], unknown: Sequence[str], states: Mapping[str, int]
) -> int:
    """Return the cells per row of the largest product on the way, or complain of their number."""
    largest = max((cells for _, cells in _order(scopes, unknown, states)), default=1)
    if largest > MOST_CELLS:
        raise KesError(
            f"to sum over the {len(unknown)} unknown variables of a row takes a table of {largest} "
            f"cells, but at most {MOST_CELLS} are possible; give more columns, or drop such rows"
        )
    return largest


def sum_out(
    potentials: Sequence[Potential], unknown: Sequence[str], states: Mapping[str, int]
) -> NDArray[np.float64]:
    """Return, for each row, the logarithm of the sum over unknown variables of a product.

    Parameters
    ----------
    potentials
        At least one; the product of all is meant.
    unknown
        The variables to sum over.
    states
        Number of states of each variable.

    Returns
    -------
    ndarray
        Shape (rows, states of each variable in a scope that is not summed over, in order).
    """
    left = list(potentials)
    for variable, _ in _order([f.scope for f in left], unknown, states):
        product = _multiply([f for f in left if variable in f.scope])
        axis = 1 + product.scope.index(variable)
        rest = tuple(member for member in product.scope if member != variable)
        left = [f for f in left if variable not in f.scope]
        left.append(Potential(rest, _log_sum(product.logs, axis)))
    return _multiply(left).logs


def _order(
    scopes: Iterable[Sequence[str]], unknown: Sequence[str], states: Mapping[str, int]
) -> list[tuple[str, int]]:
    """Return the variables and the cells of their products, always the smallest product next.

    Of equals, the first is taken.
    """
    joined: dict[str, set[str]] = {variable: {variable} for variable in unknown}
    for scope in scopes:
        for variable in joined.keys() & set(scope):
            joined[variable].update(scope)
    cells = {v: prod(states[member] for member in product) for v, product in joined.items()}
    order = []
    while joined:
        best = min(joined, key=cells.__getitem__)
        product = joined.pop(best) - {best}
        order.append((best, cells[best]))
        for variable in product & joined.keys():  # they are in one table from now on
            joined[variable] |= product
            joined[variable].discard(best)
            cells[variable] = prod(states[member] for member in joined[variable])
    return order


def _multiply(potentials: Sequence[Potential]) -> Potential:
    """Multiply potentials: add their logarithms over the union of their scopes."""
    scope = tuple(sorted({member for potential in potentials for member in potential.scope}))
    total: NDArray[np.float64] | float = 0.0
    for potential in potentials:
        sizes = dict(zip(potential.scope, potential.logs.shape[1:], strict=True))
        shape = (len(potential.logs), *(sizes.get(member, 1) for member in scope))
        total = total + potential.logs.reshape(shape)
    assert isinstance(total, np.ndarray), "at least one potential"
    return Potential(scope, total)


def _log_sum(logs: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return ln(sum of exp) along an axis, without overflow."""
    top = logs.max(axis=axis, keepdims=True)
    top[np.isneginf(top)] = 0.0
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(logs - top).sum(axis=axis))
    result: NDArray[np.float64] = sums + top.squeeze(axis)
    return result
