"""Read data: any table becomes a `Dataset` of discrete and continuous columns.

The path of a column: a `source` (frame, array, file) hands it over as a `factor`, its distinct
values and codes; `missing` values are settled; `encoder` decides on the states.
"""

import warnings
from collections.abc import Sequence
from typing import Any

from kes.data.column import Continuous, Discrete, State
from kes.data.dataset import Data, Dataset, Incomplete
from kes.data.encoder import encode, encode_incomplete
from kes.data.schema import Schema

__all__ = [
    "Continuous",
    "Dataset",
    "Discrete",
    "Incomplete",
    "Schema",
    "State",
    "encode",
    "encode_incomplete",
    "encode_like",
]


def encode_like(
    data: Data,
    names: Sequence[str],
    states: Sequence[Sequence[State]],
    **options: Any,  # noqa: ANN401 - those of `encode`
) -> Dataset:
    """Read a table with given variables and states; use ``encode(data, schema=...)`` instead."""
    message = "encode_like(data, names, states) is deprecated; use encode(data, schema=Schema(...))"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return encode(data, schema=Schema(names, states), **options)
