"""Support of edges, v-structures and Markov blankets.

There are three kinds of support, and none replaces another:

*Search support* is the share of runs that ended in a model with the edge. It describes the search:
an edge on which all runs agree may still be an artefact of the sample.

*Relative weight* is the share of the optima with the edge when each distinct optimum is weighted by
exp(score). It describes the criterion among the models that were found, and is not a posterior:
models that were not found do not count. With many cases one optimum usually has nearly all of the
weight, whether or not the data single it out.

*Resampling support* is the share of resampled tables whose best optimum has the edge (see
`kes.stability`). It describes how much the edge depends on which cases happen to be in the data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kes.analysis.certainty import LIKELY, EdgeCertainty
from kes.drawing.layout import Layout, layout
from kes.drawing.plot import STRENGTH_COLUMNS, SUPPORT_COLUMNS, draw, evidence_width
from kes.drawing.svg import picture
from kes.errors import KesError, listed, not_installed, unknown
from kes.graph.pdag import Pdag
from kes.table import Table, tabulated
from kes.validation import number

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from kes.analysis.stability import Stability
    from kes.results.optima import Optima

Feature = TypeVar("Feature", bound=Hashable)

_HALF = 0.5
"""Default of the least share of an edge in the consensus."""

ROUNDING = 1e-9
"""Rounding error of a share: a threshold that is missed by no more is reached."""


@dataclass(frozen=True)
class Ensemble:
    """Weighted graphs; their shares are a kind of support ("search", "weight", "resampling").

    The weights need not sum to 1.
    """

    kind: str
    graphs: Sequence[Pdag]
    weights: NDArray[np.float64]

    def shares(self, features: Callable[[Pdag], Iterable[Feature]]) -> dict[Feature, float]:
        """Return, for each feature that a graph has, the share of the graphs with it."""
        sums: dict[Feature, float] = defaultdict(float)
        for graph, weight in zip(self.graphs, self.weights.tolist(), strict=True):
            for feature in features(graph):
                sums[feature] += weight
        total = float(self.weights.sum()) or 1.0  # no run may have ended
        return {feature: min(1.0, part / total) for feature, part in sums.items()}


def relative_weights(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exp(score) of each model over their sum, without overflow.

    Examples
    --------
    >>> relative_weights(np.array([-20000.0, -20000.0 - np.log(3)])).round(3)
    array([0.75, 0.25])
    """
    odds = np.exp(scores - scores.max())
    weights: NDArray[np.float64] = odds / odds.sum()
    return weights


def ensembles(optima: Optima, stability: Stability | None = None) -> list[Ensemble]:
    """Return the ensemble of each kind of support of a result."""
    graphs = [optimum.mpdag for optimum in optima]
    hits = np.array([optimum.hits for optimum in optima], dtype=np.float64)
    scores = np.array([optimum.score for optimum in optima])
    weights = relative_weights(scores)
    found = [Ensemble("search", graphs, hits), Ensemble("weight", graphs, weights)]
    if stability is None:
        return found
    differing = sorted(set(optima.names) ^ set(stability.names))
    if differing:
        raise KesError(
            "stability has other variables than these optima; only one of them has "
            f"{listed(differing)}",
            option="stability",
            column=differing[0],
        )
    return [*found, stability.ensemble]


# --- tables --------------------------------------------------------------------------------------


def edge_table(
    nodes: Sequence[str],
    parts: Sequence[Ensemble],
    evidence: Table | None = None,
    excluded: Mapping[tuple[str, str], str] | None = None,
) -> Table:
    """Return a row for each pair that is adjacent in some graph, or excluded; see `Optima.edges`.

    With evidence, also for the other pairs that it has.

    `excluded` has pairs, in the order of the nodes, that no graph connects, and why.
    """
    position = {node: i for i, node in enumerate(nodes)}

    def joined(graph: Pdag) -> Iterator[tuple[str, str]]:
        for a, b in graph.skeleton:
            yield (a, b) if position[a] < position[b] else (b, a)

    adjacent = {part.kind: part.shares(joined) for part in parts}
    compelled = {part.kind: part.shares(lambda graph: graph.directed) for part in parts}
    pairs = [*_ordered(adjacent, position), *(excluded or ())]
    if evidence is not None:
        known = set(pairs)
        pairs += [pair for pair in _asked(evidence) if pair not in known]
    columns: dict[str, list[Any]] = {"x": [x for x, _ in pairs], "y": [y for _, y in pairs]}
    for kind, shares in adjacent.items():
        columns[SUPPORT_COLUMNS[kind]] = [shares.get(pair, 0.0) for pair in pairs]
    if evidence is not None:
        columns |= _evidence_columns(evidence, pairs)
    for kind, arcs in compelled.items():
        columns[f"{kind}_x_to_y"] = [arcs.get((x, y), 0.0) for x, y in pairs]
        columns[f"{kind}_y_to_x"] = [arcs.get((y, x), 0.0) for x, y in pairs]
    for part in parts:
        if any(graph.by_knowledge for graph in part.graphs):
            directed = part.shares(lambda graph: map(frozenset, graph.by_knowledge))
            columns[f"{part.kind}_by_knowledge"] = [directed.get(frozenset(p), 0.0) for p in pairs]
    if excluded:
        columns["excluded"] = [excluded.get(pair, "") for pair in pairs]
    return Table(columns)


