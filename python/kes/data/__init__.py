"""Data in: any table becomes a `Dataset` of discrete and continuous columns.

The way of a column: a `source` (frame, array, file) hands it over as a `factor`, its distinct
values and codes; `missing` values are settled; `encoding` decides on the states.
"""

from kes.data.column import Continuous, Discrete, State
from kes.data.dataset import Dataset
from kes.data.encoder import encode, encode_incomplete
from kes.data.incomplete import Incomplete
from kes.data.like import encode_like

__all__ = [
    "Continuous",
    "Dataset",
    "Discrete",
    "Incomplete",
    "State",
    "encode",
    "encode_incomplete",
    "encode_like",
]
