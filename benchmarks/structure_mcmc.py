"""Structure MCMC over DAGs, as plainly as possible: the reference of `posterior.py`.

A step draws an ordered pair and a coin [Madigan & York 1995]: add the arc or do nothing if the pair
is not connected, delete or reverse the arc if there is one. Proposals are symmetric, so a step that
keeps the graph acyclic is accepted with the ratio of the scores. The prior is uniform over DAGs.
Scores of families are BDeu, cached.
"""

import math
from collections.abc import Iterator

import numpy as np

import kes


class Families:
    """The BDeu scores of families, by the formula of Heckerman et al."""

    def __init__(self, data: kes.Dataset, ess: float = 1.0) -> None:
        self._codes = data.codes.astype(np.int64)
        self._sizes = [len(states) for states in data.states]
        self._ess = ess
        self._known: dict[tuple[int, int], float] = {}

    def score(self, v: int, parents: int) -> float:
        """Return the score of a variable with a set of parents, the bits of a number."""
        if (v, parents) not in self._known:
            self._known[v, parents] = self._count(v, parents)
        return self._known[v, parents]

    def _count(self, v: int, parents: int) -> float:
        own = [u for u in range(len(self._sizes)) if parents >> u & 1]
        key = np.zeros(self._codes.shape[1], dtype=np.int64)
        for u in own:
            key = np.unique(key * self._sizes[u] + self._codes[u], return_inverse=True)[1]
        _, of_parents = np.unique(key, return_counts=True)
        _, of_family = np.unique(key * self._sizes[v] + self._codes[v], return_counts=True)
        alpha = self._ess / math.prod(self._sizes[u] for u in own)
        each = alpha / self._sizes[v]
        return sum(math.lgamma(each + n) - math.lgamma(each) for n in of_family) - sum(
            math.lgamma(alpha + n) - math.lgamma(alpha) for n in of_parents
        )


def shares(data: kes.Dataset, seed: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield steps done and the shares of edges, after doubling numbers of steps, for ever.

    The first half of the steps is left out.
    """
    families, rng = Families(data), np.random.default_rng(seed)
    n = len(data.names)
    parents = [0] * n
    done, goal = 0, 4_096
    counts, last = np.zeros((n, n)), np.zeros((n, n), dtype=np.int64)
    while True:
        counts[:] = 0
        last[:] = done
        start = done
        while done < goal:
            pairs = rng.integers(n, size=(4_096, 2)).tolist()
            coins, levels = rng.random(4_096).tolist(), np.log(rng.random(4_096)).tolist()
            for (x, y), coin, level in zip(pairs, coins, levels, strict=True):
                done += 1
                if x == y or parents[x] >> y & 1:
                    continue
                new = {y: parents[y] ^ 1 << x}
                if parents[y] >> x & 1:
                    if coin < 0.5:
                        new[x] = parents[x] | 1 << y
                elif coin < 0.5:
                    continue
                gain = sum(
                    families.score(v, own) - families.score(v, parents[v]) for v, own in new.items()
                )
                if level >= gain or not _is_acyclic_after(parents, new, x, y):
                    continue
                was = bool((parents[y] >> x | parents[x] >> y) & 1)
                for v, own in new.items():
                    parents[v] = own
                if was != bool((parents[y] >> x | parents[x] >> y) & 1):
                    a, b = min(x, y), max(x, y)
                    counts[a, b] += was * (done - last[a, b])
                    last[a, b] = done
        for a in range(n):
            for b in range(a + 1, n):
                if (parents[b] >> a | parents[a] >> b) & 1:
                    counts[a, b] += done - last[a, b]
        found = counts / (done - start)
        yield done, found + found.T
        goal = 2 * done


def _is_acyclic_after(parents: list[int], new: dict[int, int], x: int, y: int) -> bool:
    """Tell whether the graph stays acyclic; only an arc that was added can close a cycle."""
    if x in new:  # y -> x was added, x -> y removed
        return not _reaches(parents, x, y, skip=(x, y))
    if new[y] >> x & 1:
        return not _reaches(parents, y, x)
    return True


def _reaches(parents: list[int], start: int, end: int, skip: tuple[int, int] = (-1, -1)) -> bool:
    """Tell whether a directed path leads from start to end, but for one arc."""
    seen, waiting = 0, 1 << end
    while waiting:
        v = waiting.bit_length() - 1
        waiting &= ~(1 << v)
        seen |= 1 << v
        above = parents[v]
        if v == skip[1]:
            above &= ~(1 << skip[0])
        if above >> start & 1:
            return True
        waiting |= above & ~seen
    return False