def _asked(evidence: Table) -> list[tuple[str, str]]:
    """Return the pairs of a table of evidence."""
    if not {"x", "y", "evidence", "direction"} <= set(evidence.columns):
        raise KesError(
            "evidence must be the result of optima.evidence() for edges", option="evidence"
        )
    return list(zip(evidence["x"], evidence["y"], strict=True))


def _evidence_columns(evidence: Table, pairs: Iterable[tuple[str, str]]) -> dict[str, list[Any]]:
    """Return the evidence for each of the pairs; None where there is none."""
    found = {(row["x"], row["y"]): row for row in evidence}
    return {
        name: [found[pair][name] if pair in found else None for pair in pairs]
        for name in ("probability", "evidence", "direction", "how")
        if name in evidence.columns
    }


def v_structure_table(nodes: Sequence[str], parts: Sequence[Ensemble]) -> Table:
    """Return a row for each v-structure of some graph; see `Optima.v_structures`."""
    position = {node: i for i, node in enumerate(nodes)}

    def colliders(graph: Pdag) -> Iterator[tuple[str, str, str]]:
        for a, c, b in graph.v_structures():
            yield (a, c, b) if position[a] < position[b] else (b, c, a)

    return _feature_table(("x", "collider", "y"), colliders, parts, position)


def blanket_table(nodes: Sequence[str], parts: Sequence[Ensemble], node: str | None) -> Table:
    """Return a row for each member of the Markov blanket of a node, or of each node."""
    if node is not None and node not in nodes:
        raise unknown("node", node, nodes, option="node")
    position = {name: i for i, name in enumerate(nodes)}

    def members(graph: Pdag) -> Iterator[tuple[str, str]]:
        # Adjacent, or parents in one v-structure: see EssentialGraph.markov_blanket.
        spouses = (frozenset((a, b)) for a, _, b in graph.v_structures())
        for a, b in graph.skeleton.union(spouses):
            yield from (pair for pair in ((a, b), (b, a)) if node in (None, pair[0]))

    return _feature_table(("node", "member"), members, parts, position)


def _feature_table(
    names: tuple[str, ...],
    features: Callable[[Pdag], Iterable[tuple[str, ...]]],
    parts: Sequence[Ensemble],
    position: dict[str, int],
) -> Table:
    """Return a row for each feature, with columns of these names and its supports."""
    found = {SUPPORT_COLUMNS[part.kind]: part.shares(features) for part in parts}
    rows = _ordered(found, position)
    shares = ([own.get(row, 0.0) for own in found.values()] for row in rows)
    every = [(*row, *own) for row, own in zip(rows, shares, strict=True)]
    return tabulated((*names, *found), every)


def _ordered(found: dict[str, dict[Feature, float]], position: dict[str, int]) -> list[Feature]:
    """Return all features, best supported first; ties are in node order."""

    def key(feature: Feature) -> tuple[list[float], list[int]]:
        names: Iterable[str] = feature  # type: ignore[assignment]  # all features are tuples
        support = [-shares.get(feature, 0.0) for shares in found.values()]
        return support, [position[name] for name in names]

    return sorted(set().union(*found.values()), key=key)


# --- the consensus -------------------------------------------------------------------------------


