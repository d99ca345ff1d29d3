"""Clusters of a large graph, each small enough to read.

Greedy modularity [Clauset 2004]: start with one cluster per node, and merge the two clusters whose
merge raises the modularity most, until none does. Clusters that would become too large to read are
not merged.
"""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush


def clusters(n: int, edges: Iterable[tuple[int, int]], max_nodes: int = 12) -> list[list[int]]:
    """Return the clusters of the nodes 0 .. n-1, largest first, nodes without edges last, as one.

    Examples
    --------
    >>> clusters(7, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)])
    [[0, 1, 2], [3, 4, 5], [6]]
    """
    pairs = [(a, b) for a, b in edges if a != b]
    between: dict[int, dict[int, int]] = {node: {} for node in range(n)}
    for a, b in pairs:
        for one, other in ((a, b), (b, a)):
            between[one][other] = between[one].get(other, 0) + 1
    members = {node: [node] for node in range(n)}
    degree = {node: sum(between[node].values()) for node in range(n)}
    edges_twice = 2 * len(pairs)

    def ranked(a: int, b: int) -> tuple[int, int, int]:
        # In units of 1 / (2 edges²), merging a and b raises the modularity by this gain. All terms
        # are integers, so ties are exact; the first pair wins them.
        return (degree[a] * degree[b] - edges_twice * between[a][b], a, b)

    # The heap keeps outdated entries: a merge changes the gains of its own pairs only, which are
    # pushed again, and an entry counts only if it is still the gain of its pair.
    heap = [ranked(a, b) for a, others in between.items() for b in others if a < b]
    heapify(heap)
    while heap and heap[0][0] < 0:
        entry = heappop(heap)
        _, a, b = entry
        if b not in between.get(a, ()) or entry != ranked(a, b):
            continue
        if len(members[a]) + len(members[b]) > max_nodes:
            continue  # clusters only grow
        members[a] += members.pop(b)
        degree[a] += degree.pop(b)
        for other, count in between.pop(b).items():
            del between[other][b]
            if other != a:
                between[a][other] = between[other][a] = between[a].get(other, 0) + count
        for other in between[a]:
            heappush(heap, ranked(min(a, other), max(a, other)))
    joined = [sorted(own) for first, own in members.items() if degree[first]]
    alone = sorted(own[0] for first, own in members.items() if not degree[first])
    joined.sort(key=lambda own: (-len(own), own))
    return [*joined, alone] if alone else joined
