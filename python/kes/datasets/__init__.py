"""Data to try things on: networks and distributions built in, and readers of the paper's real data.

Built in, drawn or written out for any size:

- `alarm`, and `alarm_network` for the truth behind it;
- `trap`, `example1` and `example2`, the distributions that deceive a greedy search;
- `random_network`; `exact`, the whole distribution of a small network; `is_faithful`.

Read from a copy that the user must obtain, since it cannot be shipped:

- `coil` and `leukemia`.

All data comes as a `kes.data.Dataset`, which `kes.learn` and everything else takes directly.
"""

from kes.datasets._networks import alarm, alarm_network, exact, is_faithful, random_network
from kes.datasets._real import coil, leukemia
from kes.datasets._trap import example1, example2, trap

__all__ = [
    "alarm",
    "alarm_network",
    "coil",
    "exact",
    "example1",
    "example2",
    "is_faithful",
    "leukemia",
    "random_network",
    "trap",
]
