"""Local models as tables for reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.data import State
from kes.formats.escaping import labels
from kes.network.cpds import Linear, Logistic
from kes.table import Table


def cpt_table(
    cpt: NDArray[np.float64],
    node: str,
    parents: Sequence[str],
    states: Mapping[str, Sequence[State]],
) -> Table:
    """Return a row for each configuration of the parents: these, and the probabilities."""
    configurations = list(product(*(states[parent] for parent in parents)))
    columns: dict[str, Sequence[object]] = {
        parent: [values[i] for values in configurations] for i, parent in enumerate(parents)
    }
    rows = cpt.reshape(-1, cpt.shape[-1])
    for label, column in zip(labels(states[node]), rows.T.tolist(), strict=True):
        columns[f"P({label})"] = column
    return Table(columns)


def regressor_names(parents: Sequence[str], states: Mapping[str, Sequence[State]]) -> list[str]:
    """Return what the regressors of parents are called: "age", or "sex = male"."""
    return [
        name
        for parent in parents
        for name in (
            [f"{parent} = {label}" for label in labels(states[parent])[1:]]
            if states[parent]
            else [parent]
        )
    ]


def coefficient_table(
    model: Linear | Logistic,
    own: Sequence[State],
    parents: Sequence[str],
    states: Mapping[str, Sequence[State]],
) -> Table:
    """Return a row for the intercept and each regressor, of a logistic node for each state."""
    terms = ["(intercept)", *regressor_names(parents, states)]
    if isinstance(model, Linear):
        columns: dict[str, Sequence[object]] = {
            "term": terms,
            "coefficient": [model.intercept, *model.coefficients.tolist()],
        }
    else:
        columns = {
            "state": [state for state in own[1:] for _ in terms],
            "term": terms * len(own[1:]),
            "coefficient": model.coefficients.ravel().tolist(),
        }
    if model.errors is not None:
        columns["standard_error"] = model.errors.ravel().tolist()
    return Table(columns)


def as_array(states: Sequence[State]) -> NDArray[Any]:
    """Return the states as an array, of their own type if they have the same."""
    kinds = {type(state) for state in states}
    return np.array(states, dtype=None if len(kinds) == 1 else object)
