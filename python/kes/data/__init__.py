"""Data in: any table of discrete variables becomes a `Dataset` of codes.

The way of a column: a `source` (frame, array, file) hands it over as a `factor`, its distinct
values and codes; `missing` values are settled; `encoding` decides on the states.
"""

from kes.data.dataset import Dataset, State
from kes.data.encoding import encode
from kes.data.like import encode_like

__all__ = ["Dataset", "State", "encode", "encode_like"]
