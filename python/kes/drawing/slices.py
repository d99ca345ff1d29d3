"""Time slices of a picture: earlier values in columns of their own, left of the current ones."""

import re
from collections import defaultdict
from collections.abc import Sequence

_EARLIER = re.compile(r"(.+)\[t-([1-9][0-9]*)\]")


def time_slices(nodes: Sequence[str]) -> list[list[str]]:
    """Return the nodes of each earlier time, earliest first; none if there are no earlier values.

    Examples
    --------
    >>> time_slices(["bp", "hr", "bp[t-1]", "hr[t-1]", "bp[t-2]"])
    [['bp[t-2]'], ['bp[t-1]', 'hr[t-1]']]
    """
    known, slices = set(nodes), defaultdict(list)
    for node in nodes:
        found = _EARLIER.fullmatch(node)
        if found and found[1] in known:
            slices[int(found[2])].append(node)
    return [slices[lag] for lag in sorted(slices, reverse=True)]
