"""Validation of the parts of a network."""

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.data import State
from kes.data.column import check_distinct_states
from kes.errors import KesError, listed, repeated, unknown
from kes.network.cpds import Linear, Logistic, Tabular
from kes.network.regressors import all_effects, main_effects

_SUM_TOLERANCE = 1e-6
"""Largest distance from 1 of the sum of a distribution that is taken for rounding."""


def nodes(given: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the nodes, which must be distinct texts."""
    if isinstance(given, str):
        raise KesError(f"nodes must be a list of names, not the text {given!r}", option="nodes")
    names = tuple(given)
    if not names:
        raise KesError("a network needs at least one node", option="nodes")
    for name in names:
        if not isinstance(name, str):
            raise KesError(f"node names must be text (str), not {name!r}", option="nodes")
    if twice := repeated(names):
        raise KesError(
            f"nodes given more than once: {listed(sorted(twice))}", option="nodes", column=twice[0]
        )
    return names


def states(
    given: Mapping[str, Iterable[State]], names: tuple[str, ...], *, continuous: bool = False
) -> dict[str, tuple[State, ...]]:
    """Return the states of the nodes, as Python's own text, integers and booleans.

    If nodes may be continuous, those without states are.
    """
    _check_keys("states", given, names, complete=not continuous)
    lists = {node: given[node] for node in names if node in given}
    discrete = {n: _states_of(n, s) for n, s in lists.items() if not (continuous and not tuple(s))}
    return {node: discrete.get(node, ()) for node in names}


def _states_of(node: str, given: Iterable[State]) -> tuple[State, ...]:
    if isinstance(given, str):
        raise KesError(
            f"the states of {node!r} must be a list, not the text {given!r}", column=node
        )
    known = tuple(state.item() if isinstance(state, np.generic) else state for state in given)
    for state in known:
        if not isinstance(state, str | int):  # bool is an int
            raise KesError(
                f"the states of {node!r} must be text, integers or booleans, not {state!r}",
                column=node,
            )
    if not known:
        raise KesError(f"the node {node!r} has no states", column=node)
    check_distinct_states(node, known)
    return known


def parents(
    given: Mapping[str, Iterable[str]], names: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Return the parents of the nodes, which must not form a cycle."""
    _check_keys("parents", given, names, complete=False)
    all_names = set(names)
    known = {node: _parents_of(node, given.get(node, ()), all_names) for node in names}
    try:
        TopologicalSorter(known).prepare()
    except CycleError as error:
        cycle = " -> ".join(error.args[1])
        raise KesError(
            f"the network has the directed cycle {cycle}; it must have none",
            column=error.args[1][0],
        ) from None
    return known


def _parents_of(node: str, given: Iterable[str], names: set[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise KesError(
            f"the parents of {node!r} must be a list of names, not the text {given!r}", column=node
        )
    known = tuple(given)
    for parent in known:
        if parent not in names:
            raise unknown(f"parent of {node!r}:", parent, names, column=node)
    if len(set(known)) < len(known):
        raise KesError(f"the parents of {node!r} are not distinct: {listed(known)}", column=node)
    return known


def cpts(
    given: Mapping[str, Any],
    states: Mapping[str, tuple[State, ...]],
    parents: Mapping[str, tuple[str, ...]],
) -> dict[str, NDArray[np.float64]]:
    """Return the tables as read-only arrays of the right shape, holding distributions."""
    _check_keys("cpts", given, tuple(states), complete=True)
    tables = {}
    for node in states:
        shape = tuple(len(states[member]) for member in (*parents[node], node))
        tables[node] = _table(node, given[node], shape)
    return tables


def _table(node: str, given: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:  # noqa: ANN401
    try:
        table = np.array(given, dtype=np.float64)  # a copy
    except (TypeError, ValueError, OverflowError):
        raise KesError(f"the table of {node!r} must be an array of numbers", column=node) from None
    if table.shape != shape:
        raise KesError(
            f"the table of {node!r} has shape {table.shape}, but its parents and itself have "
            f"{shape} states",
            column=node,
        )
    sums = table.sum(axis=-1)
    if not ((table >= 0).all() and (np.abs(sums - 1) <= _SUM_TOLERANCE).all()):
        raise KesError(
            f"the table of {node!r} must hold probabilities that sum to 1 over the states of "
            f"{node!r}, its last axis",
            column=node,
        )
    table.flags.writeable = False
    return table


def models(
    given: Mapping[str, Any],
    states: Mapping[str, tuple[State, ...]],
    parents: Mapping[str, tuple[str, ...]],
) -> dict[str, Any]:
    """Return the CPDs of nodes of all kinds, tables as `Tabular`."""
    _check_keys("models", given, tuple(states), complete=True)
    known = {}
    for node, model in given.items():
        levels = [len(states[parent]) for parent in parents[node]]
        degree = model.degree if isinstance(model, Linear | Logistic) else 1
        width = (main_effects(levels, degree), all_effects(levels, degree))
        if not states[node]:
            _check_model(node, model, Linear, "continuous", width)
            known[node] = model
        elif isinstance(model, Logistic):
            _check_model(node, model, Logistic, "discrete", width)
            if len(model.coefficients) != len(states[node]) - 1:
                raise KesError(
                    f"the model of {node!r} has {len(model.coefficients)} rows of coefficients, "
                    f"but needs one for each of its {len(states[node])} states but the first",
                    column=node,
                )
            known[node] = model
        elif 0 in levels:
            raise KesError(
                f"the node {node!r} has a continuous parent, so it needs a Logistic model, not a "
                "table",
                column=node,
            )
        else:
            table = model.cpt if isinstance(model, Tabular) else model
            known[node] = Tabular(_table(node, table, (*levels, len(states[node]))))
    return {node: known[node] for node in states}


def _check_model(
    node: str,
    model: object,
    kind: type[Linear | Logistic],
    which: str,
    width: tuple[int, int],
) -> None:
    if not isinstance(model, kind):
        raise KesError(
            f"the node {node!r} is {which}, so its model must be a {kind.__name__} one, not "
            f"{type(model).__name__}",
            column=node,
        )
    found = model.coefficients.shape[-1] - (kind is Logistic)
    if found not in width:
        more = f", or {width[1]} with interactions" if width[1] > width[0] else ""
        raise KesError(
            f"the model of {node!r} has {found} coefficients, but its parents have {width[0]} "
            "regressors: one for each continuous parent (and degree), and one less than the number "
            f"of states for a discrete one{more}",
            column=node,
        )


def _check_keys(
    what: str, given: Mapping[str, object], names: tuple[str, ...], *, complete: bool
) -> None:
    known = set(names)
    strange = [key for key in given if key not in known]
    if strange:
        raise KesError(
            f"{what} are given for nodes that do not exist: {listed(strange)}",
            option=what,
            column=str(strange[0]),
        )
    missing = [name for name in names if name not in given]
    if complete and missing:
        raise KesError(f"{what} are missing for {listed(missing)}", option=what, column=missing[0])
