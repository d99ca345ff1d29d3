"""Example data: built-in networks and distributions, and readers of the paper's real data.

Built in, of any size:

- `alarm`, and `alarm_network`, the network it is drawn from;
- `trap`, `example1` and `example2`, distributions that trap a greedy search;
- `random_network`; `exact`, the whole distribution of a small network; `is_faithful`.

Read from a copy that the user must obtain, since it cannot be shipped:

- `coil` and `leukemia`.

All functions return a `kes.data.Dataset`, which `kes.learn` and the others take as data.
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
