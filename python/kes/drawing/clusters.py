"""Clusters of a large graph, each small enough to read.

Greedy modularity [Clauset 2004]: start with one cluster per node, and merge the two clusters whose
merge raises the modularity most, until none does. Clusters that would become too large to read are
not merged.
"""

from collections.abc import Iterable


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
    while merge := _best(between, members, degree, len(pairs), max_nodes):
        a, b = merge
        members[a] += members.pop(b)
        degree[a] += degree.pop(b)
        for other, count in between.pop(b).items():
            del between[other][b]
            if other != a:
                between[a][other] = between[other][a] = between[a].get(other, 0) + count
    joined = [sorted(own) for first, own in members.items() if degree[first]]
    alone = sorted(own[0] for first, own in members.items() if not degree[first])
    joined.sort(key=lambda own: (-len(own), own))
    return [*joined, alone] if alone else joined


def _best(
    between: dict[int, dict[int, int]],
    members: dict[int, list[int]],
    degree: dict[int, int],
    edges: int,
    max_nodes: int,
) -> tuple[int, int] | None:
    """Return the merge that raises the modularity most, the first among equals, or None.

    In units of 1 / (2 edges²), merging a and b raises it by 2 edges e(a, b) - deg(a) deg(b), where
    e(a, b) is the number of edges between them. All terms are integers, so ties are exact.
    """
    best, merge = 0, None
    for a, others in between.items():
        for b, count in others.items():
            if a < b and len(members[a]) + len(members[b]) <= max_nodes:
                gain = 2 * edges * count - degree[a] * degree[b]
                if gain > best or (gain == best and merge is not None and (a, b) < merge):
                    best, merge = gain, (a, b)
    return merge