@dataclass(frozen=True)
class ConsensusGraph:
    """The well supported edges of many graphs, as one graph.

    It is a summary and need not be the essential graph of any model: it may lack edges without
    which others have another meaning, and may even have directed cycles. Use one of the optima for
    computations.

    Attributes
    ----------
    nodes : tuple of str
        The variables.
    directed : frozenset of (str, str)
        Edges a -> b.
    undirected : frozenset of frozenset of str
        Edges without a well supported direction.
    supports : dict
        Support of each edge of the graph, by the pair {a, b}; of kind "evidence", in nats.
    direction_supports : dict
        Support of a -> b as a compelled direction, by (a, b), for both directions of each edge; of
        kind "evidence", the nats by which it beats the opposite one.
    kind : {"search", "weight", "resampling", "evidence"}
        The kind of support.
    threshold : float
        Least support of an edge shown, and of a direction, unless the kind is "evidence".
    """

    nodes: tuple[str, ...]
    directed: frozenset[tuple[str, str]]
    undirected: frozenset[frozenset[str]]
    supports: dict[frozenset[str], float]
    direction_supports: dict[tuple[str, str], float]
    kind: str
    threshold: float

    def to_networkx(self) -> nx.DiGraph[str]:
        """Convert to a `networkx.DiGraph` with two opposite arcs for an undirected edge.

        Each arc has the attributes ``support``, that of its edge, and ``direction_support``.
        """
        try:
            import networkx as nx
        except ImportError:
            raise not_installed("networkx") from None
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        both_ways = [ends for a, b in map(sorted, self.undirected) for ends in ((a, b), (b, a))]
        for a, b in [*sorted(self.directed), *sorted(both_ways)]:
            support = self.supports[frozenset((a, b))]
            direction = self.direction_supports[a, b]
            graph.add_edge(a, b, support=support, direction_support=direction)
        return graph

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the graph, with widths of edges by support; see `EssentialGraph.plot`."""
        is_evidence = self.kind == "evidence"
        width = evidence_width if is_evidence else float
        return draw(
            consensus_layout(self),
            self.directed,
            self.undirected,
            labels=("directed", "no clear direction"),
            widths={pair: width(own) for pair, own in self.supports.items()},
            of="evidence" if is_evidence else "support",
            ax=ax,
        )

    def __repr__(self) -> str:
        return (
            f"ConsensusGraph({len(self.nodes)} nodes, {len(self.directed)} directed and "
            f"{len(self.undirected)} undirected edges with {STRENGTH_COLUMNS[self.kind]} "
            f"of at least {self.threshold:g}{' nats' * (self.kind == 'evidence')})"
        )

    def _repr_html_(self) -> str:
        drawn = picture(self.nodes, _downwards(self), self.directed, self.undirected)
        return f"<p>{escape(repr(self))}</p>{drawn or self._table()._repr_html_()}"

    def _table(self) -> Table:
        """Return the edges with their supports."""
        arcs = [(a, "->", b, self.supports[frozenset((a, b))]) for a, b in sorted(self.directed)]
        links = [(*sorted(pair), self.supports[pair]) for pair in self.undirected]
        rows = [*arcs, *((a, "-", b, support) for a, b, support in sorted(links))]
        return tabulated(("from", "", "to", STRENGTH_COLUMNS[self.kind]), rows)


def consensus_layout(graph: ConsensusGraph) -> Layout:
    """Lay out a consensus."""
    return layout(graph.nodes, _downwards(graph))


def _downwards(graph: ConsensusGraph) -> list[tuple[str, str]]:
    """Return all edges, undirected ones in node order; they may have cycles."""
    position = {node: i for i, node in enumerate(graph.nodes)}
    undirected = [sorted(pair, key=position.__getitem__) for pair in graph.undirected]
    return sorted([*graph.directed, *((a, b) for a, b in undirected)])


def consensus(nodes: Sequence[str], part: Ensemble, threshold: float | None) -> ConsensusGraph:
    """Keep the edges whose support reaches a threshold; see `Optima.consensus`."""
    share = _HALF if threshold is None else threshold
    least = number("threshold", share, minimum=0.0, maximum=1.0)
    reached = least - ROUNDING
    shares = part.shares(lambda graph: graph.skeleton)
    arcs = part.shares(lambda graph: graph.directed)
    supports = {pair: share for pair, share in shares.items() if share >= reached}
    directions = {
        (a, b): arcs.get((a, b), 0.0)
        for pair in supports
        for a, b in (tuple(pair), tuple(pair)[::-1])
    }
    directed = frozenset(
        (a, b)
        for (a, b), share in directions.items()
        if share >= reached and share > directions[b, a]
    )
    return ConsensusGraph(
        nodes=tuple(nodes),
        directed=directed,
        undirected=frozenset(supports) - {frozenset(arc) for arc in directed},
        supports=supports,
        direction_supports=directions,
        kind=part.kind,
        threshold=least,
    )


def evidence_consensus(
    nodes: Sequence[str], evidence: Table, threshold: float | None
) -> ConsensusGraph:
    """Keep the edges whose evidence reaches a threshold in nats; see `Optima.consensus`."""
    least = LIKELY if threshold is None else number("threshold", threshold, minimum=0.0)
    _asked(evidence)  # refuses other tables
    supports: dict[frozenset[str], float] = {}
    directions: dict[tuple[str, str], float] = {}
    directed: set[tuple[str, str]] = set()
    for row in evidence:
        own, (x, y) = EdgeCertainty.of(row), (row["x"], row["y"])
        if not own.is_searched or own.evidence is None or own.evidence < least:
            continue
        supports[frozenset((x, y))] = own.evidence
        directions[x, y] = own.direction or 0.0
        directions[y, x] = -directions[x, y]
        if own.clear_direction:
            directed.add((x, y) if own.clear_direction == 1 else (y, x))
    return ConsensusGraph(
        nodes=tuple(nodes),
        directed=frozenset(directed),
        undirected=frozenset(supports) - {frozenset(arc) for arc in directed},
        supports=supports,
        direction_supports=directions,
        kind="evidence",
        threshold=least,
    )


def chosen(parts: Iterable[Ensemble], support: str) -> Ensemble:
    """Return the ensemble of a kind of support; raise an error if it is not available."""
    if support not in SUPPORT_COLUMNS:
        raise unknown("support", support, SUPPORT_COLUMNS, option="support")
    found = next((part for part in parts if part.kind == support), None)
    if found is None:
        raise KesError(
            "resampling support needs resampled data: pass stability=kes.stability(data, ...)",
            option="stability",
        )
    return found
