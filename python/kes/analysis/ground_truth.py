"""Comparison of learned graphs with a known one."""

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import TypeAlias

from kes.errors import KesError
from kes.graph import EssentialGraph
from kes.graph.mpdag import Mpdag, why_inadmissible
from kes.graph.pdag import Pdag
from kes.network import BayesianNetwork, read_graph

Truth: TypeAlias = (
    EssentialGraph | BayesianNetwork | Iterable[tuple[str, str]] | str | PathLike[str]
)


@dataclass(frozen=True)
class TruthComparison:
    """Comparison of a graph with the true one.

    Adjacencies are pairs of adjacent nodes, whatever the direction. Ratios with denominator 0 are
    1: a graph without edges claims nothing false.

    Attributes
    ----------
    shd
        Structural Hamming distance: pairs of nodes whose status differs (not adjacent, undirected,
        or one of the two directions).
    found, extra, missing
        Adjacencies in both graphs, only in the learned one, and only in the true one.
    """

    shd: int
    found: int
    extra: int
    missing: int

    @property
    def misdirected(self) -> int:
        """Adjacencies in both graphs whose direction, or lack of one, differs."""
        return self.shd - self.extra - self.missing

    @property
    def precision(self) -> float:
        """Share of the learned adjacencies that are true."""
        return _share(self.found, self.found + self.extra)

    @property
    def recall(self) -> float:
        """Share of the true adjacencies that were learned."""
        return _share(self.found, self.found + self.missing)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return _share(2 * self.found, 2 * self.found + self.extra + self.missing)

    def __str__(self) -> str:
        return (
            f"SHD {self.shd}; adjacencies: {self.found} found, {self.extra} extra, "
            f"{self.missing} missing (precision {self.precision:.3f}, recall {self.recall:.3f}, "
            f"F1 {self.f1:.3f}), {self.misdirected} misdirected"
        )


def compare_to_truth(graph: Pdag, truth: Truth) -> TruthComparison:
    """Compare a graph with the true one.

    Parameters
    ----------
    graph
        The learned graph: an essential graph, or an MPDAG (`Optimum.mpdag`).
    truth
        The true graph, a network, the arcs of a DAG, or a file that `kes.read_graph` reads. Its
        essential graph is compared, as data cannot identify more. An MPDAG is compared with the
        truth under the same knowledge, so that directions implied by knowledge do not count; if the
        truth violates it, the essential graphs of both are compared.

    Raises
    ------
    KesError
        If the graphs have different nodes.

    Examples
    --------
    >>> from kes import EssentialGraph
    >>> from kes.analysis.ground_truth import compare_to_truth
    >>> learned = EssentialGraph.from_dag("abc", [("a", "b")])
    >>> print(compare_to_truth(learned, [("a", "b"), ("c", "b")]))
    SHD 2; adjacencies: 1 found, 0 extra, 1 missing (precision 1.000, recall 0.500, F1 0.667), \
1 misdirected
    """
    graph, true = seen_alike(graph, as_graph(truth, graph.nodes))
    ours, theirs = graph.skeleton, true.skeleton
    kinds = (ours & theirs, ours - theirs, theirs - ours)
    return TruthComparison(graph.shd(true), *map(len, kinds))


def as_graph(given: Truth, nodes: Iterable[str], option: str = "truth") -> EssentialGraph:
    """Return the essential graph of a user-supplied graph; `nodes` are for a list of arcs."""
    if isinstance(given, EssentialGraph):
        return given
    if isinstance(given, BayesianNetwork):
        return given.graph
    if isinstance(given, str | PathLike):
        return read_graph(given)
    try:
        arcs = [(a, b) for a, b in given]
    except (TypeError, ValueError):
        raise KesError(
            f"expected a graph, a network, arcs or the path of a file, not {given!r}",
            option=option,
        ) from None
    return EssentialGraph.from_dag(nodes, arcs)


def seen_alike(graph: Pdag, other: EssentialGraph) -> tuple[Pdag, Pdag]:
    """Return a graph and a class in comparable form.

    Both under the knowledge of the graph, if it has any and the class satisfies it; else neither.
    """
    if not isinstance(graph, Mpdag) or set(graph.nodes) != set(other.nodes):
        return graph, other
    if why_inadmissible(other, graph.knowledge) is not None:
        return graph.essential, other
    return graph, Mpdag(other, graph.knowledge)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
